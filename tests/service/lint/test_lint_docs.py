"""docs/linting.md: a section for each rule, whose example breaks it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rubricate_service.lint.finding import RULES
from rubricate_service.lint.linter import Report

Lint = Callable[..., Report]

PAGE = (Path(__file__).parents[3] / "docs" / "linting.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))

_NO_EXAMPLE = ("W07", "W-limit")
"""They take a judge, and lists of many thousands of words."""


def test_every_rule_has_a_section() -> None:
    assert list(SECTIONS) == list(RULES)
    assert all("\nFix: " in section for section in SECTIONS.values())


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in _NO_EXAMPLE])
def test_the_example_breaks_the_rule(lint: Lint, rule: str) -> None:
    match = re.search(r"```json\n(.*?)```", SECTIONS[rule], re.DOTALL)
    assert match is not None
    example = json.loads(match[1])
    group = example if isinstance(example, dict) else {"rubrics": example}
    witness = group.pop("witness", False)
    found = lint(group, witness=witness).findings
    assert (rule, RULES[rule].severity) in {(f.rule, f.severity) for f in found}
    others = {f.rule for f in found if f.severity == "error"} - {rule}
    assert others == set()
