"""What commands share: the flags that set settings, and how a command ends in an error."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from pydantic import ValidationError
from rich.console import Console

from rubricate_clients.faults import details_of
from rubricate_clients.wire import Options
from rubricate_service.judge.embedded import EmbeddedUnavailable, find_weights
from rubricate_service.settings import CONFIG_VARIABLE, EMBEDDED, Settings

errors = Console(stderr=True, soft_wrap=True)  # a path that is cut in two cannot be copied

_FAULTS = 20
"""Faults of a file that are shown: one that is wrong throughout has as many as lines."""

Config = Annotated[Path | None, typer.Option(help="TOML file with the same names as the flags")]
CheckWorkers = Annotated[int | None, typer.Option(help="check processes [cores]", min=1)]
JudgeFlag = Annotated[
    str | None,
    typer.Option(
        help="URL of an OpenAI-compatible endpoint, several with commas between, dns+http://name:port, "
        "`embedded`, or a name of `judges` in --config"
    ),
]
JudgeModel = Annotated[str | None, typer.Option(help="model to ask for [the endpoint's first]")]
CacheFlag = Annotated[str | None, typer.Option(help="file that keeps the judge's verdicts, or redis://…")]


def stop(message: str) -> NoReturn:
    """End the command with exit status 2 and this message."""
    errors.print(f"rubricate: {message}", style="red", markup=False, highlight=False)
    raise typer.Exit(2)


def told(error: ValidationError) -> str:
    """The faults of a model in one line, each with its path."""
    return "; ".join(f"{d.path}: {d.message}" if d.path else d.message for d in details_of(error))


def options_of(flag: str) -> Options:
    """The request's options that a flag gives as JSON."""
    try:
        return Options.model_validate_json(flag)
    except ValidationError as error:
        stop(f"--options: {told(error)}")


def settings_of(config: Path | None, **flags: Any) -> Settings:
    """Settings from flags over variables over the file; the flags also reach child processes."""
    if config is not None:
        if not config.is_file():
            stop(f"there is no settings file {config}")
        os.environ[CONFIG_VARIABLE] = str(config)
    for name, value in flags.items():
        if value is not None:
            os.environ[f"RUBRICATE_{name.upper()}"] = str(value)
    try:
        settings = Settings()
    except ValidationError as error:
        stop(f"bad settings: {told(error)}")
    except ValueError as error:  # a TOML file that is none
        stop(f"bad settings file: {error}")
    if settings.judge == EMBEDDED:
        try:
            find_weights()
        except EmbeddedUnavailable as error:
            stop(str(error))
    return settings


@contextmanager
def author_command() -> Iterator[None]:
    """Around the work of a command for authors: only errors are logged, and a bad file ends it."""
    from rubricate_service.importers.files import FileError

    logging.basicConfig(level=logging.ERROR)
    try:
        yield
    except (FileError, EmbeddedUnavailable) as error:
        stop(str(error))
    except OSError as error:
        stop(f"{error.filename} cannot be used: {error.strerror}" if error.filename else str(error))


def tell_faults(faults: Sequence[object], what: str = "faults", style: str | None = "red") -> None:
    """Print what of a file could not be read, or else is to be known of it: the first, and how many more."""
    for fault in faults[:_FAULTS]:
        errors.print(str(fault), style=style, markup=False, highlight=False, soft_wrap=True)
    if len(faults) > _FAULTS:
        errors.print(f"and {len(faults) - _FAULTS:,} more {what}", highlight=False)
