"""`rubricate eval` end to end: joining, what is missing, the judge's part, and real groups' figures."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rubricate_clients.testing import FakeJudge
from rubricate_service.cli import app
from rubricate_service.evaluation.benchmark import Benchmark
from rubricate_service.evaluation.evaluate import Report, evaluate_file
from rubricate_service.evaluation.join import EvaluationError, join
from rubricate_service.evaluation.rate import Rate
from rubricate_service.settings import Settings

SHARED = Path(__file__).parents[3] / "shared"
GOLDENS = Path(os.environ.get("RUBRICATE_GOLDENS", SHARED / "goldens"))
INPUTS = GOLDENS.parent / "inputs"
COMMA, QUOTES = "punctuation:no_comma", "startend:quotation"


def prompt(key: int, text: str, *ids: str) -> dict[str, Any]:
    return {"key": key, "prompt": text, "instruction_id_list": ids, "kwargs": [{}] * len(ids)}


DATA = [
    prompt(1, "Name a pier.", COMMA, QUOTES),
    prompt(2, " Name a bay.", COMMA),
    prompt(3, "Name a cape.", COMMA),
]


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def evaluate(
    benchmark: str, tmp_path: Path, responses: list[Any], data: list[Any] | None, judge: str | None = None
) -> Report:
    settings = Settings(judge=judge, cache=str(tmp_path / "v.db"), check_workers=1)
    source = write(tmp_path / "responses.jsonl", responses)
    prompts = None if data is None else write(tmp_path / "data.jsonl", data)
    return asyncio.run(evaluate_file(Benchmark(benchmark), source, prompts, settings))


RESPONSES = [
    {"key": 1, "response": '* no comma\n"The old one"'},
    {"prompt": "Name a bay.", "response": "North, or south."},
    {"key": 9, "response": "Nobody asked."},
]


@pytest.mark.parametrize(
    ("benchmark", "prompts", "instructions"),
    [("ifeval", Rate(0, 2, 0), Rate(1, 3, 0)), ("ifbench", Rate(0, 3, 0), Rate(1, 4, 0))],
)
def test_a_missing_response_fails_in_ifbench_and_is_left_out_of_ifeval(
    benchmark: str, prompts: Rate, instructions: Rate, tmp_path: Path
) -> None:
    report = evaluate(benchmark, tmp_path, RESPONSES, DATA)
    assert (report.responses, report.missing, report.strays) == (2, ["3"], [2])
    strict, loose = report.figures["strict"], report.figures["loose"]
    assert (strict["prompt"], strict["instruction"]) == (prompts, instructions)
    # without its first line, the first response is quoted
    assert loose["prompt"] == Rate(1, prompts.decided, 0)
    assert loose["tier1"][QUOTES] == Rate(1, 1, 0)


def test_a_files_own_numbers_do_not_pass_for_keys(tmp_path: Path) -> None:
    responses = [
        {"id": n, "prompt": row["prompt"], "response": f"{row['key']}"} for n, row in enumerate(DATA)
    ]
    source, data = write(tmp_path / "r.jsonl", responses), write(tmp_path / "d.jsonl", DATA)
    joined = join("ifeval", source, data)
    assert [(item.group.id, item.response) for item in joined.items] == [("1", "1"), ("2", "2"), ("3", "3")]
    assert joined.strays == []


def test_rows_that_carry_both_need_no_data(tmp_path: Path) -> None:
    rows = [{**DATA[0], "response": '"Old"'}, {**DATA[1], "responses": ["A, b"]}, DATA[2]]
    report = evaluate("ifeval", tmp_path, rows, None)
    assert report.figures["strict"]["prompt"] == Rate(1, 2, 0)
    assert report.missing == ["3"]


def test_thinking_is_kept_and_blank_responses_reach_the_checks(tmp_path: Path) -> None:
    responses = [{"key": 2, "response": "<think>a, b</think>None."}, {"key": 3, "response": " \n"}]
    report = evaluate("ifeval", tmp_path, responses, DATA)
    # IFEval says False of a blank response whatever is asked of it
    assert report.figures["strict"]["instruction"] == Rate(0, 2, 0)
    assert report.undecided == []


def test_a_parameter_that_upstream_draws_counts_neither_way(tmp_path: Path) -> None:
    id = "keywords:letter_frequency"
    kwargs = {"letter": "#", "let_frequency": 1, "let_relation": "at least"}
    drawn = {"key": 4, "prompt": "Tag it.", "instruction_id_list": [id, COMMA], "kwargs": [kwargs, {}]}
    report = evaluate(
        "ifeval", tmp_path, [{**drawn, "response": "#a"}, {**drawn, "key": 5, "response": "#a,"}], None
    )
    assert report.figures["strict"]["instruction"] == Rate(1, 2, 2)
    assert report.figures["strict"]["prompt"] == Rate(0, 1, 1)
    assert [(prompt, rubric) for prompt, rubric, _ in report.undecided] == [("4", id), ("5", id)]
    assert "bad_kwargs" in report.undecided[0][2]


def test_muldimif_by_pattern_and_level(tmp_path: Path) -> None:
    def row(id: str, level: str, answer: str) -> dict[str, Any]:
        turns = [{"role": "user", "content": "Describe a pier."}, {"role": "assistant", "content": answer}]
        return {
            "id": id,
            "conversations": turns,
            "constraints": [["Length", "Words: At most", "At most 3 words"]],
            "constraint_pattern": "Listing",
            "difficulty": level,
        }

    rows = [row("a", "Level 1", "Old grey wood"), row("b", "Level 2", "It is old grey wood")]
    found = evaluate("muldimif", tmp_path, rows, None).figures
    assert (
        found["overall"]
        == found["patterns"]["Listing"]
        == found["subcategories"]["Length_Words"]
        == Rate(1, 2, 0)
    )
    assert found["levels"] == {"Level 1": Rate(1, 1, 0), "Level 2": Rate(0, 1, 0)}


@pytest.mark.parametrize(
    ("answer", "valid", "prompts", "instructions"),
    [
        ("2", Rate(2, 2, 0), Rate(1, 2, 0), Rate(2, 3, 0)),
        ("1", Rate(0, 2, 0), Rate(0, 2, 0), Rate(0, 3, 0)),
        ("0", Rate(0, 2, 0), Rate(0, 2, 0), Rate(0, 3, 0)),
        # unreadable: what holds by its form is undecided, what fails has failed
        ("no idea", Rate(0, 0, 2), Rate(0, 1, 1), Rate(0, 1, 2)),
    ],
)
def test_with_a_judge_only_valid_answers_count(
    answer: str, valid: Rate, prompts: Rate, instructions: Rate, tmp_path: Path
) -> None:
    responses = [{"key": 1, "response": '"North Pier"'}, {"key": 2, "response": "North, or south."}]
    with FakeJudge(answer=answer) as judge:
        report = evaluate("ifeval", tmp_path, responses, DATA, judge.url)
        asked = [call for call in judge.calls if "semantically valid" in call.text]
    assert asked
    assert report.figures["strict"]["prompt"] == Rate(1, 2, 0)
    assert report.constrained is not None
    assert Rate.of(report.valid) == valid
    assert report.constrained["strict"]["prompt"] == prompts
    assert report.constrained["strict"]["instruction"] == instructions
    assert report.constrained["loose"]["prompt"] == prompts


@pytest.mark.parametrize(
    ("responses", "says"),
    [
        ([{"key": 1, "response": "a"}, {"key": 1, "response": "b"}], "row 1: row 0 has a response to '1'"),
        ([{"response": "a"}], "neither `key`, `id` nor `prompt`"),
        ([{"key": 1, "response": 3}], "response: must be a string"),
        ([3], "must be an object"),
        ([{"key": 8, "response": "a"}], "has a response"),
    ],
)
def test_responses_that_cannot_be_joined_are_explained(
    responses: list[Any], says: str, tmp_path: Path
) -> None:
    with pytest.raises(EvaluationError, match="(?s)" + says.replace("(", r"\(")):
        evaluate("ifeval", tmp_path, responses, DATA)


def test_data_that_is_no_such_benchmark_is_explained(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"row 0: has no `constraints`"):
        evaluate("muldimif", tmp_path, [{"key": 1, "response": "a"}], DATA)
    with pytest.raises(EvaluationError, match="there is no file"):
        join("ifeval", tmp_path / "nowhere.jsonl", None)


def test_the_command_prints_tables_and_json(tmp_path: Path) -> None:
    source, data = write(tmp_path / "r.jsonl", RESPONSES), write(tmp_path / "d.jsonl", DATA)
    command = ["eval", "ifeval", str(source), "--data", str(data), "--check-workers", "1"]
    shown = CliRunner().invoke(app, command).stdout
    assert COMMA in shown
    assert "0.3333 (1/3)" in shown
    assert "1 prompts without a response:" in shown
    answer = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert answer["figures"]["strict"]["prompt"] == {"accuracy": 0.0, "held": 0, "decided": 2, "undecided": 0}
    assert (answer["missing"], answer["strays"]) == (["3"], [2])
    refused = CliRunner().invoke(app, ["eval", "ifeval", str(tmp_path / "nowhere.jsonl")])
    assert (refused.exit_code, "there is no file" in refused.stderr) == (2, True)


def rows(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        pytest.skip(f"no recorded verdicts: {file} does not exist (set RUBRICATE_GOLDENS)")
    return [json.loads(line) for line in file.read_text().splitlines()]


def is_drawn(id: str, kwargs: dict[str, Any]) -> bool:
    """Whether upstream counts a letter drawn at random."""
    return id == "keywords:letter_frequency" and not kwargs["letter"].isalpha()


def test_ifeval_figures_are_those_of_the_official_verdicts(tmp_path: Path) -> None:
    groups = rows(INPUTS / "ifeval_groups.jsonl")
    models = [response["id"] for response in groups[0]["responses"]]
    for n, model in enumerate(models):
        answers = [group["responses"][n] for group in groups]
        assert {answer["id"] for answer in answers} == {model}
        joined = [{"key": g["key"], "response": a["text"]} for g, a in zip(groups, answers, strict=True)]
        report = evaluate("ifeval", tmp_path, joined, groups)
        for mode in ("strict", "loose"):
            tiers: dict[str, Counter[str]] = defaultdict(Counter)
            for group, answer in zip(groups, answers, strict=True):
                decided = [
                    (id, verdict)
                    for id, kwargs, verdict in zip(
                        group["instruction_id_list"], group["kwargs"], answer[mode], strict=True
                    )
                    if not is_drawn(id, kwargs)
                ]
                for id, verdict in decided:
                    for name in ("instruction", id, id.split(":")[0]):
                        tiers[name][str(verdict)] += 1
                # a prompt with a drawn letter is decided only where another instruction fails
                if len(decided) == len(answer[mode]) or False in [verdict for _, verdict in decided]:
                    tiers["prompt"][str(all(verdict for _, verdict in decided))] += 1
            figures = report.figures[mode]
            found = {
                "prompt": figures["prompt"],
                "instruction": figures["instruction"],
                **figures["tier0"],
                **figures["tier1"],
            }
            assert {name: (rate.held, rate.decided) for name, rate in found.items()} == {
                name: (count["True"], count.total()) for name, count in tiers.items()
            }
        assert {prompt for prompt, _, _ in report.undecided} == {"1122", "1129"}


def test_ifbench_figures_are_those_of_the_official_verdicts(tmp_path: Path) -> None:
    tagged = "words:start_verb"  # needs a tagger that no registry has
    data = [r for r in rows(INPUTS / "ifbench_test.jsonl") if tagged not in r["instruction_id_list"]]
    recorded = defaultdict(list)
    for row in rows(GOLDENS / "ifbench_real.jsonl"):
        recorded[str(row["key"])].append(row)
    whole = [
        r
        for r in data
        if [v["instruction_id"] for v in recorded[r["key"]]] == r["instruction_id_list"]
        and r["prompt"].startswith(recorded[r["key"]][0]["prompt"])
    ]
    responses = [{"key": r["key"], "response": recorded[r["key"]][0]["response"]} for r in whole]
    report = evaluate("ifbench", tmp_path, responses, whole)
    assert report.responses > 200
    for mode in ("strict", "loose"):
        verdicts = [[row[mode] for row in recorded[r["key"]]] for r in whole]
        assert report.figures[mode]["prompt"] == Rate.of(all(v) for v in verdicts)
        assert report.figures[mode]["instruction"] == Rate.of(verdict for v in verdicts for verdict in v)
