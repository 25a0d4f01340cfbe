"""A service on a real socket, for tests that need more than an app in process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette

from rubricate_service.http.protocol import GuardedProtocol


@contextmanager
def running_server(app: Starlette) -> Iterator[str]:
    """Serve an app on a free port of 127.0.0.1; gives its URL."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", http=GuardedProtocol)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the service did not start"
            thread.join(0.02)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
