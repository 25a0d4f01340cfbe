"""Checks per core-second, strict and loose, beside lm-eval and nvidia-ifbench in the same run.

Run with ``python benchmarks/checks.py [folder]``. The folder holds `ifeval_groups.jsonl` (one group a line:
`prompt`, `instruction_id_list`, `kwargs`, `responses` with `text`) and `ifbench_test.jsonl` (likewise,
without responses); by default it is ../shared/inputs beside the repository. `make bench` installs the
two packages. `words:start_verb` takes part if nltk's tagger is on NLTK_DATA.

Half of the responses warm the memos, the others are measured, so that none was seen before. That is
repeated in new processes, in turns with upstream, whose rounds share the responses out. Seconds are of
CPU, in one process; loose includes strict. Three mixes: `groups` asks each response what its prompt
asks; `spec` draws four ids of IFEval a response evenly and takes responses of 300 to 600 words, as a
training set over all ids would; `ifbench` does so with the ids of the older IFBench.
"""

from __future__ import annotations

import gc
import json
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, NamedTuple

from _upstream import Upstream

from rubricate_checkers import BadKwargs, Check, MissingData, Text, build, evaluate, warm_up
from rubricate_checkers.loose import revise

Mode = Literal["strict", "loose"]
Rules = list[tuple[str, dict[str, Any]]]

DEFAULT = Path(__file__).parents[2] / "shared" / "inputs"
IDS, ROUNDS, SLOWEST = 4, 5, 8


class Task(NamedTuple):
    """One response and what is asked of it, by upstream's ids."""

    prompt: str
    text: str
    rules: Rules


class Measured(NamedTuple):
    """What one process took for the tasks: the total, its share by id, the verdicts of each task."""

    seconds: float
    by_id: dict[str, float]
    verdicts: list[list[bool]]


def read(file: Path, prefix: str) -> list[dict[str, Any]]:
    """Rows of a data set with their `rules`; those that upstream draws at random are left out."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        pairs = zip(row["instruction_id_list"], row["kwargs"], strict=True)
        rules = [(id, {k: v for k, v in kwargs.items() if v is not None}) for id, kwargs in pairs]
        row["rules"] = [(id, kwargs) for id, kwargs in rules if can_be_asked(prefix + id, kwargs)]
    return rows


def can_be_asked(id: str, kwargs: dict[str, Any]) -> bool:
    """Whether a rule is sound, and what its check reads is installed."""
    try:
        evaluate(Text("Some words."), build(id, kwargs))
    except (BadKwargs, MissingData):
        return False
    return True


def groups_mix(rows: list[dict[str, Any]]) -> list[Task]:
    """Every distinct response with the rules of its prompt."""
    tasks = {
        response["text"]: Task(row["prompt"], response["text"], row["rules"])
        for row in rows
        for response in row["responses"]
        if row["rules"]
    }
    return list(tasks.values())


def even_mix(tasks: list[Task], rows: list[dict[str, Any]], rng: random.Random) -> list[Task]:
    """The long responses, each asked by ids drawn evenly with kwargs of the data."""
    by_id: dict[str, Rules] = defaultdict(list)
    for id, kwargs in (rule for row in rows for rule in row["rules"]):
        by_id[id].append((id, kwargs))
    long = [task for task in tasks if 300 <= len(task.text.split()) <= 600]
    return [
        task._replace(rules=[rng.choice(by_id[id]) for id in rng.sample(sorted(by_id), IDS)]) for task in long
    ]


def ours(tasks: list[Task], prefix: str, mode: Mode) -> Measured:
    """Measure the second half of the tasks, after the first half. Checks are built once per rule."""
    made: dict[str, Check] = {}

    def make(id: str, kwargs: dict[str, Any]) -> Check:
        key = json.dumps([id, kwargs])
        if key not in made:
            made[key] = build(prefix + id, kwargs)
        return made[key]

    todo = [(task, [make(*rule) for rule in task.rules]) for task in tasks]
    middle = len(todo) // 2
    for task, checks in todo[:middle]:
        text = Text(task.text, task.prompt)
        for check in checks:
            evaluate(text, check, "loose")
    gc.freeze()
    by_id: dict[str, float] = defaultdict(float)
    verdicts: list[list[bool]] = []
    start = before = time.process_time()
    for task, checks in todo[middle:]:
        text = Text(task.text, task.prompt)
        row = []
        for check in checks:
            row.append(evaluate(text, check, mode).holds)
            now = time.process_time()
            by_id[check.id] += now - before
            before = now
        verdicts.append(row)
    seconds = time.process_time() - start
    return Measured(seconds, by_id, verdicts)


def in_new_process(tasks: list[Task], prefix: str, mode: Mode) -> Measured:
    """`ours` with empty memos."""
    with get_context("fork").Pool(1) as pool:
        return pool.apply(ours, (tasks, prefix, mode))


def compare(name: str, suite: str, prefix: str, tasks: list[Task], upstream: Upstream | None) -> None:
    """Measure one mix in both modes and print what came out."""
    fresh = tasks[len(tasks) // 2 :]
    checks = sum(len(task.rules) for task in fresh)
    modes: tuple[Mode, ...] = ("strict", "loose")
    for mode in modes:
        rounds: list[Measured] = []
        upstream_seconds, differ, compared = 0.0, 0, 0
        for turn in range(ROUNDS):
            rounds.append(in_new_process(tasks, prefix, mode))
            if upstream is not None:
                answer = upstream.ask(suite, mode, fresh[turn::ROUNDS])
                upstream_seconds += answer["seconds"]
                rows = zip(rounds[0].verdicts[turn::ROUNDS], answer["verdicts"], strict=True)
                pairs = [pair for row in rows for pair in zip(*row, strict=True) if pair[1] is not None]
                compared += len(pairs)
                differ += sum(ours != theirs for ours, theirs in pairs)
        seconds = statistics.median(measured.seconds for measured in rounds)
        line = f"{name:8} {mode:7} {checks / seconds:9,.0f} checks/s"
        if upstream is not None:
            line += f", upstream {checks / upstream_seconds:7,.0f}: {upstream_seconds / seconds:5.1f}x"
            line += f"   ({differ} of {compared} verdicts differ)"
        print(line, flush=True)
        by_id = {id: sum(measured.by_id[id] for measured in rounds) for id in rounds[0].by_id}
        slowest = sorted(by_id, key=by_id.__getitem__, reverse=True)[:SLOWEST]
        shares = [f"{id} {by_id[id] / sum(by_id.values()):.0%}" for id in slowest]
        print(f"{'':17}{', '.join(shares)}")


STAGES: dict[str, Callable[[Text], object]] = {
    "lower case": lambda text: text.lower,
    "words": lambda text: text.word_count,
    "sentences": lambda text: text.sentence_spans,
    "tokens, given sentences": lambda text: text.tokens,
    "upper case tokens": lambda text: text.uppercase_tokens,
    "language": lambda text: text.language,
    "loose variants": lambda text: revise(text.raw),
}
"""What the checks of a response share."""


def stages(tasks: list[Task]) -> Iterator[str]:
    """Milliseconds that each shared analysis takes a response, in the second half after the first."""
    middle = len(tasks) // 2
    for name, analyse in STAGES.items():
        texts = [Text(task.text) for task in tasks]
        for text in texts:
            _ = text.sentence_spans if name.startswith("tokens") else None
        for text in texts[:middle]:
            analyse(text)
        start = time.process_time()
        for text in texts[middle:]:
            analyse(text)
        yield f"{name} {(time.process_time() - start) / (len(texts) - middle) * 1e3:.3f}"


def main() -> None:
    """Measure the mixes."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    if not (folder / "ifeval_groups.jsonl").exists():
        print(f"no responses to measure with: {folder} has no ifeval_groups.jsonl; name a folder")
        return
    warm_up()
    older = "ifbench@2025:"
    ifeval, ifbench = read(folder / "ifeval_groups.jsonl", ""), read(folder / "ifbench_test.jsonl", older)
    rng = random.Random(0)
    groups = groups_mix(ifeval)
    rng.shuffle(groups)
    spec = even_mix(groups, ifeval, rng)
    with ExitStack() as stack:
        upstream = stack.enter_context(Upstream()) if Upstream.is_installed() else None
        if upstream is None:
            print("upstream's packages are not installed, so there is no ratio: run make bench")
        compare("groups", "ifeval", "", groups, upstream)
        compare("spec", "ifeval", "", spec, upstream)
        compare("ifbench", "ifbench@2025", older, even_mix(groups, ifbench, rng), upstream)
    print(f"ms for a response of 300 to 600 words: {', '.join(stages(spec))}")


if __name__ == "__main__":
    main()
