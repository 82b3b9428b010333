"""The seam for wire protocols: an encoder turns the events of one run into messages.

Before: `streamverify/showing/redaction.py` took out what the reader may not see.
After: `runs.py` numbers the messages and keeps them for readers that come back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from streamverify.errors import MissingExtraError
from streamverify.events import Event
from streamverify.types import Passage

try:
    from sse_starlette import ServerSentEvent
except ModuleNotFoundError as error:
    raise MissingExtraError("server", error.name or "sse_starlette", "sse_response") from error


class Message(NamedTuple):
    """One server-sent event before it has its id."""

    data: str
    """One line of text, JSON as a rule."""
    event: str | None = None
    """The `event:` field; None leaves it out."""


class Encoder(Protocol):
    """Speaks one protocol for one run; fed every event once, in order."""

    def encode(self, event: Event) -> Sequence[Message]:
        """What the event is on the wire; may be nothing."""
        ...


class Encoding(Protocol):
    """Makes the encoder of each run."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Response headers the protocol asks for."""
        ...

    def encoder(self, run: str, passages: Sequence[Passage] | None) -> Encoder:
        """An encoder for the run of this id; with passages, their texts go to the reader too."""
        ...


def frame(messages: Sequence[Message], event_id: str) -> bytes:
    """The messages as server-sent events, the id on the last of them.

    A reader that comes back names the last id it saw, so an id must not be told before everything that
    belongs to it.
    """
    return b"".join(
        server_sent(message.data, message.event, event_id if position == len(messages) else None)
        for position, message in enumerate(messages, 1)
    )


def server_sent(data: str, event: str | None = None, event_id: str | None = None) -> bytes:
    """One server-sent event; the one place that writes them."""
    return ServerSentEvent(data, event=event, id=event_id, sep="\n").encode()
