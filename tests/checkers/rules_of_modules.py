"""Rules of a data set's kind that import from the standard library."""

from __future__ import annotations

MODULES = {
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
}
