"""The judge that the settings name."""

from __future__ import annotations

from rubricate_service.cache.build import build_cache
from rubricate_service.judge.embedded import EmbeddedEngine
from rubricate_service.judge.engine import Engine
from rubricate_service.judge.http import HttpEngine
from rubricate_service.judge.judge import Judge
from rubricate_service.secret import delimiter_key
from rubricate_service.settings import EMBEDDED, Settings


def build_judge(settings: Settings) -> Judge | None:
    """The judge of the settings, not yet started, or None when they name none.

    Raises:
        EmbeddedUnavailable: the embedded judge is wanted and not installed.
    """
    if settings.judge is None:
        return None
    engine: Engine
    if settings.judge == EMBEDDED:
        engine = EmbeddedEngine()
    else:
        key = settings.judge_api_key
        engine = HttpEngine(settings.judge, settings.judge_model, key.get_secret_value() if key else None)
    return Judge(
        engine,
        build_cache(settings),
        secret=delimiter_key(settings),
        concurrency=settings.judge_concurrency,
    )
