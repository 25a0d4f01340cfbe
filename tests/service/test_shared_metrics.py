"""Folders of shared metrics: those of services that were killed go, those of others stay."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rubricate_service.telemetry import shared
from rubricate_service.telemetry.shared import VARIABLE, shared_metrics


def test_a_start_removes_what_a_killed_service_left_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "_MEMORY", tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    left, other = tmp_path / "rubricate-metrics-left", tmp_path / "another"
    for folder in (left, other):
        folder.mkdir()
        (folder / "counter_1.db").write_bytes(b"1")
    with shared_metrics(2):
        running = os.environ[VARIABLE]
        assert not left.exists()
        with monkeypatch.context() as second:
            second.delenv(VARIABLE)
            with shared_metrics(2):
                assert {path.name for path in tmp_path.iterdir()} == {
                    other.name,
                    Path(running).name,
                    Path(os.environ[VARIABLE]).name,
                }
    assert list(tmp_path.iterdir()) == [other]


def test_one_process_needs_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with shared_metrics(1):
        assert VARIABLE not in os.environ
