"""What the functions have in common: they read the answer within a response."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

from ...check import Check, Span
from ...text import Text

__all__ = ["Function"]


def _answer(raw: str) -> Text:
    """What upstream's verifier hands to a function: the response without thinking, tags and outer blanks."""
    last = raw.replace("<|assistant|>", "").strip().rpartition("</think>")[2]
    return Text(last.replace("<answer>", "").replace("</answer>", "").strip())


class Function(Check):
    """A check that sees the answer only."""

    @abstractmethod
    def accepts(self, answer: Text) -> bool:
        """Whether the answer satisfies the check."""

    @abstractmethod
    def found(self, answer: Text) -> str:
        """What the answer has, in plain words."""

    def spans(self, answer: Text) -> Iterable[Span]:
        """Where in the answer the verdict comes from."""
        return ()

    def holds(self, text: Text) -> bool:
        """Whether the answer in the response satisfies the check."""
        return self.accepts(text.view(_answer))

    def observed(self, text: Text) -> str:
        """What the answer in the response has, in plain words."""
        return self.found(text.view(_answer))

    def evidence(self, text: Text) -> Iterable[Span]:
        """Where in the response the verdict comes from; nothing where tags stand within the answer."""
        answer = text.view(_answer)
        shift = text.raw.rfind(answer.raw)
        if shift >= 0:
            for span in self.spans(answer):
                yield Span(span.start + shift, span.end + shift, span.kind)
