"""RDAN from numbers that a trainer has carried along with its samples."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from rubricate_clients.adapters._settings import RDANParameters
from rubricate_clients.advantages import Advantages, rdan


def rdan_of(
    groups: Sequence[Hashable], rows: Sequence[Mapping[str, float]], parameters: RDANParameters
) -> Advantages:
    """RDAN's advantages of samples whose groups are whole.

    Args:
        groups: Key of each sample's group; samples with equal keys are compared, in whatever order they are.
        rows: The numbers of each sample, as `Score.numbers` gives them.
        parameters: RDAN's.

    Returns:
        Lists of floats, in the order of the samples; 0.0 for those that are not valid.

    Raises:
        KeyError: A row lacks one of the numbers.
    """
    return rdan(
        list(groups),
        outcome=[row["outcome"] if row["valid"] else None for row in rows],
        quality=[row["quality"] if row["quality_valid"] else None for row in rows],
        eligible=[bool(row["eligible"]) for row in rows],
        valid=[bool(row["valid"]) for row in rows],
        quality_weight=parameters.quality_weight,
        sigma_floor=parameters.sigma_floor,
    )
