"""What defining a check does, and what the catalogue shows of it."""

from __future__ import annotations

import pytest

from rubricate_checkers import CatalogueEntry, Check, Example, MissingData, Text, build, catalogue, evaluate
from rubricate_checkers import check as check_module

ENTRIES = catalogue()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_examples_do_what_they_say(entry: CatalogueEntry) -> None:
    check = build(entry.id, entry.example.kwargs)
    try:
        assert evaluate(Text(entry.example.passes), check).holds
        assert not evaluate(Text(entry.example.fails), check).holds
    except MissingData as error:
        pytest.skip(error.message)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_entries_are_complete(entry: CatalogueEntry) -> None:
    assert entry.summary.endswith((".", "!", "?"))
    assert entry.kwargs["type"] == "object"
    if entry.kwargs.get("additionalProperties") is False:
        assert set(entry.example.kwargs) <= set(entry.kwargs["properties"])
    assert CatalogueEntry.model_validate_json(entry.model_dump_json()) == entry


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_aliases_name_the_same_check(entry: CatalogueEntry) -> None:
    for alias in entry.aliases:
        assert build(alias, entry.example.kwargs).id == entry.id


def test_all_25_rubrichub_names_of_ifeval_resolve() -> None:
    aliases = [alias for entry in ENTRIES if entry.suite == "ifeval" for alias in entry.aliases]
    assert len(aliases) == 25
    assert all(alias.startswith("rubrichub:") for alias in aliases)


EXAMPLE = Example(kwargs={}, passes="a", fails="b")


def test_a_check_that_reuses_an_id_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Again and NoComma share the id 'punctuation:no_comma'"):

        class Again(Check, id="punctuation:no_comma"):
            """Again."""

            example = EXAMPLE


def test_a_check_that_reuses_an_alias_is_refused() -> None:
    with pytest.raises(TypeError, match=r"share the id 'rubrichub:CommaChecker'"):

        class Again(Check, id="test:again", aliases=("rubrichub:CommaChecker",)):
            """Again."""

            example = EXAMPLE


def test_a_check_without_docstring_is_refused() -> None:
    with pytest.raises(TypeError, match="Silent has no docstring"):

        class Silent(Check, id="test:silent"):
            example = EXAMPLE


def test_a_check_without_methods_is_refused() -> None:
    with pytest.raises(TypeError, match="Idle does not say holds, observed, required"):

        class Idle(Check, id="test:idle"):
            """Idle."""

            example = EXAMPLE


def test_a_check_without_example_is_refused() -> None:
    with pytest.raises(TypeError, match="Bare has no example"):

        class Bare(Check, id="test:bare"):
            """Bare."""

            def holds(self, text: Text) -> bool:
                return True

            def observed(self, text: Text) -> str:
                return ""

            @property
            def required(self) -> str:
                return ""


def test_refused_definitions_leave_nothing_behind() -> None:
    assert not [id for id in check_module._CHECKS if id.startswith("test:")]
