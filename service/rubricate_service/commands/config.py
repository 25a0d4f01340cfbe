"""`rubricate config check`: what `serve` would read, and whether it would work."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_settings import EnvSettingsSource, TomlConfigSettingsSource
from rich.console import Console

from rubricate_checkers import CheckerError, Text, build, evaluate, warm_up
from rubricate_clients.faults import details_of
from rubricate_clients.wire import Options
from rubricate_service.cache.build import build_cache
from rubricate_service.commands.common import Config, stop
from rubricate_service.http.exposure import refusal_to_serve
from rubricate_service.judge.build import build_judge
from rubricate_service.judge.embedded import EmbeddedUnavailable
from rubricate_service.settings import CONFIG_VARIABLE, EMBEDDED, Settings

app = typer.Typer(no_args_is_help=True, help="Settings of the service.")

_PREFIX = "RUBRICATE_"
_USER = re.compile(r"//[^/@\s]*@")
_NEEDS_TAGGER = "words:start_verb"


@app.callback()
def _group() -> None:
    """A command group also while there is one command in it."""


@app.command("check")
def check(config: Config = None) -> None:
    """Say what the settings are and where each comes from, try what they name, and name every fault."""
    logging.getLogger("rubricate").addHandler(logging.NullHandler())  # faults are told below
    out = Console(highlight=False, markup=False, soft_wrap=True)
    if config is not None:
        if not config.is_file():
            stop(f"there is no settings file {config}")
        os.environ[CONFIG_VARIABLE] = str(config)
    notes = [f"{name} is no setting and is ignored" for name in _unknown_variables()]
    try:
        settings = Settings()
    except ValidationError as error:
        faults = [f"{detail.path}: {detail.message}" for detail in details_of(error)]
    except (ValueError, OSError) as error:  # a TOML file that is none
        faults = [f"the settings file cannot be read: {error}"]
    else:
        for name, value, source in told_settings(settings):
            out.print(f"{name:<28} {value}  ({source})")
        faults = asyncio.run(_tried(settings, notes))
    for note in notes:
        out.print(f"note: {note}", style="yellow")
    for fault in faults:
        out.print(f"fault: {fault}", style="red")
    if faults:
        raise typer.Exit(1)
    out.print("no faults", style="green")


def told_settings(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """Each setting: its name, its value without secrets, and what it comes from."""
    path = os.environ.get(CONFIG_VARIABLE)
    given: list[tuple[str, Mapping[str, Any]]] = [("variable", EnvSettingsSource(Settings)())]
    if path:
        given.append((path, TomlConfigSettingsSource(Settings, Path(path))()))
    for name, value in leaves(settings):
        source = next((said for said, values in given if _has(values, name.split("."))), "default")
        yield name, _shown(value), source


def leaves(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Each setting of a table and of those in it, by its dotted name."""
    for name in type(model).model_fields:
        yield from _leaves(f"{prefix}{name}", getattr(model, name))


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, BaseModel) and not isinstance(value, Options):
        yield from leaves(value, f"{name}.")
    elif isinstance(value, dict) and value:
        for key, table in value.items():
            yield from _leaves(f"{name}.{key}", table)
    else:
        yield name, value


def _has(values: Mapping[str, Any], path: list[str]) -> bool:
    first, *rest = path
    if first not in values:
        return False
    inner = values[first]
    return _has(inner, rest) if rest and isinstance(inner, Mapping) else True


def _shown(value: Any) -> str:
    if value is None or value == {}:
        return "not set"
    if isinstance(value, SecretStr):
        return "hidden"
    if isinstance(value, Options):
        return str(value.model_dump(exclude_defaults=True) or "as POST /v1/score has them")
    return _USER.sub("//hidden@", str(value))


def _unknown_variables() -> list[str]:
    known = {name.upper() for name in Settings.model_fields} | {CONFIG_VARIABLE.removeprefix(_PREFIX)}
    names = (name for name in sorted(os.environ) if name.startswith(_PREFIX))
    return [name for name in names if name.removeprefix(_PREFIX).partition("__")[0] not in known]


async def _tried(settings: Settings, notes: list[str]) -> list[str]:
    """The faults of what the settings name; what is only worth knowing goes to the notes."""
    faults = []
    if (why := refusal_to_serve(settings)) is not None:
        faults.append(why)
    faults += _missing_data(notes)
    queue = settings.queue
    if queue.tenant_items is not None and queue.tenant_items > queue.items:
        notes.append(f"queue.tenant_items is without effect, as queue.items is only {queue.items:,}")
    try:
        judge = build_judge(settings)
    except (EmbeddedUnavailable, ValueError, OSError) as error:
        return [*faults, f"judge: {error}"]
    cache = judge.cache if judge else build_cache(settings)
    try:
        if judge is None:
            notes.append("there is no judge: criteria will be failed with the kind no_judge")
        elif settings.judge != EMBEDDED:  # which takes seconds to load; that it is installed is known by now
            faults += _fault("judge", await judge.status())
        faults += _fault("cache", await cache.status())
    finally:
        await (judge or cache).close()
    return faults


def _fault(part: str, status: Mapping[str, Any]) -> list[str]:
    return [] if status["status"] == "ok" else [f"{part}: {status['reason']}"]


def _missing_data(notes: list[str]) -> list[str]:
    try:
        warm_up()
    except CheckerError as error:
        return [f"checks: {error.message}"]
    try:
        evaluate(Text("Go home."), build(_NEEDS_TAGGER, {}))
    except CheckerError as error:
        notes.append(f"{_NEEDS_TAGGER} will be failed: {error.message}")
    return []
