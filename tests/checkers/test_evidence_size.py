"""Evidence of a text that is full of it: who takes the first spans does not pay for the others."""

from __future__ import annotations

import tracemalloc
from itertools import islice
from typing import Any

import pytest

from rubricate_checkers import Text, build

MEGABYTE = 1_000_000

DENSE: list[tuple[str, dict[str, Any], str]] = [
    ("punctuation:no_comma", {}, ","),
    ("keywords:letter_frequency", {"letter": "a", "let_frequency": 3, "let_relation": "at least"}, "a"),
    ("punctuation:punctuation_dot", {}, "."),
    ("text:contains", {"values": [","]}, ","),
    ("text:not_contains", {"values": [","]}, ","),
    ("rlvr:validate_no_commas", {}, ","),
    ("format:no_whitespace", {}, " "),
]


@pytest.mark.parametrize(("id", "kwargs", "character"), DENSE, ids=[row[0] for row in DENSE])
def test_the_first_spans_do_not_cost_all_of_them(id: str, kwargs: dict[str, Any], character: str) -> None:
    check, text = build(id, kwargs), Text(character * MEGABYTE)
    tracemalloc.start()
    found = list(islice(check.evidence(text), 1_000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 1_000
    assert peak < 10 * MEGABYTE
