"""MulDimIF's figures: responses that keep all constraints, by pattern, level and category."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rubricate_service.evaluation.rate import Rate, Verdict, all_hold

_OF_CATEGORY = {
    "Words": "Length_Words",
    "Sentences": "Length_Sentences",
    "Paragraphs": "Length_Paragraphs",
    "Table": "Format_Table",
    "Markdown": "Format_Markdown",
    "Json": "Format_Json",
    "XML": "Format_XML",
    "Punctuation": "Content_Punctuation",
    "Citations": "Content_Identifiers",
    "References": "Content_Identifiers",
}
_OF_PAIR = {
    "Content_Length": "Length_Words",
    "Content_Quotes": "Content_Punctuation",
    "Content_Sources": "Content_Identifiers",
    "Content_Mention": "Content_Keywords",
    "Format_Text": "Content_Identifiers",
    "Format_Bullet Points": "Content_Identifiers",
    "Format_Blurb": "Length_Words",
    "Format_Length": "Length_Words",
    "Format_Word Count": "Length_Words",
}


def canonical(category: str, subcategory: str) -> str:
    """The second level under which MulDimIF reports a constraint, such as `Length_Words`.

    `Format_Length`, which its code decides and cannot report, is put under `Length_Words`.
    """
    pair = f"{category}_{subcategory.split(':')[0]}"
    return _OF_PAIR.get(pair) or _OF_CATEGORY.get(category) or pair


@dataclass(frozen=True, slots=True)
class Row:
    """A response: the pattern and level of its prompt, and the kinds and verdicts of its constraints."""

    pattern: str
    level: str
    kinds: Sequence[str]
    verdicts: Sequence[Verdict]


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    """What MulDimIF's evaluator reports.

    Returns:
        `overall`: responses that keep all their constraints; `macro`: mean share of decided constraints
        kept, over responses, and `micro`: over constraints; `patterns`, `levels`: as overall, by these;
        `categories`: of the responses with constraints of a category, those that keep all of these;
        `subcategories`: constraints kept.
    """
    whole = [(row, all_hold(row.verdicts)) for row in rows]
    of_category: dict[str, list[Verdict]] = defaultdict(list)
    of_kind: dict[str, list[Verdict]] = defaultdict(list)
    for row in rows:
        mine: dict[str, list[Verdict]] = defaultdict(list)
        for kind, verdict in zip(row.kinds, row.verdicts, strict=True):
            of_kind[kind].append(verdict)
            mine[kind.split("_")[0]].append(verdict)
        for category, verdicts in mine.items():
            of_category[category].append(all_hold(verdicts))
    shares = [share for row in rows if (share := Rate.of(row.verdicts).share) is not None]
    return {
        "overall": Rate.of(verdict for _, verdict in whole),
        "macro": sum(shares) / len(shares) if shares else None,
        "micro": Rate.of(verdict for row in rows for verdict in row.verdicts),
        "patterns": _rates(_grouped((row.pattern, verdict) for row, verdict in whole)),
        "levels": _rates(_grouped((row.level, verdict) for row, verdict in whole)),
        "categories": _rates(of_category),
        "subcategories": _rates(of_kind),
    }


def _grouped(pairs: Iterable[tuple[str, Verdict]]) -> dict[str, list[Verdict]]:
    groups: dict[str, list[Verdict]] = defaultdict(list)
    for name, verdict in pairs:
        groups[name].append(verdict)
    return groups


def _rates(groups: Mapping[str, Sequence[Verdict]]) -> dict[str, Rate]:
    return {name: Rate.of(groups[name]) for name in sorted(groups)}
