"""All settings, in one place: flags, `RUBRICATE_*` variables and a TOML file, in this order of precedence."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FilePath,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from rubricate_service.compat.settings import CompatSettings
from rubricate_service.http.settings import (
    IdempotencySettings,
    Limits,
    Name,
    QueueSettings,
    TokenSettings,
)

CONFIG_VARIABLE = "RUBRICATE_CONFIG"
EMBEDDED = "embedded"
DNS = "dns+"
"""Before a judge's URL: each address that its host's name leads to is a replica."""
Mode = Literal["per_rubric", "one_call"]
"""How a judge is asked: one criterion a call, or in one call all that a request has about a response."""
_REDIS = ("redis", "rediss")


def default_cache() -> str:
    """Where verdicts are kept unless a setting says otherwise."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return str(Path(base) / "rubricate" / "verdicts.db")


class Prices(BaseModel):
    """What a judge's tokens cost, each in the currency of your bill (not per million)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: float = Field(ge=0, allow_inf_nan=False, description="price of a prompt's token")
    cached_prompt: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="the same, found in the engine's prefix cache [as any other]",
    )
    completion: float = Field(ge=0, allow_inf_nan=False, description="price of a generated token")


class JudgeSettings(BaseModel):
    """One judge: a table `[judges.NAME]` of the settings file."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    url: str = Field(
        description="as `judge`: one URL, several with commas between, dns+http://… or `embedded`"
    )
    model: str | None = Field(None, description="model to ask for [the endpoint's first]")
    api_key: SecretStr | None = Field(None, description="bearer token")
    mode: Mode = Field("per_rubric", description="`one_call` asks all criteria of a response at a time")
    template: FilePath | None = Field(None, description="file of the judge's prompt [the service's own]")
    concurrency: int = Field(64, ge=1, description="calls in flight at each replica")
    prices: Prices | None = Field(None, description="of its tokens; a request's stats then have its cost")

    @property
    def urls(self) -> list[str]:
        """Addresses of its replicas; empty for the embedded one."""
        return [] if self.url == EMBEDDED else [url.strip() for url in self.url.split(",")]

    @field_validator("url")
    @classmethod
    def _urls_are_some(cls, value: str) -> str:
        for number, url in enumerate(value.split(",") if value != EMBEDDED else (), 1):
            parts = urlsplit(url.strip().removeprefix(DNS))
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
                # not shown: it may hold a password
                raise ValueError(
                    f"address {number} is neither http(s)://…, {DNS}http(s)://… nor `{EMBEDDED}`"
                )
        return value

    @model_validator(mode="after")
    def _mode_fits(self) -> Self:
        if self.mode == "one_call" and self.url == EMBEDDED:
            raise ValueError("the embedded judge takes one question a call: set `mode` to `per_rubric`")
        if self.mode == "one_call" and self.template is not None:
            raise ValueError("`template` is a prompt of mode `per_rubric`; leave it out for `one_call`")
        return self


class Settings(BaseSettings):
    """Settings of the service; a TOML file (`--config` or RUBRICATE_CONFIG) has the same names."""

    model_config = SettingsConfigDict(
        env_prefix="RUBRICATE_", env_nested_delimiter="__", extra="forbid", hide_input_in_errors=True
    )

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8080, ge=0, le=65535, description="port to listen on; 0 takes a free one")
    workers: int = Field(1, ge=1, description="uvicorn processes")
    check_workers: int | None = Field(None, ge=1, description="check processes per uvicorn process [cores]")
    check_timeout_s: Annotated[float, Field(gt=0)] = Field(5.0, description="limit of one check, seconds")
    deadline_s: Annotated[float, Field(gt=0)] = Field(60.0, description="deadline of a request, seconds")
    prestop_s: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="seconds to serve on after SIGTERM, until nobody sends work [5; 0 on a loopback address]",
    )
    drain_s: int | None = Field(
        None, ge=1, description="seconds for requests under way to end after that [deadline_s + 5]"
    )
    log_format: Literal["text", "json"] | None = Field(
        None, description="how log lines are written [text on a terminal, else json]"
    )
    judges: dict[str, JudgeSettings] = Field({}, description="judges by name, for `judge` to choose from")
    judge: str | None = Field(
        None,
        description="an OpenAI-compatible endpoint's URL, several with commas between, dns+http://name:port "
        "for all addresses of a name, `embedded`, or a name of `judges`",
    )
    judge_model: str | None = Field(None, description="model to ask for [the endpoint's first]")
    judge_api_key: SecretStr | None = Field(None, description="bearer token for the judge")
    judge_concurrency: int = Field(64, ge=1, description="judge calls in flight at each replica")
    judge_canaries: bool | None = Field(
        None, description="try the judge on canaries after the start [only a vLLM, as others may bill calls]"
    )
    cache: str = Field(
        default_factory=default_cache,
        description="file of the judge's verdicts, or redis://[:password@]host[:port][/db] for replicas",
        repr=False,
    )
    cache_ttl_s: int = Field(30 * 86400, ge=1, description="seconds after which a verdict is forgotten")
    cache_most_bytes: int = Field(
        4 << 30, ge=1 << 20, description="size of the file's content [4 GiB]; a Redis has its own `maxmemory`"
    )
    cache_shared: bool = Field(
        False,
        description="tenants share cached verdicts: each may then find out, by what comes from the cache and "
        "how fast, what another has had judged",
    )
    secret: SecretStr | None = Field(
        None,
        min_length=1,  # a variable that is set to nothing would give everybody the key
        description="key of the prompt's delimiters [made once, kept beside the cache]",
    )
    tokens: dict[Name, TokenSettings] = Field({}, description="who may ask; without any, everybody may")
    no_auth: bool = Field(False, description="serve other machines though there are no tokens")
    limits: Limits = Field(Limits(), description="the most that one request may hold")
    queue: QueueSettings = Field(QueueSettings(), description="how much is scored at a time")
    compat: CompatSettings = Field(CompatSettings(), description="the routes that trainers already speak")
    idempotency: IdempotencySettings = Field(
        IdempotencySettings(), description="how long an answer is kept for a retry of its request"
    )

    @field_validator("judge")
    @classmethod
    def _judge_is_known(cls, value: str | None, info: ValidationInfo) -> str | None:
        judges = info.data.get("judges", {})
        if value is None or value in judges:
            return value
        try:
            JudgeSettings(url=value)
        except ValidationError as error:
            known = ", ".join(judges) or "there are none"
            message = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise ValueError(f"{message}, nor is it a name of `judges` ({known})") from None
        return value

    @field_validator("cache")
    @classmethod
    def _cache_is_a_file_or_redis(cls, value: str) -> str:
        if "://" not in value:
            if not value or Path(value).is_dir():
                raise ValueError("takes the path of a file, and this is none")
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

    @field_validator("tokens")
    @classmethod
    def _tokens_differ(cls, value: dict[str, TokenSettings]) -> dict[str, TokenSettings]:
        names: dict[str, str] = {}
        for name, table in value.items():
            if (other := names.setdefault(table.hash, name)) != name:
                raise ValueError(f"{other} and {name} are the same token: make another for one of them")
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
    def judge_chosen(self) -> JudgeSettings | None:
        """The judge that `judge` means; flags and variables of its own win over its table."""
        if self.judge is None:
            return None
        chosen = self.judges.get(self.judge) or JudgeSettings(url=self.judge)
        names = {name: f"judge_{name}" for name in ("model", "api_key", "concurrency")}
        given = {name: getattr(self, flag) for name, flag in names.items() if flag in self.model_fields_set}
        return chosen.model_copy(update=given)

    @property
    def drain_time_s(self) -> int:
        """How long requests under way may take when the service stops, seconds."""
        return self.drain_s or math.ceil(self.deadline_s) + 5

    @property
    def check_processes(self) -> int:
        """Check processes of one uvicorn process."""
        return self.check_workers or max(1, (os.cpu_count() or 1) // self.workers)
