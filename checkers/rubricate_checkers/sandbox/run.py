"""Running a compiled rule: every call in a session of its own, within limits of time and memory."""

from __future__ import annotations

import os
import statistics
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from ..errors import MissingData, RuleError, UnsupportedRule
from .compiled import Rule
from .offered import CONSTANTS, STATISTICS
from .prelude import GAP_PREFIX
from .regex import translate

__all__ = ["MEMORY_LIMIT_MIB", "TIME_LIMIT_S", "run_rule"]

TIME_LIMIT_S = 1.0
"""How long a rule may compute on one response."""

MEMORY_LIMIT_MIB = 64
"""How much memory a rule may hold, the response included."""

_LIMITS = {
    "max_feed_duration_secs": TIME_LIMIT_S,
    "max_memory": MEMORY_LIMIT_MIB << 20,
    "max_suspensions": 100_000,  # one for each regular expression that the rule makes
}
_SESSION: dict[str, Any] = {
    "limits": _LIMITS,
    "os_policy": {"sleep": "zero", "random_start": {"seed": 0}},
    "assert_message_annotations": False,  # CPython's assert adds nothing to the message
}
_OUTSIDE = {"_rb_translate_pattern": translate, "_rb_strptime": datetime.strptime}


@cache
def _pool() -> tuple[int, Any]:
    """The process that started Monty, which is the one whose first rule runs, and its Monty."""
    try:
        from pydantic_monty import Monty
    except ImportError as error:
        raise MissingData("pydantic-monty is not installed; install rubricate[checkers]") from error
    return os.getpid(), Monty().__enter__()


@cache
def _modules() -> dict[str, Any]:
    from pydantic_monty import ExternalModule

    return {
        "string": ExternalModule(dict(CONSTANTS)),
        "statistics": ExternalModule({name: getattr(statistics, name) for name in STATISTICS}),
    }


def _unheard(stream: str, text: str) -> None:
    """What a rule prints is of no use to anybody."""


@lru_cache(maxsize=4)
def run_rule(rule: Rule, *args: str) -> bool:
    """Ask a rule about a response. The last answers are kept, since a verdict is asked for and then told.

    Args:
        rule: What `compile_rule` returned.
        args: What its function is called with.

    Returns:
        What it answers; any integer counts as `bool` has it.

    Raises:
        RuleError: It raised, ran out of time or memory, or answered what is no verdict.
        UnsupportedRule: It met something at run time that the sandbox does not offer.
        MissingData: pydantic-monty is not installed.
    """
    owner, pool = _pool()
    if owner != os.getpid():  # its threads did not survive the fork, and it would wait for them for ever
        raise RuntimeError("this process was forked after a rule had run; start it by spawn or a fork server")
    from pydantic_monty import MontyError

    inputs = {f"_rb_arg{number}": arg for number, arg in enumerate(args)}
    call = f"_rb_answer({rule.entry}({', '.join(inputs)}))"
    try:
        with pool.checkout(**_SESSION, external_modules=_modules()) as session:
            answer, gaps = session.feed_run(
                f"{rule.source}\n({call}, _rb_gaps)",
                inputs=inputs,
                external_lookup=_OUTSIDE,
                print_callback=_unheard,
            )
    except MontyError as error:
        raise _fault(error) from None
    if gaps:
        raise _unsupported(gaps[0])
    if isinstance(answer, str):
        raise RuleError(f"the rule returned a value of type {answer}, which is no verdict", "kwargs.source")
    return bool(answer)


def _unsupported(what: str) -> UnsupportedRule:
    return UnsupportedRule(f"the sandbox for rules does not offer {what}", "kwargs.source")


def _fault(error: Any) -> UnsupportedRule | RuleError:
    """What an exception out of the sandbox says of the rule."""
    from pydantic_monty import MontyCrashedError, MontySyntaxError

    if isinstance(error, MontySyntaxError):
        return _unsupported(f"something in its syntax ({error})")
    raised = None if isinstance(error, MontyCrashedError) else error.exception()
    text = str(raised)
    if isinstance(raised, NotImplementedError):
        for ours in (GAP_PREFIX, "The monty syntax parser does not yet support "):
            if text.startswith(ours):
                return _unsupported(text.removeprefix(ours))
        if "cannot suspend" in text:
            return _unsupported("a function that is answered outside, inside a callback")
    if isinstance(raised, TimeoutError) and "time limit exceeded" in text:
        return RuleError(f"the rule ran longer than {TIME_LIMIT_S:g} s", "kwargs.source")
    if isinstance(raised, MemoryError) and "memory limit exceeded" in text:
        return RuleError(f"the rule took more than {MEMORY_LIMIT_MIB} MiB of memory", "kwargs.source")
    if raised is None:
        return RuleError(f"the rule ended its sandbox ({error})", "kwargs.source")
    return RuleError(f"the rule raised {error}"[:500], "kwargs.source")
