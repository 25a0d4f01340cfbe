"""Rules of the kinds that data sets hold, each against CPython's own answer."""

# ruff: noqa: E501
# Rules are written as data sets have them.
from __future__ import annotations

import contextlib
import io
import textwrap
import warnings
from typing import Any

import pytest

from rubricate_checkers.errors import RuleError
from rubricate_checkers.sandbox import compile_rule, run_rule

INSTRUCTION = "Write three short paragraphs about the harbour, in English, with a list of boats."

TEXTS = [
    "",
    "The harbour is quiet. Boats sleep at the quay! Who wakes them? Nobody does.\n",
    "# Harbour\n\nThe tide is low.\n\n- skiff\n- dory\n* punt\n\n1. Out\n2. Back\n\n## Night\nStars: 12, ships: 3.",
    '{"answer": "low", "boats": ["skiff", "dory"], "depth": 2.5}',
    "WE SAIL AT DAWN, AND WE SAIL FAR. P.S. Bring 20 ropes & 3 lamps (2 spare); cost: $1,250.50 or 15%.",
    "Die Fähre legt um 08:30 ab. Straße, café, naïve: ½ Liter. 你好,世界。 Ⅷ Häfen 😀\u0301 İıſK",
    "row row row your boat\nrow row row your boat\n\nmerrily merrily, merrily\x1cmerrily\u2028life is but a dream",
    "```python\nprint('tide')\n```\n**Bold** and *slanted* and `code`; see https://example.org/a-b_c?d=1. "
    '"Quoted," she said. [link](x) <<Title>>',
    "On 2024-02-29 and 12/05/2023 and 5 March 2021, we met at 3:05 PM. Mail: ada@example.org.",
    "  \n\n  indented\n\ttabbed line\r\nwindows line\r\n\n\n",
]

WITH_INSTRUCTION = {
    "first word is not the instruction's": r"""
        a, b = instruction.split(), response.split()
        return bool(a and b) and a[0].lower() != b[0].lower()
    """,
    "shares words with the instruction": r"""
        return len(set(instruction.lower().split()) & set(response.lower().split())) >= 1
    """,
    "repeats the instruction": r"""
        return response.strip()[:1] in instruction.strip()[:10]
    """,
}

BODIES = {
    "unbound method in map": r"""
        return 'row' in list(map(str.lower, response.split()))
    """,
    "unbound predicate in all": r"""
        words = response.split()
        return bool(words) and all(map(str.isupper, words[:3]))
    """,
    "unbound predicate in filter": r"""
        return len(list(filter(str.isdigit, response))) > 2
    """,
    "unbound method as key": r"""
        return sorted(response.split(), key=str.lower)[-1:] == ['your']
    """,
    "unbound method called": r"""
        return str.title(str.lower(response)) == response
    """,
    "unbound strip in map": r"""
        return '' in map(str.strip, response.split('\n'))
    """,
    "bound method": r"""
        starts = response.startswith
        return any(map(starts, ['The', 'We', '{']))
    """,
    "bound append": r"""
        out = []
        add = out.append
        for w in response.split():
            add(len(w))
        return sum(out) > 60
    """,
    "seen.add idiom": r"""
        seen = set()
        repeated = [w for w in response.split() if w in seen or seen.add(w)]
        return len(repeated) > 2
    """,
    "translate and maketrans": r"""
        import string
        bare = response.translate(str.maketrans('', '', string.punctuation))
        return len(response) - len(bare) > 5
    """,
    "maketrans of a dict": r"""
        return response.translate(str.maketrans({'a': 'b', 'e': None})).count('b') > 3
    """,
    "maketrans of two strings": r"""
        return 'Tho' in response.translate(str.maketrans('eo', 'oe'))
    """,
    "string constants": r"""
        from string import ascii_lowercase, digits
        return set(ascii_lowercase) - set(response.lower()) == set() or any(c in digits for c in response)
    """,
    "punctuation share": r"""
        import string
        return bool(response) and sum(c in string.punctuation for c in response) / len(response) < 0.1
    """,
    "format and percent": r"""
        text = '{:>4}|{:.2f}|{x!r}'.format(len(response), len(response) / 7, x='a') + '%03d %s' % (5, 'b')
        return len(text) % 2 == 0
    """,
    "f-strings": r"""
        n = len(response)
        return f'{n:05d}|{n / 3:.3f}|{n!r:>6}|{"x" * 2}'.endswith('xx') and n > 50
    """,
    "splitlines": r"""
        return len(response.splitlines()) > 3 and '' in response.splitlines()
    """,
    "partition": r"""
        head, sep, tail = response.partition('.')
        return bool(sep) and len(tail) > len(head)
    """,
    "removeprefix": r"""
        return response.removeprefix('The ').removesuffix('\n') != response
    """,
    "encode": r"""
        return len(response.encode('utf-8')) == len(response)
    """,
    "isascii": r"""
        return response.isascii() and not response.isspace()
    """,
    "casefold": r"""
        return response.casefold() == response.lower()
    """,
    "slices": r"""
        return response[::-1][:3] != response[-3:] and response[1:5] == response[1:-1][:4]
    """,
    "title lines": r"""
        return any(line.istitle() for line in response.split('\n') if len(line) > 3)
    """,
    "expandtabs": r"""
        return response.expandtabs(4) != response
    """,
    "zfill and center": r"""
        return response[:3].zfill(5).center(9, '*').startswith('**00') == (len(response) < 5)
    """,
    "caseless palindrome": r"""
        t = [c.lower() for c in response if c.isalnum()]
        return t != t[::-1]
    """,
    "numbers": r"""
        import re
        return len(re.findall(r'\d+', response)) >= 2
    """,
    "words": r"""
        import re
        return len(re.findall(r'\b\w+\b', response)) > 12
    """,
    "word count by class": r"""
        import re
        return len(re.findall(r"[A-Za-z']+", response)) % 2 == 0
    """,
    "unicode letters": r"""
        import re
        return len(re.findall(r'[^\W\d_]', response)) % 3 == 0
    """,
    "whole response end": r"""
        import re
        return re.search(r'\.$', response) is not None
    """,
    "true end": r"""
        import re
        return bool(re.search(r'\.\Z', response))
    """,
    "multiline headings": r"""
        import re
        levels = [len(m.group(1)) for m in re.finditer(r'^(#+)\s', response, re.M)]
        return all(b - a <= 1 for a, b in zip(levels, levels[1:])) and len(levels) > 0
    """,
    "bullets": r"""
        import re
        return len(re.findall(r'^\s*[-*]\s+\S', response, flags=re.MULTILINE)) == 3
    """,
    "numbered list": r"""
        import re
        return re.findall(r'(?m)^(\d+)\.\s', response) == ['1', '2']
    """,
    "sentences": r"""
        import re
        sentences = [s.strip() for s in re.split(r'(?<=[.!?])\s+', response) if s.strip()]
        return len(sentences) > 2 and all(s[0].isupper() or not s[0].isalpha() for s in sentences)
    """,
    "paragraphs": r"""
        import re
        return len([p for p in re.split(r'\n\s*\n', response) if p.strip()]) <= 3
    """,
    "ignore case": r"""
        import re
        return re.search(r'\bthe\b', response, re.IGNORECASE) is not None
    """,
    "ignore case of i": r"""
        import re
        return len(re.findall('i', response, re.I)) == len(re.findall('[i]', response, re.I)) > 3
    """,
    "long s": r"""
        import re
        return bool(re.search('(?i)[r-t]k', response))
    """,
    "dotall": r"""
        import re
        return re.search(r'```.*?```', response, re.S) is not None
    """,
    "dot stops at line feed": r"""
        import re
        return len(re.findall(r'.+', response)) > 4
    """,
    "named groups": r"""
        import re
        m = re.search(r'(?P<year>\d{4})-(?P<month>\d\d)', response)
        return m is not None and m.group('year') == '2024' and m['month'] == '02' and m.groupdict()['year'] > '2000'
    """,
    "match spans": r"""
        import re
        m = re.search(r'(b)oat', response)
        return bool(m) and m.start() > 10 and m.span(1)[1] == m.start(1) + 1
    """,
    "callable replacement": r"""
        import re
        doubled = re.sub(r'\d+', lambda m: str(int(m.group()) * 2), response)
        return len(doubled) != len(response)
    """,
    "template replacement": r"""
        import re
        return re.sub(r'(\w+), (\w+)', r'\2 \g<1>\n\\', response).count('\\') > 0
    """,
    "count in sub": r"""
        import re
        return len(re.sub(r'\s', '', response, count=3)) == len(response) - 3
    """,
    "subn": r"""
        import re
        text, n = re.subn('[aeiou]', '', response)
        return n > 20
    """,
    "strip by sub": r"""
        import re
        return re.sub(r'^\s*|\s*$', '', response) == response
    """,
    "compiled pattern": r"""
        import re
        pattern = re.compile(r'\b[A-Z]{2,}\b')
        return sum(1 for m in pattern.finditer(response) if len(m.group()) > 2) >= 3
    """,
    "compiled at top": r"""
        return len(PATTERN.findall(response)) > 1
    """,
    "pattern method in map": r"""
        import re
        p = re.compile(r'[a-z]+ly')
        return any(map(p.match, response.split()))
    """,
    "escape": r"""
        import re
        return all(len(re.findall(r'\b' + re.escape(w) + r'\b', response)) < 4 for w in set(response.split()))
    """,
    "lookahead": r"""
        import re
        return bool(re.search(r'\d+(?=%)|(?<=\$)\d', response))
    """,
    "back-reference": r"""
        import re
        return bool(re.search(r'\b(\w+) \1\b', response))
    """,
    "verbose": r"""
        import re
        return bool(re.search(r'''\d{2} : \d{2}  # a time
        ''', response, re.VERBOSE))
    """,
    "ascii flag": r"""
        import re
        return len(re.findall(r'\w+', response, re.ASCII)) < len(re.findall(r'\w+', response + 'é'))
    """,
    "alternation groups": r"""
        import re
        return ('', 'Boats') in re.findall(r'(tide)|(Boats)', response)
    """,
    "split with group": r"""
        import re
        return ',' in re.split(r'([,;])', response)
    """,
    "zero-width split": r"""
        import re
        return len(re.split(r'(?=[A-Z])', response)) > 6
    """,
    "possessive": r"""
        import re
        return bool(re.search(r'(?:row )++your', response))
    """,
    "odd class": r"""
        import re
        return len(re.findall(r'[&&a[-]', response)) > 3
    """,
    "control blanks": r"""
        import re
        return len(re.split(r'\s+', response)) == len(response.split())
    """,
    "cjk range": r"""
        import re
        return bool(re.search(r'[\u4e00-\u9fff]', response))
    """,
    "emoji range": r"""
        import re
        return bool(re.search('[\U0001F300-\U0001FAFF]', response))
    """,
    "from re import": r"""
        from re import findall, I
        return len(findall('ROW', response, I)) > 5
    """,
    "bad pattern is caught": r"""
        import re
        try:
            re.compile('(')
        except re.error:
            return len(response) > 9
        return False
    """,
    "optional group": r"""
        import re
        m = re.match(r'(#+)?(\s)?', response)
        return m.group(1) is not None and m.groups()[1] == ' '
    """,
    "Counter": r"""
        from collections import Counter
        import re
        words = re.findall(r'[a-z]+', response.lower())
        return not words or Counter(words).most_common(1)[0][1] <= 3
    """,
    "Counter as key": r"""
        import collections
        counts = collections.Counter(response.lower())
        return bool(counts) and max(counts, key=counts.get) == ' ' and counts['z'] == 0
    """,
    "defaultdict": r"""
        from collections import defaultdict
        by_length = defaultdict(list)
        for w in response.split():
            by_length[len(w)].append(w)
        return len(by_length) > 6
    """,
    "OrderedDict": r"""
        from collections import OrderedDict
        return len(OrderedDict.fromkeys(response.split())) > 12
    """,
    "deque": r"""
        from collections import deque
        d = deque(response.split(), maxlen=3)
        return len(d) == 3 and d[0] < d[-1]
    """,
    "groupby": r"""
        from itertools import groupby
        return max((len(list(g)) for _, g in groupby(response)), default=0) > 2
    """,
    "chain": r"""
        import itertools
        return len(set(itertools.chain.from_iterable(response.split()))) > 25
    """,
    "combinations": r"""
        from itertools import combinations
        return any(a == b for a, b in combinations(response.split()[:12], 2))
    """,
    "reduce": r"""
        from functools import reduce
        return reduce(lambda a, b: a + len(b), response.split(), 0) > 70
    """,
    "lru_cache": r"""
        from functools import lru_cache
        @lru_cache(maxsize=None)
        def vowels(word):
            return sum(c in 'aeiou' for c in word)
        return sum(vowels(w) for w in response.split()) > 20
    """,
    "math": r"""
        import math
        return math.isclose(math.sqrt(len(response)) ** 2, len(response)) and math.ceil(len(response) / 7) > 9
    """,
    "statistics": r"""
        import statistics
        lengths = [len(w) for w in response.split()]
        return len(lengths) > 1 and statistics.mean(lengths) > 3.5 and statistics.pstdev(lengths) < 4
    """,
    "random": r"""
        import random
        random.seed(4)
        return 0 <= random.random() < 1 and len(response) > 40
    """,
    "json": r"""
        import json
        try:
            data = json.loads(response)
        except ValueError:
            return False
        return isinstance(data, dict) and 'answer' in data
    """,
    "JSONDecodeError": r"""
        import json
        try:
            return len(json.loads(response)['boats']) == 2
        except (json.JSONDecodeError, KeyError, TypeError):
            return False
    """,
    "fenced json": r"""
        import json
        text = response.strip().strip('`')
        try:
            json.loads(text)
            return True
        except Exception:
            return False
    """,
    "dates": r"""
        import re
        from datetime import datetime
        def parses(date):
            try:
                datetime.strptime(date, '%Y-%m-%d')
                return True
            except ValueError:
                return False
        found = re.findall(r'\d{4}-\d\d-\d\d', response)
        return bool(found) and all(parses(d) for d in found)
    """,
    "twelve hour clock": r"""
        import datetime
        return any(datetime.datetime.strptime(t, '%I:%M %p').hour == 15 for t in ['3:05 PM'] if t in response)
    """,
    "unicodedata": r"""
        import unicodedata
        return any(unicodedata.category(c) == 'Lo' for c in response)
    """,
    "normalised": r"""
        import unicodedata
        return unicodedata.normalize('NFD', response) == response
    """,
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
    "common to two Counters": r"""
        from collections import Counter
        both = Counter(response.lower().split()) & Counter('the tide is'.split())
        return sum(both.values()) >= 2 and isinstance(both, dict)
    """,
    "namedtuple": r"""
        from collections import namedtuple
        Size = namedtuple('Size', 'chars words')
        size = Size(len(response), words=len(response.split()))
        return size.chars > 5 * size[1] and size._asdict()['words'] > 3
    """,
    "dataclass": r"""
        from dataclasses import dataclass
        @dataclass
        class Size:
            count: int
            title: str = 'x'
        return Size(len(response)).count > 70 and Size(1).title == 'x'
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
    "named group in a template": r"""
        import re
        return re.sub(r'(?P<w>\w+)', r'<\g<w>>', response).count('<') > 15
    """,
    "dollar in a template": r"""
        import re
        return re.sub('a', r'$1\\', response).count('$1') > 2
    """,
    "fullmatch tries every branch": r"""
        import re
        return any(re.fullmatch('r|ro|row|li|life', w) for w in response.split())
    """,
    "lines by an empty pattern": r"""
        import re
        return len(re.findall(r'(?m)^.*$', response)) > 4
    """,
    "quoted by either mark": r"""
        import re
        return bool(re.search(r'(?P<q>["\'])(\w+)(?P=q)', response))
    """,
    "readability": r"""
        import re
        def syllables(word):
            found = len(re.findall(r'[aeiouy]+', word.lower()))
            return max(1, found - word.endswith('e'))
        return sum(syllables(w) for w in re.findall(r'[a-zA-Z]+', response)) > 25
    """,
    "brackets are closed": r"""
        stack = []
        pairs = {')': '(', ']': '[', '}': '{'}
        for char in response:
            if char in pairs.values():
                stack.append(char)
            elif char in pairs and (not stack or stack.pop() != pairs[char]):
                return False
        return not stack and '(' in response
    """,
    "numbers in range": r"""
        import re
        try:
            return max(int(x) for x in re.findall(r'\d+', response)) > 100
        except ValueError:
            return False
    """,
    "may divide by nothing": r"""
        words = response.split()
        return round(sum(len(w) for w in words) / len(words), 1) >= 4.5
    """,
    "may index nothing": r"""
        return response[0].isupper() and response[-1] in '.!?'
    """,
}

TOP = '''"""A rule of a data set."""
import re
PATTERN = re.compile(r"(?i)\\bboats?\\b")
LIMIT = 40


def _count(text, what, *, start=0):
    """Occurrences of `what`."""
    return text.lower().count(what, start)


def check_following(instruction, response):
    """Whether the response follows."""
{body}


if __name__ == "__main__":
    print(check_following("", "a boat"))
'''


def rule(body: str) -> str:
    return TOP.format(body=textwrap.indent(textwrap.dedent(body).strip("\n"), "    "))


def by_cpython(source: str, instruction: str, response: str) -> Any:
    """What CPython's function returns, or the exception that it raises."""
    namespace: dict[str, Any] = {"__name__": __name__}  # of a module that exists, as dataclasses want it
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        exec(compile(source, "rule", "exec"), namespace)
        try:
            return namespace["check_following"](instruction, response)
        except Exception as error:
            return error


CASES = WITH_INSTRUCTION | BODIES


@pytest.mark.parametrize("name", CASES)
def test_rule_answers_as_in_cpython(name: str) -> None:
    # what is never used is not imported by the sandbox, and need not be installed here
    source = rule(CASES[name]).replace("import os, sys, nltk", "import os, sys")
    ready = compile_rule(rule(CASES[name]), "check_following", 2)
    for response in TEXTS:
        expected = by_cpython(source, INSTRUCTION, response)
        if isinstance(expected, Exception):
            with pytest.raises(RuleError, match=type(expected).__name__):
                run_rule(ready, INSTRUCTION, response)
        else:
            assert run_rule(ready, INSTRUCTION, response) is bool(expected), response


def test_rules_tell_texts_apart() -> None:
    """A rule that says the same of every text would prove little."""
    constant = {
        name
        for name, body in CASES.items()
        if len({str(by_cpython(rule(body).replace(", nltk", ""), INSTRUCTION, text)) for text in TEXTS}) == 1
    }
    assert constant == set()
