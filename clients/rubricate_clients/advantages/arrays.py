"""What callers hold (sequences, numpy arrays, torch tensors), read into numpy and given back."""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import AdvantageError

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Numbers: TypeAlias = NDArray[np.intp]

# torch may not be there, so no narrower type can be written down.
Values: TypeAlias = Any
"""A sequence of numbers and None, a 1-D numpy array, or a 1-D torch tensor."""

LIMIT = 1e30
"""Largest size of a number that is taken: its square stays finite, and so do all advantages."""


def is_tensor(values: Values) -> bool:
    """Whether it is a torch tensor; whoever holds one has imported torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def floats(values: Values, name: str) -> Floats:
    """Read one input as float64, undecided as NaN.

    Args:
        values: the input, of length N.
        name: what the caller calls it, for messages.

    Raises:
        AdvantageError: not flat, not numbers, infinite, larger than `LIMIT`, or NaN in a sequence.
    """
    if is_tensor(values):
        array = values.detach().cpu().double().numpy()
    elif isinstance(values, np.ndarray) and values.dtype != object:
        array = values
    else:
        array = _from_sequence(values, name)
    if array.ndim != 1:
        raise AdvantageError(f"`{name}` must be flat, one value per response; its shape is {array.shape}")
    if array.dtype.kind not in "biuf":
        raise AdvantageError(f"`{name}` must hold numbers, or None where undecided")
    numbers: Floats = array.astype(np.float64)
    for i in np.flatnonzero(np.abs(numbers) > LIMIT)[:1]:
        raise AdvantageError(f"`{name}[{i}]` is {numbers[i]:g}; numbers must be finite and within ±{LIMIT:g}")
    return numbers


def _from_sequence(values: Iterable[Any], name: str) -> NDArray[Any]:
    try:
        items = list(values)
        array = np.array([math.nan if item is None else item for item in items])
    except (TypeError, ValueError):
        raise AdvantageError(f"`{name}` must be a flat sequence of numbers and None") from None
    if array.ndim == 1 and array.dtype.kind == "f":
        for i in np.flatnonzero(np.isnan(array)):
            if items[i] is not None:
                raise AdvantageError(f"`{name}[{i}]` is NaN; in a sequence an undecided value is None")
    return array


def flags(values: Values, name: str) -> Flags:
    """Read one input of true and false (or 1 and 0); raises `AdvantageError` for anything else."""
    array = floats(values, name)
    for i in np.flatnonzero((array != 0) & (array != 1))[:1]:
        found = "undecided" if np.isnan(array[i]) else f"{array[i]:g}"
        raise AdvantageError(f"`{name}[{i}]` is {found}; it must be true or false")
    return array.astype(np.bool_)


def group_numbers(groups: Values) -> tuple[Numbers, list[Hashable]]:
    """Number the groups by first appearance.

    Returns:
        The group number of each response, shape (N,), and the id that each number stands for.

    Raises:
        AdvantageError: not a flat sequence of hashable ids.
    """
    numbers: dict[Hashable, int] = {}
    try:
        ids = groups.tolist() if hasattr(groups, "tolist") else groups
        group = np.array([numbers.setdefault(id, len(numbers)) for id in ids], dtype=np.intp)
    except TypeError:
        raise AdvantageError("`groups` must be a flat sequence of hashable group ids") from None
    return group, list(numbers)


def like(form: Values, values: Floats) -> Values:
    """Give `values` the type of `form`: list, array of its float dtype, or tensor of its dtype and device.

    Integer and boolean arrays give float64, such tensors torch's default dtype.

    Raises:
        AdvantageError: a value is too large for a half-precision dtype.
    """
    if is_tensor(form):
        torch = sys.modules["torch"]
        dtype = form.dtype if form.dtype.is_floating_point else torch.get_default_dtype()
        _check_fit(values, float(torch.finfo(dtype).max), dtype)
        return torch.from_numpy(values).to(dtype).to(form.device)
    if isinstance(form, np.ndarray):
        dtype = form.dtype if form.dtype.kind == "f" else np.dtype(np.float64)
        _check_fit(values, float(np.finfo(dtype).max), dtype)
        return values.astype(dtype)
    return values.tolist()


def _check_fit(values: Floats, largest: float, dtype: object) -> None:
    if (found := np.abs(values).max(initial=0.0)) > largest:
        raise AdvantageError(f"an advantage of size {found:g} does not fit {dtype}; use float32 or float64")


def number(value: object, name: str, at_least: float = -LIMIT) -> float:
    """Read one parameter; raises `AdvantageError` unless it is a number from `at_least` to `LIMIT`."""
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        found = float(value)
        if at_least <= found <= LIMIT:
            return found
    floor = "" if at_least == -LIMIT else f" of at least {at_least:g}"
    raise AdvantageError(f"`{name}` must be a finite number{floor}, not {value!r}")


def whole_number(value: object, name: str, at_most: int = 10_000) -> int:
    """Read one parameter that counts; raises `AdvantageError` unless it is an integer in 0..`at_most`."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= value <= at_most:
        return int(value)
    raise AdvantageError(f"`{name}` must be a whole number from 0 to {at_most}, not {value!r}")


def switch(value: object, name: str) -> bool:
    """Read one parameter that is true or false; raises `AdvantageError` for anything else."""
    if isinstance(value, bool):
        return value
    raise AdvantageError(f"`{name}` must be true or false, not {value!r}")
