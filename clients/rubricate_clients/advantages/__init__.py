"""Advantages for policy gradients, from the numbers that `POST /v1/score` gives.

Everything is flat: one value per response, the responses of many groups in any order, and `groups`
says which group each belongs to. Values may be plain sequences (None = undecided), numpy arrays
(NaN = undecided) or torch tensors; the answer has the type of what came in. One implementation in
float64 numpy serves all three, and torch is never imported.

    >>> out = rdan(["p", "q", "p"], outcome=[1, 1, 0], quality=[0.5, None, None], eligible=[1, 1, 0])
    >>> [round(a, 4) for a in out.advantages]
    [0.7071, 0.0, -0.7071]
"""

from __future__ import annotations

from .channels import gdpo, rdan, rdan_ngrpo
from .compute import METHODS, compute
from .diagnostics import diagnostics
from .errors import AdvantageError, NeedsAllScores
from .result import Advantages
from .rewards import NGRPO_CLIP, dr_grpo, grpo, ngrpo, rloo
from .statistics import EPS
from .tokens import token_advantages

__all__ = [
    "EPS",
    "METHODS",
    "NGRPO_CLIP",
    "AdvantageError",
    "Advantages",
    "NeedsAllScores",
    "compute",
    "diagnostics",
    "dr_grpo",
    "gdpo",
    "grpo",
    "ngrpo",
    "rdan",
    "rdan_ngrpo",
    "rloo",
    "token_advantages",
]
