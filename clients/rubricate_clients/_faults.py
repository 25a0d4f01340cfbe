"""What can go wrong with a judge, as values that a `FakeJudge` plays."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import web

from rubricate_clients._completions import Completion, error_body


def _encode(completion: Completion) -> bytes:
    return json.dumps(completion).encode()


async def _open(request: web.Request, size: int) -> web.StreamResponse:
    """Send the head of an answer that promises `size` bytes."""
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(size)})
    await response.prepare(request)
    return response


@dataclass(frozen=True)
class Fault:
    """One way in which a judge misbehaves; made by the functions below.

    Attributes:
        name: What it is, for the reader of a failing test.
        act: Answers the request; it is given the completion that a healthy judge would have sent.
    """

    name: str
    act: Callable[[web.Request, Completion], Awaitable[web.StreamResponse]] = field(repr=False)

    @staticmethod
    def status(code: int, *, retry_after: float | str | None = None) -> Fault:
        """An error status, with a `Retry-After` of seconds or an HTTP date where one is given."""

        async def act(request: web.Request, completion: Completion) -> web.StreamResponse:
            headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
            return web.json_response(
                error_body(code, f"scripted status {code}"), status=code, headers=headers
            )

        return Fault(f"status {code}", act)

    @staticmethod
    def too_long(limit: int = 4096) -> Fault:
        """The 400 with which vLLM refuses a prompt above its context length, in tokens."""
        message = (
            f"This model's maximum context length is {limit} tokens. However, your prompt contains at least "
            f"{limit + 1} input tokens. (parameter=input_tokens, value={limit + 1})"
        )

        async def act(request: web.Request, completion: Completion) -> web.StreamResponse:
            return web.json_response(error_body(400, message, param="input_tokens"), status=400)

        return Fault("too long", act)

    @staticmethod
    def slow(seconds: float) -> Fault:
        """The right answer, `seconds` late."""

        async def act(request: web.Request, completion: Completion) -> web.StreamResponse:
            await asyncio.sleep(seconds)
            return web.json_response(completion)

        return Fault(f"slow by {seconds} s", act)

    @staticmethod
    def hang() -> Fault:
        """No answer; the connection stays open until the caller or the judge closes it."""

        async def act(request: web.Request, completion: Completion) -> web.StreamResponse:
            await asyncio.Event().wait()
            raise AssertionError("unreachable: only a cancellation ends the wait")

        return Fault("hang", act)

    @staticmethod
    def drip(size: int = 5, pause_s: float = 0.1) -> Fault:
        """The right answer, `size` bytes at a time with `pause_s` seconds between."""

        async def act(request: web.Request, completion: Completion) -> web.StreamResponse:
            payload = _encode(completion)
            response = await _open(request, len(payload))
            for start in range(0, len(payload), size):
                await response.write(payload[start : start + size])
                await asyncio.sleep(pause_s)
            return response

        return Fault("drip", act)

    @staticmethod
    def reset() -> Fault:
        """Half of the right answer, then the connection is cut."""

        async def act(request: web.Request, completion: Completion) -> web.StreamResponse:
            payload = _encode(completion)
            response = await _open(request, len(payload))
            await response.write(payload[: len(payload) // 2])
            if request.transport is not None:
                request.transport.close()
            return response

        return Fault("reset", act)

    @staticmethod
    def garbage(kind: Literal["html", "json", "utf8"] = "html") -> Fault:
        """Status 200 with a web page, with JSON that ends too early, or with bytes that are not UTF-8."""
        body = {
            "html": b"<!doctype html><title>Gateway</title><p>All is well.",
            "json": b'{"id": "x", "choices": [{"index": 0, "message": ',
            "utf8": b'{"id": "x", "choices": [{"message": {"content": "\xff\xfe"}}]}',
        }[kind]
        content_type = "text/html" if kind == "html" else "application/json"

        async def act(request: web.Request, completion: Completion) -> web.StreamResponse:
            return web.Response(body=body, content_type=content_type)

        return Fault(f"garbage {kind}", act)

    @staticmethod
    def text(content: str) -> Fault:
        """An answer that is none of the labels."""
        return _choice(f"text {content!r}", content=content)

    @staticmethod
    def truncated() -> Fault:
        """No content, as when a reasoning judge used up its tokens: `finish_reason` is `length`."""
        return _choice("truncated", finish_reason="length", content="")

    @staticmethod
    def refusal() -> Fault:
        """A judge that declines: `refusal` in the place of content."""
        return _choice("refusal", content=None, refusal="The fake judge declines to answer.")

    @staticmethod
    def wrong_model(name: str) -> Fault:
        """The right answer, signed by another model."""
        return _edited(f"model {name!r}", lambda completion: completion.update(model=name))

    @staticmethod
    def fingerprint(value: str) -> Fault:
        """The right answer, with another `system_fingerprint`."""
        return _edited(
            f"fingerprint {value!r}", lambda completion: completion.update(system_fingerprint=value)
        )


def _edited(name: str, edit: Callable[[Completion], None]) -> Fault:
    async def act(request: web.Request, completion: Completion) -> web.StreamResponse:
        edit(completion)
        return web.json_response(completion)

    return Fault(name, act)


def _choice(name: str, finish_reason: str = "stop", **message: str | None) -> Fault:
    """The answer with another message; the log-probabilities of the label would not fit it."""

    def edit(completion: Completion) -> None:
        choice = completion["choices"][0]
        choice["message"].update(message)
        choice.update(finish_reason=finish_reason, logprobs=None)

    return _edited(name, edit)
