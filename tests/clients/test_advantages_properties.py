"""What must hold of advantages on any batch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rubricate_clients import advantages as adv

Batch = dict[str, list[Any]]

GRADES = st.integers(0, 20).map(lambda k: k / 20)


@st.composite
def batches(draw: st.DrawFn, graded: bool = False) -> Batch:
    """Up to 24 responses of up to 4 groups, interleaved, every one of them judged."""
    size = draw(st.integers(1, 24))
    groups = draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
    batch: Batch = {"groups": groups, "outcome": [], "quality": [], "eligible": [], "valid": []}
    for _ in range(size):
        valid = draw(st.integers(0, 9)) > 0
        eligible = valid and draw(st.booleans())
        partial = draw(st.sampled_from([0.0, 0.25, 0.5])) if graded else 0.0
        batch["valid"].append(valid)
        batch["eligible"].append(eligible)
        batch["outcome"].append((1.0 if eligible else partial) if valid else None)
        batch["quality"].append(draw(GRADES))
    return batch


def rows(batch: Batch) -> list[int]:
    return list(range(len(batch["groups"])))


def take(batch: Batch, picked: list[int]) -> Batch:
    return {name: [values[i] for i in picked] for name, values in batch.items()}


def members(batch: Batch, name: str) -> list[list[int]]:
    """Positions of the responses with a true `name`, per group."""
    ids = sorted(set(batch["groups"]))
    return [[i for i in rows(batch) if batch["groups"][i] == g and batch[name][i]] for g in ids]


def rdan(batch: Batch, **parameters: float) -> adv.Advantages:
    return adv.compute("rdan", **batch, **parameters)


def compute(method: str, batch: Batch, **parameters: Any) -> list[float]:
    found: list[float] = adv.compute(method, **batch, **parameters).advantages
    return found


@given(batches(graded=True))
def test_channels_sum_to_zero_and_quality_stays_inside_c(batch: Batch) -> None:
    found = rdan(batch)
    for group in members(batch, "valid"):
        assert sum(found.a_out[i] for i in group) == pytest.approx(0, abs=1e-9)
    for group in members(batch, "eligible"):
        assert sum(found.a_proc[i] for i in group) == pytest.approx(0, abs=1e-9)
    assert all(found.a_proc[i] == 0 for i in rows(batch) if not batch["eligible"][i])


@given(batches())
def test_breaking_a_hard_rubric_never_pays(batch: Batch) -> None:
    found = rdan(batch)
    assert all(found.advantages[i] <= 0 for i in rows(batch) if not batch["eligible"][i])


@given(batches(graded=True), st.data())
def test_quality_of_a_response_that_is_not_eligible_changes_nothing(
    batch: Batch, data: st.DataObject
) -> None:
    other = dict(batch)
    other["quality"] = [
        q if ok else data.draw(st.none() | GRADES)
        for q, ok in zip(batch["quality"], batch["eligible"], strict=True)
    ]
    assert rdan(other) == rdan(batch)


@given(batches(graded=True), st.sampled_from(["rdan", "rdan_ngrpo"]))
def test_judging_only_what_is_needed_gives_the_same_bits(batch: Batch, method: str) -> None:
    needed = {i for group in members(batch, "eligible") if len(group) >= 2 for i in group}
    gated = batch | {"quality": [q if i in needed else None for i, q in enumerate(batch["quality"])]}
    assert compute(method, gated) == compute(method, batch)


@pytest.mark.parametrize("method", adv.METHODS)
@settings(max_examples=40)
@given(data=st.data())
def test_permuted_input_gives_permuted_output_to_the_bit(method: str, data: st.DataObject) -> None:
    batch = data.draw(batches(graded=True))
    order = data.draw(st.permutations(rows(batch)))
    found = compute(method, batch)
    assert compute(method, take(batch, order)) == [found[i] for i in order]


@pytest.mark.parametrize("method", adv.METHODS)
@settings(max_examples=40)
@given(data=st.data())
def test_invalid_responses_move_nothing(method: str, data: st.DataObject) -> None:
    batch = data.draw(batches(graded=True))
    valid = [i for i in rows(batch) if batch["valid"][i]]
    found = compute(method, batch)
    assert compute(method, take(batch, valid)) == [found[i] for i in valid]
    assert all(found[i] == 0 for i in rows(batch) if not batch["valid"][i])


@pytest.mark.parametrize("method", adv.METHODS)
@settings(max_examples=40)
@given(data=st.data())
def test_groups_do_not_depend_on_each_other(method: str, data: st.DataObject) -> None:
    batch = data.draw(batches(graded=True))
    parameters = {"whiten": False} if method == "gdpo" else {}
    found = compute(method, batch, **parameters)
    for id in set(batch["groups"]):
        group = [i for i in rows(batch) if batch["groups"][i] == id]
        assert compute(method, take(batch, group), **parameters) == [found[i] for i in group]


@given(batches(graded=True))
def test_order_inside_c_follows_quality(batch: Batch) -> None:
    found = rdan(batch)
    for group in members(batch, "eligible"):
        ranked = sorted(group, key=lambda i: batch["quality"][i])
        assert [found.a_proc[i] for i in ranked] == sorted(found.a_proc[i] for i in group)


@given(batches(graded=True))
def test_channels_ignore_scale_and_offset(batch: Batch) -> None:
    moved = batch | {
        name: [None if x is None else 3 * x + 7 for x in batch[name]] for name in ("outcome", "quality")
    }
    first, second = rdan(batch), rdan(moved)
    # The least std of 24 grades of 1/20 is about 0.01, beside which EPS is 1e-4; z is at most sqrt(24).
    assert second.a_out == pytest.approx(first.a_out, abs=5e-4)
    assert second.a_proc == pytest.approx(first.a_proc, abs=5e-4)


@given(batches(graded=True))
def test_ngrpo_never_sums_above_zero_and_pushes_down_where_all_are_wrong(batch: Batch) -> None:
    found = compute("ngrpo", batch)
    for group in members(batch, "valid"):
        if len(group) >= 2:
            assert sum(found[i] for i in group) <= 1e-9
            if all(batch["outcome"][i] == 0 for i in group):
                assert all(found[i] < 0 for i in group)


@given(batches(graded=True))
def test_rloo_compares_with_the_mean_of_the_others(batch: Batch) -> None:
    found = adv.rloo(batch["groups"], outcome=batch["outcome"]).advantages
    for group in members(batch, "valid"):
        for i in group:
            others = [batch["outcome"][j] for j in group if j != i]
            wanted = batch["outcome"][i] - sum(others) / len(others) if others else 0.0
            assert found[i] == pytest.approx(wanted, abs=1e-12)


@given(batches(graded=True))
def test_whitening_standardises_over_the_call(batch: Batch) -> None:
    plain, white = (
        [a for a, valid in zip(compute("gdpo", batch, whiten=on), batch["valid"], strict=True) if valid]
        for on in (False, True)
    )
    assume(len(plain) >= 2 and any(white))
    std = np.std(plain, ddof=1)
    assert np.mean(white) == pytest.approx(0, abs=1e-9)
    assert np.std(white, ddof=1) == pytest.approx(std / (std + adv.EPS), abs=1e-9)


SIZED = st.floats(-1e30, 1e30)


@pytest.mark.parametrize("method", adv.METHODS)
@settings(max_examples=40)
@given(data=st.data())
def test_finite_for_every_finite_input(method: str, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 8))
    numbers = st.lists(SIZED, min_size=size, max_size=size)
    name = "reward" if "reward" in adv.METHODS[method].inputs else "outcome"
    inputs: dict[str, Any] = {name: data.draw(numbers), "quality": data.draw(numbers)}
    if name == "outcome":
        inputs["eligible"] = [True] * size
    parameters = {"r_max": 1e30} if "r_max" in adv.METHODS[method].parameters else {}
    found = adv.compute(method, [0] * size, **inputs, **parameters)
    assert all(map(math.isfinite, found.advantages))
