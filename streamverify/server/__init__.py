"""Verified streams over HTTP: server-sent events with badges, and an OpenAI-compatible proxy.

    from streamverify.server import sse_response

    @app.get("/answer")
    async def answer(question: str) -> Response:
        return sse_response(verifier.stream(model(question), passages), passages=passages)

Needs `pip install 'streamverify[server]'`; importing this package loads nothing of it.
"""

from typing import TYPE_CHECKING

from streamverify._lazy import lazy_names

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
    from streamverify.showing.redaction import Redactor

__all__ = [
    "AgUi",
    "AiSdk",
    "Drain",
    "Encoder",
    "Encoding",
    "Limits",
    "Message",
    "Native",
    "Redactor",
    "Runs",
    "ServeSettings",
    "StreamEvent",
    "create_app",
    "resumed",
    "sse_response",
]

_HOMES = {
    "showing.redaction": "Redactor",
    "server.ag_ui": "AgUi",
    "server.ai_sdk": "AiSdk",
    "server.app": "create_app",
    "server.drain": "Drain",
    "server.encoding": "Encoder Encoding Message",
    "server.native": "Native StreamEvent",
    "server.runs": "Runs",
    "server.settings": "Limits ServeSettings",
    "server.sse": "resumed sse_response",
}
"""Module to the public names that live in it."""

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
