"""Every metric of the service, declared once; what happens is counted where it happens.

Labels are few and bounded: no ids, texts or addresses, and tenants only as far as `tenant_label` lets them.
With several uvicorn processes the values live in files that all of them share (`shared.py`): counters and
histograms add up, gauges as their `multiprocess_mode` says, over the processes that live.
"""

from __future__ import annotations

from typing import get_args

from prometheus_client import Counter, Gauge, Histogram, disable_created_metrics

from rubricate_clients.wire import FailureKind
from rubricate_service.telemetry.shared import ensure_folder

ensure_folder()  # in which each metric opens a file
disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each, which nobody asks for

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
_MOST_TENANTS = 100

BUILD = Gauge(
    "rubricate_build_info", "1, with the version as a label", ["version"], multiprocess_mode="livemax"
)

HTTP_REQUESTS = Counter(
    "rubricate_http_requests_total", "Requests answered, by route and status", ["route", "status"]
)
HTTP_SECONDS = Histogram(
    "rubricate_http_request_seconds",
    "From a request's headers to the end of its answer",
    ["route"],
    buckets=SECONDS,
)

QUEUE_ITEMS = Gauge(
    "rubricate_queue_items",
    "Responses that wait for a place: scale out on their sum",
    ["tenant"],
    multiprocess_mode="livesum",
)
IN_FLIGHT_ITEMS = Gauge(
    "rubricate_in_flight_items", "Responses being scored", ["tenant"], multiprocess_mode="livesum"
)
PLACES = Gauge("rubricate_place_items", "Responses that may be scored at a time", multiprocess_mode="livesum")

STAGE_SECONDS = Histogram(
    "rubricate_stage_seconds",
    "Of a scored request: waiting (queue), checks (check), the judge (judge), all (total)",
    ["stage"],
    buckets=SECONDS,
)
RESPONSES = Counter("rubricate_responses_total", "Responses scored", ["tenant"])
VERDICTS = Counter("rubricate_verdicts_total", "Verdicts by source and status", ["source", "status"])
FAILURES = Counter("rubricate_failures_total", "Failed verdicts by source and error kind", ["source", "kind"])

CHECK_SECONDS = Counter("rubricate_check_seconds_total", "Time in checks, by suite", ["suite"])
CHECK_WORKERS = Gauge("rubricate_check_workers", "Check workers that run", multiprocess_mode="livesum")
WORKER_RESTARTS = Counter("rubricate_check_worker_restarts_total", "Check workers that were replaced")

JUDGE_CALLS = Counter("rubricate_judge_calls_total", "Calls sent to the judge, retries included")
JUDGE_SAVED = Counter(
    "rubricate_judge_saved_calls_total",
    "Judgements that cost no call: found in the cache, joined to one in flight, not needed (gate)",
    ["how"],
)
JUDGE_CALL_SECONDS = Histogram(
    "rubricate_judge_call_seconds", "A call to the judge, from sending to its answer", buckets=SECONDS
)
JUDGE_CALL_FAILURES = Counter(
    "rubricate_judge_call_failures_total", "Calls that gave no verdict, by error kind", ["kind"]
)
JUDGE_TOKENS = Counter(
    "rubricate_judge_tokens_total",
    "Tokens at the judge: prompt (cached_prompt of them from its prefix cache) and completion",
    ["type"],
)
JUDGE_HALVES = Counter("rubricate_judge_halves_total", "Verdicts of the judge whose label is the middle one")
JUDGE_LABEL_MASS = Histogram(
    "rubricate_judge_label_mass_ratio",
    "Probability of all labels together in a verdict of the judge",
    buckets=_SHARES,
)
JUDGE_REPLICAS = Gauge(
    "rubricate_judge_replicas",
    "Replicas of the judge by state (ok, probing, ejected), as the process sees it that sees most of a state",
    ["state"],
    multiprocess_mode="livemax",
)
JUDGE_LIMIT = Gauge(
    "rubricate_judge_limit_calls",
    "Calls that the replicas in use may have at a time",
    multiprocess_mode="livesum",
)
JUDGE_IN_FLIGHT = Gauge(
    "rubricate_judge_in_flight_calls", "Calls that they have", multiprocess_mode="livesum"
)
JUDGE_WAITING = Gauge(
    "rubricate_judge_waiting_calls", "Calls that wait for a replica", multiprocess_mode="livesum"
)

CACHE_LOOKUPS = Counter(
    "rubricate_cache_lookups_total", "Keys looked up, by where they were: memory, store, nowhere", ["found"]
)
CACHE_UNSAVED = Counter("rubricate_cache_unsaved_total", "Verdicts that the cache's store did not take")
CACHE_FAILING = Gauge(
    "rubricate_cache_failing", "1 while the cache's store cannot be used", multiprocess_mode="livemax"
)

BARRIER_WAITING = Gauge(
    "rubricate_barrier_waiting_members",
    "Responses sent one by one that wait for their group or its scores",
    multiprocess_mode="livesum",
)
BARRIER_GROUPS = Counter(
    "rubricate_barrier_groups_total", "Groups scored, complete (size) or not (timeout)", ["released_by"]
)

LOOP_LAG = Gauge(
    "rubricate_event_loop_lag_seconds",
    "Longest that the event loop stood still in the last minute",
    multiprocess_mode="livemax",
)
DRAINING = Gauge("rubricate_draining", "Processes that are stopping", multiprocess_mode="livesum")
LOG_LOST = Counter("rubricate_log_lines_lost_total", "Log lines that could not be written")

# There from the start, as the rate of a counter that appears with its first failure misses it
for _kind in get_args(FailureKind):
    FAILURES.labels("check", _kind)
    FAILURES.labels("judge", _kind)
    JUDGE_CALL_FAILURES.labels(_kind)

_tenants: set[str] = set()


def tenant_label(tenant: str) -> str:
    """The tenant's name as a label; `other` for those beyond the first hundred that a process meets."""
    if tenant not in _tenants:
        if len(_tenants) >= _MOST_TENANTS:
            return "other"
        _tenants.add(tenant)
    return tenant
