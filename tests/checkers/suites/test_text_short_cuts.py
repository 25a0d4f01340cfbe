"""The short cuts of the `text:` checks against the long way round."""

from __future__ import annotations

import random
import re
import sys
from collections import defaultdict

import pytest

from rubricate_checkers import Text
from rubricate_checkers.suites.text.caseless import fold
from rubricate_checkers.suites.text.keywords import Contains
from rubricate_checkers.suites.text.quality import _number_runs

PIECES = [*"cskißſKİıéÉ漢_-. \0", "cat", "Cat", "at", "ﬅ", "ς", "Σ", "\u0345", "ι"]


@pytest.mark.parametrize("case_sensitive", [False, True])
@pytest.mark.parametrize("whole_word", [False, True])
def test_phrases_are_found_where_their_pattern_is(case_sensitive: bool, whole_word: bool) -> None:
    rng = random.Random(1)
    found = 0
    for _ in range(4000):
        value = "".join(rng.choices(PIECES, k=rng.randint(1, 3)))
        text = "".join(rng.choices(PIECES, k=10))
        check = Contains(values=[value], case_sensitive=case_sensitive, whole_word=whole_word)
        (pattern,) = check._patterns
        assert check.holds(Text(text)) is (pattern.search(text) is not None), (value, text)
        found += check.holds(Text(text))
    assert found > 100


def test_fold_joins_what_a_pattern_without_case_takes_for_the_same() -> None:
    """Every character that has a case, against every other."""
    chars = [chr(code) for code in range(sys.maxunicode + 1)]
    cased = "".join(c for c in chars if {c.lower(), c.upper(), c.title(), c.casefold()} != {c})
    same: dict[str, set[str]] = defaultdict(set)
    for char, folded in zip(cased, fold(cased), strict=True):
        same[folded].add(char)
    for char in cased:
        assert set(re.findall(re.escape(char), cased, re.IGNORECASE)) == same[fold(char)], char
    others = "".join(sorted({*chars} - {*cased}))
    assert fold(others) == others
    assert same.keys().isdisjoint(others)


def test_runs_are_numbered_alike_where_they_are_equal() -> None:
    rng = random.Random(2)
    for length in (*range(1, 20), 64, 100):
        words = rng.choices(["so", "it", "goes"], [20, 1, 1], k=150)
        runs = [tuple(words[i : i + length]) for i in range(len(words) - length + 1)]
        numbers = _number_runs(words, length).tolist()
        assert len({*zip(runs, numbers, strict=True)}) == len({*runs}) == len({*numbers})
    assert len(_number_runs(["so"], 2)) == 0
