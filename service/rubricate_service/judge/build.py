"""The judge that the settings name."""

from __future__ import annotations

from pathlib import Path

from rubricate_service.cache.build import build_cache
from rubricate_service.judge.connection import Address
from rubricate_service.judge.embedded import EmbeddedModel
from rubricate_service.judge.http import HttpModel
from rubricate_service.judge.judge import Judge
from rubricate_service.judge.members import Fixed, Listed
from rubricate_service.judge.replicas import Replicas
from rubricate_service.judge.template import Template
from rubricate_service.secret import delimiter_key
from rubricate_service.settings import EMBEDDED, JudgeSettings, Settings


def build_judge(settings: Settings) -> Judge | None:
    """The judge of the settings, not yet started, or None when they name none.

    Raises:
        EmbeddedUnavailable: the embedded judge is wanted and not installed.
        ValueError: its prompt's file is no judge prompt.
    """
    chosen = settings.judge_chosen
    if chosen is None:
        return None
    return Judge(
        _replicas(chosen),
        build_cache(settings),
        secret=delimiter_key(settings),
        name=settings.judge if settings.judge in settings.judges else "default",
        template=_template(chosen.template) if chosen.template else None,
        mode=chosen.mode,
        prices=chosen.prices,
        is_shared=settings.cache_shared,
    )


def _replicas(chosen: JudgeSettings) -> Replicas:
    if chosen.url == EMBEDDED:
        return Replicas(Fixed({EMBEDDED: EmbeddedModel()}), chosen.concurrency)
    key = chosen.api_key.get_secret_value() if chosen.api_key else None

    def engine(url: str, address: Address | None) -> HttpModel:
        return HttpModel(url, chosen.model, key, address, by_schema=chosen.mode == "one_call")

    return Replicas(Listed(chosen.urls, engine), chosen.concurrency)


def _template(path: Path) -> Template:
    try:
        return Template(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is no judge prompt: {error}") from None
