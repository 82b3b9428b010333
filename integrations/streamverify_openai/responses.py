"""What the events of a streamed response (the Responses API) mean.

A channel is a content part, by `(output_index, content_index)`. Four closing events repeat its text; under
a policy that holds text each of them repeats what was released, and nothing else.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from streamverify.adapters import Cited, Ended, Move, Other, Released, Words

_Part = tuple[tuple[int, int], Any]


class ResponsesTranslator:
    """Reads the events of one stream."""

    def __init__(self) -> None:
        self._read: dict[tuple[int, int], str] = {}
        self._items: dict[int, Any] = {}
        self._opening: Any = None
        self._number = 0

    def read(self, event: Any, released: Released) -> Iterator[Move[Any]]:
        """Text deltas are text, annotations are citations; every other event keeps its place."""
        kind = event.type
        if kind == "response.output_text.delta":
            key = (event.output_index, event.content_index)
            self._read[key] = self._read.get(key, "") + event.delta
            yield Words(key, event.delta, partial(_with_delta, event))
            return
        if kind == "response.output_text.annotation.added":
            key = (event.output_index, event.content_index)
            yield Cited(key, [event.annotation])
            yield Other(partial(_annotation, event, released))
            return
        parts = list(_parts(event))
        for key, part in parts:
            yield from self._rest(key, part.text)
            if kind not in ("response.output_text.done", "response.content_part.added"):
                yield Ended(key)
        yield Other(partial(_rewritten, event, released) if parts else partial(_same, event))

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
            yield Words(key, text[len(known) :], None)


def _same(event: Any) -> Any:
    return event


def _parts(event: Any) -> Iterator[_Part]:
    """The content parts with text that an event carries; the event itself where it is one."""
    if event.type == "response.output_text.done":
        yield (event.output_index, event.content_index), event
    elif (part := getattr(event, "part", None)) is not None and hasattr(event, "content_index"):
        yield from _texts((event.output_index, event.content_index), part)
    elif (item := getattr(event, "item", None)) is not None:
        yield from _parts_of(event.output_index, item)
    elif (response := getattr(event, "response", None)) is not None:
        for index, item in enumerate(response.output or ()):
            yield from _parts_of(index, item)


def _parts_of(output_index: int, item: Any) -> Iterator[_Part]:
    if getattr(item, "type", None) == "message":
        for index, part in enumerate(item.content or ()):
            yield from _texts((output_index, index), part)


def _texts(key: tuple[int, int], part: Any) -> Iterator[_Part]:
    if getattr(part, "type", None) == "output_text":
        yield key, part


def _with_delta(event: Any, text: str) -> Any:
    made = copy.deepcopy(event)
    made.delta = text
    if getattr(made, "logprobs", None):
        made.logprobs = []  # they spell the text out
    return made


def _rewritten(event: Any, released: Released) -> Any:
    """The event with the released text wherever it carries text; itself where that is the same."""
    if all(part.text == released(key).text for key, part in _parts(event)):
        return event
    made = copy.deepcopy(event)
    for key, part in _parts(made):
        part.text = released(key).text
        if getattr(part, "logprobs", None):
            part.logprobs = []
        for annotation in getattr(part, "annotations", None) or ():
            _move(annotation, key, released)
    return made


def _annotation(event: Any, released: Released) -> Any:
    made = copy.deepcopy(event)
    _move(made.annotation, (event.output_index, event.content_index), released)
    return made


def _move(annotation: Any, key: tuple[int, int], released: Released) -> None:
    """Let an annotation's offsets, a model's or (in openai 2) a mapping's, point into the released text."""
    fields: dict[str, Any] = annotation if isinstance(annotation, dict) else vars(annotation)
    for name in ("start_index", "end_index"):
        if isinstance(offset := fields.get(name), int):
            place = released(key).place(offset, end=name == "end_index")
            if isinstance(annotation, dict):
                annotation[name] = place
            else:
                setattr(annotation, name, place)
