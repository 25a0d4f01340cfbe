"""Rules of a data set's kind that read text by regular expressions."""

# ruff: noqa: E501
# Rules are written as data sets have them.
from __future__ import annotations

PATTERNS = {
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
}
