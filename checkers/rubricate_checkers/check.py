"""A check in one place: its fields are its kwargs, its docstring is its documentation."""

from __future__ import annotations

import difflib
import inspect
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from .errors import BadKwargs, UnknownCheck
from .kwargs import DRAWN, DRAWN_NOTE
from .loose import Rescue
from .memo import lazy
from .text import Text

__all__ = ["CatalogueEntry", "Check", "Example", "Span", "build", "catalogue", "describe"]


@dataclass(frozen=True, slots=True)
class Span:
    """Evidence: code points `start` to `end` (exclusive) of `Text.raw`, and what they are."""

    start: int
    end: int
    kind: Literal["match", "violation", "counted"]


class Example(BaseModel):
    """Kwargs with a text that passes and one that fails, for the catalogue."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kwargs: dict[str, Any]
    passes: str
    fails: str


class Check(BaseModel):
    """One deterministic check. Defining a subclass with an `id` registers it.

    `class NumberOfWords(Check, id="length_constraints:number_words")`. A subclass without an `id`
    is a base for others. What is incomplete is refused when it is defined.

    Attributes:
        id: Its name on the wire, upstream's where there is one.
        suite: The family of ids with one origin that it belongs to.
        version: Bumped when its behaviour changes; part of every cache key.
        aliases: Other ids that name it.
        needs_prompt: Whether it reads `Text.prompt`.
        raw_regex: Whether a kwarg is compiled as a Python regex, or may otherwise take any time (a JSON
            schema, a rule), so that running out of time is the rubric's fault and not the response's.
        example: Kwargs, a text that passes, and one that fails.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(lazy,))

    id: ClassVar[str]
    suite: ClassVar[str]
    version: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]]
    needs_prompt: ClassVar[bool]
    raw_regex: ClassVar[bool]
    example: ClassVar[Example]

    def __init_subclass__(
        cls,
        *,
        id: str | None = None,
        suite: str = "ifeval",
        version: str = "1",
        aliases: tuple[str, ...] = (),
        needs_prompt: bool = False,
        raw_regex: bool = False,
    ) -> None:
        super().__init_subclass__()
        if id is not None:
            cls.id = id
            cls.suite, cls.version, cls.aliases = suite, version, aliases
            cls.needs_prompt, cls.raw_regex = needs_prompt, raw_regex

    @classmethod
    def __pydantic_init_subclass__(cls, *, id: str | None = None, **_: Any) -> None:
        if id is not None:
            _register(cls)

    @abstractmethod
    def holds(self, text: Text) -> bool:
        """Whether the response satisfies the check."""

    @abstractmethod
    def observed(self, text: Text) -> str:
        """What the response has, in plain words: `312 words`."""

    @property
    @abstractmethod
    def required(self) -> str:
        """What is asked for, in plain words: `at least 400 words`."""

    @lazy
    def asked(self) -> str:
        """`required`, put in words once for all responses."""
        return self.required

    @property
    def rescue(self) -> Rescue:
        """Which loose variants can turn a failure into success."""
        return Rescue.ANY

    def may_hold(self, variant: Text, response: Text) -> bool:
        """Whether the check may hold for a loose variant of a response for which it does not.

        False only where that is certain, and sooner seen than by asking `holds`.
        """
        return True

    @property
    def parsed(self) -> bool | None:
        """Whether the sentence that states the check was understood; None where a check has no sentence."""
        return None

    def evidence(self, text: Text) -> Iterable[Span]:
        """Where in the response the verdict comes from; asked for only to explain it."""
        return ()


_CHECKS: dict[str, type[Check]] = {}
_ALIASES: dict[str, str] = {}


def _register(cls: type[Check]) -> None:
    name = cls.__name__
    for id in (cls.id, *cls.aliases):
        taken = _CHECKS.get(_ALIASES.get(id, id))
        if taken is not None:
            raise TypeError(f"{name} and {taken.__name__} share the id {id!r}")
    if not cls.__dict__.get("__doc__"):
        raise TypeError(f"{name} has no docstring: the catalogue shows its first line")
    if missing := sorted(cls.__abstractmethods__):
        raise TypeError(f"{name} does not say {', '.join(missing)}")
    if not isinstance(getattr(cls, "example", None), Example):
        raise TypeError(f"{name} has no example: the catalogue shows a text that passes and one that fails")
    cls.model_validate(cls.example.kwargs)
    _CHECKS[cls.id] = cls
    _ALIASES.update(dict.fromkeys(cls.aliases, cls.id))


def _find(id: str) -> type[Check]:
    """The check with an id or alias; raises `UnknownCheck`."""
    cls = _CHECKS.get(_ALIASES.get(id, id))
    if cls is None:
        near = difflib.get_close_matches(id, [*_CHECKS, *_ALIASES], n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else "; GET /v1/checks lists all"
        raise UnknownCheck(f"there is no check {id!r}{hint}", "check")
    return cls


def build(id: str, kwargs: Mapping[str, Any]) -> Check:
    """Build a check from what a rubric says.

    Args:
        id: A registered id or alias.
        kwargs: Its kwargs as JSON values. Null ones are dropped, since data sets pad with them.

    Returns:
        The check, ready for any number of responses.

    Raises:
        UnknownCheck: No check has that id; near ones are named.
        BadKwargs: Every fault of the kwargs, each with its path.
    """
    cls = _find(id)
    given = {name: value for name, value in kwargs.items() if value is not None}
    try:
        return cls.model_validate(given)
    except ValidationError as error:
        raise BadKwargs([_fault(cls, fault) for fault in error.errors(include_url=False)]) from None


def _fault(cls: type[Check], fault: ErrorDetails) -> tuple[str, str]:
    """(path, message) of one of pydantic's errors, in words for people."""
    place = fault["loc"]
    path = "kwargs" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    message: str = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "missing":
        field = cls.model_fields.get(str(place[0]))
        drawn = field is not None and any(item is DRAWN for item in field.metadata)
        message = f"is missing: {DRAWN_NOTE}" if drawn else "is missing"
    elif fault["type"] == "extra_forbidden":
        known = ", ".join(cls.model_fields) or "none"
        message = f"is not a kwarg of {cls.id} (its kwargs: {known})"
    elif fault["type"] in ("string_type", "list_type", "literal_error"):
        message = f"{message[0].lower()}{message[1:]}, not {fault['input']!r}"
    return path, message


class CatalogueEntry(BaseModel):
    """What the catalogue shows of one check."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    suite: str
    summary: str
    version: str
    kwargs: dict[str, Any]
    aliases: tuple[str, ...]
    needs_prompt: bool
    example: Example


def describe(id: str) -> CatalogueEntry:
    """What the catalogue shows of the check with an id or alias; raises `UnknownCheck`."""
    return _entry(_find(id))


@cache  # a JSON schema takes its time, and the catalogue has hundreds
def _entry(cls: type[Check]) -> CatalogueEntry:
    return CatalogueEntry(
        id=cls.id,
        suite=cls.suite,
        summary=inspect.cleandoc(cls.__doc__ or "").splitlines()[0],
        version=cls.version,
        kwargs=cls.model_json_schema(),
        aliases=cls.aliases,
        needs_prompt=cls.needs_prompt,
        example=cls.example,
    )


def catalogue() -> list[CatalogueEntry]:
    """Every check, by id."""
    return [describe(id) for id in sorted(_CHECKS)]
