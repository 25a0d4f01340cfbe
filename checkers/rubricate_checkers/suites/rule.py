"""`rule:python`: a data set's own Python, as VerIF (`check_following`) and AutoIF (`evaluate`) write it."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import PrivateAttr, model_validator

from ..check import Check, Example
from ..errors import BadKwargs
from ..kwargs import Str
from ..sandbox import Rule, compile_rule, run_rule
from ..text import Text


def _is_unicode(text: str) -> bool:
    """Whether a text has no lone surrogate, which no encoding can carry into the sandbox."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_ARITY = {"check_following": 2, "evaluate": 1}


class PythonRule(Check, id="rule:python", suite="rule", needs_prompt=True, raw_regex=True):
    """A Python function of the data set decides, in a sandbox.

    `check_following(instruction, response)` gets the prompt's text and the response, `evaluate(response)`
    the response; what it returns, a bool or an integer, is the verdict. Each call starts afresh, with
    1 s and 64 MiB, without files, network, processes or the clock of other calls. Offered are the
    language but for `yield`, `with`, `async` and class inheritance, and of the standard library
    bisect, collections, copy, dataclasses, datetime, functools, itertools, json, math, random, re,
    statistics, string, typing and unicodedata, in large part. A rule that needs more is refused by
    name and never guessed at.
    """

    source: Str
    entry: Literal["check_following", "evaluate"] = "check_following"
    example = Example(
        kwargs={
            "source": "def check_following(instruction, response):\n    return response.count('!') < 2\n"
        },
        passes="Land ahead!",
        fails="Land! Land!",
    )
    _rule: Rule = PrivateAttr()

    @model_validator(mode="after")
    def _compiled(self) -> Self:
        try:
            self._rule = compile_rule(self.source, self.entry, _ARITY[self.entry])
        except ValueError as error:
            raise BadKwargs([("kwargs.source", str(error))]) from None
        return self

    def holds(self, text: Text) -> bool:
        args = (text.prompt, text.raw) if self.entry == "check_following" else (text.raw,)
        return all(map(_is_unicode, args)) and run_rule(self._rule, *args)

    def observed(self, text: Text) -> str:
        if not _is_unicode(text.raw):
            return "a text that is not Unicode"
        return "the rule says yes" if self.holds(text) else "the rule says no"

    @property
    def required(self) -> str:
        return f"that the rule's {self.entry} says yes"
