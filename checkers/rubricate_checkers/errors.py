"""What can go wrong with a check, named by who is at fault.

    CheckerError
    ├── UnknownCheck       the rubric names a check that does not exist
    ├── BadKwargs          the rubric's kwargs do not say what to check
    ├── UnsupportedRule    a dataset's rule uses what the sandbox does not offer
    ├── RuleError          a dataset's rule raised, or answered what is no verdict
    └── MissingData        this installation lacks a resource that the check reads

A response is never at fault: one that a check cannot digest simply does not hold. Every error
survives pickling, since checks run in worker processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

__all__ = ["BadKwargs", "CheckerError", "MissingData", "RuleError", "UnknownCheck", "UnsupportedRule"]


Kind = Literal["unknown_check", "bad_kwargs", "unsupported_rule", "rule_error", "missing_data"]


class CheckerError(Exception):
    """A check that cannot be built or cannot decide.

    Attributes:
        kind: The failure kind on the wire.
        message: One sentence for people: what is wrong and what to do.
        path: Where in the rubric (`check`, `kwargs.num_words`), or None when it is nowhere in it.
    """

    kind: ClassVar[Kind]

    def __init__(self, message: str, path: str | None = None) -> None:
        super().__init__(message, path)
        self.message = message
        self.path = path

    def __str__(self) -> str:
        return self.message if self.path is None else f"{self.path}: {self.message}"


class UnknownCheck(CheckerError):
    """The rubric names a check that does not exist."""

    kind = "unknown_check"


class BadKwargs(CheckerError):
    """The rubric's kwargs do not say what to check.

    Attributes:
        faults: Every fault as (path, message), such as `("kwargs.num_words", "is missing")`.
    """

    kind = "bad_kwargs"

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        first_path, first_message = faults[0]
        others = "".join(f"; {path}: {message}" for path, message in faults[1:])
        super().__init__(first_message + others, first_path)
        self.args = (faults,)
        self.faults = tuple(faults)


class UnsupportedRule(CheckerError):
    """A dataset's rule uses what the sandbox does not offer."""

    kind = "unsupported_rule"


class RuleError(CheckerError):
    """A dataset's rule raised, or answered something that is no verdict."""

    kind = "rule_error"


class MissingData(CheckerError):
    """This installation lacks a resource that the check reads."""

    kind = "missing_data"
