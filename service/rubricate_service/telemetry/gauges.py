"""Gauges: read off the service's parts every half second, and once more when this process is asked."""

from __future__ import annotations

from collections import Counter as Count
from collections.abc import Mapping
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge

from rubricate_service import __version__
from rubricate_service.compat.barrier import Barrier
from rubricate_service.http.admission import Admission
from rubricate_service.judge.judge import Judge
from rubricate_service.lifecycle import Lifecycle
from rubricate_service.pool import CheckPool
from rubricate_service.telemetry import metrics

if TYPE_CHECKING:
    from rubricate_service.app import Engine

_STATES = ("ok", "probing", "ejected")


class Sampler:
    """Puts the state of one process into its gauges.

    Args:
        engine: Its workers and its judge.
        admission: Its queue.
        barrier: Its group barrier.
        lifecycle: Whether it is stopping.
    """

    def __init__(self, engine: Engine, admission: Admission, barrier: Barrier, lifecycle: Lifecycle) -> None:
        self._pool: CheckPool = engine.pool
        self._judge: Judge | None = engine.judge
        self._admission = admission
        self._barrier = barrier
        self._lifecycle = lifecycle
        self._tenants: set[str] = {""}
        self._counted: Count[str] = Count()
        metrics.BUILD.labels(__version__).set(1)

    def sample(self) -> None:
        """Read everything once."""
        load = self._admission.load
        self._tenants |= load.waiting_by_tenant.keys() | load.in_flight_by_tenant.keys()
        self._by_tenant(metrics.QUEUE_ITEMS, load.waiting_by_tenant)
        self._by_tenant(metrics.IN_FLIGHT_ITEMS, load.in_flight_by_tenant)
        metrics.PLACES.set(load.items)
        metrics.CHECK_WORKERS.set(self._pool.alive)
        self._count("restarts", self._pool.restarts, metrics.WORKER_RESTARTS)
        metrics.BARRIER_WAITING.set(self._barrier.waiting_members)
        self._count("size", self._barrier.released_by_size, metrics.BARRIER_GROUPS.labels("size"))
        self._count("timeout", self._barrier.released_by_timeout, metrics.BARRIER_GROUPS.labels("timeout"))
        metrics.DRAINING.set(self._lifecycle.state != "serving")
        if self._judge is not None:
            self._sample_judge(self._judge)

    def _by_tenant(self, gauge: Gauge, values: Mapping[str, int]) -> None:
        sums: Count[str] = Count()
        for tenant in self._tenants:  # also those at 0, which would else keep their last value
            sums[metrics.tenant_label(tenant)] += values.get(tenant, 0)
        for label, value in sums.items():
            gauge.labels(label).set(value)

    def _sample_judge(self, judge: Judge) -> None:
        replicas = judge.replicas()
        states = Count(replica["state"] for replica in replicas)
        for state in _STATES:
            metrics.JUDGE_REPLICAS.labels(state).set(states[state])
        used = [replica for replica in replicas if replica["state"] != "ejected"]
        metrics.JUDGE_LIMIT.set(sum(r["limit"] if r["state"] == "ok" else 1 for r in used))
        metrics.JUDGE_IN_FLIGHT.set(sum(replica["in_flight"] for replica in replicas))
        metrics.JUDGE_WAITING.set(sum(replica["waiting"] for replica in replicas))
        metrics.CACHE_FAILING.set(judge.cache.is_failing)

    def _count(self, name: str, total: int, counter: Counter) -> None:
        """Raise a counter by what a total has grown since the last look."""
        counter.inc(total - self._counted[name])
        self._counted[name] = total
