"""Deterministic checks on responses: text in, verdict out.

    >>> from rubricate_checkers import Text, build, evaluate
    >>> check = build("length_constraints:number_words", {"relation": "at least", "num_words": 3})
    >>> evaluate(Text("two words"), check).holds
    False

No network, no event loop. Importing registers every suite; nltk and language profiles are loaded when
the first check needs them, or by `warm_up`.
"""

from . import suites as suites
from .check import CatalogueEntry, Check, Example, Span, build, catalogue, describe
from .errors import BadKwargs, CheckerError, MissingData, RuleError, UnknownCheck, UnsupportedRule
from .evaluate import Verdict, evaluate, warm_up
from .loose import Rescue
from .text import Text

__all__ = [
    "BadKwargs",
    "CatalogueEntry",
    "Check",
    "CheckerError",
    "Example",
    "MissingData",
    "Rescue",
    "RuleError",
    "Span",
    "Text",
    "UnknownCheck",
    "UnsupportedRule",
    "Verdict",
    "build",
    "catalogue",
    "describe",
    "evaluate",
    "warm_up",
]
