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
from rules_of_modules import MODULES
from rules_of_patterns import PATTERNS
from rules_of_programs import PROGRAMS
from rules_of_text import TEXT

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


CASES = WITH_INSTRUCTION | TEXT | PATTERNS | MODULES | PROGRAMS


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
