"""A scored request's figures, added to the metrics and to its log line."""

from __future__ import annotations

from rubricate_service.run import Run
from rubricate_service.telemetry import metrics
from rubricate_service.telemetry.record import current

# Looked up once: a request of one response takes little more than a millisecond
_VERDICTS = {
    "checks.scored": metrics.VERDICTS.labels("check", "scored"),
    "checks.failed": metrics.VERDICTS.labels("check", "failed"),
    "judge.scored": metrics.VERDICTS.labels("judge", "scored"),
    "judge.failed": metrics.VERDICTS.labels("judge", "failed"),
    "judge.skipped": metrics.VERDICTS.labels("judge", "skipped"),
}
_STAGES = {stage: metrics.STAGE_SECONDS.labels(stage) for stage in ("queue", "check", "judge", "total")}
_JUDGE = {
    "calls": metrics.JUDGE_CALLS,
    "cached": metrics.JUDGE_SAVED.labels("cache"),
    "joined": metrics.JUDGE_SAVED.labels("flight"),
    "skipped": metrics.JUDGE_SAVED.labels("gate"),
    "prompt_tokens": metrics.JUDGE_TOKENS.labels("prompt"),
    "cached_prompt_tokens": metrics.JUDGE_TOKENS.labels("cached_prompt"),
    "completion_tokens": metrics.JUDGE_TOKENS.labels("completion"),
}


def count_run(run: Run) -> None:
    """Count a run that is over, whole or not. A dozen increments, whatever its size."""
    stats = run.stats()
    judge, seconds = stats["judge"], stats["seconds"]
    metrics.RESPONSES.labels(metrics.tenant_label(run.tenant)).inc(run.responses)
    for key, count in run.counts.items():
        _VERDICTS[key].inc(count)
    for source, failures in (("check", run.check_failures), ("judge", run.failures)):
        for kind, count in failures.items():
            metrics.FAILURES.labels(source, kind).inc(count)
    for stage, histogram in _STAGES.items():
        if stage != "judge" or run.judge_began is not None:
            histogram.observe(seconds[stage])
    if run.judge_began is not None or judge["skipped"]:
        for name, counter in _JUDGE.items():
            if judge[name]:
                counter.inc(judge[name])
        metrics.JUDGE_HALVES.inc(run.halves)
        for mass in run.masses:
            metrics.JUDGE_LABEL_MASS.observe(mass)
    if (record := current.get()) is not None:
        record.add(run, stats)
