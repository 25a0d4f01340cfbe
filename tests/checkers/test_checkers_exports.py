"""The public surface of the package."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import rubricate_checkers


def test_all_names_are_exported_and_sorted() -> None:
    public = {
        name
        for name, value in vars(rubricate_checkers).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert set(rubricate_checkers.__all__) == public
    assert rubricate_checkers.__all__ == sorted(rubricate_checkers.__all__)


def test_importing_loads_neither_nltk_nor_language_profiles() -> None:
    heavy = {"nltk", "langdetect", "langdetect_rs"}
    code = f"import sys, rubricate_checkers; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"
