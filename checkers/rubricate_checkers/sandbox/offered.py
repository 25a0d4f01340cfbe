"""What a rule may use, as measured on pydantic-monty 1.4, and what it may not."""

from __future__ import annotations

import builtins
import datetime
import itertools
import math
import random
import re
import string
from collections import Counter, defaultdict, deque

__all__ = [
    "BUILTINS",
    "CONSTANTS",
    "GAPS",
    "METHODS",
    "MODULES",
    "REPLACED",
    "SPECIAL_METHODS",
    "STATISTICS",
    "is_builtin",
]


def _public(module: object, *lacking: str) -> frozenset[str]:
    return frozenset(name for name in dir(module) if not name.startswith("_")) - frozenset(lacking)


CONSTANTS = {name: getattr(string, name) for name in dir(string) if isinstance(getattr(string, name), str)}
"""The constants of `string`, which Monty has not; they are handed over."""

STATISTICS = ("fmean", "mean", "median", "median_high", "median_low", "mode", "pstdev", "pvariance", "stdev")
"""What is offered of `statistics`; the calls are answered outside the sandbox, over plain numbers."""

_RE = (
    *(
        "compile",
        "error",
        "escape",
        "findall",
        "finditer",
        "fullmatch",
        "match",
        "search",
        "split",
        "sub",
        "subn",
    ),
    *(
        "A",
        "ASCII",
        "DOTALL",
        "I",
        "IGNORECASE",
        "M",
        "MULTILINE",
        "NOFLAG",
        "S",
        "U",
        "UNICODE",
        "VERBOSE",
        "X",
    ),
)

MODULES: dict[str, frozenset[str]] = {
    "bisect": frozenset({"bisect", "bisect_left", "bisect_right", "insort", "insort_left", "insort_right"}),
    "collections": frozenset({"Counter", "OrderedDict", "defaultdict", "deque", "namedtuple"}),
    "copy": frozenset({"copy", "deepcopy"}),
    "dataclasses": frozenset({"dataclass", "field"}),
    "datetime": frozenset({"date", "datetime", "time", "timedelta", "timezone"}),
    "functools": frozenset({"cache", "lru_cache", "partial", "reduce"}),
    "itertools": _public(itertools, "batched"),
    "json": frozenset({"JSONDecodeError", "dumps", "loads"}),
    "math": _public(math, "fma", "sumprod"),
    "random": _public(random, "SystemRandom"),
    "re": frozenset(_RE),
    "statistics": frozenset(STATISTICS),
    "string": frozenset(CONSTANTS),
    "typing": frozenset({"Any", "Callable", "Dict", "List", "Optional", "Set", "Tuple", "Union"}),
    "unicodedata": frozenset({"category", "combining", "is_normalized", "lookup", "name", "normalize"}),
}
"""The modules that a rule may import, and their names."""

BUILTINS = frozenset(
    [
        *("abs", "all", "any", "bin", "bool", "bytes", "chr", "dict", "divmod", "enumerate", "filter"),
        *(
            "float",
            "frozenset",
            "hash",
            "hex",
            "int",
            "isinstance",
            "iter",
            "len",
            "list",
            "map",
            "max",
            "min",
        ),
        *(
            "next",
            "oct",
            "ord",
            "pow",
            "print",
            "range",
            "repr",
            "reversed",
            "round",
            "set",
            "slice",
            "sorted",
        ),
        *("str", "sum", "tuple", "type", "zip", "True", "False", "None", "NotImplemented", "Ellipsis"),
        *("ArithmeticError", "AssertionError", "AttributeError", "BaseException", "Exception", "ImportError"),
        *("IndexError", "KeyError", "LookupError", "MemoryError", "ModuleNotFoundError", "NameError"),
        *(
            "NotImplementedError",
            "OSError",
            "OverflowError",
            "RecursionError",
            "RuntimeError",
            "StopIteration",
        ),
        *("SyntaxError", "TimeoutError", "TypeError", "UnboundLocalError", "UnicodeDecodeError"),
        *("UnicodeEncodeError", "ValueError", "ZeroDivisionError", "__name__"),
    ]
)
"""The built-in names that a rule may use; the other ones of CPython are refused, what is none is its own."""

REPLACED = frozenset({"enumerate", "filter", "map", "max", "min", "reversed", "round", "sorted", "zip"})
"""Built-in functions that Monty lacks, or computes at once or otherwise; the prelude has them as `_rb_<name>`."""


def _methods(example: object) -> set[str]:
    return {name for name in _public(type(example)) if callable(getattr(example, name, None))}


_VALUES = ("", b"", [], (), {}, set(), 0, 0.0, Counter(), defaultdict(int), deque(), re.compile(""))

METHODS = frozenset().union(*map(_methods, _VALUES), _methods(re.match("", "")))
"""Methods of built-in types. Monty can call them, but cannot hand one over uncalled."""

_HAVE = {
    *("astimezone", "date", "day", "days", "hour", "isoformat", "isoweekday", "microsecond", "microseconds"),
    *(
        "minute",
        "month",
        "replace",
        "second",
        "seconds",
        "strftime",
        "strptime",
        "time",
        "timestamp",
        "today",
    ),
    *("total_seconds", "tzinfo", "utcoffset", "weekday", "year", "now", "fromisoformat", "min", "max"),
}
_OF_DATES = _public(datetime.datetime) | _public(datetime.timedelta)

GAPS = frozenset(
    [
        *("as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator", "from_bytes", "fromhex"),
        *("imag", "numerator", "real", "to_bytes", "format_map", "default_factory", "move_to_end"),
        *("difference_update", "intersection_update", "symmetric_difference_update", "expand", "lastgroup"),
        *("lastindex", "regs", "endpos", "scanner", "groupindex"),
        *(_OF_DATES - _HAVE - METHODS),
    ]
)
"""Attributes of built-in types that Monty lacks, refused unless the rule defines such a name itself."""

SPECIAL_METHODS = frozenset({"__init__", "__repr__", "__str__", "__call__", "__getitem__"})
"""What a rule's own class may define; Monty overlooks most of the others."""


def is_builtin(name: str) -> bool:
    """Whether CPython has a built-in of that name."""
    return hasattr(builtins, name)
