"""Spans for OpenTelemetry, where it is installed and the standard OTEL_ variables say where they go.

Without both, nothing of it is imported, and a span costs a function call. Spans hold numbers and names,
never a text, nor what an exception says.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

log = logging.getLogger("rubricate.tracing")

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")

Note = Callable[..., None]
"""Adds attributes to a span."""

_Begin = Callable[[str, Mapping[str, Any], Mapping[str, str] | None], AbstractContextManager[Note]]
_begin: _Begin | None = None


def span(
    name: str, caller: Mapping[str, str] | None = None, **attributes: str | int | float
) -> AbstractContextManager[Note]:
    """A span of this name as long as the context lasts; one that an exception leaves is an error.

    The context's value takes further attributes: `with span("check") as note: …; note(failed=0)`.

    Args:
        name: What is done.
        caller: Headers that may name the span of whoever asked (W3C `traceparent`).
        attributes: Under the prefix `rubricate.`.
    """
    return nullcontext(_no_note) if _begin is None else _begin(name, attributes, caller)


@asynccontextmanager
async def tracing() -> AsyncIterator[None]:
    """Send spans to the endpoint that the environment names, if it names one; the rest is sent at the end."""
    if not any(os.environ.get(name) for name in _ENDPOINTS) or _is_disabled():
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        log.warning(
            "an endpoint for traces is set and %s is not installed: pip install 'rubricate[otel]'", error.name
        )
        yield
        return
    name = os.environ.get("OTEL_SERVICE_NAME", "rubricate")
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    with spans_of(provider):
        try:
            yield
        finally:
            # sends the rest, for as long as the endpoint lets it
            await asyncio.to_thread(provider.shutdown)


@contextmanager
def spans_of(provider: TracerProvider) -> Iterator[None]:
    """Give spans to this provider meanwhile."""
    from opentelemetry.trace import SpanKind, StatusCode
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    tracer = provider.get_tracer("rubricate")
    propagator = TraceContextTextMapPropagator()

    @contextmanager
    def begin(name: str, attributes: Mapping[str, Any], caller: Mapping[str, str] | None) -> Iterator[Note]:
        parent = None if caller is None else propagator.extract(caller)
        kind = SpanKind.INTERNAL if caller is None else SpanKind.SERVER
        with tracer.start_as_current_span(
            name,
            parent,
            kind,
            _prefixed(attributes),
            record_exception=False,  # its text may quote a response
            set_status_on_exception=False,
        ) as started:
            try:
                yield lambda **more: started.set_attributes(_prefixed(more))
            except BaseException as error:
                started.set_status(StatusCode.ERROR, type(error).__name__)
                raise

    global _begin
    previous, _begin = _begin, begin
    try:
        yield
    finally:
        _begin = previous


def _prefixed(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {f"rubricate.{name}": value for name, value in attributes.items()}


def _no_note(**_: Any) -> None:
    """Nobody listens."""


def _is_disabled() -> bool:
    return os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
