"""Token advantages: a response's advantage on its tokens, 0 elsewhere, whatever holds the numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rubricate_clients.advantages import AdvantageError, token_advantages

ADVANTAGES = [1.5, -2.0, 0.0]
MASK = [[1, 1, 0, 0], [0, 1, 1, 1], [1, 0, 0, 0]]
EXPECTED = [[1.5, 1.5, 0.0, 0.0], [0.0, -2.0, -2.0, -2.0], [0.0, 0.0, 0.0, 0.0]]


def tensor(dtype: str) -> Callable[[Any], Any]:
    def make(values: Any) -> Any:
        torch = pytest.importorskip("torch")
        return torch.tensor(values, dtype=getattr(torch, dtype))

    return make


def array(dtype: str) -> Callable[[Any], Any]:
    return lambda values: np.array(values, dtype)


HOLDERS: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "float64 array": array("f8"),
    "float32 array": array("f4"),
    "float64 tensor": tensor("float64"),
    "float32 tensor": tensor("float32"),
    "bfloat16 tensor": tensor("bfloat16"),
}
MASKS: dict[str, Callable[[Any], Any]] = {
    "int array": array("i8"),
    "bool array": array("?"),
    "float array": array("f4"),
    "long tensor": tensor("int64"),
    "bool tensor": tensor("bool"),
    "float tensor": tensor("float32"),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("holder", HOLDERS)
def test_every_token_has_its_responses_advantage(holder: str, mask: str) -> None:
    advantages, response_mask = HOLDERS[holder](ADVANTAGES), MASKS[mask](MASK)
    found = token_advantages(advantages, response_mask)
    assert found.tolist() == EXPECTED
    assert type(found) is type(response_mask)
    if type(advantages) is type(response_mask):
        assert found.dtype == advantages.dtype


def test_positions_outside_are_plus_zero() -> None:
    assert not np.signbit(token_advantages([-1.0], np.zeros((1, 3)))).any()


@pytest.mark.parametrize(
    ("advantages", "mask", "message"),
    [
        (ADVANTAGES, np.ones((2, 4)), r"shape \(3, T\).* \(2, 4\)"),
        (ADVANTAGES, np.ones(3), r"is \(3,\)"),
        (ADVANTAGES, MASK, "is list"),
        (ADVANTAGES, np.full((3, 4), 2), "nothing but 0 and 1"),
        (ADVANTAGES, np.full((3, 4), np.nan), "nothing but 0 and 1"),
        ([1.0, None, 0.0], np.ones((3, 4)), "all be decided"),
        (np.array([1.0, np.nan, 0.0]), np.ones((3, 4)), "all be decided"),
        ([1.0, float("inf"), 0.0], np.ones((3, 4)), r"advantages\[1\]"),
        (np.ones((3, 4)), np.ones((3, 4)), "must be flat"),
    ],
)
def test_what_does_not_fit_is_refused(advantages: Any, mask: Any, message: str) -> None:
    with pytest.raises(AdvantageError, match=message):
        token_advantages(advantages, mask)
