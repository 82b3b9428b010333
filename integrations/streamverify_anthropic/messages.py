"""What the raw events of a streamed message mean.

A model that cites writes one sentence over several text blocks, so a channel is a run of text blocks (0, 1,
2 …); any other block, a tool call for one, ends it. Released text is given back to the blocks it came from.
A block's citations are handed to the checks as citations of the block's text. What is not named here,
thinking for one, passes only where text flows: where it is held, its block passes empty, so that the others
keep their numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial
from typing import Any

from streamverify.adapters import CitationDelta, Move, PassThrough, Released, TextDelta, TextEnd

HELPERS = frozenset({"text", "citation", "input_json", "thinking", "signature"})
"""What the SDK's `messages.stream()` adds beside the raw events, repeating them."""

_EVENTS = frozenset({"message_start", "message_delta", "message_stop", "content_block_stop", "ping", "error"})
"""Events that pass, beside the start of a block and its deltas."""

_BLOCKS = ("tool_use", "server_tool_use", "mcp_tool_use", "redacted_thinking", "container_upload")
"""Blocks that pass, beside text and the results of tools: they speak to programs, or are encrypted."""

_DELTAS = frozenset({"input_json_delta", "signature_delta", "citations_delta"})
"""Deltas that pass, beside text."""


class MessageTranslator:
    """Reads the events of one stream, raw or as the SDK's helper gives them."""

    def __init__(self) -> None:
        self._run = 0
        self._length = 0
        self._block = 0
        self._wrote = False
        self._early: list[Any] = []
        """Citations that came before their block's text; told when the block ends."""
        self._open: int | None = None
        self._started = self._stopped = False

    def read(self, event: Any, released: Released) -> Iterator[Move[Any]]:  # noqa: ARG002 - repeats no text
        """Text deltas are text, citation deltas citations; every other raw event keeps its place."""
        kind = event.type
        if kind in HELPERS:
            return
        if kind == "content_block_start":
            yield from self._start(event)
        elif kind == "content_block_delta" and event.delta.type == "text_delta":
            yield self._words(event.delta.text, event.index, partial(_with_text, event))
        elif kind == "content_block_delta":
            if event.delta.type == "citations_delta" and self._length == self._block:
                self._early.append(event.delta.citation)
            elif event.delta.type == "citations_delta":
                yield CitationDelta(self._run, [event.delta.citation], self._block)
            if event.delta.type in _DELTAS:
                yield PassThrough(partial(_raw, event))
        elif kind in _EVENTS:
            if kind != "ping":
                yield from self._end(kind)
            yield PassThrough(partial(_raw, event))

    def sent(self, event: Any) -> None:
        """Remember what the reader was told of the message's shape."""
        if event.type == "message_start":
            self._started = True
        elif event.type == "content_block_start":
            self._open = event.index
        elif event.type == "content_block_stop":
            self._open = None
        elif event.type == "message_stop":
            self._stopped = True

    def halted(self, released: Released) -> Iterator[Any]:  # noqa: ARG002 - repeats no text
        """What closes the open block and the message, with `stop_reason="refusal"`."""
        from anthropic import types  # noqa: PLC0415 - slow to load

        if not self._started or self._stopped:
            return
        if self._open is not None:
            yield types.RawContentBlockStopEvent(index=self._open, type="content_block_stop")
        yield types.RawMessageDeltaEvent.model_validate(
            {
                "type": "message_delta",
                "delta": {"stop_reason": "refusal", "stop_sequence": None},
                "usage": {"output_tokens": 0},
            }
        )
        yield types.RawMessageStopEvent(type="message_stop")

    def _start(self, event: Any) -> Iterator[Move[Any]]:
        block = event.content_block
        if block.type != "text":
            if self._wrote:
                yield TextEnd(self._run)
                self._run, self._length, self._wrote = self._run + 1, 0, False
            passes = block.type in _BLOCKS or block.type.endswith("_tool_result")
            yield PassThrough(partial(_raw if passes else _emptied, event))
            return
        self._block = self._length
        text = block.text
        yield PassThrough(partial(_without_text, event) if text else partial(_raw, event))
        if text:
            yield self._words(text, event.index, partial(_delta, event.index))

    def _end(self, kind: str) -> Iterator[Move[Any]]:
        if self._early:
            yield CitationDelta(self._run, self._early, self._block)
            self._early = []
        if kind in ("message_delta", "message_stop"):
            yield TextEnd(self._run)

    def _words(self, text: str, index: int, make: Any) -> TextDelta[Any]:
        self._length += len(text)
        self._wrote = True
        return TextDelta(self._run, text, make, slot=index)


def _with_text(event: Any, text: str) -> Any:
    made = copy.deepcopy(event)
    made.delta.text = text
    return made


def _without_text(event: Any) -> Any:
    made = copy.deepcopy(event)
    made.content_block.text = ""
    return made


def _emptied(event: Any) -> Any:
    """The start of a block that does not pass: thinking without its thoughts, or text without text."""
    from anthropic.types import TextBlock, ThinkingBlock  # noqa: PLC0415 - slow to load

    made = copy.copy(event)
    if event.content_block.type == "thinking":
        made.content_block = ThinkingBlock(thinking="", signature="", type="thinking")
    else:
        made.content_block = TextBlock(text="", type="text")
    return made


def _delta(index: int, text: str) -> Any:
    from anthropic.types import RawContentBlockDeltaEvent, TextDelta  # noqa: PLC0415 - slow to load

    delta = TextDelta(text=text, type="text_delta")
    return RawContentBlockDeltaEvent(delta=delta, index=index, type="content_block_delta")


def _raw(event: Any) -> Any:
    """The event; without the texts that the SDK's helper puts into the closing ones."""
    from anthropic import types  # noqa: PLC0415 - slow to load

    if event.type == "content_block_stop" and hasattr(event, "content_block"):
        return types.RawContentBlockStopEvent(index=event.index, type="content_block_stop")
    if event.type == "message_stop" and hasattr(event, "message"):
        return types.RawMessageStopEvent(type="message_stop")
    if event.type == "message_start" and event.message.content:
        event = copy.deepcopy(event)
        event.message.content = []  # its blocks follow
    return event
