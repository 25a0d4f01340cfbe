"""Python literals in data sets (`"[{'instruction_id': [...]}]"`), read within bounds.

`ast.literal_eval` runs no code, but a text made for it can exhaust the parser's stack. So the text is
first cut into the few tokens that plain data needs, which also bounds how deep it nests.
"""

from __future__ import annotations

import ast
import math
import re
from typing import Any

_LONGEST = 200_000
_DEEPEST = 20
# A number must end its item, so that no chain of operators gets through.
_TOKEN = re.compile(
    r"""
    \s+
    | '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*"
    | -?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?=\s*[])},:])
    | None | True | False
    | [][(){},:]
    """,
    re.VERBOSE | re.ASCII,
)


def read_literal(text: str) -> Any:
    """Plain data of a Python literal, tuples as lists.

    Args:
        text: The literal; at most 200,000 characters, nested at most 20 deep.

    Returns:
        What JSON can hold as well: None, booleans, finite numbers, strings, lists, dicts with string keys.

    Raises:
        ValueError: It is no such literal; the message says why.
    """
    if len(text) > _LONGEST:
        raise ValueError(f"longer than {_LONGEST:,} characters")
    end = depth = 0
    while end < len(text):
        token = _TOKEN.match(text, end)
        if token is None:
            raise ValueError(f"not plain data at character {end}")
        mark = token[0]
        depth += (mark in "[({") - (mark in "])}")
        if depth > _DEEPEST:
            raise ValueError(f"nested more than {_DEEPEST} deep")
        end = token.end()
    try:
        value = ast.literal_eval(text.strip())
    except (SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(str(error) or type(error).__name__) from None
    return _plain(value)


def _plain(value: object) -> Any:
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("a key is not a string")
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        value.encode()  # UnicodeEncodeError, a ValueError, for a lone surrogate
        return value
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError(f"holds {value!r}, which JSON cannot")
