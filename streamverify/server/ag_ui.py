"""AG-UI: one run with one text message; verdicts are CUSTOM events.

    RUN_STARTED, CUSTOM streamverify.stream_opened
    TEXT_MESSAGE_START, TEXT_MESSAGE_CONTENT …           what a reader may see
    CUSTOM streamverify.sentence_closed | .sentence_judged | .sentence_revised  between them
    TEXT_MESSAGE_END, CUSTOM streamverify.stream_finished, RUN_FINISHED | RUN_ERROR

The value of a CUSTOM event is the native event. Written against version 1.0 of the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from streamverify.events import Event, StreamFailed, StreamFinished, StreamHalted, StreamOpened, TextReleased
from streamverify.files.jsonl import json_text
from streamverify.server.encoding import Message
from streamverify.server.native import shown
from streamverify.types import Passage


@dataclass(frozen=True, slots=True)
class AgUi:
    """`ag-ui` on the wire."""

    thread_id: str | None = None
    """Of the conversation; the run's id without one."""
    run_id: str | None = None
    """As the client asked for it; the id in the frames without one."""

    @property
    def headers(self) -> Mapping[str, str]:
        """None."""
        return MappingProxyType({})

    def encoder(self, run: str, passages: Sequence[Passage] | None) -> _AgUiEncoder:
        """One for the run."""
        run_id = self.run_id or run
        return _AgUiEncoder(self.thread_id or run_id, run_id, passages)


class _AgUiEncoder:
    def __init__(self, thread: str, run: str, passages: Sequence[Passage] | None) -> None:
        self._ids = {"threadId": thread, "runId": run}
        self._message = f"{run}-answer"
        self._passages = passages
        self._writing = False

    def encode(self, event: Event) -> list[Message]:
        """The event in AG-UI's words."""
        match event:
            case TextReleased():
                return self._content(event.text) if event.text else []
            case StreamOpened():
                extra = []
                if self._passages is not None:
                    extra.append(_custom("passages", shown(self._passages)))
                return [_message("RUN_STARTED", **self._ids), *extra, _native(event)]
            case StreamFinished() | StreamHalted():
                return [*self._end(), _native(event), _message("RUN_FINISHED", **self._ids)]
            case StreamFailed():
                return [
                    *self._end(),
                    _native(event),
                    _message("RUN_ERROR", message=event.error, code=event.code),
                ]
            case _:
                return [_native(event)]

    def _content(self, text: str) -> list[Message]:
        content = _message("TEXT_MESSAGE_CONTENT", messageId=self._message, delta=text)
        if self._writing:
            return [content]
        self._writing = True
        return [_message("TEXT_MESSAGE_START", messageId=self._message, role="assistant"), content]

    def _end(self) -> list[Message]:
        return [_message("TEXT_MESSAGE_END", messageId=self._message)] if self._writing else []


def _message(kind: str, **fields: Any) -> Message:
    return Message(json_text({"type": kind, **fields}))


def _custom(name: str, value: object) -> Message:
    return _message("CUSTOM", name=f"streamverify.{name}", value=value)


def _native(event: Event) -> Message:
    return _custom(event.kind, event.model_dump(mode="json"))
