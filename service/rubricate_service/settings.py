"""All settings, in one place: flags, `RUBRICATE_*` variables and a TOML file, in this order of precedence."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

CONFIG_VARIABLE = "RUBRICATE_CONFIG"
EMBEDDED = "embedded"
_REDIS = ("redis", "rediss")


def default_cache() -> str:
    """Where verdicts are kept unless a setting says otherwise."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return str(Path(base) / "rubricate" / "verdicts.db")


class Settings(BaseSettings):
    """Settings of the service; a TOML file (`--config` or RUBRICATE_CONFIG) has the same names."""

    model_config = SettingsConfigDict(env_prefix="RUBRICATE_", extra="forbid", hide_input_in_errors=True)

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8080, ge=0, le=65535, description="port to listen on; 0 takes a free one")
    workers: int = Field(1, ge=1, description="uvicorn processes")
    check_workers: int | None = Field(None, ge=1, description="check processes per uvicorn process [cores]")
    check_timeout_s: Annotated[float, Field(gt=0)] = Field(5.0, description="limit of one check, seconds")
    deadline_s: Annotated[float, Field(gt=0)] = Field(60.0, description="deadline of a request, seconds")
    judge: str | None = Field(None, description="an OpenAI-compatible endpoint's URL, or `embedded`")
    judge_model: str | None = Field(None, description="model to ask for [the endpoint's first]")
    judge_api_key: SecretStr | None = Field(None, description="bearer token for the judge")
    judge_concurrency: int = Field(64, ge=1, description="judge calls in flight")
    cache: str = Field(
        default_factory=default_cache,
        description="file of the judge's verdicts, or redis://[:password@]host[:port][/db] that replicas share",
        repr=False,
    )
    cache_ttl_s: int = Field(30 * 86400, ge=1, description="seconds after which a verdict is forgotten")
    cache_most_bytes: int = Field(
        4 << 30, ge=1 << 20, description="size of the file's content [4 GiB]; a Redis has its own `maxmemory`"
    )
    secret: SecretStr | None = Field(
        None, description="key of the prompt's delimiters [made once, kept beside the cache]"
    )

    @field_validator("judge")
    @classmethod
    def _judge_is_known(cls, value: str | None) -> str | None:
        parts = urlsplit(value or "")
        if value in (None, EMBEDDED) or (parts.scheme in ("http", "https") and parts.hostname):
            return value
        raise ValueError(f"{value!r} is neither an http(s) URL nor `{EMBEDDED}`")

    @field_validator("cache")
    @classmethod
    def _cache_is_a_file_or_redis(cls, value: str) -> str:
        if "://" not in value:
            return value
        try:
            parts = urlsplit(value)
            is_redis = parts.scheme in _REDIS and parts.hostname and parts.port != 0
        except ValueError:
            is_redis = False
        # the value itself is not shown: it may hold a password
        if not is_redis or not re.fullmatch(r"(/\d*)?", parts.path):
            raise ValueError(
                "takes the path of a file or redis://[[user]:password@]host[:port][/db], rediss:// for TLS; "
                "write characters like / and @ of a password as %2F and %40"
            )
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags win over variables, variables over the file."""
        path = os.environ.get(CONFIG_VARIABLE)
        toml = (TomlConfigSettingsSource(settings_cls, Path(path)),) if path else ()
        return (init_settings, env_settings, *toml)

    @property
    def cache_is_redis(self) -> bool:
        """Whether the cache is a server that several services can share, and not a file."""
        return "://" in self.cache

    @property
    def check_processes(self) -> int:
        """Check processes of one uvicorn process."""
        return self.check_workers or max(1, (os.cpu_count() or 1) // self.workers)
