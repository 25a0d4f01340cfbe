"""A rule, from its source to what the sandbox runs."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass

from .prelude import with_prelude
from .rewrite import rewrite

__all__ = ["Rule", "compile_rule"]

_LONGEST = 50_000


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that is ready to run: its rewritten source, and the function to call."""

    source: str
    entry: str


def compile_rule(source: str, entry: str, arity: int) -> Rule:
    """Check and rewrite a rule.

    Args:
        source: Python that defines the function `entry` at its top level.
        entry: Name of the function that decides.
        arity: Number of positional arguments that it is called with.

    Returns:
        The rule, for `run_rule`.

    Raises:
        ValueError: It is no Python, or has no such function.
        UnsupportedRule: It uses what the sandbox does not offer.
    """
    if len(source) > _LONGEST:
        raise ValueError(f"must not be longer than {_LONGEST} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of doubtful escapes in the rule, which still mean something
            tree = ast.parse(source)
            _require_entry(tree, entry, arity)
            rewritten = ast.unparse(rewrite(tree))
    except SyntaxError as error:
        raise ValueError(f"is not Python: {error.msg} (line {error.lineno})") from None
    except (RecursionError, MemoryError):
        raise ValueError("is nested too deeply") from None
    return Rule(with_prelude(rewritten), entry)


def _require_entry(tree: ast.Module, entry: str, arity: int) -> None:
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == entry]
    if not functions:
        raise ValueError(f"must define the function {entry} at its top level")
    arguments = functions[-1].args
    positional = len(arguments.posonlyargs) + len(arguments.args)
    required = positional - len(arguments.defaults)
    unset = [a.arg for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is None]
    if required > arity or unset or (positional < arity and arguments.vararg is None):
        what = "(instruction, response)" if arity == 2 else "(response)"
        raise ValueError(f"must define {entry} so that it can be called as {entry}{what}")
