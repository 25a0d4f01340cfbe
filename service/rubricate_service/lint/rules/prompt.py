"""W06: numbers of the prompt that no rubric has."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from rubricate_service.lint.demand import Bounds, Divided, ParagraphStart
from rubricate_service.lint.finding import RULES, Finding
from rubricate_service.lint.group import BuiltGroup

_SPELLED = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
    "twenty",
)
_NUMBERS = {word: float(value) for value, word in enumerate(_SPELLED)} | {
    "once": 1.0, "twice": 2.0, "thrice": 3.0, "thirty": 30.0, "forty": 40.0, "fifty": 50.0, "hundred": 100.0,
}  # fmt: skip
_NUMBER = rf"\d{{1,3}}(?:,\d{{3}})+|\d+|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))}"
_SPELLED_UNIT = r"sentences?|paragraphs?|bullet points?|bullets|(?:highlighted )?sections?|placeholders?"
_KIND = r"(?:\+| or (?:more|fewer|less))?[ -](?:(?:different|separate|short|full|complete|English) )?"
# in words, `three words` and `two lines` are mostly spoken of, and not asked for
_ASKED = re.compile(
    rf"\b(?:(?P<digits>(?<![\d,])[\d,]{{0,15}}\d){_KIND}(?:words?|{_SPELLED_UNIT})"
    rf"|(?P<spelled>{'|'.join(_NUMBERS)}){_KIND}(?:{_SPELLED_UNIT}))\b",
    re.IGNORECASE,
)
_WORKED_EXAMPLE = re.compile(r"^[^\w\n]*(?:Example(?: \d+)?\W*:|Answer\W*:)", re.IGNORECASE | re.MULTILINE)
_ANY_NUMBER = re.compile(rf"(?<![\w.])(?:{_NUMBER})(?!\w)|\d+", re.IGNORECASE)


def unsaid_numbers(group: BuiltGroup) -> Iterator[Finding]:
    """W06: `300 words` in the prompt, and 300 (or 299, or 301) in no kwarg and no criterion.

    Only numbers of things that are counted in a response are looked at, and none that stand in a quotation.
    Prompts with worked examples are left alone, whose numbers are those of other answers, and so are groups
    that could not be built as a whole.
    """
    if not group.is_whole or _WORKED_EXAMPLE.search(group.prompt):
        return
    known = _known_numbers(group)
    seen: set[float] = set()
    for match in _ASKED.finditer(_unquoted(group.prompt)):
        number = _value(match["digits"] or match["spelled"])
        if number <= 1 or number in seen:
            continue  # `one paragraph` is said of much that nobody counts
        seen.add(number)
        if not {number - 1, number, number + 1} & known:
            yield RULES["W06"].at(group.path, f'the prompt says "{match[0]}", and no rubric has that number')


def _unquoted(prompt: str) -> str:
    return re.sub(r'"[^"\n]*"|“[^“”\n]*”', " ", prompt)


def _value(word: str) -> float:
    spelled = _NUMBERS.get(word.lower())
    return float(word.replace(",", "")) if spelled is None else spelled


def _known_numbers(group: BuiltGroup) -> set[float]:
    known: set[float] = set()
    for rubric in group.rubrics:
        known |= _numbers_in(rubric.rubric.kwargs)
        known |= _numbers_in(rubric.rubric.criterion)
        if rubric.check is not None:  # `two responses` has its number in no kwarg
            known |= _numbers_in(rubric.check.required)
            if not type(rubric.check).model_fields:
                known |= _numbers_in(type(rubric.check).__doc__)
        for demand in rubric.demands or ():
            if isinstance(demand, Bounds):
                known |= {demand.low, demand.high}
            elif isinstance(demand, Divided):
                known.add(demand.parts)
            elif isinstance(demand, ParagraphStart):
                known.add(demand.number)
    return {number for number in known if math.isfinite(number)}


def _numbers_in(value: object) -> set[float]:
    if isinstance(value, bool) or value is None:
        return set()
    if isinstance(value, int | float):
        return {float(value)}
    if isinstance(value, str):
        return {_value(match[0]) for match in _ANY_NUMBER.finditer(value[:20_000])}
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {number for item in items for number in _numbers_in(item)}
