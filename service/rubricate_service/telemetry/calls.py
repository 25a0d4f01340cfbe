"""A call to the judge, as metrics and traces see it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rubricate_service.telemetry.metrics import JUDGE_CALL_FAILURES, JUDGE_CALL_SECONDS
from rubricate_service.telemetry.tracing import span


@contextmanager
def judge_call(replica: str) -> Iterator[None]:
    """Time one attempt at a replica, and count its failure by the kind that the exception names."""
    began = time.perf_counter()
    try:
        with span("judge call", replica=replica):
            yield
    except Exception as error:
        JUDGE_CALL_FAILURES.labels(getattr(error, "kind", "internal")).inc()
        raise
    finally:
        JUDGE_CALL_SECONDS.observe(time.perf_counter() - began)
