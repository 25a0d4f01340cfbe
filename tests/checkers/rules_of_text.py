"""Rules of a data set's kind that read text by the methods of `str`."""

from __future__ import annotations

TEXT = {
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
    "may index nothing": r"""
        return response[0].isupper() and response[-1] in '.!?'
    """,
}
