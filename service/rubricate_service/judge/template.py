"""The judge's prompt: a text file in sections, filled in one pass.

Everything before the criterion is the same for all criteria of one prompt, response and reference, so an
engine with a prefix cache computes it once.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files

from rubricate_service.judge.question import Question
from rubricate_service.judge.sanitize import for_judge

_SECTION = re.compile(r"^\[\[(\w+)\]\]\n", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_EXPECTED: dict[str, set[str]] = {
    "system": set(),
    "user": {"code", "prompt", "reference", "response", "criterion"},
    "reference": {"code", "answer"},
    "assistant": set(),
}
_OPTIONAL = {"assistant"}
_CRITERION = "{{criterion}}"
_CODE_DIGITS = 16
_FRAMES = 256  # the criteria of one response come one after another, of many responses at a time


class Template:
    """A parsed prompt file.

    Sections start with a line ``[[system]]``, ``[[user]]``, ``[[reference]]`` or ``[[assistant]]``. The
    reference section is put in place of ``{{reference}}`` when there is a reference answer. The assistant's,
    which may be left out, begins the answer for engines that go on with it. ``{{code}}`` is the delimiters'
    nonce.

    Attributes:
        digest: ``sha256:`` and the hex digest of the file's text.
    """

    def __init__(self, text: str):
        """Parse ``text``.

        Raises:
            ValueError: A section or a placeholder is missing, unknown, or stands behind the criterion.
        """
        _, *parts = _SECTION.split(text)
        self._sections = dict(zip(parts[::2], parts[1::2], strict=True))
        if self._sections.keys() | _OPTIONAL != _EXPECTED.keys():
            raise ValueError(f"a judge prompt has the sections {', '.join(_EXPECTED)}; this has {parts[::2]}")
        for name, body in self._sections.items():
            found = set(_PLACEHOLDER.findall(body))
            if found != _EXPECTED[name]:
                wanted = ", ".join(sorted(_EXPECTED[name])) or "no placeholder"
                raise ValueError(f"[[{name}]] of a judge prompt holds {wanted}; this has {sorted(found)}")
        behind = _PLACEHOLDER.findall(self._sections["user"].partition(_CRITERION)[2])
        if set(behind) - {"code"}:
            raise ValueError(
                "{{criterion}} must come after all other data of a judge prompt, which its criteria share"
            )
        self.digest = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
        self._frame = lru_cache(_FRAMES)(self._render_frame)

    def messages(self, question: Question, secret: bytes, *, begun: bool = False) -> list[dict[str, str]]:
        """The system and the user message for one question.

        Args:
            question: What to ask; its texts are untrusted and are cleaned (``for_judge``).
            secret: Key of the delimiters' code, which a policy must not be able to guess.
            begun: Whether the assistant's message, with which the answer begins, comes last.
        """
        messages = self._messages(question, secret, for_judge(question.criterion))
        if begun and "assistant" in self._sections:
            messages.append({"role": "assistant", "content": self._sections["assistant"].rstrip("\n")})
        return messages

    def messages_for_all(self, questions: Mapping[str, Question], secret: bytes) -> list[dict[str, str]]:
        """The system and the user message for questions about one response, which have ids.

        Args:
            questions: What to ask, by id.
            secret: As above.
        """
        first = next(iter(questions.values()))
        code = _code(first.prompt, first.response, secret)
        parts = (f"({name} {code})\n{for_judge(question.criterion)}" for name, question in questions.items())
        return self._messages(first, secret, "\n".join(parts))

    def _messages(self, question: Question, secret: bytes, criterion: str) -> list[dict[str, str]]:
        before, after = self._frame(question.prompt, question.response, question.reference, secret)
        return [
            {"role": "system", "content": self._sections["system"].rstrip("\n")},
            {"role": "user", "content": f"{before}{criterion}{after}"},
        ]

    def _render_frame(
        self, prompt: tuple[tuple[str, str], ...], response: str, reference: str | None, secret: bytes
    ) -> tuple[str, str]:
        """What stands before and after the criterion, for all criteria of a response."""
        code = _code(prompt, response, secret)
        values = {
            "code": code,
            "prompt": "\n".join(f"({_role(role)} {code})\n{for_judge(text)}" for role, text in prompt),
            "reference": "",
            "response": for_judge(response),
        }
        if reference is not None:
            answer = {"code": code, "answer": for_judge(reference)}
            values["reference"] = _fill(self._sections["reference"], answer)
        before, _, after = self._sections["user"].partition(_CRITERION)
        return _fill(before, values), _fill(after, values).rstrip("\n")


@cache
def default_template() -> Template:
    """The template of ``prompt.txt`` beside this file."""
    return Template((files(__package__) / "prompt.txt").read_text(encoding="utf-8"))


@cache
def one_call_template() -> Template:
    """The template of ``prompt_one_call.txt`` beside this file, for many criteria at a time."""
    return Template((files(__package__) / "prompt_one_call.txt").read_text(encoding="utf-8"))


def _fill(text: str, values: dict[str, str]) -> str:
    """Put all values in at once: what looks like a placeholder inside a value stays as it is."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def _role(role: str) -> str:
    return re.sub(r"\W+", "_", role)[:20]


def _code(prompt: tuple[tuple[str, str], ...], response: str, secret: bytes) -> str:
    """Hex digits that are the same for all criteria of a response and unknown to whoever wrote it."""
    mac = hmac.new(secret, digestmod=hashlib.sha256)
    for part in (*(text for turn in prompt for text in turn), response):
        data = part.encode("utf-8", "surrogatepass")
        mac.update(len(data).to_bytes(8, "big") + data)
    return mac.hexdigest()[:_CODE_DIGITS]
