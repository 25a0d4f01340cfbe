"""Figures from verdicts alone: what upstream reports, with undecided verdicts counted neither way."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rubricate_service.evaluation.accuracy import accuracies
from rubricate_service.evaluation.muldimif import Row, canonical, figures
from rubricate_service.evaluation.rate import Rate, Verdict, all_hold


@pytest.mark.parametrize(
    ("verdicts", "holds"),
    [
        ([], True),
        ([True, True], True),
        ([True, None], None),
        ([None, False], False),
        ([True, False], False),
    ],
)
def test_all_hold(verdicts: Sequence[Verdict], holds: Verdict) -> None:
    assert all_hold(verdicts) is holds


def test_a_rate_without_decided_verdicts_is_null_and_not_zero() -> None:
    assert Rate.of([None, None]).json() == {"accuracy": None, "held": 0, "decided": 0, "undecided": 2}
    assert Rate.of([False]).share == 0.0


def test_accuracies() -> None:
    found = accuracies(
        [
            (["a:x", "a:x", "b:y"], [True, False, True]),
            (["a:z"], [True]),
            (["a:z", "b:y"], [True, None]),
            (["b:y", "a:x"], [None, False]),
        ]
    )
    assert found["prompt"] == Rate(1, 3, 1)
    assert found["instruction"] == Rate(4, 6, 2)
    assert found["tier0"] == {"a": Rate(3, 5, 0), "b": Rate(1, 1, 2)}
    assert found["tier1"] == {"a:x": Rate(1, 3, 0), "a:z": Rate(2, 2, 0), "b:y": Rate(1, 1, 2)}


def test_muldimif() -> None:
    found = figures(
        [
            Row("Listing", "Level 1", ["Length_Words"], [True]),
            Row(
                "Listing",
                "Level 2",
                ["Length_Words", "Length_Sentences", "Format_Table"],
                [True, False, True],
            ),
            Row("Example", "Level 2", ["Format_Table", "Length_Words"], [True, None]),
        ]
    )
    assert found["overall"] == Rate(1, 2, 1)
    assert found["macro"] == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert found["micro"] == Rate(4, 5, 1)
    assert found["patterns"] == {"Example": Rate(0, 0, 1), "Listing": Rate(1, 2, 0)}
    assert found["levels"] == {"Level 1": Rate(1, 1, 0), "Level 2": Rate(0, 1, 1)}
    assert found["categories"] == {"Format": Rate(2, 2, 0), "Length": Rate(1, 2, 1)}
    assert found["subcategories"] == {
        "Format_Table": Rate(2, 2, 0),
        "Length_Sentences": Rate(0, 1, 0),
        "Length_Words": Rate(2, 2, 1),
    }


@pytest.mark.parametrize(
    ("category", "subcategory", "name"),
    [
        ("Content", "Keywords: Must include", "Content_Keywords"),
        ("Content", "Mention", "Content_Keywords"),
        ("Content", "Length", "Length_Words"),
        ("Format", "Word Count", "Length_Words"),
        ("Format", "Markdown: Block quotes", "Format_Markdown"),
        ("Format", "Text", "Content_Identifiers"),
        ("Table", "Row limit", "Format_Table"),
        ("XML", "Number of attributes", "Format_XML"),
        ("References", "Format", "Content_Identifiers"),
        ("Language", "English: All Uppercase", "Language_English"),
    ],
)
def test_a_constraint_is_reported_under_its_canonical_name(
    category: str, subcategory: str, name: str
) -> None:
    assert canonical(category, subcategory) == name
