"""The most that a request may hold: its bytes while they come, its shape before any work is done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rubricate_clients.faults import ErrorDetail
from rubricate_clients.wire import Group, Rubric, ScoreRequest
from rubricate_service.errors import ApiError, InvalidRequest, TooLarge, answer_to
from rubricate_service.http.settings import Limits

_MOST_FAULTS = 100  # of one request that is too large throughout


class _HasResponses(Protocol):
    @property
    def responses(self) -> Sequence[Any]: ...


class BodyLimit:
    """ASGI middleware: a body that is too large is refused by its `Content-Length`, or while it comes."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._most = limits.body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request.

        Raises:
            TooLarge: To the route that reads a body, once more than the limit has come.
        """
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if (refusal := self._refusal(dict(scope["headers"]))) is not None:
            await answer_to(refusal)(scope, receive, send)
            return
        received = 0

        async def counting() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._most:
                raise self._too_large()
            return message

        await self._app(scope, counting, send)

    def _refusal(self, headers: dict[bytes, bytes]) -> ApiError | None:
        encoding = headers.get(b"content-encoding", b"identity").decode("latin-1").lower()
        if encoding != "identity":
            message = f"a body in Content-Encoding {encoding[:40]!r} is not taken: send plain JSON"
            return InvalidRequest(message, [ErrorDetail(path="", message=message)])
        length = headers.get(b"content-length", b"")
        return self._too_large() if length.isdigit() and int(length) > self._most else None

    def _too_large(self) -> TooLarge:
        message = f"the body is larger than this service takes ({_limit('body_bytes', self._most)} bytes)"
        return TooLarge(message, [ErrorDetail(path="", message=message)])


def _limit(name: str, most: int) -> str:
    return f"`limits.{name}` is {most:,}"


def check_values(body: bytes, limits: Limits) -> None:
    """Refuse a body of too many JSON values before it is parsed.

    A fault costs a parser some 700 bytes, and a value as little as two: the faults of 3 MB of `{}` took
    1.4 GB. So values are counted, from above, by the punctuation that stands outside texts.

    Raises:
        InvalidRequest: There are more than `limits.json_values`.
    """
    most = limits.json_values
    if _punctuation(body) <= most:  # that of texts included: nearly every body ends here
        return
    bare = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    count = bare.count(b'"') // 4  # keys are texts as well
    if count > most or _punctuation(b"".join(bare.split(b'"')[::2])) > most:
        message = f"the body has more JSON values than this service takes ({_limit('json_values', most)})"
        raise InvalidRequest(message, [ErrorDetail(path="", message=message)])


def _punctuation(text: bytes) -> int:
    return sum(map(text.count, (b",", b"{", b"[")))


def check_shape(request: ScoreRequest, limits: Limits) -> None:
    """Refuse a request that is larger than a limit allows.

    Raises:
        InvalidRequest: Naming, for each fault, its path, the limit and its value.
    """
    _refuse(_faults(request.groups, limits))


def check_counts(groups: Sequence[_HasResponses], limits: Limits) -> None:
    """Refuse too many groups or responses; raises as `check_shape`."""
    _refuse(_counts(groups, limits))


def check_rows(rows: Sequence[object], limits: Limits) -> None:
    """Refuse too many rows of a data set; raises as `check_shape`."""
    _refuse(_over("rows", len(rows), "rows in a request", "groups", limits))


def _refuse(faults: Iterator[ErrorDetail]) -> None:
    if first := list(islice(faults, _MOST_FAULTS)):
        raise InvalidRequest(f"{first[0].path}: {first[0].message}", first)


def _over(path: str, count: int, what: str, name: str, limits: Limits) -> Iterator[ErrorDetail]:
    most: int = getattr(limits, name)
    if count > most:
        message = f"{count:,} {what}, more than this service takes ({_limit(name, most)})"
        yield ErrorDetail(path=path, message=message)


def _counts(groups: Sequence[_HasResponses], limits: Limits) -> Iterator[ErrorDetail]:
    yield from _over("groups", len(groups), "groups in a request", "groups", limits)
    responses = sum(len(group.responses) for group in groups)
    yield from _over("groups", responses, "responses in a request", "responses", limits)


def _faults(groups: Sequence[Group], limits: Limits) -> Iterator[ErrorDetail]:
    yield from _counts(groups, limits)
    verdicts = sum(len(group.responses) * len(group.rubrics) for group in groups)
    what = "verdicts (rubrics times responses) in a request"
    yield from _over("groups", verdicts, what, "verdicts", limits)
    for g, group in enumerate(groups):
        path = f"groups[{g}]"
        yield from _over(f"{path}.rubrics", len(group.rubrics), "rubrics in a group", "rubrics", limits)
        for place, text, what, name in _texts(group):
            if len(text) > getattr(limits, name):
                yield from _over(f"{path}.{place}", len(text), f"characters in {what}", name, limits)


def _texts(group: Group) -> Iterator[tuple[str, str, str, str]]:
    """The texts of a group: where it stands, the text, what it is, the name of its limit."""
    yield "id", group.id or "", "an id", "id_chars"
    prompt = group.prompt
    whole = prompt if isinstance(prompt, str) else "".join(turn.role + turn.content for turn in prompt)
    yield "prompt", whole, "a prompt", "prompt_chars"
    yield "reference", group.reference or "", "a reference answer", "prompt_chars"
    for k, rubric in enumerate(group.rubrics):
        for place, text, what, name in _rubric_texts(rubric):
            yield f"rubrics[{k}].{place}", text, what, name
    for r, response in enumerate(group.responses):
        if isinstance(response, str):
            yield f"responses[{r}]", response, "a response", "response_chars"
        else:
            yield f"responses[{r}].text", response.text, "a response", "response_chars"
            yield f"responses[{r}].id", response.id or "", "an id", "id_chars"


def _rubric_texts(rubric: Rubric) -> Iterator[tuple[str, str, str, str]]:
    yield "id", rubric.id or "", "an id", "id_chars"
    yield "check", rubric.check or "", "an id", "id_chars"
    yield "criterion", rubric.criterion or "", "a criterion", "criterion_chars"
    if rubric.kwargs:
        yield "kwargs", repr(rubric.kwargs), "kwargs", "kwargs_chars"
