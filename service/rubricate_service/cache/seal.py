"""How a value lies in a store: a version, a checksum over key and value, and the value."""

from __future__ import annotations

import hashlib

_VERSION = b"\x01"
_CHECKSUM_BYTES = 8


def seal(key: bytes, value: bytes) -> bytes:
    """The value with 9 bytes before it that ``unseal`` knows it by."""
    return _VERSION + _checksum(key, value) + value


def unseal(key: bytes, sealed: bytes) -> bytes | None:
    """The value, or None when it is damaged, of another version, or belongs to another key."""
    checksum, value = sealed[1 : 1 + _CHECKSUM_BYTES], sealed[1 + _CHECKSUM_BYTES :]
    return value if sealed[:1] == _VERSION and checksum == _checksum(key, value) else None


def _checksum(key: bytes, value: bytes) -> bytes:
    # keys of one cache are all of one length, so key and value cannot run into each other
    return hashlib.blake2b(key + value, digest_size=_CHECKSUM_BYTES).digest()
