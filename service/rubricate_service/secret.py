"""The key of the judge prompt's delimiters: given by a setting, else made once and kept."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from rubricate_service.settings import Settings

_BYTES = 32


def delimiter_key(settings: Settings) -> bytes:
    """The key, the same for every process that shares the cache.

    Where nothing can be written (a read-only file system) it lives as long as the process: the cache,
    which would be beside it, is then not kept either.
    """
    if settings.secret is not None:
        return settings.secret.get_secret_value().encode()
    path = Path(settings.cache).with_suffix(".key")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # written aside and linked into place, so that two processes that start together agree on one
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_bytes(secrets.token_bytes(_BYTES))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        return path.read_bytes()
    except OSError:
        return secrets.token_bytes(_BYTES)
