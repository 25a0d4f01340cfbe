"""RubricHub's two own rule functions: verdicts, what is refused, and what takes too long."""

from __future__ import annotations

import importlib.util
import os
import threading
from typing import Any

import pytest

from rubricate_checkers import BadKwargs, MissingData, Text, build, evaluate, math_answers

WORDS, MATH = "rubrichub:word_count_range", "rubrichub:math_verify"

with_math_verify = pytest.mark.skipif(
    importlib.util.find_spec("math_verify") is None, reason="math-verify is not installed"
)


@pytest.mark.parametrize(
    ("kwargs", "response", "holds"),
    [
        ({"min_count": 2, "max_count": 3}, "well-kept boats", True),
        ({"min_count": 2, "max_count": 3}, "\none\u3000two\nthree ", True),
        ({"min_count": 2, "max_count": 3}, "one", False),
        ({"min_count": 2, "max_count": 3}, "one two three four", False),
        ({"min_count": "1", "max_count": 3.9}, "one two three", True),
        ({"min_count": 0, "max_count": 0}, " ", True),
    ],
)
def test_word_count_range(kwargs: dict[str, Any], response: str, holds: bool) -> None:
    verdict = evaluate(Text(response), build(WORDS, kwargs))
    assert verdict.holds is holds
    assert verdict.observed
    assert verdict.required


@with_math_verify
def test_an_expected_answer_that_takes_too_long_is_the_rubrics_fault() -> None:
    check = build(MATH, {"answer": "99999999!"})
    for response in (r"\boxed{3}", r"\boxed{4}"):
        with pytest.raises(BadKwargs, match="can be compared"):
            evaluate(Text(response), check)


@pytest.mark.parametrize(
    ("id", "kwargs", "path", "message"),
    [
        (WORDS, {"min_count": 2}, "kwargs.max_count", "is missing"),
        (WORDS, {"min_count": "few", "max_count": 3}, "kwargs.min_count", "whole number, not 'few'"),
        (WORDS, {"min_count": True, "max_count": 3}, "kwargs.min_count", "whole number, not True"),
        (WORDS, {"min_count": float("inf"), "max_count": 3}, "kwargs.min_count", "whole number, not inf"),
        (WORDS, {"min_count": 4, "max_count": 3}, "kwargs", "min_count (4) exceeds max_count (3)"),
        (MATH, {}, "kwargs.answer", "is missing"),
        (MATH, {"answer": ["4"]}, "kwargs.answer", "valid string"),
    ],
)
def test_refused(id: str, kwargs: dict[str, Any], path: str, message: str) -> None:
    with pytest.raises(BadKwargs) as caught:
        build(id, kwargs)
    assert caught.value.path == path
    assert message in caught.value.message


@with_math_verify
@pytest.mark.parametrize(
    ("answer", "response", "holds"),
    [
        ("42", "That makes 42 boats.", True),
        (42, "That makes $\\boxed{42}$ boats.", True),
        ("42", "That makes 43 boats.", False),
        ("42", "I cannot tell.", False),
        ("", "42", None),
        ("\\frac{1}{2}", "Half of them: \\boxed{0.5}", True),
        ("$x+1$", "So $y = 1 + x$.", True),
        ("\\boxed{\\sqrt{8}}", "It is $2\\sqrt{2}$.", True),
        ("3", "It is 3,\nand that is all. \ud800", True),
    ],
)
def test_math_verify(answer: str | int, response: str, holds: bool | None) -> None:
    check = build(MATH, {"answer": answer})
    if holds is None:
        with pytest.raises(BadKwargs, match="holds no mathematics"):
            evaluate(Text(response), check)
        return
    verdict = evaluate(Text(response), check)
    assert verdict.holds is holds
    assert verdict.observed == ("an equal answer" if holds else "no equal answer")


@with_math_verify
def test_an_answer_that_takes_for_ever_fails_and_the_next_one_is_compared() -> None:
    check = build(MATH, {"answer": "9"})
    verdict = evaluate(Text("It is $9^{9^{9^9}}$."), check)
    assert not verdict.holds
    assert verdict.observed == "an answer that takes too long to compare"
    assert evaluate(Text("It is $3^2$."), check).holds


@with_math_verify
def test_a_comparison_that_did_not_happen_is_no_verdict() -> None:
    check = build(MATH, {"answer": "12"})
    assert evaluate(Text("It is 12."), check).holds
    math_answers._children[os.getpid()].kill()
    with pytest.raises(RuntimeError, match="ended from outside"):
        evaluate(Text("It is 13."), check)
    assert not evaluate(Text("It is 13."), check).holds


@with_math_verify
def test_threads_get_their_own_answers() -> None:
    found: dict[int, bool] = {}

    def ask(n: int) -> None:
        found[n] = evaluate(Text(f"It is {n}."), build(MATH, {"answer": str(n % 5)})).holds

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: n < 5 for n in range(10)}


def test_without_math_verify_the_check_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(math_answers, "_children", {})
    with pytest.raises(MissingData, match="install math-verify"):
        evaluate(Text("It is 77."), build(MATH, {"answer": "77"}))
