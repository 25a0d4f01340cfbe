"""Every id has a case that holds and one that does not."""

from __future__ import annotations

from typing import Any

import pytest
from ifeval_cases import CASES

from rubricate_checkers import CatalogueEntry, Text, build, catalogue, evaluate

IFEVAL = [entry for entry in catalogue() if entry.suite == "ifeval"]


@pytest.mark.parametrize(("id", "kwargs", "response", "holds"), CASES)
def test_verdict(id: str, kwargs: dict[str, Any], response: str, holds: bool) -> None:
    verdict = evaluate(Text(response), build(id, kwargs))
    assert verdict.holds is holds
    assert verdict.observed
    assert verdict.required
    assert verdict.reason is None


@pytest.mark.parametrize("entry", IFEVAL, ids=lambda entry: entry.id)
def test_every_id_has_both_cases(entry: CatalogueEntry) -> None:
    assert {holds for id, _, _, holds in CASES if id == entry.id} == {True, False}


def test_all_25_are_there() -> None:
    assert len(IFEVAL) == 25
