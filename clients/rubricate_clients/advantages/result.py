"""What every method gives back."""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import Floats, Values, like
from .batch import Batch


@dataclass(frozen=True, slots=True)
class Advantages:
    """Advantages of N responses, finite, in the input's order and of the input's type.

    That type is the type of the first given of outcome, reward, quality: a list for a sequence, an
    array of the same float dtype, a tensor of the same float dtype on the same device.
    """

    advantages: Values
    a_out: Values
    """The outcome channel alone, unweighted; None where the method has no channels."""
    a_proc: Values
    """The quality channel alone, unweighted; None where the method has no channels."""


def answer(
    batch: Batch, advantages: Floats, a_out: Floats | None = None, a_proc: Floats | None = None
) -> Advantages:
    """Give the results the type of the call's input."""
    return Advantages(
        advantages=like(batch.form, advantages),
        a_out=None if a_out is None else like(batch.form, a_out),
        a_proc=None if a_proc is None else like(batch.form, a_proc),
    )
