"""A scored request's figures, added to the metrics and to its log line."""

from __future__ import annotations

from rubricate_service.run import Run
from rubricate_service.telemetry import metrics
from rubricate_service.telemetry.record import current


def count_run(run: Run) -> None:
    """Count a run that is over, whole or not. A few dozen increments, whatever its size."""
    stats = run.stats()
    judge, seconds = stats["judge"], stats["seconds"]
    metrics.RESPONSES.labels(metrics.tenant_label(run.tenant)).inc(run.responses)
    for key, count in run.counts.items():
        source, _, status = key.partition(".")
        metrics.VERDICTS.labels(_SOURCES[source], status).inc(count)
    for source, failures in (("check", run.check_failures), ("judge", run.failures)):
        for kind, count in failures.items():
            metrics.FAILURES.labels(source, kind).inc(count)
    metrics.JUDGE_CALLS.inc(judge["calls"])
    for how, name in _SAVED.items():
        metrics.JUDGE_SAVED.labels(how).inc(judge[name])
    for type_ in ("prompt", "cached_prompt", "completion"):
        metrics.JUDGE_TOKENS.labels(type_).inc(judge[f"{type_}_tokens"])
    metrics.JUDGE_HALVES.inc(run.halves)
    for mass in run.masses:
        metrics.JUDGE_LABEL_MASS.observe(mass)
    for stage in ("queue", "check", "total"):
        metrics.STAGE_SECONDS.labels(stage).observe(seconds[stage])
    if run.judge_began is not None:
        metrics.STAGE_SECONDS.labels("judge").observe(seconds["judge"])
    if (record := current.get()) is not None:
        record.add(run, stats)


_SOURCES = {"checks": "check", "judge": "judge"}
_SAVED = {"cache": "cached", "flight": "joined", "gate": "skipped"}
