"""What runs inside the sandbox ahead of a rule: functions that Monty lacks, or has otherwise than CPython.

Names begin with `_rb_`. `_rb_translate_pattern` is answered by `regex.translate` outside. Where the
prelude cannot do as CPython does it notes why in `_rb_gaps`, so that no rule can hide it by catching
the exception. A rule is given only the part that it needs, since Monty reads it anew for every call.
"""

from __future__ import annotations

import ast
import re
from functools import cache

from . import prelude_re

__all__ = ["GAP_PREFIX", "with_prelude"]

GAP_PREFIX = "not offered: "
"""How the message of an exception begins that stands for a gap."""

_SOURCE = r"""
_rb_gaps = []


def _rb_gap(what):
    _rb_gaps.append(what)
    raise NotImplementedError("not offered: " + what)


def _rb_answer(value):
    return bool(value) if isinstance(value, int) else type(value).__name__


def _rb_round(number, ndigits=None):
    if ndigits is None or not isinstance(number, float) or ndigits < 0:
        return round(number, ndigits)
    return float(f"{number:.{ndigits}f}")


def _rb_map(function, *iterables):
    if len(iterables) == 1:
        return iter([function(item) for item in iterables[0]])
    return iter([function(*items) for items in zip(*iterables)])


def _rb_filter(function, iterable):
    return iter([item for item in iterable if (item if function is None else function(item))])


def _rb_zip(*iterables, strict=False):
    return iter(zip(*iterables, strict=strict))


def _rb_enumerate(iterable, start=0):
    return iter(enumerate(iterable, start))


def _rb_reversed(sequence):
    return iter(reversed(sequence))


def _rb_sorted(iterable, key=None, reverse=False):
    if key is None:
        return sorted(iterable, reverse=reverse)
    items = list(iterable)
    keys = [key(item) for item in items]
    # stable also when reversed
    order = sorted(range(len(items)), key=lambda place: keys[place], reverse=reverse)
    return [items[place] for place in order]


def _rb_extreme(choose, args, key, default):
    if key is None:
        return choose(*args, **default)
    items = list(args[0]) if len(args) == 1 else list(args)
    if not items:
        return choose(items, **default)
    keys = [key(item) for item in items]
    return items[keys.index(choose(keys))]


def _rb_max(*args, key=None, **default):
    return _rb_extreme(lambda *a, **k: max(*a, **k), args, key, default)


def _rb_min(*args, key=None, **default):
    return _rb_extreme(lambda *a, **k: min(*a, **k), args, key, default)


def _rb_any_of(test, iterable):
    for item in iterable:
        if test(item):
            return True
    return False


def _rb_all_of(test, iterable):
    for item in iterable:
        if not test(item):
            return False
    return True


def _rb_maketrans(x, y=None, z=""):
    if y is None:
        return {ord(key) if isinstance(key, str) else key: value for key, value in x.items()}
    if len(x) != len(y):
        raise ValueError("the first two maketrans arguments must have equal length")
    table = {ord(a): ord(b) for a, b in zip(x, y)}
    for char in z:
        table[ord(char)] = None
    return table


def _rb_translate(text, table):
    if not isinstance(text, str) or not isinstance(table, dict):
        _rb_gap("translate() of anything but a string with a dict")
    made = []
    for char in text:
        to = table.get(ord(char), char)
        if to is not None:
            made.append(chr(to) if isinstance(to, int) else to)
    return "".join(made)


def _rb_is_integer(number):
    return number - number == 0 and number == int(number)
"""


@cache
def _parts() -> list[tuple[str, str]]:
    """(name, source) of each definition, in order."""
    parts = []
    for node in ast.parse(_SOURCE + prelude_re.SOURCE).body:
        source = ast.unparse(node)
        found = _NAME.search(source)
        assert found is not None  # noqa: S101
        parts.append((found.group(), source))
    return parts


_NAME = re.compile(r"_rb_\w+")


def with_prelude(source: str) -> str:
    """A rewritten rule behind the definitions that it uses, directly or through others."""
    wanted = {"_rb_gaps", "_rb_answer", *_NAME.findall(source)}
    taken = []
    for name, part in reversed(_parts()):  # what a definition uses stands before it
        if name in wanted:
            wanted.update(_NAME.findall(part))
            taken.append(part)
    return "\n".join([*reversed(taken), source])
