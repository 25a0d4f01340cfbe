"""Which kwargs IFBench's checks refuse: what upstream draws at random, and what makes it raise."""

from __future__ import annotations

from typing import Any

import pytest

from rubricate_checkers import BadKwargs, build, catalogue, describe

PROMPT = {"prompt_to_repeat": "Sing a song"}

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("count:word_count_range", {"min_words": 5}, "kwargs.max_words"),
    ("count:word_count_range", {"min_words": -1, "max_words": 5}, "kwargs.min_words"),
    ("count:numbers", {"N": "3"}, "kwargs.N"),
    ("count:numbers", {"N": True}, "kwargs.N"),
    ("count:keywords_multiple", {f"keyword{i}": "a" for i in range(1, 5)}, "kwargs.keyword5"),
    ("count:words_japanese", {"N": 0}, "kwargs.N"),
    ("count:words_japanese", {"N": 2.5}, "kwargs.N"),
    ("ratio:overlap", {"percentage": 5}, "kwargs.reference_text"),
    ("sentence:keyword", {"word": "", "N": 1}, "kwargs.word"),
    ("sentence:keyword", {"word": "tea", "N": -1}, "kwargs.N"),
    ("words:keywords_specific_position", {"keyword": "tea", "n": 0, "m": 1}, "kwargs.n"),
    ("words:words_position", {}, "kwargs.keyword"),
    ("format:options", {}, "kwargs.options"),
    ("format:list", {"sep": 3}, "kwargs.sep"),
    ("format:title_case", {"extra": 1}, "kwargs.extra"),
    ("repeat:repeat_change", {"prompt_to_repeat": ""}, "kwargs.prompt_to_repeat"),
    ("repeat:repeat_span", {**PROMPT, "n_start": 0.5, "n_end": 3}, "kwargs.n_start"),
    ("repeat:repeat_span", {**PROMPT, "n_start": 0, "n_end": float("inf")}, "kwargs.n_end"),
    ("repeat:repeat_span", {**PROMPT, "n_start": 0}, "kwargs.n_end"),
]


@pytest.mark.parametrize("prefix", ["", "ifbench@2025:"])
@pytest.mark.parametrize(("id", "kwargs", "path"), REFUSED)
def test_refused_kwargs(prefix: str, id: str, kwargs: dict[str, Any], path: str) -> None:
    with pytest.raises(BadKwargs) as caught:
        build(prefix + id, kwargs)
    assert path in [place for place, _ in caught.value.faults]


@pytest.mark.parametrize("index", ["n_start", "n_end"])
def test_the_older_span_refuses_0_which_it_takes_for_missing(index: str) -> None:
    kwargs = {**PROMPT, "n_start": 1, "n_end": 2, index: 0}
    build("repeat:repeat_span", kwargs)
    with pytest.raises(BadKwargs, match="draw one at random"):
        build("ifbench@2025:repeat:repeat_span", kwargs)


def test_kwargs_of_fixed_tasks_are_ignored() -> None:
    custom = [entry.id for entry in catalogue() if ":custom:" in f":{entry.id}"]
    assert len(custom) == 12  # eleven, and the one whose generations differ
    for id in custom:
        build(id, {"whatever": 1})


def test_each_id_answers_in_both_generations() -> None:
    ids = {entry.id for entry in catalogue() if entry.suite == "ifbench"}
    assert len(ids) == 58
    assert {describe(f"ifbench@2025:{id}").suite for id in ids} == {"ifbench", "ifbench@2025"}
