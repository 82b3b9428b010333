"""What the events of a streamed response (the Responses API) mean.

A channel is a content part, by `(output_index, content_index)`. Four closing events repeat its text; under
a policy that holds text each of them repeats what was released, and nothing else. Reasoning, audio and events
that are not known here do not pass then.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from streamverify.adapters import CitationDelta, Move, PassThrough, Released, TextDelta, TextEnd
from streamverify_openai.fields import move
from streamverify_openai.outputs import (
    TEXT_FIELD,
    Part,
    keep_of_item,
    keep_of_part,
    keep_of_response,
    parts_of,
    passes,
    texts_of,
)

_DELTAS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_DONE = {"response.output_text.done": "text", "response.refusal.done": "refusal"}
"""Events that repeat one text, and the field that holds it."""

_CARRIERS = frozenset({
    "response.created", "response.queued", "response.in_progress", "response.completed",
    "response.incomplete", "response.failed", "response.output_item.added", "response.output_item.done",
    "response.content_part.added", "response.content_part.done",
})  # fmt: skip
_SILENT = frozenset({"error"})
_TOOLS = (
    "response.function_call_arguments.", "response.custom_tool_call_input.", "response.file_search_call.",
    "response.web_search_call.", "response.code_interpreter_call", "response.image_generation_call.",
    "response.mcp_", "response.shell_call_", "response.compaction.",
)  # fmt: skip
"""Beginnings of the kinds that speak of tools, to programs."""


class ResponsesTranslator:
    """Reads the events of one stream."""

    def __init__(self) -> None:
        self._read: dict[tuple[int, int], str] = {}
        self._items: dict[int, Any] = {}
        self._opening: Any = None
        self._number = 0

    def read(self, event: Any, released: Released) -> Iterator[Move[Any]]:
        """Text and refusal deltas are text, annotations are citations; known events keep their place.

        An event that nobody knows here, and reasoning, is no move at all: it passes only where text flows.
        """
        kind = event.type
        if kind in _DELTAS:
            key = (event.output_index, event.content_index)
            self._read[key] = self._read.get(key, "") + event.delta
            yield TextDelta(key, event.delta, partial(_with_delta, event))
            return
        if kind == "response.output_text.annotation.added":
            key = (event.output_index, event.content_index)
            yield CitationDelta(key, [event.annotation])
            yield PassThrough(partial(_annotation, event, released))
            return
        parts = list(_parts(event))
        for key, part, field in parts:
            yield from self._rest(key, getattr(part, field))
            if kind not in (*_DONE, "response.content_part.added"):
                yield TextEnd(key)
        if parts or _carries(event):
            yield PassThrough(partial(_rewritten, event, released))
        elif kind in _SILENT or kind.startswith(_TOOLS):
            yield PassThrough(partial(_same, event))

    def sent(self, event: Any) -> None:
        """Remember what the reader knows of the response."""
        self._number = getattr(event, "sequence_number", self._number)
        if event.type in ("response.created", "response.in_progress"):
            self._opening = event
        elif event.type in ("response.output_item.added", "response.output_item.done"):
            self._items[event.output_index] = event.item

    def halted(self, released: Released) -> Iterable[Any]:
        """`response.incomplete` for the reason `content_filter`, with what was released."""
        if self._opening is None:
            return
        from openai.types.responses import ResponseIncompleteEvent, ResponseOutputText  # noqa: PLC0415 - slow
        from openai.types.responses.response import IncompleteDetails  # noqa: PLC0415 - slow to load

        response = copy.deepcopy(self._opening.response)
        response.status = "incomplete"
        response.incomplete_details = IncompleteDetails(reason="content_filter")
        for output_index, item in sorted(self._items.items()):
            shown = copy.deepcopy(item)
            keys = sorted(key for key in self._read if key[0] == output_index)
            if keys:
                texts = [released(key).text for key in keys]
                shown.content = [
                    ResponseOutputText(annotations=[], text=text, type="output_text") for text in texts
                ]
            shown.status = "incomplete"
            response.output.append(shown)
        yield ResponseIncompleteEvent(
            response=response, sequence_number=self._number + 1, type="response.incomplete"
        )

    def _rest(self, key: tuple[int, int], text: str) -> Iterator[Move[Any]]:
        """What a closing event says beyond the deltas, so that nothing goes unread."""
        known = self._read.get(key, "")
        if text != known and text.startswith(known):
            self._read[key] = text
            yield TextDelta(key, text[len(known) :], None)


def _same(event: Any) -> Any:
    return event


def _parts(event: Any) -> Iterator[Part]:
    """The content parts with text that an event carries; the event itself where it is one."""
    if (field := _DONE.get(event.type)) is not None:
        yield (event.output_index, event.content_index), event, field
    elif (part := getattr(event, "part", None)) is not None and hasattr(event, "content_index"):
        yield from texts_of((event.output_index, event.content_index), part)
    elif (item := getattr(event, "item", None)) is not None:
        yield from parts_of(event.output_index, item)
    elif (response := getattr(event, "response", None)) is not None:
        for index, item in enumerate(response.output or ()):
            yield from parts_of(index, item)


def _carries(event: Any) -> bool:
    """Whether an event carries a part, an item or a response, as these kinds do."""
    return event.type in _CARRIERS


def _with_delta(event: Any, text: str) -> Any:
    made = copy.deepcopy(event)
    made.delta = text
    if getattr(made, "logprobs", None):
        made.logprobs = []  # they spell the text out
    return made


def _rewritten(event: Any, released: Released) -> Any:
    """The event with the released text wherever it carries text; itself where that is the same."""
    response, item, part = (getattr(event, name, None) for name in ("response", "item", "part"))
    items = list(getattr(response, "output", None) or ()) if response is not None else [item] if item else []
    clean = all(map(passes, items)) and (part is None or getattr(part, "type", None) in TEXT_FIELD)
    if clean and all(getattr(part, field) == released(key).text for key, part, field in _parts(event)):
        return event
    made = copy.deepcopy(event)
    if response is not None:
        keep_of_response(made.response)
    elif item is not None:
        keep_of_item(made.item)
    elif part is not None:
        keep_of_part(made.part)
    for key, part, field in _parts(made):
        setattr(part, field, released(key).text)
        if getattr(part, "logprobs", None):
            part.logprobs = []
        for annotation in getattr(part, "annotations", None) or ():
            move(annotation, released(key))
    return made


def _annotation(event: Any, released: Released) -> Any:
    made = copy.deepcopy(event)
    move(made.annotation, released((event.output_index, event.content_index)))
    return made
