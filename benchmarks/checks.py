"""Checks per core-second, strict and loose, beside lm-evaluation-harness where that is installed.

Run with ``python benchmarks/checks.py [ifeval_groups.jsonl]``. The file has one group a line (`prompt`,
`instruction_id_list`, `kwargs`, `responses` with `text`); by default it is ../shared/inputs beside the
repository. Half of the responses warm the memos, the others, never seen before, are measured, each
once. lm-eval wants punkt_tab on nltk's data path.

Two mixes: `groups` asks each response what its prompt asks; `spec` draws four ids a prompt evenly and
takes responses of 300 to 600 words, as a training set over all ids would. CPU time, one process.
"""

from __future__ import annotations

import gc
import json
import random
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from rubricate_checkers import Check, Text, build, evaluate, warm_up
from rubricate_checkers.loose import revise

Rules = list[tuple[str, dict[str, Any]]]
Work = list[tuple[str, Rules]]
Mode = Literal["strict", "loose"]
Ask = Callable[[str, dict[str, Any], str], object]

DEFAULT = Path(__file__).parents[2] / "shared" / "inputs" / "ifeval_groups.jsonl"
PROMPTS, RESPONSES, IDS = 256, 8, 4


def read(file: Path) -> Work:
    """Every response with the rules of its prompt; rules with a letter drawn at random are left out."""
    work: Work = []
    for line in file.read_text(encoding="utf-8").splitlines():
        group = json.loads(line)
        pairs = zip(group["instruction_id_list"], group["kwargs"], strict=True)
        rules = [(id, kwargs) for id, kwargs in pairs if kwargs.get("letter", "a").isalpha()]
        work += [(response["text"], rules) for response in group["responses"]]
    return work


def spec_mix(work: Work, rng: random.Random) -> Work:
    """Long responses, each asked by ids drawn evenly with kwargs of the data."""
    by_id: dict[str, list[dict[str, Any]]] = {}
    for _, rules in work:
        for id, kwargs in rules:
            by_id.setdefault(id, []).append(kwargs)
    long = [text for text, _ in work if 300 <= len(text.split()) <= 600]
    drawn: Work = []
    for _ in range(PROMPTS):
        rules = [(id, rng.choice(by_id[id])) for id in rng.sample(sorted(by_id), IDS)]
        drawn += [(text, rules) for text in rng.sample(long, RESPONSES)]
    return drawn


def ours(work: Work, mode: Mode) -> float:
    """Checks per CPU second; checks are built beforehand, once per rule, as a service does."""
    built: dict[str, Check] = {}
    todo = [
        (text, [built.setdefault(json.dumps([id, kw]), build(id, kw)) for id, kw in rules])
        for text, rules in work
    ]
    start = time.process_time()
    for raw, checks in todo:
        text = Text(raw)
        for check in checks:
            evaluate(text, check, mode)
    return sum(len(checks) for _, checks in todo) / (time.process_time() - start)


def theirs(work: Work, ask: Ask) -> float:
    """Checks per CPU second of a reference, which builds an instance for every check."""
    start = time.process_time()
    for text, rules in work:
        for id, kwargs in rules:
            ask(id, kwargs, text)
    return sum(len(rules) for _, rules in work) / (time.process_time() - start)


def reference() -> dict[Mode, Ask] | None:
    """lm-evaluation-harness's checks in its own loops, or None where it or its data is missing."""
    try:
        langdetect = import_module("langdetect")
        classes = import_module("lm_eval.tasks.ifeval.instructions_registry").INSTRUCTION_DICT
    except (ImportError, LookupError):
        return None
    langdetect.DetectorFactory.seed = 0

    def strict(id: str, kwargs: dict[str, Any], text: str) -> object:
        instruction = classes[id](id)
        instruction.build_description(**kwargs)
        return text.strip() and instruction.check_following(text)

    def loose(id: str, kwargs: dict[str, Any], text: str) -> object:
        instruction = classes[id](id)
        instruction.build_description(**kwargs)
        return any(raw.strip() and instruction.check_following(raw) for raw in revise(text))

    strict("language:response_language", {"language": "en"}, "The first detection loads the profiles.")
    return {"strict": strict, "loose": loose}


def main() -> None:
    """Measure both mixes and print a line for each mode."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    if not file.exists():
        print(f"no responses to measure with: {file} does not exist; name a file")
        return
    rng = random.Random(0)
    work = read(file)
    rng.shuffle(work)
    seen, unseen = work[: len(work) // 2], work[len(work) // 2 :]
    warm_up()
    asks = reference()
    if asks is None:
        print("lm-eval is not installed, so its column is left out")
    gc.freeze()
    for name, warm, measured in (
        ("groups", seen, unseen),
        ("spec", spec_mix(seen, rng), spec_mix(unseen, rng)),
    ):
        ours(warm, "loose")
        parts: dict[Mode, Work] = {"strict": measured[::2], "loose": measured[1::2]}
        for mode, part in parts.items():
            rate = ours(part, mode)
            line = f"{name:7} {mode:7} {rate:9,.0f} checks/s"
            if asks is not None:
                other = theirs(part[::2], asks[mode])
                line += f"   lm-eval {other:7,.0f}   {rate / other:5.1f}x"
            print(line, flush=True)


if __name__ == "__main__":
    main()
