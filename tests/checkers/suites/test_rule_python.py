"""`rule:python` as a check."""

from __future__ import annotations

import pytest

from rubricate_checkers import BadKwargs, RuleError, Text, UnsupportedRule, build, evaluate

FOLLOWS = "def check_following(instruction, response):\n    return instruction in response\n"
EVALUATES = "def evaluate(response):\n    return 'tide' in response\n"


@pytest.mark.parametrize(
    ("kwargs", "prompt", "response", "holds"),
    [
        ({"source": FOLLOWS}, "Row!", "Row! Row!", True),
        ({"source": FOLLOWS}, "Sail!", "Row! Row!", False),
        ({"source": FOLLOWS, "entry": "check_following"}, "", "", True),
        ({"source": EVALUATES, "entry": "evaluate"}, "tide", "The tide turns.", True),
        ({"source": EVALUATES, "entry": "evaluate"}, "tide", "It turns.", False),
    ],
)
def test_verdict(kwargs: dict[str, str], prompt: str, response: str, holds: bool) -> None:
    verdict = evaluate(Text(response, prompt), build("rule:python", kwargs))
    assert verdict.holds is holds
    assert verdict.observed == f"the rule says {'yes' if holds else 'no'}"
    assert verdict.required.startswith("that the rule's ")


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({}, "kwargs.source: is missing"),
        ({"source": 5}, "kwargs.source: "),
        ({"source": FOLLOWS, "entry": "main"}, "kwargs.entry: "),
        ({"source": FOLLOWS, "entry": "evaluate"}, "kwargs.source: must define the function evaluate"),
        (
            {"source": "def check_following(response):\n    return True"},
            "check_following(instruction, response)",
        ),
        ({"source": "def check_following(:"}, "kwargs.source: is not Python"),
        ({"source": FOLLOWS, "timeout": 5}, "kwargs.timeout: is not a kwarg of rule:python"),
    ],
)
def test_bad_kwargs(kwargs: dict[str, object], message: str) -> None:
    with pytest.raises(BadKwargs) as caught:
        build("rule:python", kwargs)
    assert message in str(caught.value)


def test_faults_are_failures_and_no_verdicts() -> None:
    with pytest.raises(UnsupportedRule, match="the module os"):
        build("rule:python", {"source": f"import os\n{FOLLOWS}    os.abort()\n"})
    raises = build("rule:python", {"source": "def check_following(a, b):\n    return 1 / 0\n"})
    with pytest.raises(RuleError, match="ZeroDivisionError"):
        evaluate(Text("x"), raises)


def test_a_lone_surrogate_in_the_response_does_not_hold() -> None:
    check = build("rule:python", {"source": "def check_following(a, b):\n    return True\n"})
    verdict = evaluate(Text("tide \ud800"), check)
    assert not verdict.holds
    assert verdict.observed == "a text that is not Unicode"
