"""Rules of a data set's kind that use the language: generators, functions, classes, statements."""

# ruff: noqa: E501
# Rules are written as data sets have them.
from __future__ import annotations

PROGRAMS = {
    "any does not go on": r"""
        return any(10 / len(w) < 2 for w in ['harbour', ''] if response)
    """,
    "all does not go on": r"""
        parts = response.split('\n')
        return all(p[0] != '#' for p in parts if p or p[1])
        return True
    """,
    "nested any": r"""
        return any(c == '!' for line in response.split('\n') for c in line if c != '?')
    """,
    "any over pairs": r"""
        return any(a == b and a for a, (b, _) in zip(response.split(), [('The', 1), ('row', 2)])) or any(i > 3 and c == 's' for i, c in enumerate(response))
    """,
    "next with default": r"""
        first = next((l for l in response.split('\n') if l.strip()), None)
        return first is not None and first.startswith('#')
    """,
    "iterator is used up": r"""
        it = iter(response.split())
        first = next(it, '')
        return first not in it and len(first) > 0
    """,
    "generator is used up": r"""
        g = (len(w) for w in response.split())
        return sum(g) > 0 and sum(g) == 0
    """,
    "map is used up": r"""
        m = map(len, response.split())
        list(m)
        return list(m) == [] and len(response) > 0
    """,
    "zip of one iterator": r"""
        it = iter(response.split())
        return any(a == b for a, b in zip(it, it))
    """,
    "walrus": r"""
        if (n := len(response.split())) > 10:
            return n < 30
        return False
    """,
    "walrus in comprehension": r"""
        return sum(n for w in response.split() if (n := len(w)) > 4) > 30
    """,
    "try and finally": r"""
        try:
            return int(response[-2:-1]) >= 0
        except ValueError:
            ok = False
        finally:
            response = response[:3]
        return ok or len(response) > 2
    """,
    "else of for": r"""
        for w in response.split():
            if w == 'tide':
                break
        else:
            return True
        return False
    """,
    "while": r"""
        i = 0
        while i < len(response) and response[i] != '.':
            i += 1
        return 5 < i < 30
    """,
    "unpacking": r"""
        first, *rest = response.split() or ['x']
        return len(rest) > 5 and [*rest, first][-1] == first
    """,
    "dict comprehension": r"""
        d = {w: len(w) for w in response.split()}
        return {**d, 'x': 1}['x'] == 1 and max(d.values(), default=0) > 7
    """,
    "set comprehension": r"""
        return len({c for c in response.lower() if c.isalpha()}) > 20
    """,
    "sort with key": r"""
        lines = response.split('\n')
        lines.sort(key=lambda l: (-len(l), l))
        return lines[0] == response.split('\n')[0]
    """,
    "sorted reversed": r"""
        w = response.split()
        return sorted(w, key=len, reverse=True)[:1] == w[:1] and len(w) > 0
    """,
    "regex within a key": r"""
        import re
        w = response.split()
        return bool(w) and max(w, key=lambda x: len(re.findall('[aeiou]', x))) != w[0]
    """,
    "regex within map": r"""
        import re
        return any(map(lambda w: re.fullmatch('[a-z]+', w), response.split()))
    """,
    "min and max": r"""
        w = response.split()
        return bool(w) and len(min(w, key=len)) == 1 and max(3, 4, key=lambda x: -x) == 3 and max(w) > min(w)
    """,
    "round": r"""
        return round(2.675, 2) == 2.67 and round(len(response) / 8) % 2 == 0 and round(0.15, 1) == 0.1
    """,
    "integer tests": r"""
        x = len(response) / 2
        return x.is_integer() and isinstance(len(response), int)
    """,
    "del": r"""
        d = {w: 1 for w in response.split()}
        if 'row' in d:
            del d['row']
        l = list(d)
        del l[:2]
        return len(l) > 8 and 'row' not in d
    """,
    "chained comparison": r"""
        return 50 < len(response) <= 110 != 80
    """,
    "conditional": r"""
        return (len(response) > 60 if 'a' in response else True) and not (response == '')
    """,
    "nested function": r"""
        total = 0
        def add(n):
            nonlocal total
            total += n
        for w in response.split():
            add(len(w))
        return total > 60
    """,
    "recursion": r"""
        def depth(s):
            return 0 if not s else 1 + depth(s[1:])
        return depth(response[:50]) == 50
    """,
    "class": r"""
        class Tally:
            def __init__(self, text):
                self.count = text.count('a')
            def enough(self):
                return self.count > 4
        return Tally(response).enough()
    """,
    "match statement": r"""
        match response.split()[:2]:
            case ['The', _]:
                return True
            case []:
                return True
            case _:
                return False
    """,
    "annotations": r"""
        from typing import Dict, List, Optional
        from collections.abc import Iterable
        counts: Dict[str, int] = {}
        def longest(words: List[str]) -> Optional[str]:
            return max(words, key=len) if words else None
        word: 'str | None' = longest(response.split())
        return word is not None and len(word) > 8
    """,
    "print": r"""
        print('checking', len(response))
        return len(response) > 3
    """,
    "unused import": r"""
        import os, sys, nltk
        return 'tide' in response
    """,
    "helper function": r"""
        return _count(response, 'a') > 3 and LIMIT < len(response)
    """,
    "default argument": r"""
        def at_least(n=3, *, word='row'):
            return response.count(word) >= n
        return at_least() and at_least(n=4)
    """,
    "integer verdict": r"""
        return response.count('tide')
    """,
    "string building": r"""
        out = ''
        for c in response:
            out += c.upper() if c.islower() else c.lower()
        return out.swapcase() == response
    """,
    "shadowed builtin": r"""
        sum = 0
        for list in response.split('\n'):
            sum += len(list)
        return sum > 70
    """,
    "lambda": r"""
        shout = lambda s, n=1: s.upper() + '!' * n
        return shout('row') in response or shout('we', 0) in response
    """,
    "assertion": r"""
        try:
            assert len(response) > 30, 'short'
        except AssertionError as e:
            return str(e) != 'short'
        return True
    """,
    "bytes": r"""
        return b'tide' in response.encode() and bytes(3) == b'\x00\x00\x00'
    """,
    "operators": r"""
        n = len(response)
        return (n // 3) * 3 + n % 3 == n and divmod(n, 7) == (n // 7, n % 7) and (n ^ 1) & 2 and -7 // 2 == -4
    """,
    "isinstance of several": r"""
        return isinstance(response or None, (str, bytes)) and type(response) is str and not isinstance(1.5, int)
    """,
    "bound count in map": r"""
        return sum(map(response.count, 'aeiouAEIOU')) > 25
    """,
    "guarded cases": r"""
        marks = 0
        for char in response:
            match char:
                case '.' | '!' | '?':
                    marks += 1
                case _ if char.isdigit():
                    marks += 2
        return marks > 5
    """,
    "may divide by nothing": r"""
        words = response.split()
        return round(sum(len(w) for w in words) / len(words), 1) >= 4.5
    """,
}
