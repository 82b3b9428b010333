"""Verified streams over HTTP: server-sent events with badges, and an OpenAI-compatible proxy.

    from streamverify.server import sse_response

    @app.get("/answer")
    async def answer(question: str) -> Response:
        return sse_response(verifier.stream(model(question), passages), passages=passages)

Needs `pip install 'streamverify[server]'`; importing this package loads nothing of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamverify.server.ag_ui import AgUi
    from streamverify.server.ai_sdk import AiSdk
    from streamverify.server.app import create_app
    from streamverify.server.drain import Drain
    from streamverify.server.encoding import Encoder, Encoding, Message
    from streamverify.server.native import Native, StreamEvent
    from streamverify.server.runs import Runs
    from streamverify.server.settings import Limits, ServeSettings
    from streamverify.server.sse import resumed, sse_response
    from streamverify.server.veil import Veil

__all__ = [
    "AgUi",
    "AiSdk",
    "Drain",
    "Encoder",
    "Encoding",
    "Limits",
    "Message",
    "Native",
    "Runs",
    "ServeSettings",
    "StreamEvent",
    "Veil",
    "create_app",
    "resumed",
    "sse_response",
]

_HOMES = {
    "ag_ui": "AgUi",
    "ai_sdk": "AiSdk",
    "app": "create_app",
    "drain": "Drain",
    "encoding": "Encoder Encoding Message",
    "native": "Native StreamEvent",
    "runs": "Runs",
    "settings": "Limits ServeSettings",
    "sse": "resumed sse_response",
    "veil": "Veil",
}
"""Module to the public names that live in it."""


def __getattr__(name: str) -> object:
    """The public name, its module loaded now."""
    for module, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return list(__all__)
