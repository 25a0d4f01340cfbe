"""Logs: a line per event on standard error, as JSON or for people, and never in anybody's way.

Lines are made where they are logged and written by a thread: a full pipe or disk costs lines, which are
counted, and no time. All loggers end here, those of libraries too, so that this is the one place where what
an exception says is taken out: it may quote a prompt, a response or a key.
"""

from __future__ import annotations

import atexit
import json
import logging
import queue
import re
import sys
import threading
import time
from contextlib import suppress
from typing import IO, Any, Literal

import orjson
import structlog
from structlog.typing import EventDict, Processor

from rubricate_service.errors import told_without_texts
from rubricate_service.telemetry.metrics import LOG_LOST
from rubricate_service.telemetry.record import current

Style = Literal["text", "json"]

_MOST_WAITING = 10_000
_GATHER_S = 0.05
_LAST_WORDS_S = 2.0  # for a reader that is slow; one that has stalled must not keep the process
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
    waiting: queue.Queue[str | None] = queue.Queue(_MOST_WAITING)
    handler = Handoff(waiting)
    handler.setFormatter(formatter(style))
    thread = threading.Thread(target=_write, args=(waiting, sys.stderr), name="log-lines", daemon=True)
    thread.start()
    atexit.register(_end, waiting, thread)
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
        [structlog.processors.EventRenamer("message"), structlog.processors.JSONRenderer(_json)]
        if style == "json"
        else [_one_entry, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), timestamp_key="time")]
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=before,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
    )


class Handoff(logging.Handler):
    """Makes a line, and puts it where the thread takes it from; one that finds no room is counted."""

    def __init__(self, waiting: queue.Queue[str | None]) -> None:
        super().__init__()
        self._waiting = waiting

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record."""
        try:
            self._waiting.put_nowait(self.format(record) + "\n")
        except Exception:  # an argument that cannot be formatted, too: logging must not break what logs
            LOG_LOST.inc()


def _write(waiting: queue.Queue[str | None], stream: IO[str]) -> None:
    """Body of the thread: writes what has come, a few times a second, until None comes.

    Waking a thread for each line costs a small request a tenth of its time.
    """
    is_open = True
    while is_open:
        lines = [waiting.get()]
        if lines != [None]:
            time.sleep(_GATHER_S)
        while not waiting.empty():
            lines.append(waiting.get())
        is_open = None not in lines
        text = [line for line in lines if line is not None]
        try:
            stream.write("".join(text))
            stream.flush()
        except (OSError, ValueError):  # full, or closed; there is nowhere to complain
            LOG_LOST.inc(len(text))


def _end(waiting: queue.Queue[str | None], thread: threading.Thread) -> None:
    with suppress(queue.Full):
        waiting.put_nowait(None)
        thread.join(_LAST_WORDS_S)


def _json(event: EventDict, **_: Any) -> str:
    try:
        return orjson.dumps(event, default=str).decode()
    except TypeError:  # a lone surrogate, an integer beyond 64 bits
        return json.dumps(event, default=str)


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
