"""Advantages against values worked out by hand, and against vectors checked on published code."""

from __future__ import annotations

import json
import os
from math import sqrt
from pathlib import Path
from statistics import stdev
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from rubricate_clients import advantages as adv
from rubricate_clients.wire import AdvantageSpec, Method

E = 1e-6
UNIT = 0.5 / (sqrt(0.5) + E)  # z of 1 in {0, 1}: mean 1/2, std sqrt(1/2)
THREE = 0.5 / (0.5 + E)  # z of 1 in {0, 1/2, 1}: mean 1/2, std 1/2
ALONE = -0.25 / (0.5 + E)  # three zeros beside a virtual 1: mean 1/4, std 1/2

Y, N = True, False

# name, method, groups, inputs, parameters, advantages
CASES: list[tuple[str, str, Any, dict[str, Any], dict[str, Any], list[float]]] = [
    (
        "one passes, one fails", "rdan", "aa",
        {"outcome": [1, 0], "quality": [0.5, None], "eligible": [Y, N]}, {}, [UNIT, -UNIT],
    ),
    (
        "all pass: quality alone", "rdan", "aaa",
        {"outcome": [1, 1, 1], "quality": [0, 0.5, 1], "eligible": [Y, Y, Y]}, {}, [-THREE, 0, THREE],
    ),
    (
        "all fail: nothing to learn", "rdan", "aaa",
        {"outcome": [0, 0, 0], "quality": [1, 0, 0.5], "eligible": [N, N, N]}, {}, [0, 0, 0],
    ),
    (
        "groups interleaved", "rdan", "abab",
        {"outcome": [1, 1, 0, 1], "quality": [1, 0, 1, 1], "eligible": [Y, Y, N, Y]}, {},
        [UNIT, -UNIT, -UNIT, UNIT],
    ),
    (
        "group of one", "rdan", "ab",
        {"outcome": [1, 0], "quality": [1, 0], "eligible": [Y, N]}, {}, [0, 0],
    ),
    (
        "quality weight and floor", "rdan", "aa",
        {"outcome": [1, 1], "quality": [0.5, 1], "eligible": [Y, Y]},
        {"quality_weight": 0.4, "sigma_floor": 0.5}, [0.4 * -0.25 / (0.5 + E), 0.4 * 0.25 / (0.5 + E)],
    ),
    (
        "floor below the std changes nothing", "rdan", "aaa",
        {"outcome": [1, 1, 1], "quality": [0, 0.5, 1], "eligible": [Y, Y, Y]}, {"sigma_floor": 0.05},
        [-THREE, 0, THREE],
    ),
    (
        "undecided outcome is out of both channels", "rdan", "aaa",
        {"outcome": [1, None, 0], "quality": [0.5, 1, None], "eligible": [Y, N, N]}, {}, [UNIT, 0, -UNIT],
    ),
    (
        "declared invalid is out of both channels", "rdan", "aaa",
        {"outcome": [1, 1, 0], "quality": [0.5, 1, 0], "eligible": [Y, Y, N], "valid": [Y, N, Y]}, {},
        [UNIT, 0, -UNIT],
    ),
    (
        "valid cannot make an undecided outcome count", "rdan", "aaa",
        {"outcome": [1, None, 0], "quality": [None] * 3, "eligible": [Y, Y, N], "valid": [Y, Y, Y]}, {},
        [UNIT, 0, -UNIT],
    ),
    (
        "failed judge keeps its outcome", "rdan", "aaaa",
        {"outcome": [1, 1, 1, 1], "quality": [0, None, 0.5, 1], "eligible": [Y] * 4}, {},
        [-THREE, 0, 0, THREE],
    ),
    (
        "partial outcome of 1 need not be eligible", "rdan", "aaa",
        {"outcome": [1, 0.5, 0], "quality": [0, 1, 1], "eligible": [N, N, N]}, {}, [THREE, 0, -THREE],
    ),
    ("all wrong", "ngrpo", "aaa", {"reward": [0, 0, 0]}, {}, [ALONE] * 3),
    ("all right", "ngrpo", "aaa", {"reward": [1, 1, 1]}, {}, [0, 0, 0]),
    ("group of one keeps its reward", "ngrpo", "ab", {"reward": [0.5, 0]}, {}, [0.5 / (1 + E), 0]),
    ("no virtual member", "ngrpo", "aa", {"reward": [0, 1]}, {"virtual": 0}, [-UNIT, UNIT]),
    (
        "two virtual members of 2: mean 3/2, std 1", "ngrpo", "aa",
        {"reward": [0, 2]}, {"virtual": 2, "r_max": 2}, [-1.5 / (1 + E), 0.5 / (1 + E)],
    ),
    (
        "undecided reward is left out", "ngrpo", "aaaa", {"reward": [0, None, 0, 0]}, {},
        [ALONE, 0, ALONE, ALONE],
    ),
    (
        "all fail, and still a signal", "rdan_ngrpo", "aaa",
        {"outcome": [0, 0, 0], "quality": [1, 0, 1], "eligible": [N, N, N]}, {}, [ALONE] * 3,
    ),
    (
        "all pass: quality alone", "rdan_ngrpo", "aa",
        {"outcome": [1, 1], "quality": [0, 1], "eligible": [Y, Y]}, {"quality_weight": 2},
        [-2 * UNIT, 2 * UNIT],
    ),
    (
        "channels cancel", "gdpo", "aa",
        {"outcome": [1, 0], "quality": [0, 1]}, {}, [0, 0],
    ),
    (
        "weights, not whitened", "gdpo", "aa",
        {"outcome": [1, 0], "quality": [0, 1]}, {"weights": [3, 1], "whiten": False}, [2 * UNIT, -2 * UNIT],
    ),
    (
        "whitened over both groups, one without soft rubrics", "gdpo", "aabb",
        {"outcome": [1, 0, 1, 0], "quality": [1, 0, None, None]}, {},
        # before whitening 2u, -2u, u, -u: mean 0, squares 10 u^2
        [k * UNIT / (UNIT * sqrt(10 / 3) + E) for k in (2, -2, 1, -1)],
    ),
    (
        "failed judge: nothing in that channel", "gdpo", "aaaa",
        {"outcome": [1, 1, 1, 1], "quality": [0, None, 0.5, 1]}, {"whiten": False}, [-THREE, 0, 0, THREE],
    ),
    ("z", "grpo", "aaa", {"reward": [0, 0.5, 1]}, {}, [-THREE, 0, THREE]),
    ("group of one", "grpo", "a", {"reward": [1]}, {}, [0]),
    ("centred", "dr_grpo", "aaa", {"reward": [0, 0.5, 1]}, {}, [-0.5, 0, 0.5]),
    ("mean of the others", "rloo", "aaa", {"reward": [0, 0.5, 1]}, {}, [-0.75, 0, 0.75]),
    ("group of one", "rloo", "a", {"reward": [1]}, {}, [0]),
    (
        "gated reward: 1, 1/2, 0", "dr_grpo", "aaa",
        {"outcome": [1, 1, 0], "quality": [1, 0.5, None]}, {}, [0.5, 0, -0.5],
    ),
    (
        "gated reward without soft rubrics", "dr_grpo", "aabb",
        {"outcome": [1, 0, 1, 0], "quality": [None, None, 0.5, None]}, {}, [0.5, -0.5, 0.25, -0.25],
    ),
    ("no quality given at all", "dr_grpo", "aa", {"outcome": [0.5, 0]}, {}, [0.25, -0.25]),
    (
        "gated reward of a failed judge is left out", "dr_grpo", "aaa",
        {"outcome": [1, 1, 0], "quality": [None, 0.5, None]}, {}, [0, 0.25, -0.25],
    ),
    (
        "a given reward wins over outcome and quality", "dr_grpo", "aa",
        {"outcome": [1, 0], "quality": [0.1, 0.2], "reward": [3, 5]}, {}, [-1, 1],
    ),
    (
        "undecided outcome is invalid whatever the reward", "rloo", "aaa",
        {"outcome": [1, None, 0], "reward": [4, 9, 2]}, {}, [2, 0, -2],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "groups", "inputs", "parameters", "expected"),
    [case[1:] for case in CASES],
    ids=[f"{case[1]}: {case[0]}" for case in CASES],
)
def test_value(
    method: str, groups: Any, inputs: dict[str, Any], parameters: dict[str, Any], expected: list[float]
) -> None:
    found = adv.compute(method, groups, **inputs, **parameters)
    assert found.advantages == pytest.approx(expected, abs=1e-12)
    assert adv.METHODS[method].function(groups, **inputs, **parameters) == found


def test_channels_are_unweighted() -> None:
    inputs: dict[str, Any] = {"outcome": [1, 1, 0], "quality": [0, 1, 0.5], "eligible": [Y, Y, N]}
    third = 1 / 3 / (sqrt(1 / 3) + E)
    for method, parameters in (("rdan", {"quality_weight": 0.5}), ("gdpo", {"weights": [2, 7]})):
        found = adv.compute(method, "aaa", **inputs, **parameters)
        assert found.a_out == pytest.approx([third, third, -2 * third], abs=1e-12)
        quality = [-UNIT, UNIT, 0] if method == "rdan" else [-THREE, THREE, 0]
        assert found.a_proc == pytest.approx(quality, abs=1e-12)
    for method in ("ngrpo", "grpo", "dr_grpo", "rloo"):
        found = adv.compute(method, "aaa", **inputs)
        assert (found.a_out, found.a_proc) == (None, None)


@pytest.mark.parametrize("method", ["grpo", "dr_grpo", "rloo"])
@pytest.mark.parametrize("score", [0.1, 0.7, -1e9 / 3])
def test_equal_rewards_give_exactly_zero_and_no_float_noise(method: str, score: float) -> None:
    assert adv.compute(method, [0] * 7, reward=[score] * 7).advantages == [0.0] * 7


def test_std_at_most_eps_times_mean_is_float_noise() -> None:
    assert adv.grpo("aa", reward=[1e6, 1e6 + 0.5]).advantages == [0.0, 0.0]
    assert adv.grpo("aa", reward=[1e6, 1e6 + 5]).advantages == pytest.approx([-UNIT, UNIT], abs=1e-5)


def test_all_right_ngrpo_group_is_exactly_zero_for_any_r_max() -> None:
    assert adv.ngrpo([0] * 8, reward=[0.7] * 8, r_max=0.7, virtual=3).advantages == [0.0] * 8


def test_methods_and_parameters_are_those_of_the_wire() -> None:
    assert set(adv.METHODS) == set(get_args(Method))
    values: dict[str, Any] = {
        "quality_weight": 1.0, "sigma_floor": 0.1, "r_max": 1.0, "virtual": 2, "weights": [1.0, 2.0],
        "whiten": False,
    }  # fmt: skip
    for method, entry in adv.METHODS.items():
        for name, value in values.items():
            spec: dict[str, Any] = {"method": method, name: value}
            if name in entry.parameters:
                assert AdvantageSpec(**spec).parameters() == {name: value}
            else:
                with pytest.raises(ValidationError, match="not a parameter"):
                    AdvantageSpec(**spec)


def test_diagnostics() -> None:
    groups = "aaaabbc"
    outcome = [1, 1, 0, None, 1, 1, None]
    quality = [0.5, 1, None, None, 0.5, 0.5, None]
    eligible = [Y, Y, N, N, Y, Y, N]
    found = adv.rdan(groups, outcome=outcome, quality=quality, eligible=eligible)
    assert adv.diagnostics(
        groups, found.advantages, outcome=outcome, quality=quality, eligible=eligible
    ) == pytest.approx(
        {
            "hard_pass_rate": 4 / 5,
            "eligible_rate": 4 / 7,
            "undecided_rate": 2 / 7,
            "zero_advantage_groups": 2 / 3,
            "outcome_std": (sqrt(1 / 3) + 0) / 2,
            "process_std": (sqrt(1 / 8) + 0) / 2,
        }
    )
    with_channels = adv.diagnostics(
        groups,
        found.advantages,
        outcome=outcome,
        quality=quality,
        eligible=eligible,
        a_out=found.a_out,
        a_proc=found.a_proc,
    )
    counted = [i for i, value in enumerate(outcome) if value is not None]
    assert with_channels["outcome_advantage_std"] == pytest.approx(stdev(found.a_out[i] for i in counted))
    assert with_channels["process_advantage_std"] == pytest.approx(stdev(found.a_proc[i] for i in counted))
    with pytest.raises(adv.AdvantageError, match="`a_out` has 1 values for 7"):
        adv.diagnostics(groups, found.advantages, outcome=outcome, a_out=[0.0])
    nothing = adv.diagnostics("a", [0.0], outcome=[None])
    assert nothing == dict.fromkeys(found_keys(), 0.0) | {"undecided_rate": 1.0, "zero_advantage_groups": 1.0}


def found_keys() -> list[str]:
    return [
        "hard_pass_rate", "eligible_rate", "undecided_rate", "zero_advantage_groups", "outcome_std",
        "process_std",
    ]  # fmt: skip


SPECS = Path(os.environ.get("RUBRICATE_SPECS", Path(__file__).parents[3] / "shared" / "specs"))
VECTORS = SPECS / "advantages_vectors.json"


@pytest.mark.skipif(not VECTORS.exists(), reason=f"no published vectors at {VECTORS}; set RUBRICATE_SPECS")
def test_vectors_of_published_code() -> None:
    vectors = json.loads(VECTORS.read_text())
    for vector in vectors["rdan"]["vectors"]:
        given = vector["input"]
        judged = given.get("proc_valid", [1] * len(given["out"]))
        found = adv.rdan(
            ["p"] * len(given["out"]),
            outcome=given["out"],
            quality=[q if ok else None for q, ok in zip(given["proc"], judged, strict=True)],
            eligible=given["comply"],
            valid=given.get("valid"),
            quality_weight=given.get("lam_proc", 1.0),
        )
        for name, channel in (("a_out", found.a_out), ("a_proc", found.a_proc)):
            assert channel == pytest.approx(vector[name], abs=1e-6), vector["name"]
        assert found.advantages == pytest.approx(vector["advantage"], abs=1e-6), vector["name"]
    for vector in vectors["ngrpo"]["vectors"]:
        rewards = vector["input"]["r"]
        found = adv.ngrpo([7] * len(rewards), reward=rewards, virtual=vector["input"].get("n_virtual", 1))
        assert found.advantages == pytest.approx(vector["advantage"], abs=1e-6), vector["name"]
    assert (len(vectors["rdan"]["vectors"]), len(vectors["ngrpo"]["vectors"])) == (10, 6)
