"""A judge for tests: an OpenAI-compatible server that answers as it is told, and fails on demand.

Point a service (or anything that speaks to a chat endpoint) at it to see what your trainer does when
the judge is slow, wrong or gone, without a model:

    from rubricate_clients.testing import FakeJudge, Fault

    with FakeJudge(answer="2") as judge:  # every criterion is fully satisfied
        judge.fail_next(Fault.status(503), 3)
        scores = train_one_step(judge.url)  # a service started with --judge {judge.url}
        assert len(judge.calls) == scores.judge_calls

It runs in a thread of its own, so sync and async tests use it alike.
"""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Self

from aiohttp import web

from rubricate_clients._completions import (
    LABELS,
    PrefixCache,
    among_allowed,
    completion,
    error_body,
    token_ids,
)
from rubricate_clients._faults import Fault
from rubricate_clients._server_thread import ServerThread

__all__ = ["LABELS", "Answer", "FakeCall", "FakeJudge", "Fault"]

Answer = str | Mapping[str, float] | Fault
"""A text; a probability per token, of which the most probable is the text; or a fault."""


@dataclass(frozen=True)
class FakeCall:
    """One call of `/v1/chat/completions`, as it arrived.

    Attributes:
        body: The parsed request.
        text: Text of all its messages, joined by newlines.
        headers: Its headers, names in lower case.
        at: `time.monotonic()` of its arrival, in seconds.
        attempt: 1 for the first call with this text, 2 for the second, and so on.
        in_flight: Calls being answered when it arrived, itself included.
    """

    body: dict[str, Any]
    text: str
    headers: Mapping[str, str]
    at: float
    attempt: int
    in_flight: int


@dataclass
class _Rule:
    fault: Fault
    when: Callable[[FakeCall], bool]
    left: float = math.inf


class FakeJudge:
    """A scripted judge on 127.0.0.1: `/v1/models`, `/v1/chat/completions`, `/health`.

    Args:
        answer: What to say: an `Answer`, or a function from a call to one (a fault that it returns is
            played on the default answer). By default a label that depends on the text alone.
        model: Name that it serves; a request for another one is a 404, as with vLLM.
        fingerprint: Its `system_fingerprint`.
        latency_s: Seconds that every chat answer takes.
        port: Port to bind; 0 takes a free one.
        vllm: Whether it has vLLM's `/version` and `/tokenize` and gives the log-probabilities of the
            `logprob_token_ids` that a request names. Its tokens are single characters.

    All but the port and `vllm` may be changed while it runs. `stop` and `start` take it down and back on
    the same port. An `answer` that raises is a 500 and a logged traceback.
    """

    def __init__(
        self,
        answer: Answer | Callable[[FakeCall], Answer] | None = None,
        *,
        model: str = "judge",
        fingerprint: str = "fp-fake",
        latency_s: float = 0.0,
        port: int = 0,
        vllm: bool = False,
    ) -> None:
        self.answer = answer
        self.model = model
        self.fingerprint = fingerprint
        self.latency_s = latency_s
        self.max_model_len = 4096
        self.vllm = vllm
        self._server = ServerThread(self._app, port)
        self._lock = threading.Lock()
        self._calls: list[FakeCall] = []
        self._texts: Counter[str] = Counter()
        self._prefixes = PrefixCache()
        self._rules: list[_Rule] = []
        self._in_flight = 0

    @property
    def url(self) -> str:
        """Base address without `/v1`; it has a port only once the judge was started."""
        return self._server.url

    @property
    def calls(self) -> list[FakeCall]:
        """Every chat call so far, failed ones included, in the order of arrival."""
        with self._lock:
            return list(self._calls)

    @property
    def in_flight(self) -> int:
        """Calls that are being answered now."""
        return self._in_flight

    def start(self) -> None:
        """Take connections; the log of calls and the script are kept from before."""
        self._server.start()

    def stop(self) -> None:
        """Go down: open connections are cut and new ones refused."""
        self._server.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def fail_next(self, fault: Fault, n: int = 1) -> None:
        """Play the fault on the next `n` calls."""
        self._add(_Rule(fault, lambda call: True, n))

    def fail_when(self, fault: Fault, when: Callable[[FakeCall], bool]) -> None:
        """Play the fault on every call for which `when` is true."""
        self._add(_Rule(fault, when))

    def fail_share(self, fault: Fault, share: float) -> None:
        """Play the fault on a share in [0, 1] of the calls.

        The draw depends on a call's text and attempt alone: it is the same in every run and in any
        order of calls, and a retry draws anew.
        """
        self._add(
            # of a hash that mixes: in a CRC the draws of one text's attempts depend on each other
            _Rule(fault, lambda call: _draw(f"{call.attempt}:{call.text}") < share)
        )

    def heal(self) -> None:
        """Forget all faults that were asked for."""
        with self._lock:
            self._rules.clear()

    def reset(self) -> None:
        """Forget all faults, calls and prefixes, and answer as by default, at once."""
        self.heal()
        with self._lock:
            self._calls.clear()
            self._texts.clear()
        self._prefixes = PrefixCache()
        self.answer = None
        self.latency_s = 0.0

    def _add(self, rule: _Rule) -> None:
        with self._lock:
            self._rules.append(rule)

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=2**30)
        app.router.add_get("/health", self._health)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/chat/completions", self._chat)
        if self.vllm:
            app.router.add_get("/version", self._version)
            app.router.add_post("/tokenize", self._tokenize)
        return app

    async def _health(self, request: web.Request) -> web.Response:
        return web.Response()

    async def _models(self, request: web.Request) -> web.Response:
        card = {"id": self.model, "object": "model", "created": 0, "owned_by": "vllm", "root": self.model}
        card |= {"parent": None, "max_model_len": self.max_model_len}
        return web.json_response({"object": "list", "data": [card]})

    async def _version(self, request: web.Request) -> web.Response:
        return web.json_response({"version": "0.32.0"})

    async def _tokenize(self, request: web.Request) -> web.Response:
        tokens = token_ids((await request.json()).get("prompt", ""))
        body = {"count": len(tokens), "max_model_len": self.max_model_len, "tokens": tokens}
        return web.json_response(body | {"token_strs": None})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        try:
            body = json.loads(await request.read())
            text = "\n".join(_text(message) for message in body["messages"])
            text.encode()  # lone surrogates are no text
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return web.json_response(error_body(400, f"not a chat request: {error!r}"), status=400)
        self._in_flight += 1
        try:
            call, fault = self._record(body, text, request)
            if self.latency_s:
                await asyncio.sleep(self.latency_s)
            if body.get("model") != self.model:
                message = f"The model `{body.get('model')}` does not exist. It serves `{self.model}`."
                return web.json_response(error_body(404, message, param="model"), status=404)
            answer = self.answer(call) if callable(self.answer) else self.answer
            if isinstance(answer, Fault):
                fault, answer = fault or answer, None
            if answer is None:
                answer = LABELS[zlib.crc32(text.encode()) % len(LABELS)]
            if self.vllm:
                answer = among_allowed(body, answer)
            cached = self._prefixes.tokens(text, body.get("cache_salt"))
            healthy = completion(body, answer, call.text, self.model, self.fingerprint, cached)
            return await fault.act(request, healthy) if fault else web.json_response(healthy)
        finally:
            self._in_flight -= 1

    def _record(self, body: dict[str, Any], text: str, request: web.Request) -> tuple[FakeCall, Fault | None]:
        """Log the call and take the first fault whose turn it is."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        with self._lock:
            self._texts[text] += 1
            call = FakeCall(body, text, headers, time.monotonic(), self._texts[text], self._in_flight)
            self._calls.append(call)
            for rule in self._rules:
                if rule.left > 0 and rule.when(call):
                    rule.left -= 1
                    return call, rule.fault
        return call, None


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _draw(text: str) -> float:
    """A number in [0, 1) that looks random and is the same for the same text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") / 2**64
