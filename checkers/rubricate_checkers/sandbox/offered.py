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


CONSTANTS = {
    name: value for name in sorted(_public(string)) if isinstance(value := getattr(string, name), str)
}
"""The constants of `string`, which Monty has not; they are handed over."""

STATISTICS = ("fmean", "mean", "median", "median_high", "median_low", "mode", "pstdev", "pvariance", "stdev")
"""What is offered of `statistics`; the calls are answered outside the sandbox, over plain numbers."""

_RE = frozenset({
    "compile", "error", "escape", "findall", "finditer", "fullmatch", "match", "Match", "Pattern",
    "search", "split", "sub", "subn", "A", "ASCII", "DOTALL", "I", "IGNORECASE", "M", "MULTILINE",
    "NOFLAG", "S", "U", "UNICODE", "VERBOSE", "X",
})  # fmt: skip

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
    "re": _RE,
    "statistics": frozenset(STATISTICS),
    "string": frozenset(CONSTANTS),
    "typing": frozenset({"Any", "Callable", "Dict", "List", "Optional", "Set", "Tuple", "Union"}),
    "unicodedata": frozenset({"category", "combining", "is_normalized", "lookup", "name", "normalize"}),
}
"""The modules that a rule may import, and their names."""

BUILTINS = frozenset({
    "abs", "all", "any", "bin", "bool", "bytes", "chr", "dict", "divmod", "enumerate", "filter",
    "float", "frozenset", "hash", "hex", "int", "isinstance", "iter", "len", "list", "map", "max",
    "min", "next", "oct", "ord", "pow", "print", "range", "repr", "reversed", "round", "set", "slice",
    "sorted", "str", "sum", "tuple", "type", "zip", "ArithmeticError", "AssertionError",
    "AttributeError", "BaseException", "Ellipsis", "Exception", "False", "ImportError", "IndexError",
    "KeyError", "LookupError", "MemoryError", "ModuleNotFoundError", "NameError", "None",
    "NotImplemented", "NotImplementedError", "OSError", "OverflowError", "RecursionError",
    "RuntimeError", "StopIteration", "SyntaxError", "TimeoutError", "True", "TypeError",
    "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "ValueError", "ZeroDivisionError",
    "__name__",
})  # fmt: skip
"""The built-in names that a rule may use; the other ones of CPython are refused, what is none is its own."""

REPLACED = frozenset({"enumerate", "filter", "map", "max", "min", "reversed", "round", "sorted", "zip"})
"""Built-in functions that Monty has otherwise; the prelude has them as `_rb_<name>`."""


def _methods(example: object) -> set[str]:
    return {name for name in _public(type(example)) if callable(getattr(example, name, None))}


_VALUES: tuple[object, ...] = (
    "",
    b"",
    [],
    (),
    {},
    set(),
    0,
    0.0,
    Counter(),
    defaultdict(int),
    deque(),
    re.compile(""),
)

METHODS = frozenset().union(*map(_methods, _VALUES), _methods(re.match("", "")))
"""Methods of built-in types. Monty can call them, but cannot hand one over uncalled."""

_HAVE = frozenset({
    "astimezone", "date", "day", "days", "fromisoformat", "hour", "isoformat", "isoweekday", "max",
    "microsecond", "microseconds", "min", "minute", "month", "now", "replace", "second", "seconds",
    "strftime", "strptime", "time", "timestamp", "today", "total_seconds", "tzinfo", "utcoffset",
    "weekday", "year",
})  # fmt: skip
_OF_DATES = _public(datetime.datetime) | _public(datetime.timedelta)

GAPS = (_OF_DATES - _HAVE - METHODS) | frozenset({
    "as_integer_ratio", "bit_count", "bit_length", "conjugate", "default_factory", "denominator",
    "difference_update", "endpos", "expand", "format_map", "from_bytes", "fromhex", "groupindex",
    "imag", "intersection_update", "lastgroup", "lastindex", "move_to_end", "numerator", "real",
    "regs", "scanner", "symmetric_difference_update", "to_bytes",
})  # fmt: skip
"""Attributes of built-in types that Monty lacks, refused unless the rule defines such a name itself."""

SPECIAL_METHODS = frozenset({"__init__", "__repr__", "__str__", "__call__", "__getitem__"})
"""What a rule's own class may define; Monty overlooks most of the others."""


def is_builtin(name: str) -> bool:
    """Whether CPython has a built-in of that name."""
    return hasattr(builtins, name)
