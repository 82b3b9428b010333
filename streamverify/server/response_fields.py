"""What of a response (the Responses API) may pass under a policy that holds text.

Before: `responses.py` read an event. After: the same event, built from what `fields.py` lets pass and from
the released texts. What a response repeats of the request is taken from the request itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from streamverify.adapters import Shown
from streamverify.server.errors import bad_upstream
from streamverify.server.fields import (
    Withheld,
    error_in,
    identifier,
    identifiers,
    mapping,
    numbers,
    objects,
    opaque,
    whole_number,
)

Place: TypeAlias = tuple[int, int]
"""Where a text stands in a response: its output and its content part."""

Released: TypeAlias = Callable[[Place], Shown | str | None]

FIELD: Mapping[str, str] = {"output_text": "text", "refusal": "refusal"}
"""Kind of a content part to the field that holds its text."""

STOPPED: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}

MOST = 256
"""Outputs of a response, and parts of an output."""

_REPEATED = tuple(
    "instructions metadata previous_response_id prompt prompt_cache_key reasoning safety_identifier text "
    "tool_choice tools truncation user".split()
)
_RESPONSE = {*_REPEATED, *"id object model status output usage error incomplete_details service_tier".split()}
_ITEM = {"id", "type", "status", "role", "content", "call_id", "name", "encrypted_content"}
_ARGUMENTS = {"function_call": "arguments", "custom_tool_call": "input", "mcp_call": "arguments"}
_ARGUMENTS_EVENT = re.compile(
    r"response\.(?:function_call_arguments|custom_tool_call_input|mcp_call_arguments)\.(?:delta|done)"
)
_PROGRESS = re.compile(
    r"response\.(?:web_search_call|file_search_call|code_interpreter_call|image_generation_call|mcp_call|mcp_list_tools)"
    r"\.(?:in_progress|searching|interpreting|generating|completed|failed)"
)
_WHOLE = re.compile(r"response\.(?:created|queued|in_progress|completed|incomplete|failed)")
_IDS = ("item_id", "call_id", "name")
_PLACES = ("output_index", "content_index")


def place_in(event: Mapping[str, Any]) -> Place:
    """Where an event belongs.

    Raises:
        HTTPRefusal: nowhere.
    """
    output = whole_number(event.get("output_index"), below=MOST)
    content = whole_number(event.get("content_index"), below=MOST)
    if output is None or content is None:
        raise bad_upstream("upstream_shape", "the upstream sent an event about no output")
    return output, content


def parts_of(kind: str, event: Mapping[str, Any]) -> Iterator[tuple[Place, str, str]]:
    """The texts that an event repeats: place, kind of part, text."""
    for part, field in FIELD.items():
        if kind == f"response.{part}.done" and isinstance(event.get(field), str):
            yield place_in(event), part, event[field]
    if isinstance(event.get("part"), dict):
        yield from _texts(place_in(event), [event["part"]])
    if isinstance(event.get("item"), dict):
        yield from _texts((place_in(event)[0], 0), event["item"].get("content"))
    for output, item in enumerate(objects(mapping(event.get("response")).get("output"))[:MOST]):
        yield from _texts((output, 0), item.get("content"))


def _texts(first: Place, content: object) -> Iterator[tuple[Place, str, str]]:
    for offset, part in enumerate(objects(content)[:MOST]):
        kind = identifier(part.get("type"))
        if kind is not None and kind in FIELD and isinstance(part.get(FIELD[kind]), str):
            yield (first[0], first[1] + offset), kind, part[FIELD[kind]]


class ResponseFields:
    """Builds the objects of one response anew."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        """Take what a response repeats from the client's own request."""
        self._request = request
        self.withheld = Withheld()

    def knows(self, kind: str, event: Mapping[str, Any]) -> bool:
        """Whether an event of this type may pass; if not, its name is remembered."""
        known = (
            _WHOLE.fullmatch(kind)
            or _ARGUMENTS_EVENT.fullmatch(kind)
            or _PROGRESS.fullmatch(kind)
            or kind in ("response.output_item.added", "response.output_item.done")
            or kind in ("response.output_text.done", "response.refusal.done")
            or (
                kind in ("response.content_part.added", "response.content_part.done")
                and identifier(mapping(event.get("part")).get("type")) in FIELD
            )
        )
        if not known:
            self.withheld.add(identifier(kind) or "an event without a type")
        return bool(known)

    def event(self, kind: str, event: Mapping[str, Any], released: Released | None) -> dict[str, Any]:
        """An event whose type may pass."""
        made: dict[str, Any] = {"type": kind} | identifiers(event, _IDS)
        places = {name: whole_number(event[name], below=MOST) for name in _PLACES if name in event}
        made |= {name: place for name, place in places.items() if place is not None}
        if _WHOLE.fullmatch(kind):
            made["response"] = self.response(mapping(event.get("response")), released)
        elif kind.startswith("response.output_item."):
            made["item"] = self.item(mapping(event.get("item")), place_in(event)[0], released)
        elif kind.startswith("response.content_part."):
            part = mapping(event.get("part"))
            made["part"] = self.part(part["type"], _text(released, place_in(event)))
            self._note("part", part)
        elif kind == "response.output_text.done":
            made |= {"text": _text(released, place_in(event)), "logprobs": []}
        elif kind == "response.refusal.done":
            made["refusal"] = _text(released, place_in(event))
        elif _ARGUMENTS_EVENT.fullmatch(kind):
            said = ("delta", "arguments", "input")
            made |= {name: event[name] for name in said if isinstance(event.get(name), str)}
        return made

    def response(self, response: Mapping[str, Any], released: Released | None) -> dict[str, Any]:
        """The response; its outputs only where their texts are known."""
        items = objects(response.get("output"))[:MOST] if released is not None else []
        made = numbers({name: value for name, value in response.items() if not isinstance(value, dict)})
        made = {"tools": [], "tool_choice": "auto", "parallel_tool_calls": True, **made}
        made |= {name: self._request[name] for name in _REPEATED if name in self._request}
        made |= identifiers(response, ("id", "model", "status", "service_tier"))
        made |= {
            "object": "response",
            "output": [self.item(item, at, released) for at, item in enumerate(items)],
        }
        if usage := numbers(response.get("usage")):
            made["usage"] = usage
        if response.get("error"):
            made["error"] = error_in(response["error"])
        if isinstance(response.get("incomplete_details"), dict):
            made["incomplete_details"] = identifiers(response["incomplete_details"], ("reason",))
        known = _RESPONSE | made.keys()
        self.withheld.note(
            "response", {n: v for n, v in response.items() if isinstance(v, str | list | dict)}, known
        )
        return made

    def item(self, item: Mapping[str, Any], output: int, released: Released | None) -> dict[str, Any]:
        """A message with its released texts, a call with its arguments, any other output by its id."""
        made: dict[str, Any] = dict(identifiers(item, ("id", "type", "status", "role", "call_id", "name")))
        kind = made.get("type", "")
        known = set(_ITEM)
        if kind == "message":
            made["content"] = []
            for content, part in enumerate(objects(item.get("content"))[:MOST]):
                if identifier(part.get("type")) in FIELD:
                    shown = self.part(part["type"], _text(released, (output, content)))
                    made["content"].append(shown)
                    self._note("part", part)
                else:
                    self.withheld.add("message.content")
        elif kind in _ARGUMENTS:
            field = _ARGUMENTS[kind]
            known.add(field)
            made |= {field: item[field]} if isinstance(item.get(field), str) else {}
        elif kind == "reasoning":
            made["summary"] = []
            if (secret := opaque(item.get("encrypted_content"))) is not None:
                made["encrypted_content"] = secret
        self.withheld.note(identifier(kind) or "item", item, known)
        return made

    def part(self, kind: str, text: str) -> dict[str, Any]:
        """A content part with a released text."""
        if kind == "refusal":
            return {"type": "refusal", "refusal": text}
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}

    def _note(self, place: str, part: Mapping[str, Any]) -> None:
        self.withheld.note(place, part, ("type", "text", "refusal", "logprobs"))


def _text(released: Released | None, place: Place) -> str:
    shown = released(place) if released is not None else None
    return (shown.text if isinstance(shown, Shown) else shown) or ""
