"""As much of torch's tensors as the hooks use, on numpy: torch itself is only in the trainers' own tests."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np


class Tensor(np.ndarray[Any, Any]):
    """An array with the methods of a tensor."""

    def new_tensor(self, values: Sequence[float]) -> Tensor:
        """A tensor of these values with this one's type."""
        return np.asarray(values, dtype=self.dtype).view(Tensor)

    def unsqueeze(self, dim: int) -> Tensor:
        """One more axis, of size 1."""
        return np.expand_dims(self, dim).view(Tensor)


def tensor(values: Any, dtype: Any = np.float32) -> Tensor:
    """A tensor of these values."""
    return np.array(values, dtype=dtype).view(Tensor)


def stub_torch() -> ModuleType:
    """A module to stand in for torch where it is imported."""
    torch: Any = ModuleType("torch")
    torch.Tensor, torch.tensor = Tensor, tensor
    torch.float32, torch.int32, torch.bool = np.float32, np.int32, np.bool_
    torch.zeros_like = lambda values, dtype=None: np.zeros_like(values, dtype=dtype)
    stub: ModuleType = torch
    return stub
