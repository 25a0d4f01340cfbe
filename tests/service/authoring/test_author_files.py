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
        ("a.yaml", "- !!python/object:os.system {name: a}\n", "line 1"),
        ("a.yaml", b"- name: \xff\xfe\n", "not UTF-8"),
        ("a.yaml", "- name: a\x00b\n", "not YAML"),
        ("a.yaml", "- name: " + "[" * 5000, "nested too deeply"),
        ("a.yaml", f"a0: &a0 [1, 2]\n{BILLION}\n", "aliases"),
        ("a.yaml", "- &a {name: *a}\n", "aliases"),
        ("a.json", '[{"name": "one"}', "JSON list"),
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
