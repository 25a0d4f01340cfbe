"""From one advantage per response to one per token, as trainers' losses take it."""

from __future__ import annotations

import numpy as np

from .arrays import Values, floats, is_tensor, like
from .errors import AdvantageError


def token_advantages(advantages: Values, response_mask: Values) -> Values:
    """Give every token of a response the response's advantage, and 0 to all other positions.

    Args:
        advantages: one finite number per response, shape (B,): a sequence, an array or a tensor on any
            device.
        response_mask: 1 (or true) where a position is a token of the response, 0 elsewhere; shape (B, T),
            an array or a tensor on any device.

    Returns:
        Shape (B, T): a tensor on the mask's device where the mask is a tensor, else an array. Its dtype
        is the advantages' where those are of the mask's kind, else the mask's; where that is no float
        dtype, it is float64 for arrays and torch's default for tensors.

    Raises:
        AdvantageError: the shapes do not fit, an advantage is not finite, or a mask holds other numbers.
    """
    values = floats(advantages, "advantages")
    if np.isnan(values).any():
        raise AdvantageError("`advantages` must all be decided; what was not scored has the advantage 0")
    shape = tuple(response_mask.shape) if hasattr(response_mask, "shape") else None
    if shape is None or len(shape) != 2 or shape[0] != len(values):
        raise AdvantageError(
            f"`response_mask` must be an array or tensor of shape ({len(values)}, T), one row per "
            f"advantage, and is {type(response_mask).__name__ if shape is None else shape}"
        )
    on = response_mask != 0
    if not bool(((response_mask == 1) | ~on).all()):
        raise AdvantageError("`response_mask` must hold nothing but 0 and 1")
    alike = hasattr(advantages, "dtype") and is_tensor(advantages) == is_tensor(response_mask)
    column = like(advantages if alike else response_mask, values)[:, None]
    if is_tensor(response_mask):
        column = column.to(response_mask.device)
        return column.where(on, column.new_zeros(()))
    return np.where(on, column, column.dtype.type(0))
