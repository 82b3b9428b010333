"""The native protocol: every event is one JSON object, named by its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

from pydantic import ConfigDict, Field, RootModel

from streamverify.events import Event, StreamOpened
from streamverify.files.jsonl import json_text
from streamverify.server.encoding import Message
from streamverify.types import Passage


class StreamEvent(RootModel[Annotated[Event, Field(discriminator="kind")]]):
    """Any event of a stream, for the schema of an endpoint (`responses={200: {"model": StreamEvent}}`)."""

    model_config = ConfigDict(frozen=True)


@dataclass(frozen=True, slots=True)
class Native:
    """`streamverify` on the wire; what `<grounded-stream>` reads."""

    @property
    def headers(self) -> Mapping[str, str]:
        """None."""
        return MappingProxyType({})

    def encoder(self, run: str, passages: Sequence[Passage] | None) -> _NativeEncoder:  # noqa: ARG002 - the seam's signature
        """One for the run; the id stands in the frames already."""
        return _NativeEncoder(passages)


class _NativeEncoder:
    def __init__(self, passages: Sequence[Passage] | None) -> None:
        self._passages = passages

    def encode(self, event: Event) -> list[Message]:
        """The event; the texts of the passages go before the opening."""
        messages = [Message(event.model_dump_json(), event.kind)]
        if isinstance(event, StreamOpened) and self._passages is not None:
            messages.insert(0, Message(json_text(shown(self._passages)), "passages"))
        return messages


def shown(passages: Sequence[Passage]) -> dict[str, object]:
    """The passages as a reader gets them: id, title and text, no metadata."""
    rows = [{"id": passage.id, "title": passage.title, "text": passage.text} for passage in passages]
    return {"kind": "passages", "passages": rows}
