"""What is `re` to a rule inside the sandbox: the engine there, given patterns that `regex` translated."""

__all__ = ["SOURCE"]

SOURCE = r"""
import re as _rb_native


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
    Match = _rb_native.Match
    Pattern = _rb_Pattern
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
"""
