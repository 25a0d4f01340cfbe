"""One response, analysed lazily and once."""

from __future__ import annotations

import gc
import weakref

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rubricate_checkers import Text, build, evaluate, punkt
from rubricate_checkers.loose import VARIANTS, revise
from rubricate_checkers.suites.ifbench import ratio
from rubricate_checkers.suites.ifeval import format


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
    assert list(revise(raw)) == variants
    for name, revised in text.revisions.items():
        assert revised == variants[VARIANTS.index(name)]
        assert text.revised(name) is text.revised(name)
        assert (text.revised(name).raw, text.revised(name).prompt) == (revised, "why?")
    assert {raw, *text.revisions.values()} == {variant for variant in variants if variant.strip()}
    assert (text.smallest and text.smallest.raw) == (variants[-1] or None)


def test_equal_variants_are_one_text() -> None:
    text = Text("a\nb\nc")
    assert list(text.revisions) == [
        "first_line_removed",
        "last_line_removed",
        "first_and_last_line_removed",
    ]
    assert text.smallest is text.revised("first_and_last_line_removed")


LINES = st.lists(
    st.sampled_from(
        [
            "Go.",
            "etc.)",
            "Dr.",
            "A.",
            "NEW",
            "D's.",
            "a",
            "1.",
            "*b*",
            "*",
            "- x",
            "* y",
            "the",
            '"',
            ")",
            "!",
            " ",
            "\n",
            "\n\n",
            "\xa0",
            "\x1c",
        ]
    ),
    max_size=14,
).map("".join)


@settings(max_examples=1000, deadline=None)
@given(LINES)
@example("a\n*  \n* b")  # what is left ends in a lone star, which is a bullet only before a blank
@example("a\n** \nb")
def test_variants_share_what_is_the_same_alone(raw: str) -> None:
    text = Text(raw)
    assert text.sentence_spans == punkt.sentence_spans(raw)
    for name, revised in text.revisions.items():
        variant = text.revised(name)
        assert variant.sentence_spans == punkt.sentence_spans(revised)
        alone = Text(revised)
        assert variant.uppercase_tokens == sum(map(str.isupper, alone.tokens))
        assert variant.word_count == alone.word_count
        assert variant.tally(ratio._stop_words) == alone.tally(ratio._stop_words)
        assert format._count_bullets(variant) == len(list(format.bullets(revised)))


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
