"""Whether a response gives a mathematical answer, as the package math-verify sees it.

What a response holds may take sympy for ever (`9^{9^{9^9}}`), inside a single operation that nothing in
this process could interrupt. So a child process compares, one per process, and its own timer ends it;
the next question starts another one.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from functools import lru_cache
from typing import Any, Literal

from .errors import MissingData

__all__ = ["Comparison", "compare_answers"]

Comparison = Literal["equal", "different", "no answer", "too hard"]
"""`no answer`: it is the expected answer that holds nothing to compare with, or nothing that can be."""

_TIME_LIMIT_S = 1.0
_MEMORY_LIMIT_BYTES = 4 << 30
_READY = "ready"
_SIMPLEST = r"\boxed{1}"


def compare_answers(expected: str, response: str) -> Comparison:
    r"""Compare the expected answer with the ones that a response gives.

    Args:
        expected: LaTeX or a plain expression, with or without `$` or `\boxed{}` around it.
        response: Any text.

    Returns:
        How they compare; `too hard` where a second of computing does not tell, `no answer` where it is
        the expected answer that takes so long.

    Raises:
        MissingData: math-verify is not installed.
        RuntimeError: Something else ended the process that compares; the next question starts another.
    """
    if _compared(expected, _SIMPLEST) == "too hard":  # asked once for each expected answer
        return "no answer"
    return _compared(expected, response)


@lru_cache(maxsize=1024)  # a verdict asks once more, for its words
def _compared(expected: str, response: str) -> Comparison:
    with _lock:
        child = _running_child()
        try:
            child.stdin.write(json.dumps([expected, response]) + "\n")
            child.stdin.flush()
            answer: Comparison | Literal[""] = child.stdout.readline().strip()
        except BrokenPipeError:
            answer = ""
        if answer:
            return answer
        code = child.wait()
        _end_child()
    if -code in (signal.SIGPROF, signal.SIGSEGV):  # its timer, or a nesting deeper than its stack
        return "too hard"
    raise RuntimeError(f"the process that compares answers was ended from outside (code {code}); ask again")


# -- this side ------------------------------------------------------------------------------------

_lock = threading.Lock()
_children: dict[int, Any] = {}  # by process, since a forked one must not share its parent's pipes


def _running_child() -> Any:
    child: Any = _children.get(os.getpid())
    if child is None:
        if importlib.util.find_spec("math_verify") is None:
            raise MissingData("math-verify is not installed; install math-verify[antlr4-13-2]")
        child = subprocess.Popen(  # noqa: S603 - our own module, under the interpreter that runs this one
            [sys.executable, "-P", "-c", f"from {__name__} import answer_questions; answer_questions()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        _children[os.getpid()] = child
        if child.stdout.readline().strip() != _READY:
            _end_child()
            raise MissingData("math-verify does not start; install math-verify[antlr4-13-2]")
    return child


@atexit.register
def _end_child() -> None:
    child = _children.pop(os.getpid(), None)
    if child is not None:
        child.kill()
        child.wait()
        child.stdin.close()
        child.stdout.close()


# -- the child's side -----------------------------------------------------------------------------


@lru_cache(maxsize=1000)
def _expected(answer: str) -> list[Any]:
    from math_verify import parse

    marked = answer if "$" in answer or "\\boxed" in answer else f"\\boxed{{{answer}}}"
    found: list[Any] = parse(marked, parsing_timeout=None)
    return found


def _compare(answer: str, response: str) -> Comparison:
    from math_verify import parse, verify

    expected = _expected(answer)
    if not expected:
        return "no answer"
    given = parse(response, parsing_timeout=None)
    return "equal" if verify(expected, given, timeout_seconds=None) else "different"


def answer_questions() -> None:
    """What the child process runs: it answers until the pipe closes, or its timer ends it."""
    import resource

    logging.disable(logging.CRITICAL)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_LIMIT_BYTES, _MEMORY_LIMIT_BYTES))
    _compare("1", "1")  # imports and the grammar take longer than any question
    sys.stdout.write(_READY + "\n")
    sys.stdout.flush()
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, _TIME_LIMIT_S)  # unhandled, it ends the process
        answer = _compare(*json.loads(line))
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()
