"""Advantages against a second implementation: plain Python, one group at a time."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rubricate_clients import advantages as adv

EPS = 1e-6
Response = dict[str, Any]
Key = Callable[[Response], float | None]


def z(group: list[Response], key: Key, floor: float = 0.0) -> list[float]:
    """Standard scores of the members for which `key` has a number; 0 for the rest."""
    numbers = [x for x in map(key, group) if x is not None]
    if len(numbers) < 2:
        return [0.0] * len(group)
    mean, std = statistics.mean(numbers), statistics.stdev(numbers)
    if std <= EPS * max(1.0, abs(mean)):
        return [0.0] * len(group)
    return [0.0 if (x := key(r)) is None else (x - mean) / (max(std, floor) + EPS) for r in group]


def virtual_z(group: list[Response], key: Key, r_max: float, virtual: int) -> list[float]:
    real = [x for x in map(key, group) if x is not None]
    if len(real) == 1:
        mean, std = 0.0, 1.0
    elif real:
        numbers = real + [r_max] * virtual
        mean, std = statistics.mean(numbers), statistics.stdev(numbers)
    return [0.0 if (x := key(r)) is None else (x - mean) / (std + EPS) for r in group]


def outcome(r: Response) -> float | None:
    return r["outcome"] if r["valid"] else None


def candidate(r: Response) -> float | None:
    return r["quality"] if r["valid"] and r["eligible"] else None


def any_quality(r: Response) -> float | None:
    return r["quality"] if r["valid"] else None


def gated(group: list[Response]) -> Key:
    soft = any(r["quality"] is not None for r in group)

    def reward(r: Response) -> float | None:
        if not r["valid"] or r["outcome"] == 0:
            return 0.0 if r["valid"] else None
        if not soft:
            return float(r["outcome"])
        return None if r["quality"] is None else r["outcome"] * r["quality"]

    return reward


def expected(method: str, batch: list[list[Response]], p: dict[str, Any]) -> list[list[float]]:
    found = []
    for group in batch:
        reward = gated(group)
        numbers = [x for x in map(reward, group) if x is not None]
        if method in ("rdan", "rdan_ngrpo"):
            out = z(group, outcome)
            if method == "rdan_ngrpo":
                out = virtual_z(group, outcome, p["r_max"], p["virtual"])
            proc = z(group, candidate, p["sigma_floor"])
            row = [a + p["quality_weight"] * b for a, b in zip(out, proc, strict=True)]
        elif method == "gdpo":
            w_out, w_proc = p["weights"]
            both = zip(z(group, outcome), z(group, any_quality), strict=True)
            row = [w_out * a + w_proc * b for a, b in both]
        elif method == "ngrpo":
            row = virtual_z(group, reward, p["r_max"], p["virtual"])
        elif method == "grpo":
            row = z(group, reward)
        elif method == "dr_grpo":
            row = [0.0 if (x := reward(r)) is None else x - statistics.mean(numbers) for r in group]
        else:
            total = sum(numbers)
            others = len(numbers) - 1
            row = [0.0 if (x := reward(r)) is None or not others else x - (total - x) / others for r in group]
        found.append(row)
    if method == "gdpo" and p["whiten"]:
        flat = [
            {"a": a if r["valid"] else None}
            for group, row in zip(batch, found, strict=True)
            for r, a in zip(group, row, strict=True)
        ]
        whitened = iter(z(flat, lambda r: r["a"]))
        found = [[next(whitened) for _ in row] for row in found]
    return found


def random_group(rng: random.Random, judge_all: bool) -> list[Response]:
    """One group with anything that can happen to it: see `test_every_case_occurs`."""
    kind = rng.choice(["plain", "plain", "no hard", "no soft", "ties", "fraction"])
    pass_rate = rng.choice([0.0, 0.2, 0.5, 1.0])
    group: list[Response] = []
    for _ in range(rng.randint(1, 8)):
        eligible = kind == "no hard" or rng.random() < pass_rate
        value = 1.0 if eligible else rng.choice([0.0, 0.25, 0.5]) if kind == "fraction" else 0.0
        quality = 0.6 if kind == "ties" else rng.choice([0.0, 0.5, 1.0, rng.random()])
        failed = eligible and rng.random() < 0.1
        r: Response = {"outcome": value, "quality": quality, "eligible": eligible, "valid": True}
        if kind == "no soft" or failed or not (eligible or judge_all or kind == "fraction"):
            r["quality"] = None
        if rng.random() < 0.1:
            r |= {"outcome": None, "eligible": False, "valid": False}
        group.append(r)
    return group


def random_parameters(rng: random.Random, method: str) -> dict[str, Any]:
    drawn = {
        "quality_weight": rng.choice([1.0, 0.4, -0.5, 0.0]),
        "sigma_floor": rng.choice([0.0, 0.05, 0.4]),
        "r_max": rng.choice([1.0, 1.5]),
        "virtual": rng.choice([0, 1, 3]),
        "weights": rng.choice([(1.0, 1.0), (2.0, 0.5), (0.0, 1.0)]),
        "whiten": rng.choice([True, False]),
    }
    return {name: drawn[name] for name in adv.METHODS[method].parameters}


def as_list(values: list[Any]) -> list[Any]:
    return values


def as_array(dtype: str) -> Callable[[list[Any]], Any]:
    return lambda values: np.array(values, dtype)


def as_tensor(dtype: str) -> Callable[[list[Any]], Any]:
    def tensor(values: list[Any]) -> Any:
        torch = pytest.importorskip("torch")
        numbers = [float("nan") if v is None else v for v in values]
        return torch.tensor(numbers, dtype=getattr(torch, dtype))

    return tensor


FORMS = {
    "list": as_list,
    "float64": as_array("f8"),
    "float32": as_array("f4"),
    "float64 tensor": as_tensor("float64"),
    "float32 tensor": as_tensor("float32"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", adv.METHODS)
def test_agrees_with_reference(method: str, form: str) -> None:
    rng = random.Random(f"{method} {form}")
    for _ in range(150):
        batch = [random_group(rng, judge_all=method == "gdpo") for _ in range(rng.randint(1, 5))]
        if form.startswith("float32"):
            for r in (r for group in batch for r in group if r["quality"] is not None):
                r["quality"] = float(np.float32(r["quality"]))
        parameters = random_parameters(rng, method)
        places = [(g, i) for g, group in enumerate(batch) for i in range(len(group))]
        rng.shuffle(places)
        names = ["outcome", "quality", "eligible"] + ["valid"] * rng.randint(0, 1)
        inputs = {n: FORMS[form]([batch[g][i][n] for g, i in places]) for n in names}

        found = adv.compute(method, [g for g, _ in places], **inputs, **parameters)

        wanted = expected(method, batch, parameters)
        assert list(found.advantages) == pytest.approx([wanted[g][i] for g, i in places], abs=1e-6, rel=1e-6)


def test_every_case_occurs() -> None:
    rng = random.Random(0)
    seen: set[str] = set()
    for _ in range(300):
        group = random_group(rng, judge_all=False)
        chosen = [q for q in map(candidate, group) if q is not None]
        seen.add(f"|C| = {min(len(chosen), 3)}")
        seen.add("G = 1" if len(group) == 1 else "G > 1")
        if any(not r["valid"] for r in group):
            seen.add("undecided check")
        if chosen and any(r["eligible"] and r["quality"] is None for r in group):
            seen.add("failed judge")
        if len(group) > 1 and all(r["quality"] is None and r["eligible"] for r in group):
            seen.add("no soft")
        if len(chosen) > 1 and len(set(chosen)) == 1:
            seen.add("ties")
        if any(r["outcome"] == 0.5 for r in group):
            seen.add("partial outcome")
    assert seen == {
        "|C| = 0", "|C| = 1", "|C| = 2", "|C| = 3", "G = 1", "G > 1", "undecided check", "failed judge",
        "no soft", "ties", "partial outcome",
    }  # fmt: skip
