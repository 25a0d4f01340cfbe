"""Logs: a line per event on standard error, as JSON or for people, and never in anybody's way.

Lines are made where they are logged and written by a thread: a full pipe or disk costs lines, which are
counted, and no time. All loggers end here, those of libraries too, so that this is the one place where what
an exception says is taken out: it may quote a prompt, a response or a key.
"""

from __future__ import annotations

import atexit
import logging
import queue
import re
import sys
from logging.handlers import QueueHandler, QueueListener
from typing import Any, Literal

import structlog
from structlog.typing import EventDict, Processor

from rubricate_service.errors import told_without_texts
from rubricate_service.telemetry.metrics import LOG_LOST
from rubricate_service.telemetry.record import current

Style = Literal["text", "json"]

_MOST_WAITING = 10_000
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def log_config(style: Style | None) -> dict[str, Any]:
    """For `logging.config.dictConfig`; without a style, text on a terminal and JSON elsewhere."""
    chosen = style or ("text" if sys.stderr.isatty() else "json")
    ours = {"handlers": ["lines"], "level": "INFO", "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "handlers": {"lines": {"()": f"{__name__}.line_handler", "style": chosen}},
        "root": {"handlers": ["lines"], "level": "WARNING"},
        "loggers": {"rubricate": ours, "uvicorn": ours},
    }


def line_handler(style: Style) -> logging.Handler:
    """A handler that hands lines to a thread of its own, which ends with the process."""
    waiting: queue.Queue[logging.LogRecord] = queue.Queue(_MOST_WAITING)
    handler = _Handoff(waiting)
    handler.setFormatter(formatter(style))
    listener = QueueListener(waiting, _Writer(sys.stderr))
    listener.start()
    atexit.register(listener.stop)
    return handler


def formatter(style: Style) -> logging.Formatter:
    """Makes the lines."""
    before: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
        _add_fields,
        _take_texts_out,
    ]
    renderer: list[Processor] = (
        [structlog.processors.EventRenamer("message"), structlog.processors.JSONRenderer()]
        if style == "json"
        else [_one_entry, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), timestamp_key="time")]
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=before,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
    )


class _Handoff(QueueHandler):
    """Makes the line, and puts it where the thread takes it from."""

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        return logging.makeLogRecord({"msg": self.format(record), "levelno": record.levelno})

    def enqueue(self, record: logging.LogRecord) -> None:
        try:
            self.queue.put_nowait(record)
        except queue.Full:
            LOG_LOST.inc()


class _Writer(logging.StreamHandler[Any]):
    """Writes lines; what cannot be written is counted, as there is nowhere to complain."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        LOG_LOST.inc()


def _add_fields(_: Any, __: str, event: EventDict) -> EventDict:
    """What the record was given as `fields`, and whose request it belongs to."""
    if (record := current.get()) is not None:
        event.update(record.told())
    event.update(getattr(event["_record"], "fields", {}))
    return event


def _take_texts_out(_: Any, __: str, event: EventDict) -> EventDict:
    if error := event.pop("exc_info", None):
        event["exception"] = told_without_texts(error[1])
        event.pop("stack_info", None)
    if event["logger"] == "asyncio":  # its other lines show objects, such as a task with its exception
        event["event"] = str(event["event"]).partition("\n")[0]
    return event


def _one_entry(_: Any, __: str, event: EventDict) -> EventDict:
    """For people: nothing that moves a cursor, and no second line that looks like an entry of its own."""
    text = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", str(event["event"]))
    event["event"] = text.replace("\n", "\n    ")
    return event
