"""The benchmarks that `rubricate eval` knows."""

from __future__ import annotations

from enum import StrEnum


class Benchmark(StrEnum):
    """A benchmark by name."""

    IFEVAL = "ifeval"
    IFBENCH = "ifbench"
    MULDIMIF = "muldimif"

    @property
    def row_format(self) -> str:
        """The format of its rows, among those that can be imported."""
        return "muldimif" if self is Benchmark.MULDIMIF else "ifeval"
