"""`startend:`: how the response begins and ends."""

from __future__ import annotations

from collections.abc import Iterable

from ...check import Check, Example, Span
from ...kwargs import Str
from ...spans import at_end, at_start
from ...text import Text


class EndPhrase(Check, id="startend:end_checker", aliases=("rubrichub:EndChecker",)):
    """The response ends with a phrase, in any case; whitespace and double quotes around it do not matter."""

    end_phrase: Str
    example = Example(
        kwargs={"end_phrase": "Safe travels."},
        passes="Take the coast road. Safe travels.",
        fails="Safe travels. Take the coast road.",
    )

    def holds(self, text: Text) -> bool:
        return text.lower.strip().strip('"').endswith(self.end_phrase.strip().lower())

    def observed(self, text: Text) -> str:
        end = text.raw.strip().strip('"')
        return f'the end "{end[-max(len(self.end_phrase.strip()), 1) :]}"'

    @property
    def required(self) -> str:
        return f'the end "{self.end_phrase.strip()}"'

    def evidence(self, text: Text) -> Iterable[Span]:
        return at_end(text.raw, len(self.end_phrase.strip()), self.holds(text), beside='"')


class Quotation(Check, id="startend:quotation", aliases=("rubrichub:QuotationChecker",)):
    """The whole response is wrapped in double quotation marks, straight ones."""

    example = Example(kwargs={}, passes='"The tide turns at six."', fails="The tide turns at six.")

    def holds(self, text: Text) -> bool:
        body = text.raw.strip()
        return len(body) > 1 and body[0] == body[-1] == '"'

    def observed(self, text: Text) -> str:
        body = text.raw.strip()
        return f"{body[:1]} first and {body[-1:]} last"

    @property
    def required(self) -> str:
        return 'straight double quotes (") around everything'

    def evidence(self, text: Text) -> Iterable[Span]:
        body = text.raw.strip()
        first, last = body[:1] == '"', len(body) > 1 and body[-1] == '"'
        return [*at_start(text.raw, 1, first), *at_end(text.raw, 1, last)]
