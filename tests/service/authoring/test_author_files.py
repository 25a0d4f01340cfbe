"""Files of groups: every fault with its line, and no row lost for another's."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from rubricate_clients.wire import Group
from rubricate_service.authoring.files import FileError, parsed, read_rows


class Item(BaseModel, extra="forbid"):
    name: str
    inner: dict[str, int] = {}


def read(path: Path, text: str | bytes) -> tuple[list[Item], list[str]]:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    good, faults = parsed(read_rows(path), Item)
    return [item for _, item in good], faults


@pytest.mark.parametrize("name", ["a.yaml", "b.YML"])
@pytest.mark.parametrize(
    "text",
    [
        "- name: one\n- name: two\n",
        "groups:\n  - name: one\n  - {name: two}\n",
        "name: one\n---\nname: two\n",
        "---\n- name: one\n---\n# nothing\n---\n- name: two\n",
        '[{"name": "one"}, {"name": "two"}]',
        "- &a {name: one}\n- {<<: *a, name: two}\n",
    ],
)
def test_yaml_is_a_list_or_a_mapping_with_groups_or_documents(tmp_path: Path, name: str, text: str) -> None:
    items, faults = read(tmp_path / name, text)
    assert ([item.name for item in items], faults) == (["one", "two"], [])


def test_a_fault_in_yaml_is_told_with_the_line_of_the_value_and_costs_no_other(tmp_path: Path) -> None:
    text = "- name: one\n  inner:\n    a: 1\n    b: many\n- name: two\n- nane: three\n- 7\n"
    items, faults = read(tmp_path / "a.yaml", text)
    assert [item.name for item in items] == ["two"]
    assert [fault.partition(": ")[0] for fault in faults] == ["line 4", "line 6", "line 6", "line 7"]
    assert "inner.b" in faults[0]
    assert "nane: unknown field" in " ".join(faults)


def test_a_fault_in_json_lines_is_told_with_its_line(tmp_path: Path) -> None:
    text = '{"name": "one"}\n\n{"name": \n{"nane": "x"}\n{"name": "two"}\n'
    items, faults = read(tmp_path / "a.jsonl", text)
    assert [item.name for item in items] == ["one", "two"]
    assert faults[0].startswith("line 3: this line is not JSON")
    assert {fault.partition(": ")[0] for fault in faults[1:]} == {"line 4"}


def test_a_fault_in_a_json_list_is_told_with_its_item(tmp_path: Path) -> None:
    items, faults = read(tmp_path / "a.json", '[{"name": "one"}, {"name": 2}]')
    assert [item.name for item in items] == ["one"]
    assert faults[0].startswith("item 2: name: ")


def test_a_fault_inside_a_union_has_the_line_of_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(
        "- prompt: Hi.\n  rubrics:\n    - criterion: Kind.\n  responses:\n    - text: Hello.\n      tone: x\n"
    )
    _, faults = parsed(read_rows(path), Group)
    assert faults == ["line 6: responses[0].tone: unknown field"]


BILLION = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.yaml", "- name: [\n- b\n", "line 2"),
        ("a.yaml", "- name: a\n  \tb: c\n", "line 2"),
        ("a.yaml", "- name: *nowhere\n", "line 1"),
        ("a.yaml", b"- name: a\n- name: \xff\xfe\n", "not UTF-8: line 2"),
        ("a.yaml", "- name: a\x00b\n", "not YAML"),
        ("a.yaml", "- name: " + "[" * 5000, "nested too deeply"),
        ("a.yaml", f"a0: &a0 [1, 2]\n{BILLION}\n", "aliases"),
        ("a.yaml", "- &a {name: *a}\n", "aliases"),
        ("a.json", '[{"name": "one"}', "JSON list"),
        ("a.txt", "- name: one\n", "no line that is a JSON object.*named .yaml.*line 1"),
        ("a.json", '{\n "name": "one"\n}\n', "no line that is a JSON object"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(
    tmp_path: Path, name: str, text: str | bytes, says: str
) -> None:
    with pytest.raises(FileError, match=says) as told:
        read(tmp_path / name, text)
    assert name in str(told.value)
    assert len(str(told.value)) < 500


@pytest.mark.parametrize("name", ["a.yaml", "a.jsonl"])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match="there is no file"):
        list(read_rows(tmp_path / name))


@pytest.mark.parametrize("text", ['{"name": "one"}\n{"name": "two"}\n', '[{"name": "one"}, {"name": "two"}]'])
@pytest.mark.parametrize("name", ["a.jsonl", "a.yaml"])
def test_a_byte_order_mark_costs_no_row(tmp_path: Path, name: str, text: str) -> None:
    text = text if name == "a.jsonl" else "- name: one\n- name: two\n"
    items, faults = read(tmp_path / name, f"\ufeff{text}")
    assert ([item.name for item in items], faults) == (["one", "two"], [])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2024-01-01: 2024-01-02T03:04:05Z", {"2024-01-01": "2024-01-02T03:04:05Z"}),
        ("{0: a, 1.50: b, yes: c, ~: d}", {"0": "a", "1.50": "b", "yes": "c", "~": "d"}),
        ("[yes, 7, 0.5, ~, =, '7']", [True, 7, 0.5, None, "=", "7"]),
        ("{<<: [{a: 1, b: 1}, {b: 2, c: 2}], c: 3}", {"a": 1, "b": 1, "c": 3}),
    ],
)
def test_yaml_values_are_those_of_json(tmp_path: Path, text: str, value: object) -> None:
    """A key that YAML takes for a number ended `test`, `probe` and `report` in a traceback."""
    path = tmp_path / "a.yaml"
    path.write_text(f"- {text}\n")
    assert [row.value for row in read_rows(path)] == [value]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{name: a,\n  name: b}", "line 3: the key 'name' is given twice"),
        ("!!set {a, b}", "line 2: JSON has nothing like !!set"),
        ("{name: !!binary aGVsbG8=}", "line 2: JSON has nothing like !!binary"),
        ("!!python/object:os.system {name: a}", "line 2: JSON has nothing like !!python/object:os.system"),
        ("{? [a] : b}", "line 2: a key is a list or a mapping; JSON has only text there"),
        ("{<<: 1}", "line 2: `<<` takes over mappings, and this is none"),
        ("!!bool maybe", "line 2: 'maybe' is no bool"),
        ("!!int x", "line 2: 'x' is no int"),
        ('{name: "\\ud800"}', "line 2: half of a surrogate pair stands alone in this text"),
    ],
)
def test_what_json_does_not_have_costs_its_row_alone(tmp_path: Path, text: str, says: str) -> None:
    items, faults = read(tmp_path / "a.yaml", f"- name: one\n- {text}\n- name: two\n")
    assert [item.name for item in items] == ["one", "two"]
    assert faults == [says]


def test_rows_are_numbered_as_they_are_found(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"name": "one"}\n\n{"name": "two"}\n')
    assert [row.number for row in read_rows(path)] == [0, 2]
    path = tmp_path / "a.yaml"
    path.write_text("- name: one\n---\n\n- name: two\n")
    assert [row.number for row in read_rows(path)] == [0, 1]
