"""From demands to a draft that should meet them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from rubricate_service.lint import demand as asked
from rubricate_service.lint.demand import Bounds, Demand
from rubricate_service.lint.witness.draft import Draft, Wrap
from rubricate_service.lint.witness.filler import Filler

_MOST = 3000
"""Parts of a kind beyond which no draft is made."""
_MOST_CHARS = 1_000_000
_SCARCE = 8
"""A letter that may occur less often than this is done without altogether."""


@dataclass(frozen=True)
class Style:
    """What attempts differ in: the filler, how long it is, and what stands around and within it."""

    offset: int = 0
    sentences: int = 1
    stops: bool = True
    wrap: Wrap = "none"
    core: str = ""


def styles(demands: Iterable[Demand], cores: Iterable[str], *, lengths: Iterable[int]) -> Iterator[Style]:
    """Styles to try, the plainest first.

    Args:
        demands: What a document or quotation marks among them ask to be put around the text.
        cores: Texts to build on, the empty one for none.
        lengths: Numbers of sentences to begin with.
    """
    wraps: list[Wrap] = ["none"]
    for demand in demands:
        if isinstance(demand, asked.Document):
            wraps = ["object", "string"] if demand.format == "JSON" else ["xml"]
    for offset, core, length, stops, wrap in product(range(4), cores, lengths, (True, False), wraps):
        yield Style(offset, length, stops, wrap, core)


def draft_for(demands: Iterable[Demand], style: Style) -> Draft | None:
    """A draft in a style, before anything is counted; None where it would be too large."""
    demands = list(demands)
    filler = filler_for(demands, style.offset)
    draft = Draft(filler, core=style.core, sentences=style.sentences, stops=style.stops, wrap=style.wrap)
    if not filler.sentences:
        draft = replace(draft, words=style.sentences)
    for demand in demands:
        draft = _met(draft, demand)
        sizes = (len(draft.phrases), len(draft.lines), draft.bullets, draft.placeholders, draft.highlights)
        if sum(map(len, (*draft.phrases, *draft.lines))) > _MOST_CHARS:
            return None
        if max(*sizes, draft.paragraphs, *(parts for _, parts in draft.divisions), 0) > _MOST:
            return None
    return draft


def filler_for(demands: Sequence[Demand], offset: int = 0) -> Filler:
    """Words and sentences that no demand forbids, in the language that they ask for."""
    codes = {demand.code for demand in demands if isinstance(demand, asked.InLanguage)} or {"en"}
    language = codes.pop() if len(codes) == 1 else ""
    excluded = [demand for demand in demands if isinstance(demand, asked.Excludes)]
    scarce = ""
    for demand in demands:
        if isinstance(demand, Bounds) and demand.high < math.inf:
            if demand.measure.kind in ("letter", "cased_letter") and demand.high < _SCARCE:
                scarce += demand.measure.about.lower()
            elif demand.measure.kind == "keyword":
                excluded.append(asked.Excludes(demand.measure.about))
    return Filler(language, tuple(excluded), scarce, offset)


def _met(draft: Draft, demand: Demand) -> Draft:
    """The draft with what one demand asks for."""
    match demand:
        case asked.Starts(phrase=phrase):
            if phrase == '"':
                return replace(draft, quoted=True)
            return (
                draft if draft.opening.lower().startswith(phrase.lower()) else replace(draft, opening=phrase)
            )
        case asked.Ends(phrase=phrase):
            if phrase == '"' or draft.closing.lower().endswith(phrase.lower()):
                return draft
            return replace(draft, closing=phrase)
        case asked.LastWord(word=word):
            return replace(draft, closing=draft.closing or word)
        case asked.OneOf(phrases=phrases):
            return draft if any(p in draft.lines for p in phrases) else _with_line(draft, phrases[0])
        case asked.Contains():
            return _with_phrase(draft, demand)
        case asked.Case(case=case):
            return replace(draft, case=case)
        case asked.Divided(separator=separator, parts=parts):
            divisions = dict.fromkeys((*draft.divisions, (separator, int(parts))))
            return replace(draft, divisions=tuple(divisions))
        case asked.ParagraphStart(number=number, word=word):
            starts = draft.starts | {number: word}
            return replace(draft, starts=starts, paragraphs=max(draft.paragraphs, number))
        case asked.Document(schema=schema):
            return replace(draft, schema=schema or draft.schema)
        case Bounds(low=low) if low > 0:
            return _with_parts(draft, demand)
        case _:
            return draft


def _with_line(draft: Draft, line: str) -> Draft:
    return replace(draft, lines=(*draft.lines, line))


def _with_phrase(draft: Draft, demand: asked.Contains) -> Draft:
    """The phrase as often as it is asked for, unless it is there already or comes with something else."""
    phrase = demand.phrase
    if phrase in ("<<", ">>", ",") and draft.wrap == "object":
        return draft
    if not demand.word and not draft.filler.may_use(phrase) and draft.filler.may_use(f"{phrase}s"):
        phrase = f"{phrase}s"  # the word is forbidden, and one that contains it is not
    there = " ".join((draft.opening, draft.closing, *draft.lines, *draft.phrases, draft.postscript)).lower()
    missing = demand.times - there.count(phrase.lower())
    return replace(draft, phrases=(*draft.phrases, *[phrase] * max(0, min(missing, _MOST + 1))))


def _with_parts(draft: Draft, demand: Bounds) -> Draft:
    number = math.ceil(min(demand.low, _MOST + 1))
    about = demand.measure.about
    word = draft.filler.words[0]
    match demand.measure.kind:
        case "title":
            return _with_line(draft, f"<<{word}>>")
        case "postscript":
            marker = "P.P.S." if about == "P.P.S" else about
            return replace(draft, postscript=f"{marker} {word}")
        case "sections":
            return replace(draft, lines=(*draft.lines, *(f"{about} {i + 1}" for i in range(number))))
        case "placeholders":
            return replace(draft, placeholders=max(draft.placeholders, number))
        case "highlights":
            return replace(draft, highlights=max(draft.highlights, number))
        case "bullets":
            return replace(draft, bullets=max(draft.bullets, number))
        case "capitals":
            return replace(draft, capitals=max(draft.capitals, number))
        case "token":
            return replace(draft, phrases=(*draft.phrases, *[about] * number))
        case "pattern":
            return replace(
                draft, phrases=(*draft.phrases, *[about.replace("\\b", "").replace("\\", "")] * number)
            )
        case "paragraphs":
            return replace(draft, paragraphs=max(draft.paragraphs, number))
        case _:
            return draft
