"""A real server on 127.0.0.1 around any application, for tests."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any

import uvicorn


@contextlib.contextmanager
def loopback(app: Any, **options: Any) -> Iterator[str]:
    """The address of a server for this application, in a thread of its own until the block is left."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    given = {"log_level": "error", "lifespan": "on", "timeout_graceful_shutdown": 5, **options}
    server = uvicorn.Server(uvicorn.Config(app, **given))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="loopback")
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the application did not start"
            thread.join(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
