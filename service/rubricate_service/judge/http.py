"""The model that is reached over HTTP: vLLM's, or that of any other OpenAI-compatible server."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from rubricate_service.judge.chat import (
    body_for_all,
    read_answer,
    read_error,
    refuses_structured_outputs,
    request_body,
)
from rubricate_service.judge.connection import Address, Connection, Reply
from rubricate_service.judge.prefill import learn_label_ids, prefilled_body, read_prefilled
from rubricate_service.judge.reading import JudgeFailure
from rubricate_service.judge.served import PLAINLY, Completion, Identity, Manner

log = logging.getLogger("rubricate.judge")

_CHAT = "v1/chat/completions"
_MODELS = "v1/models"
_VOLATILE = frozenset({"created", "permission"})  # of a model's entry: they differ after every restart


class HttpModel:
    """One chat endpoint.

    Args:
        url: Its address, with or without ``/v1``; may hold ``user:password@`` for basic authentication.
        model: The model to ask for, or None for the first one it serves.
        api_key: Bearer token, or None.
        address: IP address and port to connect to instead of those that the host's name leads to, or None.
        by_schema: Whether labels are asked for by ``response_format`` from the start.

    Raises:
        ValueError: ``url`` is not an http or https address.
    """

    def __init__(
        self,
        url: str,
        model: str | None = None,
        api_key: str | None = None,
        address: Address | None = None,
        *,
        by_schema: bool = False,
    ):
        self._connection = Connection(url, api_key, address)
        self._named = model
        self._model = model
        self._label_ids: tuple[int, ...] = ()
        self._learned_of = ""  # the fingerprint of the model whose label ids these are
        self._is_vllm = False
        self._is_schema_wanted = by_schema

    async def identify(self, deadline: float) -> Identity:
        """The model to ask for, and a digest of what ``/v1/models`` says of it.

        Where the endpoint lists no models but one was named, the digest is that of the name.
        """
        reply = await self._connection.call("GET", _MODELS, None, deadline)
        entries = _entries(reply.body) if reply.status == 200 else []
        wanted = self._named or (entries[0]["id"] if entries else None)
        if reply.status in (401, 402, 403, 429) or reply.status >= 500:
            raise _failure(reply)
        if wanted is None:
            raise JudgeFailure(
                "unreadable" if reply.status == 200 else "refused",
                f"{self._connection.place} lists no model at /{_MODELS} ({reply.status}); check its "
                "URL, or name the model to ask for (--judge-model, or `model` in its table of the settings)",
            )
        entry = next((entry for entry in entries if entry["id"] == wanted), None)
        if entry is None:
            log.warning(
                "%s does not list %s at /%s; it is known by its name alone",
                self._connection.place,
                wanted,
                _MODELS,
            )
        kept = {k: v for k, v in (entry or {"id": wanted}).items() if k not in _VOLATILE}
        canonical = orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)
        fingerprint = f"sha256:{hashlib.sha256(canonical).hexdigest()}"
        if fingerprint != self._learned_of:
            self._label_ids = await learn_label_ids(self._post, wanted, deadline)
            self._learned_of = fingerprint
        self._is_vllm = kept.get("owned_by") == "vllm"
        self._model = self._model or wanted  # asked for even when the server changes under it
        return Identity(wanted, fingerprint, "prefilled" if self._label_ids else "plain")

    async def complete(
        self, messages: Sequence[Mapping[str, str]], deadline: float, manner: Manner = PLAINLY
    ) -> Completion:
        """One call of ``/v1/chat/completions``.

        An endpoint that refuses ``structured_outputs`` is asked by ``response_format`` from then on. The
        answer differs a little, so that the completion's ``system_fingerprint`` says it.

        Routers find the prefix in ``X-Session-Id``, by which vllm-router's ``consistent_hash`` spreads calls.
        """
        model = self._model or (await self.identify(deadline)).model
        sent = "\n".join(message["content"] for message in messages)
        session = {"X-Session-Id": manner.prefix.hex()} if manner.prefix else None
        by_schema = self._is_schema_wanted
        is_begun = bool(self._label_ids) and messages[-1]["role"] == "assistant"
        if manner.ids:
            wanted = body_for_all(model, messages, manner.ids, room=manner.room)
        elif is_begun:
            wanted = prefilled_body(model, messages, self._label_ids)
        else:
            wanted = request_body(model, messages, by_schema=by_schema, room=manner.room)
        if manner.salt and self._is_vllm:  # others may refuse a field that they do not know
            wanted["cache_salt"] = manner.salt
        reply = await self._connection.call("POST", _CHAT, orjson.dumps(wanted), deadline, session)
        if not by_schema and refuses_structured_outputs(reply.status, reply.body, sent):
            self._is_schema_wanted = True
            return await self.complete(messages, deadline, manner)
        if reply.status != 200:
            raise _failure(reply, sent)
        completion = read_prefilled(reply.body) if is_begun else read_answer(reply.body)
        fingerprint = completion.system_fingerprint
        if by_schema:
            fingerprint = f"{fingerprint or ''} response_format"
        return replace(completion, system_fingerprint=fingerprint, max_tokens=wanted["max_tokens"])

    async def close(self) -> None:
        """Close all connections."""
        await self._connection.close()

    async def _post(self, path: str, wanted: Mapping[str, Any], deadline: float) -> tuple[int, bytes]:
        reply = await self._connection.call("POST", path, orjson.dumps(wanted), deadline)
        return reply.status, reply.body


def _failure(reply: Reply, sent: str = "") -> JudgeFailure:
    return read_error(reply.status, reply.body, reply.retry_after, sent)


def _entries(body: bytes) -> list[dict[str, Any]]:
    """The models that a body of ``/v1/models`` lists."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return []
    entries = value.get("data") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        return []
    return [entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)]
