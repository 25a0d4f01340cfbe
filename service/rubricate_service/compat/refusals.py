"""What is refused of a body as a whole: more than a request may hold, and responses without a score."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rubricate_clients.faults import ErrorDetail
from rubricate_clients.wire import ScoreRequest
from rubricate_service.compat.errors import BrokenRule, FaultyRubrics, Unscored, invalid_at, join_path
from rubricate_service.compat.result import Result
from rubricate_service.compat.waits import Member
from rubricate_service.errors import InvalidRequest
from rubricate_service.http.limits import check_counts, check_shape
from rubricate_service.http.settings import Limits

_MOST_FAULTS = 1000  # of one body; the message counts them all
_IN_GROUP = re.compile(r"groups\[(\d+)\](?:\.responses\[(\d+)\])?\.?")


@dataclass(frozen=True, slots=True)
class _Rows:
    responses: range


def check_count(count: int, limits: Limits) -> None:
    """Refuse a body of more rows than `POST /v1/score` takes responses, before any of them is read.

    Raises:
        InvalidRequest: Naming the limit and its value.
    """
    try:
        check_counts([_Rows(range(count))], limits)
    except InvalidRequest as fault:
        raise invalid_at("", *(("", detail.message) for detail in fault.details)) from None


def check_members(members: Sequence[Member], limits: Limits) -> None:
    """Refuse a body whose groups together are more than `POST /v1/score` takes.

    Raises:
        InvalidRequest: Naming, for each fault, its path in the body, the limit and its value.
    """
    groups: dict[str, list[Member]] = {}
    for member in members:
        groups.setdefault(member.key, []).append(member)
    if not groups:
        return
    asked = [own[0].task.asking([member.text for member in own]) for own in groups.values()]
    try:
        check_shape(ScoreRequest(groups=asked), limits)
    except InvalidRequest as fault:
        found = [(_in_body(detail.path, [*groups.values()]), detail.message) for detail in fault.details]
        raise invalid_at("", *found) from None


def _in_body(path: str, groups: Sequence[Sequence[Member]]) -> str:
    """Where a path in a request of these groups leads in the body that has their members."""
    found = _IN_GROUP.match(path)
    if found is None:  # all groups together
        return ""
    group, response = groups[int(found[1])], found[2]
    if response is not None:
        return group[int(response)].text_at
    rest = path[found.end() :]
    # the prompt may be the label's or the trainer's own
    return rest if rest == "prompt" else join_path(group[0].label_at, rest)


def refuse_undecided(members: Sequence[Member], results: Sequence[Result]) -> None:
    """Refuse to answer for responses without a score.

    Raises:
        FaultyRubrics: One has none by the fault of its rubrics; the details name these first.
        BrokenRule: All faults are rules that raised on the responses.
        Unscored: One has none for another reason.
    """
    faults = [
        (member, fault) for member, result in zip(members, results, strict=True) for fault in result.undecided
    ]
    if not faults:
        return
    faults.sort(key=lambda found: not found[1].is_final)
    details = [
        ErrorDetail(
            path=join_path(member.label_at, fault.path) if fault.path else member.text_at,
            message=fault.message,
        )
        for member, fault in faults[:_MOST_FAULTS]
    ]
    where = f"{details[0].path}: " if details[0].path else ""
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    kind: type[FaultyRubrics | Unscored] = Unscored
    if all(fault.is_own for _, fault in faults):
        kind = BrokenRule
    elif faults[0][1].is_final:
        kind = FaultyRubrics
    raise kind(f"the response could not be scored: {where}{details[0].message}{more}", details)
