"""The judge that the settings name."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from rubricate_service.cache import Cache
from rubricate_service.cache.store import SqliteStore
from rubricate_service.judge.embedded import EmbeddedEngine
from rubricate_service.judge.engine import Engine
from rubricate_service.judge.http import HttpEngine
from rubricate_service.judge.judge import Judge
from rubricate_service.secret import delimiter_key
from rubricate_service.settings import EMBEDDED, Settings


def build_judge(settings: Settings) -> Judge | None:
    """The judge of the settings, not yet started, or None when they name none.

    Raises:
        ValueError: `judge` is neither `embedded` nor an HTTP URL, or `cache` is not a file's path.
        EmbeddedUnavailable: the embedded judge is wanted and not installed.
    """
    if settings.judge is None:
        return None
    if "://" in settings.cache:
        raise ValueError(f"cache: {settings.cache!r} is a URL; a path of a file is what is supported")
    engine: Engine
    if settings.judge == EMBEDDED:
        engine = EmbeddedEngine()
    elif urlsplit(settings.judge).scheme in ("http", "https"):
        key = settings.judge_api_key
        engine = HttpEngine(settings.judge, settings.judge_model, key.get_secret_value() if key else None)
    else:
        raise ValueError(f"judge: {settings.judge!r} is neither an http(s) URL nor `{EMBEDDED}`")
    return Judge(
        engine,
        Cache(SqliteStore(Path(settings.cache))),
        secret=delimiter_key(settings),
        concurrency=settings.judge_concurrency,
    )
