"""What can be wrong with a request for advantages.

ValueError
└── AdvantageError        the input cannot be read: says which input, where, and what to do
    └── NeedsAllScores    the method needs scores that gating left out
"""

from __future__ import annotations


class AdvantageError(ValueError):
    """An input, parameter or method name that advantages cannot be computed from."""


class NeedsAllScores(AdvantageError):
    """A method that uses every response's quality met a response that was never judged."""
