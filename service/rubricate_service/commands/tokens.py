"""`rubricate token new`: bearer tokens for the settings file."""

from __future__ import annotations

import json
from typing import Annotated, get_args

import typer
from pydantic import TypeAdapter, ValidationError

from rubricate_service.commands.common import errors, stop
from rubricate_service.http.auth import digest, new_token
from rubricate_service.http.settings import Name, Scope

app = typer.Typer(help="Make tokens for those who may ask.", no_args_is_help=True)
SCOPES: tuple[Scope, ...] = get_args(Scope)


@app.callback()
def _tokens() -> None:
    """Keep `new` a subcommand though it is the only one."""


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="whose token it is")],
    tenant: Annotated[str | None, typer.Option(help="whose work its requests are [NAME]")] = None,
    scope: Annotated[list[str] | None, typer.Option(help=f"{', '.join(SCOPES)} [score]; repeatable")] = None,
) -> None:
    """Make a token. It is printed this once, with the table that lets the service know it."""
    for what, value in (("NAME", name), ("--tenant", tenant)):
        if value is not None and not _is_name(value):
            stop(f"{what}: {value!r} is not up to 64 of A-Z a-z 0-9 . _ - that begin with a letter or digit")
    if unknown := [given for given in scope or () if given not in SCOPES]:
        stop(f"--scope: {unknown[0]!r} is no scope; there are {', '.join(SCOPES)}")
    token = new_token()
    rows = [f'[tokens."{name}"]' if "." in name else f"[tokens.{name}]", f'hash = "{digest(token)}"']
    rows += [f'tenant = "{tenant}"'] if tenant else []
    rows += [f"scopes = {json.dumps(scope)}"] if scope else []
    errors.print("Give this token to whoever asks; it is shown this once and kept nowhere:", highlight=False)
    print(token)
    errors.print("\nPut this into the settings file (--config) and start the service again:", highlight=False)
    errors.print("\n".join(rows), markup=False, highlight=False, soft_wrap=True)


def _is_name(value: str) -> bool:
    try:
        TypeAdapter(Name).validate_python(value)
    except ValidationError:
        return False
    return True
