"""Clients of the reward service: `RewardClient` for sync code, `AsyncRewardClient` for asyncio.

    with RewardClient("http://127.0.0.1:8080") as client:
        answer = client.score([{
            "prompt": "Name three rivers.",
            "rubrics": [{"check": "text:word_count", "kwargs": {"max": 5}}],
            "responses": ["Rhine, Nile, Amazon", "There are many rivers on Earth."],
        }])
        rewards = [response.reward for response in answer.groups[0].responses]

A call takes at most `timeout_s` seconds, all retries included, and then either answers in full or
raises one of `rubricate_clients.errors`. Scores that could not be decided are None, never 0.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Self, TypeVar

from rubricate_clients import _messages as messages
from rubricate_clients._base import BaseClient
from rubricate_clients._call import CONNECT_S, Call, Reply
from rubricate_clients._messages import AdvantageGroupLike, Check, Checks, GroupLike, OptionsLike
from rubricate_clients.wire import AdvantageAnswer, Method, ScoreAnswer

if TYPE_CHECKING:
    import aiohttp

T = TypeVar("T")


class RewardClient(BaseClient):
    """Sync client; one may be shared by threads.

    Args:
        url: Address of the service, such as `http://127.0.0.1:8080`.
        token: Sent as `Authorization: Bearer`.
        timeout_s: Seconds that one call may take with all its retries.
    """

    def __init__(self, url: str, token: str | None = None, timeout_s: float = 120.0) -> None:
        super().__init__(url, token, timeout_s)
        import httpx2

        self._http = httpx2.Client(trust_env=False, limits=httpx2.Limits())

    def score(
        self,
        groups: Iterable[GroupLike],
        options: OptionsLike | None = None,
        *,
        request_id: str | None = None,
        run: str | None = None,
        step: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> ScoreAnswer:
        """Score the responses of each group.

        Args:
            groups: Groups of contract section 1, as models or plain dicts.
            options: Options of the same section. Without a `deadline_s` the service is given nine tenths
                of `timeout_s`, so that what it could not decide comes back as `failed` beside the rest.
            request_id: Goes to the service's logs, like `run` and `step`.
            run: Name of the training run.
            step: Its step.
            idempotency_key: Names this request among retries of your own; one is drawn for each call.

        Returns:
            The answer, with groups, responses and rubrics in the order of the request.

        Raises:
            RewardServiceError: One of `rubricate_clients.errors`; a faulty request is not even sent.
        """
        request, body = messages.score_request(groups, options, self.timeout_s)
        headers = messages.call_headers(request_id, run, step, idempotency_key)
        return messages.read_scores(self._send(self._call("/v1/score", body, headers)), request)

    def advantages(
        self, groups: Iterable[AdvantageGroupLike], method: Method, **parameters: Any
    ) -> AdvantageAnswer:
        """Advantages from scores: `client.advantages(answer.groups, "rdan", quality_weight=0.5)`.

        Args:
            groups: Groups of a score answer, or the numbers of contract section 5.
            method: A method of that section.
            **parameters: Parameters of that method.

        Raises:
            RewardServiceError: One of `rubricate_clients.errors`.
        """
        request, body = messages.advantage_request(groups, method, parameters)
        return messages.read_advantages(self.post("/v1/advantages", body), request)

    def post(self, path: str, body: bytes, *, run: str | None = None) -> bytes:
        """POST to any route of the service, with the token, the retries and the deadline of every call.

        Args:
            path: Of the route, such as `/v1/rubrics/lint`.
            body: JSON.
            run: Name of the training run, for the service's logs.

        Returns:
            The body of the answer. All attempts have one idempotency key.

        Raises:
            RewardServiceError: One of `rubricate_clients.errors`.
        """
        return self._send(self._call(path, body, messages.call_headers(run=run)))

    def checks(self) -> list[dict[str, Any]]:
        """The catalogue of checks, as contract section 7 describes an entry."""
        return messages.read(Checks, self._send(self._call("/v1/checks"))).checks

    def check(self, id: str) -> dict[str, Any]:
        """One check of the catalogue, by its id or an alias of it.

        Raises:
            NotFound: The service has no such check.
        """
        return messages.read(Check, self._send(self._call(messages.check_path(id)))).root

    def close(self) -> None:
        """Close the connections; the client is of no use afterwards."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _send(self, call: Call) -> bytes:
        import httpx2

        while True:
            try:
                reply = _within(call.time_left(), lambda: self._attempt(call))
            except (TimeoutError, httpx2.ReadTimeout, httpx2.WriteTimeout) as error:
                raise call.expired() from error
            except httpx2.RequestError as error:
                wait_s = call.after(error)
            else:
                if reply.status == 200:
                    return reply.body
                wait_s = call.after(reply)
            time.sleep(wait_s)

    def _attempt(self, call: Call) -> Reply:
        import httpx2

        left = call.time_left()
        timeout = httpx2.Timeout(left, connect=min(left, CONNECT_S))
        body = bytearray()
        with self._http.stream(
            call.method, call.url, content=call.body, headers=call.headers, timeout=timeout
        ) as answer:
            for chunk in answer.iter_bytes():
                body += chunk
                if not call.time_left():  # nobody waits for the rest
                    raise TimeoutError
            return Reply(answer.status_code, answer.headers.get("Retry-After"), bytes(body))


def _within(seconds: float, work: Callable[[], T]) -> T:
    """Result of the work, which runs in a thread and is left alone when its time is over.

    A blocking client knows only time-outs per read, and a server that drips would never meet one.

    Raises:
        TimeoutError: It took longer than `seconds`.
    """
    result: Future[T] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, name="rubricate-call", daemon=True).start()
    return result.result(seconds)


class AsyncRewardClient(BaseClient):
    """Client for asyncio; calls may run side by side in any number, and in several event loops.

    Each loop gets its own connections at its first call; `aclose` (or `async with`) closes those of the
    loop that it runs in, and a later call opens new ones. The arguments, and those of the methods, are
    those of `RewardClient`.
    """

    def __init__(self, url: str, token: str | None = None, timeout_s: float = 120.0) -> None:
        super().__init__(url, token, timeout_s)
        self._sessions: dict[asyncio.AbstractEventLoop, aiohttp.ClientSession] = {}

    async def score(
        self,
        groups: Iterable[GroupLike],
        options: OptionsLike | None = None,
        *,
        request_id: str | None = None,
        run: str | None = None,
        step: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> ScoreAnswer:
        """Score the responses of each group; see `RewardClient.score`."""
        request, body = messages.score_request(groups, options, self.timeout_s)
        headers = messages.call_headers(request_id, run, step, idempotency_key)
        return messages.read_scores(await self._send(self._call("/v1/score", body, headers)), request)

    async def advantages(
        self, groups: Iterable[AdvantageGroupLike], method: Method, **parameters: Any
    ) -> AdvantageAnswer:
        """Advantages from scores; see `RewardClient.advantages`."""
        request, body = messages.advantage_request(groups, method, parameters)
        return messages.read_advantages(await self.post("/v1/advantages", body), request)

    async def post(self, path: str, body: bytes, *, run: str | None = None) -> bytes:
        """POST to any route of the service; see `RewardClient.post`."""
        return await self._send(self._call(path, body, messages.call_headers(run=run)))

    async def checks(self) -> list[dict[str, Any]]:
        """The catalogue of checks; see `RewardClient.checks`."""
        return messages.read(Checks, await self._send(self._call("/v1/checks"))).checks

    async def check(self, id: str) -> dict[str, Any]:
        """One check of the catalogue; see `RewardClient.check`."""
        return messages.read(Check, await self._send(self._call(messages.check_path(id)))).root

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        if session := self._sessions.pop(asyncio.get_running_loop(), None):
            await session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    async def _send(self, call: Call) -> bytes:
        import aiohttp

        session = await self._session()
        while True:
            try:
                async with asyncio.timeout(call.time_left()):
                    reply = await self._attempt(session, call)
            except (aiohttp.ClientError, ConnectionError) as error:
                wait_s = call.after(error)
            except TimeoutError as error:
                raise call.expired() from error
            else:
                if reply.status == 200:
                    return reply.body
                wait_s = call.after(reply)
            await asyncio.sleep(wait_s)

    async def _attempt(self, session: aiohttp.ClientSession, call: Call) -> Reply:
        async with session.request(
            call.method, call.url, data=call.body, headers=call.headers, allow_redirects=False
        ) as answer:
            return Reply(answer.status, answer.headers.get("Retry-After"), await answer.read())

    async def _session(self) -> aiohttp.ClientSession:
        """The running loop's session; those of loops that were closed are dropped on the way."""
        import aiohttp

        loop = asyncio.get_running_loop()
        if loop not in self._sessions:
            for dead in [other for other in self._sessions if other.is_closed()]:
                await self._sessions.pop(dead).close()
            self._sessions[loop] = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
                trust_env=False,
            )
        return self._sessions[loop]
