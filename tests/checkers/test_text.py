"""One response, analysed lazily and once."""

from __future__ import annotations

import gc
import weakref

import pytest

from rubricate_checkers import Text, build, evaluate
from rubricate_checkers.loose import VARIANTS


def test_a_check_pays_for_no_view_that_it_does_not_read() -> None:
    text = Text("So it goes, and goes.")
    assert not evaluate(text, build("punctuation:no_comma", {})).holds
    assert set(vars(text)) <= {"raw", "prompt", "blank"}


def test_views_are_computed_once_for_all_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def counted(text: str) -> int:
        calls.append(text)
        return 3

    monkeypatch.setattr("rubricate_checkers.segment.count_words", counted)
    text = Text("one two three")
    for relation in ("at least", "less than"):
        evaluate(text, build("length_constraints:number_words", {"num_words": 3, "relation": relation}))
    assert calls == ["one two three"]


def test_view_keeps_what_a_suite_computes() -> None:
    calls: list[str] = []

    def lines(text: str) -> int:
        calls.append(text)
        return text.count("\n") + 1

    text = Text("a\nb")
    assert text.view(lines) == text.view(lines) == 2
    assert calls == ["a\nb"]


def test_text_is_frozen() -> None:
    with pytest.raises(AttributeError):
        Text("a").raw = "b"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("raw", "variants"),
    [
        ("a", ["a", "a", "", "", "", "", "", ""]),
        ("*a*\nb", ["*a*\nb", "a\nb", "b", "*a*", "", "b", "a", ""]),
        (
            " a\n*b\n\n c\nd ",
            [
                " a\n*b\n\n c\nd ",
                " a\nb\n\n c\nd ",
                "*b\n\n c\nd",
                "a\n*b\n\n c",
                "*b\n\n c",
                "b\n\n c\nd",
                "a\nb\n\n c",
                "b\n\n c",
            ],
        ),
        # stripped before the asterisks go, and not again
        (
            "a\n* b *\nc",
            ["a\n* b *\nc", "a\n b \nc", "* b *\nc", "a\n* b *", "* b *", " b \nc", "a\n b ", " b "],
        ),
    ],
)
def test_variants(raw: str, variants: list[str]) -> None:
    text = Text(raw, "why?")
    assert [name for name, _ in text.variants] == list(VARIANTS)
    assert [variant.raw for _, variant in text.variants] == variants
    assert {variant.prompt for _, variant in text.variants} == {"why?"}


def test_equal_variants_are_one_text() -> None:
    text = Text("a\nb\nc")
    by_name = dict(text.variants)
    assert by_name["raw_without_asterisks"] is text
    assert by_name["first_line_removed"] is by_name["first_line_removed_without_asterisks"]
    assert [name for name, _ in text.revisions] == [
        "first_line_removed",
        "last_line_removed",
        "first_and_last_line_removed",
    ]


def test_a_text_dies_without_the_cycle_collector() -> None:
    gc.disable()
    try:
        text = Text("*a*\nb")
        evaluate(text, build("startend:quotation", {}), mode="loose")
        ghost = weakref.ref(text)
        del text
        assert ghost() is None
    finally:
        gc.enable()
