"""The methods with two channels: outcome and quality, standardised apart and then added."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .arrays import Values, number, switch, whole_number
from .batch import need, read
from .errors import AdvantageError
from .result import Advantages, answer
from .statistics import negative_enhanced, z_scores


def rdan(
    groups: Values,
    *,
    outcome: Values,
    quality: Values,
    eligible: Values,
    valid: Values = None,
    quality_weight: float = 1.0,
    sigma_floor: float = 0.0,
) -> Advantages:
    """RDAN: outcome over all valid responses, plus quality over the eligible ones only.

    A = z(outcome; valid) + quality_weight * z(quality; C), where C = valid, eligible, quality decided.
    A response that breaks a hard rubric never gains by its prose, and its quality is never looked at:
    scores gated to eligible responses give the same advantages as scores of all.

    Source: PAPO (arXiv 2603.26535) and RDAN-GRPO, as their authors' code has it.

    Args:
        groups: group id of each response, N hashables or integers.
        outcome: in [0, 1], undecided where the hard rubrics are.
        quality: in [0, 1], undecided where there is none, or it was not judged, or the judge failed.
        eligible: whether all hard rubrics hold. Taken apart from the outcome, which may be shaped.
        valid: whether the response counts at all; by default, whether its outcome is decided.
        quality_weight: PAPO's lambda, any finite number; its scripts use 0.4 to 1.
        sigma_floor: least std that quality is divided by, 0 or more. With |C| = 2 the quality channel is
            ±0.707 however small the gap; a floor (say 0.05) tames that.

    Raises:
        AdvantageError: an input or parameter is missing, unreadable, or of another length.
    """
    need("rdan", outcome=outcome, quality=quality, eligible=eligible)
    weight = number(quality_weight, "quality_weight")
    floor = number(sigma_floor, "sigma_floor", at_least=0.0)
    batch = read(groups, outcome=outcome, quality=quality, eligible=eligible, valid=valid)
    a_out = z_scores(batch.outcome, batch.group, batch.valid)
    a_proc = z_scores(batch.quality, batch.group, batch.candidates, floor)
    return answer(batch, a_out + weight * a_proc, a_out, a_proc)


def rdan_ngrpo(
    groups: Values,
    *,
    outcome: Values,
    quality: Values,
    eligible: Values,
    valid: Values = None,
    quality_weight: float = 1.0,
    sigma_floor: float = 0.0,
    r_max: float = 1.0,
    virtual: int = 1,
) -> Advantages:
    """RDAN with NGRPO on the outcome, so that a group where all fail still teaches.

    A = NGRPO(outcome; valid) + quality_weight * z(quality; C). Arguments, ranges and errors are those
    of `rdan` and `ngrpo`.
    """
    need("rdan_ngrpo", outcome=outcome, quality=quality, eligible=eligible)
    weight = number(quality_weight, "quality_weight")
    floor = number(sigma_floor, "sigma_floor", at_least=0.0)
    top, extra = number(r_max, "r_max"), whole_number(virtual, "virtual")
    batch = read(groups, outcome=outcome, quality=quality, eligible=eligible, valid=valid)
    a_out = negative_enhanced(batch.outcome, batch.group, batch.valid, top, extra)
    a_proc = z_scores(batch.quality, batch.group, batch.candidates, floor)
    return answer(batch, a_out + weight * a_proc, a_out, a_proc)


def gdpo(
    groups: Values,
    *,
    outcome: Values,
    quality: Values,
    eligible: Values = None,
    valid: Values = None,
    weights: Sequence[float] = (1.0, 1.0),
    whiten: bool = True,
) -> Advantages:
    """GDPO: each channel standardised over the whole group, then summed, then whitened over the call.

    A = w_0 * z(outcome; valid) + w_1 * z(quality; valid with a decided quality); with `whiten`, A is
    then standardised once more (z) over all valid responses of the call.

    Unlike RDAN it reads the quality of responses that are not eligible. Those must have been judged too;
    an eligible response without quality beside others with one is a failed judge, and gets 0 in that
    channel alone. In a group where nobody has a quality that channel is 0, so A is the weighted outcome
    channel: that is a group without soft rubrics.

    Source: GDPO (arXiv 2601.05242), with this package's std, EPS and guard.

    Args:
        groups: group id of each response, N hashables or integers.
        outcome: in [0, 1], undecided where the hard rubrics are.
        quality: in [0, 1], undecided where there is none or the judge failed.
        eligible: whether all hard rubrics hold; by default, whether the outcome is 1.
        valid: whether the response counts at all; by default, whether its outcome is decided.
        weights: of outcome and quality, two finite numbers.
        whiten: whether to standardise over the call, which makes its groups depend on each other.

    Raises:
        NeedsAllScores: the quality of a response that is not eligible was left out by gating.
        AdvantageError: an input or parameter is missing, unreadable, or of another length.
    """
    need("gdpo", outcome=outcome, quality=quality)
    w_out, w_proc = _pair(weights)
    whitened = switch(whiten, "whiten")
    batch = read(groups, outcome=outcome, quality=quality, eligible=eligible, valid=valid)
    batch.refuse_gated(batch.valid, "gdpo")
    a_out = z_scores(batch.outcome, batch.group, batch.valid)
    a_proc = z_scores(batch.quality, batch.group, batch.valid & ~np.isnan(batch.quality))
    total = w_out * a_out + w_proc * a_proc
    if whitened:
        total = z_scores(total, np.zeros_like(batch.group), batch.valid)
    return answer(batch, total, a_out, a_proc)


def _pair(weights: Sequence[float]) -> tuple[float, float]:
    try:
        w_out, w_proc = weights
    except (TypeError, ValueError):
        raise AdvantageError(f"`weights` must be two numbers, (outcome, quality), not {weights!r}") from None
    return number(w_out, "weights[0]"), number(w_proc, "weights[1]")
