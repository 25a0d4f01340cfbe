"""The judge's prompt: a text file with three sections, filled in one pass.

Everything before the criterion is the same for all criteria of one prompt, response and reference, so an
engine with a prefix cache computes it once.
"""

from __future__ import annotations

import hashlib
import hmac
import re
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
}
_CODE_DIGITS = 16


class Template:
    """A parsed prompt file.

    Sections start with a line ``[[system]]``, ``[[user]]`` or ``[[reference]]``; the last is put in place
    of ``{{reference}}`` when there is a reference answer. ``{{code}}`` is the delimiters' nonce.

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
        if self._sections.keys() != _EXPECTED.keys():
            raise ValueError(f"a judge prompt has the sections {', '.join(_EXPECTED)}; this has {parts[::2]}")
        for name, body in self._sections.items():
            found = set(_PLACEHOLDER.findall(body))
            if found != _EXPECTED[name]:
                wanted = ", ".join(sorted(_EXPECTED[name])) or "no placeholder"
                raise ValueError(f"[[{name}]] of a judge prompt holds {wanted}; this has {sorted(found)}")
        behind = _PLACEHOLDER.findall(self._sections["user"].partition("{{criterion}}")[2])
        if set(behind) - {"code"}:
            raise ValueError(
                "{{criterion}} must come after all other data of a judge prompt, which its criteria share"
            )
        self.digest = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"

    def messages(self, question: Question, secret: bytes) -> list[dict[str, str]]:
        """The system and the user message for one question.

        Args:
            question: What to ask; its texts are untrusted and are cleaned (``for_judge``).
            secret: Key of the delimiters' code, which a policy must not be able to guess.
        """
        code = _code(question, secret)
        values = {
            "code": code,
            "prompt": "\n".join(f"({_role(role)} {code})\n{_clean(text)}" for role, text in question.prompt),
            "reference": "",
            "response": _clean(question.response),
            "criterion": for_judge(question.criterion),
        }
        if question.reference is not None:
            values["reference"] = _fill(
                self._sections["reference"], {"code": code, "answer": _clean(question.reference)}
            )
        return [
            {"role": "system", "content": self._sections["system"].rstrip("\n")},
            {"role": "user", "content": _fill(self._sections["user"], values).rstrip("\n")},
        ]


@cache
def default_template() -> Template:
    """The template of ``prompt.txt`` beside this file."""
    return Template((files(__package__) / "prompt.txt").read_text(encoding="utf-8"))


def _fill(text: str, values: dict[str, str]) -> str:
    """Put all values in at once: what looks like a placeholder inside a value stays as it is."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], text)


def _role(role: str) -> str:
    return re.sub(r"\W+", "_", role)[:20]


@lru_cache(maxsize=512)  # the criteria of one response come one after another
def _clean(text: str) -> str:
    return for_judge(text)


def _code(question: Question, secret: bytes) -> str:
    """Hex digits that are the same for all criteria of a response and unknown to whoever wrote it."""
    mac = hmac.new(secret, digestmod=hashlib.sha256)
    for part in (*(text for turn in question.prompt for text in turn), question.response):
        data = part.encode("utf-8", "surrogatepass")
        mac.update(len(data).to_bytes(8, "big") + data)
    return mac.hexdigest()[:_CODE_DIGITS]
