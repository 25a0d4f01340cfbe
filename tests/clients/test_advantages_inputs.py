"""What advantages take, what they give back, and how they refuse."""

from __future__ import annotations

import doctest
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from rubricate_clients import advantages as adv

Y, N = True, False
NAN = math.nan

GROUPS = ["p", "q", "p", "q", "p"]
OUTCOME = [1.0, 1.0, 0.0, 1.0, None]
QUALITY = [0.5, 0.25, None, 1.0, None]
ELIGIBLE = [Y, Y, N, Y, N]
EXPECTED = adv.rdan(GROUPS, outcome=OUTCOME, quality=QUALITY, eligible=ELIGIBLE).advantages


@pytest.mark.parametrize("form", [list, tuple])
def test_sequences_give_lists(form: type) -> None:
    found = adv.rdan(form(GROUPS), outcome=form(OUTCOME), quality=form(QUALITY), eligible=form(ELIGIBLE))
    for values in (found.advantages, found.a_out, found.a_proc):
        assert isinstance(values, list)
        assert all(type(value) is float for value in values)
    assert found.advantages == EXPECTED


@pytest.mark.parametrize("groups", [np.array(GROUPS), np.array(GROUPS, object), np.array([3, -1, 3, -1, 3])])
@pytest.mark.parametrize(
    ("given", "kept"),
    [("f2", "f2"), ("f4", "f4"), ("f8", "f8"), (">f4", ">f4"), ("O", "f8")],
)
def test_arrays_give_arrays_of_their_float_dtype(groups: Any, given: str, kept: str) -> None:
    found = adv.rdan(
        groups,
        outcome=np.array(OUTCOME, given),
        quality=np.array(QUALITY, given),
        eligible=np.array(ELIGIBLE),
    )
    for values in (found.advantages, found.a_out, found.a_proc):
        assert isinstance(values, np.ndarray)
        assert values.dtype == np.dtype(kept)
    tolerance = 1e-3 if given == "f2" else 1e-6
    assert found.advantages.tolist() == pytest.approx(EXPECTED, abs=tolerance)


@pytest.mark.parametrize("dtype", ["i8", "u1", "?"])
def test_whole_number_arrays_give_float64(dtype: str) -> None:
    found = adv.dr_grpo([0, 0], reward=np.array([1, 0], dtype))
    assert found.advantages.dtype == np.float64
    assert found.advantages.tolist() == [0.5, -0.5]


def test_type_follows_outcome_then_reward_then_quality() -> None:
    array = np.array([1.0, 0.0], np.float32)
    assert isinstance(adv.grpo("aa", outcome=array, reward=[1, 0]).advantages, np.ndarray)
    assert isinstance(adv.grpo("aa", outcome=[1, 0], reward=array).advantages, list)
    assert isinstance(adv.grpo("aa", reward=array, quality=[1, 0]).advantages, np.ndarray)


def test_inputs_are_left_as_they_were() -> None:
    outcome, quality = np.array([1.0, 1.0, 0.0, NAN]), np.array([0.2, 0.4, NAN, NAN])
    copies = outcome.copy(), quality.copy()
    found = adv.rdan("aaaa", outcome=outcome, quality=quality, eligible=outcome == 1)
    found.advantages[:] = 9.0
    np.testing.assert_array_equal((outcome, quality), copies)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_tensors_give_tensors_of_their_dtype_and_device(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    outcome = torch.tensor([NAN if v is None else v for v in OUTCOME], dtype=getattr(torch, dtype))
    found = adv.rdan(
        torch.tensor([0, 1, 0, 1, 0]),
        outcome=outcome.requires_grad_(),
        quality=torch.tensor([NAN if v is None else v for v in QUALITY]),
        eligible=torch.tensor(ELIGIBLE),
    )
    for values in (found.advantages, found.a_out, found.a_proc):
        assert (values.dtype, values.device, values.requires_grad) == (outcome.dtype, outcome.device, False)
    tolerance = {"float16": 1e-3, "bfloat16": 1e-2}.get(dtype, 1e-6)
    assert found.advantages.tolist() == pytest.approx(EXPECTED, abs=tolerance)


def test_whole_number_tensors_give_the_default_dtype() -> None:
    torch = pytest.importorskip("torch")
    found = adv.dr_grpo([0, 0], reward=torch.tensor([1, 0]))
    assert found.advantages.dtype == torch.get_default_dtype()
    assert found.advantages.tolist() == [0.5, -0.5]


def test_torch_is_never_imported() -> None:
    code = (
        "import sys; from rubricate_clients.advantages import grpo; grpo('aa', reward=[1, 0]); "
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nobody_at_all() -> None:
    assert adv.rdan([], outcome=[], quality=[], eligible=[]).advantages == []
    assert adv.gdpo([], outcome=[], quality=[]).advantages == []


def test_documented_example_runs() -> None:
    result = doctest.testmod(adv)
    assert result.attempted
    assert not result.failed


OK: dict[str, Any] = {"outcome": [1, 0], "quality": [0.5, None], "eligible": [Y, N]}

# method, groups, inputs and parameters, what the message says
REFUSED: list[tuple[str, Any, dict[str, Any], str]] = [
    ("ppo", "aa", OK, r"unknown method 'ppo'; the methods are rdan, ngrpo, rdan_ngrpo, gdpo, grpo, dr_grpo"),
    ("grpo", "aa", OK | {"r_max": 1}, r"`r_max` is not a parameter of grpo \(its parameters: none\)"),
    ("rdan", "aa", OK | {"lam": 1}, r"`lam` is not a parameter of rdan \(its parameters: quality_weight, si"),
    ("rdan", "aa", OK | {"eligible": None}, r"rdan needs `eligible`"),
    ("rdan_ngrpo", "aa", OK | {"quality": None}, r"rdan_ngrpo needs `quality`"),
    ("gdpo", "aa", OK | {"outcome": None}, r"gdpo needs `outcome`"),
    ("rloo", "aa", {"quality": [1, 0]}, r"rloo without `reward` needs `outcome`"),
    ("rdan", "aaa", OK, r"`outcome` has 2 values and `groups` 3"),
    ("rdan", "aa", OK | {"quality": [1]}, r"`quality` has 1 values and `groups` 2"),
    ("rdan", "aa", OK | {"eligible": [Y]}, r"`eligible` has 1 values and `groups` 2"),
    ("rdan", "aa", OK | {"valid": [Y, Y, Y]}, r"`valid` has 3 values and `groups` 2"),
    ("grpo", "aa", {"reward": [1, 2, 3]}, r"`reward` has 3 values and `groups` 2"),
    ("grpo", "aa", {"reward": [1, math.inf]}, r"`reward\[1\]` is inf; numbers must be finite"),
    ("grpo", "aa", {"reward": np.array([-math.inf, 0])}, r"`reward\[0\]` is -inf"),
    ("grpo", "aa", {"reward": [1e31, 0]}, r"`reward\[0\]` is 1e\+31"),
    ("grpo", "aa", {"reward": [1, NAN]}, r"`reward\[1\]` is NaN; in a sequence an undecided value is None"),
    ("grpo", "aa", {"reward": ["1", "0"]}, r"`reward` must hold numbers"),
    ("grpo", "aa", {"reward": [1j, 0]}, r"`reward` must hold numbers"),
    ("grpo", "aa", {"reward": 1.0}, r"`reward` must be a flat sequence"),
    ("grpo", "aa", {"reward": [[1], [2, 3]]}, r"`reward` must be a flat sequence"),
    ("grpo", "aa", {"reward": np.zeros((2, 1))}, r"`reward` must be flat, .* shape is \(2, 1\)"),
    ("grpo", [["a"], ["b"]], {"reward": [1, 0]}, r"`groups` must be a flat sequence of hashable"),
    ("grpo", np.array(3), {"reward": [1, 0]}, r"`groups` must be a flat sequence of hashable"),
    ("rdan", "aa", OK | {"eligible": [Y, None]}, r"`eligible\[1\]` is undecided; it must be true or false"),
    ("rdan", "aa", OK | {"valid": [0.5, 1]}, r"`valid\[0\]` is 0.5; it must be true or false"),
    ("rdan", "aa", OK | {"quality_weight": NAN}, r"`quality_weight` must be a finite number, not nan"),
    ("rdan", "aa", OK | {"quality_weight": "1"}, r"`quality_weight` must be a finite number, not '1'"),
    ("rdan", "aa", OK | {"sigma_floor": -0.1}, r"`sigma_floor` must be a finite number of at least 0"),
    ("ngrpo", "aa", {"reward": [1, 0], "r_max": math.inf}, r"`r_max` must be a finite number, not inf"),
    ("ngrpo", "aa", {"reward": [1, 0], "r_max": True}, r"`r_max` must be a finite number, not True"),
    ("ngrpo", "aa", {"reward": [1, 0], "virtual": -1}, r"`virtual` must be a whole number from 0 to 10000"),
    ("ngrpo", "aa", {"reward": [1, 0], "virtual": 1.0}, r"`virtual` must be a whole number from 0"),
    ("gdpo", "aa", OK | {"weights": [1]}, r"`weights` must be two numbers, \(outcome, quality\), not \[1\]"),
    ("gdpo", "aa", OK | {"weights": 1}, r"`weights` must be two numbers"),
    ("gdpo", "aa", OK | {"weights": [1, NAN]}, r"`weights\[1\]` must be a finite number"),
    ("gdpo", "aa", OK | {"whiten": 1}, r"`whiten` must be true or false, not 1"),
    ("rloo", "aa", {"reward": np.array([6e4, -6e4], "f2")}, r"size 120000 does not fit float16; use float32"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "groups", "given", "message"), REFUSED)
def test_refused_with_reason_and_place(method: str, groups: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(adv.AdvantageError, match=message):
        adv.compute(method, groups, **given)


# what, method, groups, inputs, whether scores were gated away
GATED: list[tuple[str, str, str, dict[str, Any], bool]] = [
    ("not judged", "gdpo", "aaa",
     {"outcome": [1, 1, 0], "quality": [0.5, 1, None], "eligible": [Y, Y, N]}, True),
    ("one of those not eligible is blank and scores 0", "gdpo", "aaaa",
     {"outcome": [1, 1, 0, 0], "quality": [0.5, 1, None, 0], "eligible": [Y, Y, N, N]}, True),
    ("eligible not given: outcome 0 is not eligible", "gdpo", "aa",
     {"outcome": [1, 0], "quality": [0.5, None]}, True),
    ("only the second group", "gdpo", "aabb",
     {"outcome": [1, 0, 1, 0], "quality": [1, 0, 1, None], "eligible": [Y, N, Y, N]}, True),
    ("outcome shaped to 1", "gdpo", "aa",
     {"outcome": [1, 1], "quality": [0.5, None], "eligible": [Y, N]}, True),
    ("all judged", "gdpo", "aaa",
     {"outcome": [1, 1, 0], "quality": [0.5, 1, 0], "eligible": [Y, Y, N]}, False),
    ("no soft rubrics", "gdpo", "aaa",
     {"outcome": [1, 1, 0], "quality": [None] * 3, "eligible": [Y, Y, N]}, False),
    ("one group with soft rubrics, one without", "gdpo", "abab",
     {"outcome": [1, 1, 0, 0], "quality": [1, None, 0, None], "eligible": [Y, Y, N, N]}, False),
    ("judge failed on an eligible one", "gdpo", "aaa",
     {"outcome": [1, 1, 0], "quality": [0.5, None, 0], "eligible": [Y, Y, N]}, False),
    ("not judged, but invalid", "gdpo", "aaa",
     {"outcome": [1, 1, None], "quality": [0.5, 1, None], "eligible": [Y, Y, N]}, False),
    ("judge failed, declared invalid", "gdpo", "aaa",
     {"outcome": [1, 1, 0], "quality": [0.5, 1, None], "eligible": [Y, Y, N], "valid": [Y, Y, N]}, False),
    ("outcome 0 needs no quality", "grpo", "aaa",
     {"outcome": [1, 1, 0], "quality": [0.5, 1, None], "eligible": [Y, Y, N]}, False),
    ("partial outcome needs it", "grpo", "aaa",
     {"outcome": [1, 1, 0.5], "quality": [0.5, 1, None], "eligible": [Y, Y, N]}, True),
    ("partial outcome, own reward", "grpo", "aaa",
     {"outcome": [1, 1, 0.5], "quality": [0.5, 1, None], "eligible": [Y, Y, N], "reward": [1, 2, 3]}, False),
    ("rdan never asks", "rdan", "aaa",
     {"outcome": [1, 1, 0.5], "quality": [0.5, 1, None], "eligible": [Y, Y, N]}, False),
    ("nor with ngrpo", "rdan_ngrpo", "aaa",
     {"outcome": [1, 1, 0.5], "quality": [0.5, 1, None], "eligible": [Y, Y, N]}, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "groups", "inputs", "gated"),
    [case[1:] for case in GATED],
    ids=[f"{case[1]}: {case[0]}" for case in GATED],
)
def test_gated_scores_are_never_guessed(
    method: str, groups: str, inputs: dict[str, Any], gated: bool
) -> None:
    if gated:
        with pytest.raises(adv.NeedsAllScores, match=r"`quality\[\d\]` \(group '[ab]'\).*`judging: all`"):
            adv.compute(method, groups, **inputs)
    else:
        assert all(map(math.isfinite, adv.compute(method, groups, **inputs).advantages))


def test_needs_all_scores_names_the_response() -> None:
    with pytest.raises(adv.NeedsAllScores, match=r"`quality\[3\]` \(group 'b'\)") as caught:
        adv.gdpo("abab", outcome=[1, 1, 0, 0], quality=[1, 1, 0, None])
    assert isinstance(caught.value, ValueError)
