"""The core of all adapters against a real service: one POST a batch, and no score that was not given."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from engines.process import free_port
from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, UNDECIDABLE, Wire
from rubricate_clients.adapters import AdapterSettings, Score, Scoring, Unscored
from rubricate_clients.adapters._log import warn_once
from rubricate_clients.adapters._rows import Sample
from rubricate_clients.adapters._settings import SERVICE_ONLY
from rubricate_clients.errors import InvalidRequest, Unauthorized
from rubricate_service.settings import Settings


@pytest.fixture
def service(running: Wire) -> Wire:
    running.reset()
    return running


def scoring_of(service: Wire, **settings: Any) -> Scoring:
    return Scoring(AdapterSettings(url=service.url, **settings))


def batch(rubrics: Any = RUBRICS, group: int = 0) -> list[Sample]:
    return [Sample(PROMPT, text, rubrics, group) for text in RESPONSES]


def advantages(scores: list[Score]) -> list[float | None]:
    return [score.advantage for score in scores]


def test_a_batch_is_scored_in_one_post(service: Wire) -> None:
    scores = scoring_of(service).score_sync(batch())
    assert advantages(scores) == pytest.approx(ADVANTAGES, abs=1e-12)
    assert [score.outcome for score in scores] == [1, 1, 1, 0]
    assert [score.quality for score in scores] == [1.0, 0.5, 0.0, None]
    assert scores[0].rubrics == {"long": 1.0, "vivid": 1.0}
    assert service.posts == ["/v1/score"]


def test_nothing_to_score_asks_nobody(service: Wire) -> None:
    assert scoring_of(service).score_sync([]) == []
    assert service.posts == []


def test_hooks_that_ask_for_one_batch_share_a_post(service: Wire) -> None:
    scoring = scoring_of(service)

    async def together() -> list[list[Score]]:
        return await asyncio.gather(*(scoring.score(batch()) for _ in range(5)))

    found = asyncio.run(together())  # at the same time on a loop,
    found += [asyncio.run(scoring.score(batch()))]  # then on another loop,
    with ThreadPoolExecutor(4) as threads:  # and from threads
        found += list(threads.map(scoring.score_sync, [batch()] * 4))
    assert all(advantages(scores) == pytest.approx(ADVANTAGES) for scores in found)
    assert service.posts == ["/v1/score"]


def test_threads_that_ask_at_the_same_time_share_a_post(service: Wire) -> None:
    scoring, start = scoring_of(service), threading.Barrier(8)

    def ask(samples: list[Sample]) -> list[Score]:
        start.wait()
        return scoring.score_sync(samples)

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(ask, [batch()] * 8))
    assert all(scores == found[0] for scores in found)
    assert service.posts == ["/v1/score"]


def test_another_batch_or_other_options_are_asked_for(service: Wire) -> None:
    scoring = scoring_of(service)
    scoring.score_sync(batch())
    scoring.score_sync(batch()[:2])
    alone = scoring.score_sync(batch(), advantages=False)
    assert advantages(alone) == [None] * 4
    assert len(service.posts) == 3


def test_one_caller_that_gives_up_takes_the_answer_from_no_other(service: Wire) -> None:
    scoring = scoring_of(service)
    service.troubles = ["slow"]

    async def first_gives_up() -> list[Score]:
        first = asyncio.ensure_future(scoring.score(batch()))
        second = asyncio.ensure_future(scoring.score(batch()))
        while not service.posts:
            await asyncio.sleep(0.01)
        first.cancel()
        return await second

    assert advantages(asyncio.run(first_gives_up())) == pytest.approx(ADVANTAGES)
    assert service.posts == ["/v1/score"]


def test_what_failed_is_asked_anew(service: Wire) -> None:
    scoring = scoring_of(service, timeout_s=0.5)
    service.troubles = ["broken"] * 2
    with pytest.raises(Unscored, match="500"):
        scoring.score_sync(batch())
    assert advantages(scoring.score_sync(batch())) == pytest.approx(ADVANTAGES)


def test_an_answer_that_decided_nothing_is_asked_anew(service: Wire) -> None:
    scoring = scoring_of(service)
    for _ in range(2):
        with pytest.raises(Unscored, match=r"unknown_check: .*text:no_such_check"):
            scoring.score_sync(batch(UNDECIDABLE))
    assert service.posts == ["/v1/score"] * 2


def test_masked_says_why(service: Wire, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "rubricate.adapters"):
        scores = scoring_of(service, unscored="mask").score_sync(batch(UNDECIDABLE))
    assert [score.valid for score in scores] == [False] * 4
    assert [score.outcome for score in scores] == [None] * 4
    assert all("unknown_check" in score.why for score in scores)
    assert "none of 4 responses could be scored, masked: unknown_check" in caplog.text
    assert [score.failed for score in scores] == [("unknown_check",)] * 4


def test_one_undecided_response_does_not_stop_hooks_that_ask_for_one_at_a_time(
    service: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    [score] = scoring_of(service).score_sync(batch(UNDECIDABLE)[:1], advantages=False)
    assert (score.valid, score.outcome, score.failed) == (False, None, ("unknown_check",))
    assert "the response could not be scored, masked: unknown_check" in caplog.text
    unjudged = [{"criterion": "The sentence is vivid.", "hard": True}]
    [score] = scoring_of(service, judging="none").score_sync(batch(unjudged)[:1], advantages=False)
    assert (score.valid, score.why) == (False, "a hard rubric was not judged")


def test_a_service_that_is_gone_stops_hooks_that_ask_for_one_at_a_time() -> None:
    nobody = AdapterSettings(url=f"http://127.0.0.1:{free_port()}", timeout_s=0.3)
    with pytest.raises(Unscored, match=r"the response could not be scored: .*cannot be reached"):
        Scoring(nobody).score_sync(batch()[:1], advantages=False)


def test_options_of_the_data_set_go_before_the_settings(service: Wire) -> None:
    scores = asyncio.run(scoring_of(service).score(batch(), options={"judging": "none"}))
    assert [score.quality for score in scores] == [None] * 4
    assert [score.outcome for score in scores] == [1, 1, 1, 0]


def test_raising_says_what_to_set_instead() -> None:
    nobody = AdapterSettings(url=f"http://127.0.0.1:{free_port()}", timeout_s=0.3)
    with pytest.raises(Unscored, match=r"cannot be reached.*set `unscored` to `mask`"):
        Scoring(nobody).score_sync(batch())


def test_groups_that_are_scored_are_kept_beside_one_that_is_not(service: Wire) -> None:
    mixed = [sample for pair in zip(batch(), batch(UNDECIDABLE, group=1), strict=True) for sample in pair]
    scores = scoring_of(service).score_sync(mixed)
    assert advantages(scores[0::2]) == pytest.approx(ADVANTAGES)
    assert [(s.valid, s.advantage, s.failed) for s in scores[1::2]] == [(False, 0.0, ("unknown_check",))] * 4


def test_a_judge_that_fails_on_one_response_costs_its_quality_alone(service: Wire) -> None:
    rubrics = [*RUBRICS, {"id": "odd", "check": "text:no_such_check", "hard": False}]
    scores = scoring_of(service).score_sync(batch(rubrics))
    assert [score.valid for score in scores] == [True] * 4
    assert [score.quality for score in scores] == [None] * 4
    assert [score.a_proc for score in scores] == [0.0] * 4
    numbers = [score.numbers() for score in scores]
    assert [row["quality_valid"] for row in numbers] == [0.0] * 4
    assert {tuple(row) for row in numbers} == {tuple(Score().numbers())}


@pytest.mark.parametrize("unscored", ["raise", "mask"])
def test_a_fault_of_the_caller_is_raised_even_where_failures_are_masked(service: Wire, unscored: str) -> None:
    scoring = scoring_of(service, unscored=unscored)
    with pytest.raises(InvalidRequest, match=r"rubrics\[0\].*num_word"):
        scoring.score_sync(batch([{"check": "text:word_count", "num_word": 3}]))
    with pytest.raises(InvalidRequest, match="row 2: the response"):
        scoring.score_sync([*batch()[:2], Sample(PROMPT, None, RUBRICS, 0)])


def test_a_refused_token_is_raised(running: Wire) -> None:
    async def refuse(scope: Any, receive: Any, send: Any) -> None:
        start = {"type": "http.response.start", "status": 401, "headers": []}
        await send(start)
        await send({"type": "http.response.body", "body": b"{}"})

    app, running.app = running.app, refuse  # type: ignore[assignment]
    try:
        with pytest.raises(Unauthorized):
            scoring_of(running, token="wrong", unscored="mask").score_sync(batch())
    finally:
        running.app = app


def test_a_copy_in_another_process_opens_its_own_connections(service: Wire) -> None:
    scoring = scoring_of(service, token="secret")
    scoring.score_sync(batch())
    copy = pickle.loads(pickle.dumps(scoring))
    assert copy.settings == scoring.settings
    assert advantages(copy.score_sync(batch())) == pytest.approx(ADVANTAGES)


def _in_child(scoring: Scoring, answers: Any) -> None:
    answers.put(advantages(scoring.score_sync(batch())))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
@pytest.mark.parametrize("moment", ["answered", "in flight"])
def test_a_forked_child_scores_with_a_loop_of_its_own(service: Wire, moment: str) -> None:
    scoring = scoring_of(service)
    service.troubles = ["slow"] if moment == "in flight" else []
    asking = threading.Thread(target=scoring.score_sync, args=(batch(),))
    asking.start()
    if moment == "answered":
        asking.join()
    else:
        while not service.posts:
            asking.join(0.01)
    context = multiprocessing.get_context("fork")
    answers: Any = context.Queue()
    child = context.Process(target=_in_child, args=(scoring, answers))
    child.start()
    try:
        assert answers.get(timeout=30) == pytest.approx(ADVANTAGES)
    finally:
        child.join(30)
        if child.is_alive():
            child.kill()
    asking.join()
    assert advantages(scoring.score_sync(batch())) == pytest.approx(ADVANTAGES)


def test_step_and_run_go_to_the_service(service: Wire) -> None:
    seen: list[dict[bytes, bytes]] = []
    app = service.app

    async def note(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            seen.append(dict(scope["headers"]))
        await app(scope, receive, send)

    service.app = note  # type: ignore[assignment]
    try:
        scoring_of(service, run="tea-7").score_sync(batch(), step=12)
    finally:
        service.app = app
    assert (seen[0][b"x-run"], seen[0][b"x-step"]) == (b"tea-7", b"12")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"`url`.*RUBRICATE_URL=http://"),
        ({"url": "http://x", "timeout": 3}, "`timeout`"),
        ({"url": "http://x", "timeout_s": 0}, "`timeout_s`"),
        ({"url": "http://x", "num_generations": 0}, "`num_generations`"),
        ({"url": "http://x", "unscored": "zero"}, "`unscored`"),
    ],
)
def test_settings_that_are_not_right_are_told(
    given: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RUBRICATE_URL", raising=False)
    with pytest.raises(ValueError, match=message):
        AdapterSettings.read(**given)


def test_the_page_of_trainers_names_every_setting() -> None:
    page = (Path(__file__).parents[3] / "docs/trainers/README.md").read_text()
    assert {
        name for name in AdapterSettings.model_fields if f"`RUBRICATE_{name.upper()}`" not in page
    } == set()


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("RUBRICATE_NUMGENERATIONS", "RUBRICATE_NUM_GENERATIONS"),
        ("RUBRICATE_TIMEOUT", "RUBRICATE_TIMEOUT_S"),
        ("RUBRICATE_UNSCORE", "RUBRICATE_UNSCORED"),
        ("RUBRICATE_QUALITY_WEIGTH", "RUBRICATE_QUALITY_WEIGHT"),
        ("RUBRICATE_SERVICE_PORT", None),  # Kubernetes gives pods such names of a service `rubricate`
        ("RUBRICATE_PORT_8080_TCP", None),
        ("RUBRICATE_RUN", None),
        ("RUBRIC_TIMEOUT", None),
    ],
)
def test_a_misspelt_variable_is_told_once(
    variable: str, meant: str | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    warn_once.cache_clear()
    monkeypatch.setenv(variable, "8")
    for _ in range(2):
        AdapterSettings.read(url="http://there:1")
    told = [record.getMessage() for record in caplog.records]
    assert told == ([f"{variable} is no variable of the adapters: is {meant} meant?"] if meant else [])


def test_a_variable_of_the_service_is_not_taken_for_a_misspelt_one(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    warn_once.cache_clear()
    names = {name.upper() for name in Settings.model_fields}
    assert names > SERVICE_ONLY
    for name in names - {name.upper() for name in AdapterSettings.model_fields}:
        monkeypatch.setenv(f"RUBRICATE_{name}", "x")
    monkeypatch.setenv("RUBRICATE_COMPAT__GROUP_TIMEOUT_S", "40")
    AdapterSettings.read(url="http://there:1")
    assert not [r for r in caplog.records if r.name.startswith("rubricate")]


def test_settings_come_from_the_environment_and_arguments_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUBRICATE_URL", "http://there:1")
    monkeypatch.setenv("RUBRICATE_NUM_GENERATIONS", "8")
    monkeypatch.setenv("RUBRICATE_LOG_RUBRICS", "tone, length,")
    settings = AdapterSettings.read(num_generations=4)
    assert settings.url == "http://there:1"
    assert settings.num_generations == 4
    assert settings.log_rubrics == ("tone", "length")
    assert AdapterSettings.read(log_rubrics=["a, b"]).log_rubrics == ("a, b",)
