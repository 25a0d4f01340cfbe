from __future__ import annotations

import hashlib
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubricate_service.judge.balance import SLACK, choose

PREFIXES = [hashlib.sha256(str(n).encode()).digest() for n in range(3000)]
THREE = {"a": 0, "b": 0, "c": 0}


def test_prefixes_are_spread_over_idle_replicas() -> None:
    spread = Counter(choose(prefix, THREE) for prefix in PREFIXES)
    assert all(abs(count - 1000) < 100 for count in spread.values())


def test_the_choice_is_the_same_in_every_process() -> None:
    assert [choose(prefix, THREE) for prefix in PREFIXES[:8]] == ["b", "c", "a", "c", "b", "b", "b", "a"]


def test_a_replica_that_comes_takes_its_share_and_moves_nothing_else() -> None:
    before = [choose(prefix, THREE) for prefix in PREFIXES]
    after = [choose(prefix, THREE | {"d": 0}) for prefix in PREFIXES]
    moved = [new for old, new in zip(before, after, strict=True) if old != new]
    assert set(moved) == {"d"}
    assert 600 < len(moved) < 900


@pytest.mark.parametrize("given_", [10, 100, 1000])
def test_no_replica_has_much_more_than_the_mean(given_: int) -> None:
    loads = dict(THREE)
    for prefix in PREFIXES[:given_]:
        loads[choose(prefix, loads)] += 1
    assert max(loads.values()) <= SLACK * given_ / 3 + 1


@given(st.binary(max_size=32), st.dictionaries(st.text(max_size=5), st.integers(0, 500), min_size=1))
def test_the_chosen_one_is_below_the_bound_and_there_is_always_one(
    prefix: bytes, loads: dict[str, int]
) -> None:
    chosen = choose(prefix, loads)
    assert loads[chosen] < SLACK * (sum(loads.values()) + 1) / len(loads) + 1
    assert chosen == choose(prefix, dict(reversed(loads.items())))
