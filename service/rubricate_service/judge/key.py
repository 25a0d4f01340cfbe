"""Under which key a judgement is kept: a digest of all that it depends on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from rubricate_service.judge.question import Question
from rubricate_service.judge.served import LABELS, SAMPLING, Identity

_VERSION = "4"  # of the rules that no part below names: how texts are cleaned, how answers are read
_SAMPLING = repr(sorted(SAMPLING.items()))
_SCALE = repr(sorted(LABELS.items()))


def digest(parts: Iterable[str | None]) -> bytes:
    """SHA-256 (32 bytes) over the parts, each behind its length, so that none can run into the next.

    None differs from every text, and a lone surrogate is a character like any other.
    """
    framed: list[bytes] = []
    for part in parts:
        data = b"" if part is None else part.encode("utf-8", "surrogatepass")
        framed += ((-1 if part is None else len(data)).to_bytes(8, "big", signed=True), data)
    return hashlib.sha256(b"".join(framed)).digest()


def cache_key(identity: Identity, template_digest: str, question: Question, tenant: str = "") -> bytes:
    """Key (32 bytes) of the judgement that this model, asked in this way, makes of this question.

    Args:
        identity: Who judges.
        template_digest: Digest of the prompt's text.
        question: What is judged.
        tenant: For whom alone; "" for all.
    """
    return digest(
        (
            "judgement",
            _VERSION,
            identity.model,
            identity.fingerprint,
            identity.form,
            template_digest,
            _SAMPLING,
            _SCALE,
            question.response,
            question.criterion,
            question.reference,
            tenant,
            *(text for turn in question.prompt for text in turn),
        )
    )
