"""Whether a text meets a demand."""

from __future__ import annotations

import re
from functools import singledispatch

from rubricate_checkers import Text
from rubricate_service.lint import demand as asked

_NO_MARK = re.compile(r"[^\w\s]")


@singledispatch
def admits(demand: asked.Demand, text: str) -> bool:
    """Whether a text may be a response that meets a demand; false is certain, true is not."""
    raise TypeError(f"no demand: {demand!r}")


@admits.register
def _(demand: asked.Bounds, text: str) -> bool:
    count = demand.measure.count
    return count is None or demand.low <= count(text) <= demand.high


@admits.register
def _(demand: asked.Contains, text: str) -> bool:
    if demand.cased:
        return text.count(demand.phrase) >= demand.times
    return text.lower().count(demand.phrase.lower()) >= demand.times


@admits.register
def _(demand: asked.OneOf, text: str) -> bool:
    return any(phrase in text for phrase in demand.phrases)


@admits.register
def _(demand: asked.Excludes, text: str) -> bool:
    if demand.phrase.lower() not in text.lower():
        return True
    phrase = re.escape(demand.phrase)
    if demand.word:
        phrase = rf"\b{phrase}\b"
    return re.search(phrase, text, re.NOFLAG if demand.cased else re.IGNORECASE) is None


@admits.register
def _(demand: asked.Case, text: str) -> bool:
    if demand.case == "title":
        return True
    other = str.islower if demand.case == "upper" else str.isupper
    return not any(map(other, text))


@admits.register
def _(demand: asked.InLanguage, text: str) -> bool:
    found = Text(text).language
    return demand.vacuous if found is None else found.partition("-")[0] == demand.code


@admits.register
def _(demand: asked.Starts, text: str) -> bool:
    head = text.lstrip() if demand.cased else text.lstrip().casefold()
    phrase = demand.phrase if demand.cased else demand.phrase.casefold()
    if demand.word:
        return head.split(None, 1)[:1] == [phrase]
    return head.startswith(phrase)


@admits.register
def _(demand: asked.Ends, text: str) -> bool:
    tail = text.strip().strip(demand.beside)
    phrase = demand.phrase
    return tail.endswith(phrase) if demand.cased else tail.casefold().endswith(phrase.casefold())


@admits.register
def _(demand: asked.LastWord, text: str) -> bool:
    words = text.split()
    return bool(words) and _NO_MARK.sub("", words[-1]).lower() == demand.word.lower()


@admits.register
def _(demand: asked.Document, text: str) -> bool:
    body = text.strip()
    return body in demand.words or (body[:1] in demand.first and body[-1:] in demand.last)


@admits.register
def _(demand: asked.Exact, text: str) -> bool:
    body = text.strip()
    if demand.folded:
        return body.lower() in {answer.lower() for answer in demand.texts}
    return body in demand.texts


@admits.register
def _(demand: asked.Divided, text: str) -> bool:
    pieces = [bool(piece.strip()) for piece in text.split(demand.separator)]
    return all(pieces[1:-1]) and sum(pieces) == demand.parts


@admits.register
def _(demand: asked.ParagraphStart, text: str) -> bool:
    pieces = text.split("\n\n")
    if len(pieces) < demand.number:
        return False
    head = pieces[demand.number - 1].strip()
    return head.startswith(demand.word) if demand.cased else demand.word in head.lower()
