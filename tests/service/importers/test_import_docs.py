"""The page on importing says what the code does."""

from __future__ import annotations

import json
import re
from pathlib import Path

from rubricate_service.importers import FORMATS, Importer

PAGE = (Path(__file__).parents[3] / "docs" / "importing.md").read_text()


def test_the_examples_are_what_comes_out() -> None:
    blocks = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
    assert len(blocks) == 4
    for row, group in zip(blocks[::2], blocks[1::2], strict=True):
        imported = Importer().take(0, row)
        assert imported is not None
        assert imported.model_dump(exclude_unset=True) == group


def test_every_format_has_its_line() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == list(FORMATS)
