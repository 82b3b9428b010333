"""A server on loopback for as long as a block lasts.

Before: an application. After: uvicorn, in a thread of its own, which leaves signals alone.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from streamverify.errors import ModelError

_LOOK = 0.02
"""Seconds between two looks whether a server has started, which uvicorn tells in no other way."""


@contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """The address.

    Raises:
        ModelError: the application does not start; the log says why. Operator.
    """
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    config = uvicorn.Config(
        app, lifespan="on", log_level="error", access_log=False, timeout_graceful_shutdown=5
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="streamverify-day")
    thread.start()
    try:
        while not server.started:
            thread.join(_LOOK)
            if not thread.is_alive():
                raise ModelError("the demo's server did not start")
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
