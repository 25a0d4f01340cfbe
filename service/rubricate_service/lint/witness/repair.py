"""Moves that bring a draft's counts into their bounds, each driven by a count that is out of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from rubricate_service.lint.demand import Bounds
from rubricate_service.lint.witness.draft import Draft

Move = Callable[[Draft, int, Bounds], Draft]

_ROUNDS = 30
_MOST = 3000
_SENTENCE = 10
"""Words of a sentence of the filler, roughly."""


def repaired(draft: Draft, bounds: Sequence[Bounds]) -> Draft:
    """The draft after moves for what is counted too seldom or too often, until nothing helps."""
    counted = [demand for demand in bounds if demand.measure.count is not None]
    fewest_sentences = any(d.measure.kind == "sentences" and d.high < math.inf for d in counted)
    for _ in range(_ROUNDS):
        text = draft.write()
        for demand in counted:
            assert demand.measure.count is not None  # noqa: S101 - sorted out above
            number = demand.measure.count(text)
            if number < demand.low:
                moves, missing = _MORE, math.ceil(demand.low - number)
            elif number > demand.high:
                moves, missing = _FEWER, math.ceil(number - demand.high)
            else:
                continue
            move = moves.get(demand.measure.kind)
            if move is None or missing > _MOST:
                continue
            if move is _more_words and fewest_sentences:
                move = _more_loose_words
            changed = move(draft, missing, demand)
            if changed != draft:
                draft = changed
                break
        else:
            return draft
    return draft


def _more_words(draft: Draft, missing: int, demand: Bounds) -> Draft:
    whole = min(missing, _MOST) // (_SENTENCE + 4) if draft.filler.sentences else 0
    if whole:
        return replace(draft, sentences=draft.sentences + whole)
    return _more_loose_words(draft, missing, demand)


def _more_loose_words(draft: Draft, missing: int, demand: Bounds) -> Draft:
    return replace(draft, words=draft.words + missing)


def _fewer_words(draft: Draft, extra: int, demand: Bounds) -> Draft:
    if draft.words:
        return replace(draft, words=max(0, draft.words - extra))
    if draft.sentences:
        rest = max(0, draft.sentences - max(1, extra // _SENTENCE))
        # from the last sentence it is not nothing that is left, but as many words as there may be
        words = max(1, _SENTENCE - extra) if rest == 0 and draft.filler.sentences else 0
        return replace(draft, sentences=rest, words=words)
    return replace(draft, short=max(0, draft.short - max(1, extra // 3)))


def _more_sentences(draft: Draft, missing: int, demand: Bounds) -> Draft:
    return replace(draft, short=draft.short + missing)


def _fewer_sentences(draft: Draft, extra: int, demand: Bounds) -> Draft:
    if draft.short:
        return replace(draft, short=max(0, draft.short - extra))
    if draft.sentences:
        lost = min(draft.sentences, extra)
        return replace(draft, sentences=draft.sentences - lost)
    return replace(draft, stops=False)


def _more_letters(draft: Draft, missing: int, demand: Bounds) -> Draft:
    letter = demand.measure.about
    rich = [word for word in draft.filler.words if letter in word.lower()]
    padding = [rich[i % len(rich)] for i in range(missing)] if rich else [letter] * missing
    return replace(draft, phrases=(*draft.phrases, *padding))


def _more_any_letters(draft: Draft, missing: int, demand: Bounds) -> Draft:
    return _more_loose_words(draft, max(1, missing // 5), demand)


def _fewer_any_letters(draft: Draft, extra: int, demand: Bounds) -> Draft:
    return _fewer_words(draft, max(1, extra // 5), demand)


def _more_paragraphs(draft: Draft, missing: int, demand: Bounds) -> Draft:
    return replace(draft, paragraphs=draft.paragraphs + missing)


def _fewer_paragraphs(draft: Draft, extra: int, demand: Bounds) -> Draft:
    return replace(draft, paragraphs=max(1, draft.paragraphs - extra))


def _more_lines(draft: Draft, missing: int, demand: Bounds) -> Draft:
    return replace(draft, breaks=draft.breaks + missing)


def _more_keywords(draft: Draft, missing: int, demand: Bounds) -> Draft:
    return replace(draft, phrases=(*draft.phrases, *[demand.measure.about] * missing))


def _fewer_keywords(draft: Draft, extra: int, demand: Bounds) -> Draft:
    """One occurrence of the phrase less, where it stands by itself."""
    about = demand.measure.about
    alone = [i for i, phrase in enumerate(draft.phrases) if phrase.lower() == about][:extra]
    return replace(draft, phrases=tuple(p for i, p in enumerate(draft.phrases) if i not in alone))


def _more_capitals(draft: Draft, missing: int, demand: Bounds) -> Draft:
    return replace(draft, capitals=draft.capitals + missing)


_MORE: dict[str, Move] = {
    "words": _more_words,
    "sentences": _more_sentences,
    "letter": _more_letters,
    "cased_letter": _more_letters,
    "letters": _more_any_letters,
    "characters": _more_any_letters,
    "paragraphs": _more_paragraphs,
    "lines": _more_lines,
    "keyword": _more_keywords,
    "capitals": _more_capitals,
}
_FEWER: dict[str, Move] = {
    "words": _fewer_words,
    "sentences": _fewer_sentences,
    "letter": _fewer_words,
    "cased_letter": _fewer_words,
    "letters": _fewer_any_letters,
    "characters": _fewer_any_letters,
    "paragraphs": _fewer_paragraphs,
    "lines": _fewer_paragraphs,
    "keyword": _fewer_keywords,
    "capitals": _fewer_words,
}
"""What to change by what is counted too often or too seldom."""
