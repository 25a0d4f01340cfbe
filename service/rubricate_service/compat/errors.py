"""What only the drop-in routes answer, beside the errors of `rubricate_service.errors`.

ApiError
├── Unavailable        503  try again
│   └── Unscored            a verdict that is needed was not reached: the judge's or the machine's fault
└── InvalidRequest     422
    └── FaultyRubrics       a verdict that is needed cannot be reached: its rubric's fault
        └── BrokenRule           … on this response: its rule raised on it
"""

from __future__ import annotations

from rubricate_clients.faults import ErrorDetail
from rubricate_service.errors import ApiError, InvalidRequest
from rubricate_service.importers.node import RowFault


class Unavailable(ApiError):
    """The group cannot meet here or now; the message says what to do."""

    status = 503
    type = "unavailable"


class Unscored(Unavailable):
    """A verdict that is needed failed. Sent again, the response is scored in the group that it was in."""


class FaultyRubrics(InvalidRequest):
    """A verdict that is needed failed by the fault of its rubric or of the options: no retry helps."""


class BrokenRule(FaultyRubrics):
    """All that failed are rules that raised on this response; it alone has to be left out of training."""

    type = "rule_error"


def invalid_at(at: str, *faults: tuple[str, str]) -> InvalidRequest:
    """Faults of what lies at the path `at`, each a path below it and a message."""
    details = [ErrorDetail(path=join_path(at, path), message=message) for path, message in faults]
    more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    where = f"{details[0].path}: " if details[0].path else ""
    return InvalidRequest(f"{where}{details[0].message}{more}", details)


def invalid_row(at: str, fault: RowFault) -> InvalidRequest:
    """A fault of the row that lies at the path `at`."""
    return invalid_at(at, (fault.path, fault.message))


def join_path(at: str, path: str) -> str:
    """The path in a body of what lies at `path` below `at`."""
    return f"{at}.{path}" if at and path and not path.startswith("[") else at + path
