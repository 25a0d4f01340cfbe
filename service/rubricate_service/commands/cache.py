"""`rubricate cache`: what keeps the judge's verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

import typer

from rubricate_service.commands.common import CacheFlag, Config, settings_of, stop
from rubricate_service.settings import Settings

if TYPE_CHECKING:
    from rubricate_service.cache import Store

T = TypeVar("T")

app = typer.Typer(help="See or empty what keeps the judge's verdicts.", no_args_is_help=True)


@app.command()
def stats(cache: CacheFlag = None, config: Config = None) -> None:
    """Show how many verdicts the cache holds, and how much room they take."""
    name, held = _at_store(settings_of(config, cache=cache), lambda store: store.stats())
    bound = f" of at most {held.most_bytes:,}" if held.most_bytes else ""
    print(f"{name}: {held.entries:,} verdicts, {held.bytes:,} bytes{bound}")


@app.command()
def purge(cache: CacheFlag = None, config: Config = None) -> None:
    """Remove all verdicts. A service that runs forgets those in its memory within an hour."""
    name, removed = _at_store(settings_of(config, cache=cache), lambda store: store.purge())
    print(f"{name}: {removed:,} verdicts removed")


def _at_store(settings: Settings, work: Callable[[Store], Awaitable[T]]) -> tuple[str, T]:
    """The store's name, and what it answered."""
    from rubricate_service.cache import StoreError
    from rubricate_service.cache.build import build_store

    async def answer() -> tuple[str, T]:
        store = build_store(settings)
        try:
            return store.name if settings.cache_is_redis else settings.cache, await work(store)
        finally:
            await store.close()

    try:
        return asyncio.run(answer())
    except StoreError as error:
        stop(f"the cache cannot be used: {error}")
