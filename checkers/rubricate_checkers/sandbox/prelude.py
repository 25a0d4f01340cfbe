"""What runs inside the sandbox ahead of a rule: functions that Monty lacks, or has otherwise than CPython.

Names begin with `_rb_`. `_rb_translate_pattern` is answered by `regex.translate` outside. Where the
prelude cannot do as CPython does it notes why in `_rb_gaps`, so that no rule can hide it by catching
the exception. A rule is given only the part that it needs, since Monty reads it anew for every call.
"""

from __future__ import annotations

import ast
import re
from functools import cache

__all__ = ["GAP_PREFIX", "with_prelude"]

GAP_PREFIX = "not offered: "
"""How the message of an exception begins that stands for a gap."""

_SOURCE = r"""
import re as _rb_native

_rb_gaps = []


def _rb_gap(what):
    _rb_gaps.append(what)
    raise NotImplementedError("not offered: " + what)


def _rb_answer(value):
    return bool(value) if isinstance(value, int) else type(value).__name__


_rb_template_part = _rb_native.compile(r"\\(?:g<([A-Za-z0-9_]+)>|([1-9][0-9]?)|(.))")
_rb_escapes = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "b": "\b", "\\": "\\"}


def _rb_template(repl):
    parts = []
    done = 0
    for found in list(_rb_template_part.finditer(repl)):
        parts.append(repl[done : found.start()])
        done = found.end()
        group = found.group(1) or found.group(2)
        if group:
            parts.append((int(group) if group.isdigit() else group,))
        elif found.group(3) in _rb_escapes:
            parts.append(_rb_escapes[found.group(3)])
        elif found.group(3).isalnum():
            _rb_gap("the replacement " + repr(repl))
        else:
            parts.append(found.group())
    parts.append(repl[done:])
    return lambda match: "".join([p if isinstance(p, str) else match.group(p[0]) or "" for p in parts])


class _rb_Pattern:
    def __init__(self, pattern, flags):
        try:
            state, written, self.successive = _rb_translate_pattern(pattern, flags)
        except NotImplementedError:
            _rb_gap("a regular expression made inside a callback")
        if state == "gap":
            _rb_gap(written)
        if state == "error":
            raise _rb_native.error(written)
        try:
            self.native = _rb_native.compile(written)
        except _rb_native.error as error:
            _rb_gap("the regular expression " + repr(pattern) + " (" + str(error) + ")")
        self.pattern = pattern
        self.flags = flags

    def _find(self, find, string, span=()):
        if span:
            _rb_gap("a search from or to a position")
        try:
            return find(string)
        except _rb_native.error as error:
            _rb_gap("the regular expression " + repr(self.pattern) + " on this text (" + str(error) + ")")

    def _series(self, find, string, span=()):
        if not self.successive:
            _rb_gap("all matches of " + repr(self.pattern) + ", which can match nothing")
        return self._find(find, string, span)

    def search(self, string, *span):
        return self._find(lambda string: self.native.search(string), string, span)

    def match(self, string, *span):
        return self._find(lambda string: self.native.match(string), string, span)

    def fullmatch(self, string, *span):
        return self._find(lambda string: self.native.fullmatch(string), string, span)

    def findall(self, string, *span):
        return self._series(lambda string: self.native.findall(string), string, span)

    def finditer(self, string, *span):
        return iter(self._series(lambda string: list(self.native.finditer(string)), string, span))

    def split(self, string, maxsplit=0):
        return self._series(lambda string: self.native.split(string, maxsplit), string)

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def subn(self, repl, string, count=0):
        # a match of nothing that is replaced by nothing changes nothing
        find = self._find if repl == "" and count == 0 else self._series
        made = []
        done = 0
        matches = find(lambda string: list(self.native.finditer(string)), string)
        if count > 0:
            matches = matches[:count]
        if isinstance(repl, str) and "\\" in repl:
            repl = _rb_template(repl)
        for match in matches:
            made.append(string[done : match.start()])
            made.append(repl if isinstance(repl, str) else repl(match))
            done = match.end()
        made.append(string[done:])
        return "".join(made), len(matches)


_rb_compiled = {}


class _rb_Re:
    error = _rb_native.error
    NOFLAG = 0
    I = 2
    IGNORECASE = 2
    M = 8
    MULTILINE = 8
    S = 16
    DOTALL = 16
    U = 32
    UNICODE = 32
    X = 64
    VERBOSE = 64
    A = 256
    ASCII = 256

    def compile(self, pattern, flags=0):
        if isinstance(pattern, _rb_Pattern):
            return pattern
        key = (pattern, flags)
        if key not in _rb_compiled:
            _rb_compiled[key] = _rb_Pattern(pattern, flags)
        return _rb_compiled[key]

    def search(self, pattern, string, flags=0):
        return self.compile(pattern, flags).search(string)

    def match(self, pattern, string, flags=0):
        return self.compile(pattern, flags).match(string)

    def fullmatch(self, pattern, string, flags=0):
        return self.compile(pattern, flags).fullmatch(string)

    def findall(self, pattern, string, flags=0):
        return self.compile(pattern, flags).findall(string)

    def finditer(self, pattern, string, flags=0):
        return self.compile(pattern, flags).finditer(string)

    def split(self, pattern, string, maxsplit=0, flags=0):
        return self.compile(pattern, flags).split(string, maxsplit)

    def sub(self, pattern, repl, string, count=0, flags=0):
        return self.compile(pattern, flags).sub(repl, string, count)

    def subn(self, pattern, repl, string, count=0, flags=0):
        return self.compile(pattern, flags).subn(repl, string, count)

    def escape(self, pattern):
        return _rb_native.escape(pattern)


_rb_re = _rb_Re()


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
    for node in ast.parse(_SOURCE).body:
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
