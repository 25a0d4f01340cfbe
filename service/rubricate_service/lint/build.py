"""Building a group: rules E09, E11 and E12 are about what stands in the way of that."""

from __future__ import annotations

import re
from collections.abc import Iterator

import orjson
from pydantic import ValidationError

from rubricate_checkers import BadKwargs, Check, CheckerError, MissingData
from rubricate_clients.faults import details_of
from rubricate_clients.wire import Rubric
from rubricate_service.lint.demands import demands_of
from rubricate_service.lint.demands.dispatch import literal
from rubricate_service.lint.finding import RULES, Finding, spoken
from rubricate_service.lint.group import BuiltGroup, BuiltRubric, LintGroup
from rubricate_service.lint.work import Work
from rubricate_service.normalise import prompt_text
from rubricate_service.worker import CheckSpec, built

_PATTERNS = frozenset(
    {
        "forbidden_words",
        "keyword",
        "keyword1",
        "keyword2",
        "keywords",
        "pattern",
        "phrase",
        "postscript_marker",
    }
    | {"section_spliter"}
)
"""Kwargs that are regular expressions where a check says `raw_regex`, and `text:` patterns."""

_NESTED = re.compile(r"[+*}]\)[+*{]")
_RUBRIC = "A rubric has a `check` with its `kwargs`, or a `criterion`."
_AMOUNTS = ("weight", "points")


def build_group(path: str, group: LintGroup, work: Work | None = None) -> tuple[BuiltGroup, list[Finding]]:
    """A group with its checks built, and what is wrong with those that could not be.

    Compiling what a rubric supplies may take its time: not for the event loop.
    """
    work = work or Work()
    findings: list[Finding] = []
    rubrics: list[BuiltRubric] = []
    for index, raw in enumerate(group.rubrics):
        place = f"{path}.rubrics[{index}]"
        if work.is_over:
            break  # applying the rules tells it
        if not isinstance(raw, dict):
            findings.append(RULES["E09"].at(place, "a rubric is an object", hint=_RUBRIC))
            continue
        try:
            rubric = Rubric.model_validate(raw)
        except ValidationError as error:
            findings += _wire_faults(place, error)
            continue
        if rubric.check is None:
            rubrics.append(BuiltRubric(place, rubric))
            continue
        try:
            spec = _spec(rubric)
            check = built(spec)
        except CheckerError as error:
            findings += _build_faults(place, rubric, error)
        else:
            rubrics.append(BuiltRubric(place, rubric, check, spec, demands_of(check)))
            findings += _pattern_doubts(place, rubric, check)
    findings += _taken_ids(rubrics, path)
    findings += _no_positive_points(path, rubrics)
    prompt = group.prompt
    turns = (("user", prompt),) if isinstance(prompt, str) else tuple((m.role, m.content) for m in prompt)
    whole = len(rubrics) == len(group.rubrics)
    responses = tuple(dict.fromkeys(group.texts()))
    found = BuiltGroup(
        path, prompt_text(prompt), turns, group.reference, tuple(rubrics), whole, responses, work=work
    )
    return found, findings


def _spec(rubric: Rubric) -> CheckSpec:
    kwargs = {name: value for name, value in (rubric.kwargs or {}).items() if value is not None}
    try:
        return CheckSpec(rubric.check or "", orjson.dumps(kwargs, option=orjson.OPT_SORT_KEYS))
    except orjson.JSONEncodeError:
        raise BadKwargs([("kwargs", "a number in them does not fit in 64 bits")]) from None


def _wire_faults(place: str, error: ValidationError) -> Iterator[Finding]:
    for fault in details_of(error):
        about_amounts = fault.path in _AMOUNTS or "`points`" in fault.message
        rule = RULES["E12" if about_amounts else "E09"]
        where = f"{place}.{fault.path}" if fault.path else place
        message = spoken(fault.message)
        yield rule.at(where, message, hint=None if about_amounts else _RUBRIC)


def _build_faults(place: str, rubric: Rubric, error: CheckerError) -> Iterator[Finding]:
    if isinstance(error, BadKwargs):
        for path, message in error.faults:
            yield RULES[_rule_of(rubric, path)].at(f"{place}.{path}", message)
    else:
        where = f"{place}.{error.path}" if error.path else place
        hint = "Install what is missing where the service runs." if isinstance(error, MissingData) else None
        yield RULES["E09"].at(where, error.message, hint=hint)


_RANGES = (("min", "max"), ("min_count", "max_count"))


def _rule_of(rubric: Rubric, path: str) -> str:
    """The rule that the fault of a kwarg breaks."""
    kwargs = rubric.kwargs or {}
    for low, high in _RANGES if path == "kwargs" else ():
        bounds = [kwargs.get(low), kwargs.get(high)]
        if all(isinstance(bound, int | float) for bound in bounds):
            return "E01"  # the check takes no such range
    return "E11" if _is_pattern_fault(rubric, path) else "E09"


def _is_pattern_fault(rubric: Rubric, path: str) -> bool:
    """Whether the fault at a path such as `kwargs.keywords[0]` is that of a pattern."""
    parts = re.findall(r"[^.\[\]]+", path)[1:]
    if not parts or parts[0] not in _PATTERNS:
        return False
    value = (rubric.kwargs or {}).get(parts[0])
    values = value if isinstance(value, list) else [value]
    if parts[0] == "pattern":
        return isinstance(value, str)
    return any(isinstance(pattern, str) and not _compiles(pattern) for pattern in values)


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _pattern_doubts(place: str, rubric: Rubric, check: Check) -> Iterator[Finding]:
    """Patterns that Python's `re` takes and that may keep it busy for ever."""
    if not check.raw_regex:
        return
    for name, value in (rubric.kwargs or {}).items():
        if name not in _PATTERNS:
            continue
        for pattern in value if isinstance(value, list) else [value]:
            if isinstance(pattern, str) and literal(pattern) is None and (why := _unsafe(pattern)):
                message = f"{pattern!r} is read as a regular expression of Python's `re`, and {why}"
                yield RULES["E11"].at(f"{place}.kwargs.{name}", message, severity="warning")


def _unsafe(pattern: str) -> str | None:
    """Why a pattern may take any time, None where it does not."""
    if _NESTED.search(pattern):
        return "repetitions within repetitions may take for ever on some responses"
    try:
        import re2  # type: ignore[import-untyped]
    except ImportError:
        return None
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error:
        return "RE2, which is linear in the response, does not take it"
    return None


def _taken_ids(rubrics: list[BuiltRubric], path: str) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for rubric in rubrics:
        position = rubric.path.removeprefix(f"{path}.rubrics[").removesuffix("]")
        id = position if rubric.rubric.id is None else rubric.rubric.id
        if first.setdefault(id, rubric.path) != rubric.path:
            message = f"the id {id!r} is taken by {first[id]}"
            yield RULES["E09"].at(f"{rubric.path}.id", message, hint="Ids are unique in a group.")


def _no_positive_points(path: str, rubrics: list[BuiltRubric]) -> Iterator[Finding]:
    points = [r.rubric.points for r in rubrics if r.rubric.points is not None]
    if points and len(points) == len(rubrics) and max(points) < 0:
        yield RULES["E12"].at(path, "no rubric has positive points, so the reward `points` is null")
