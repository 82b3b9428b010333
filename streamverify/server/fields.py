"""What of an upstream's answer may pass without a verdict: an allow-list of shapes, not a list of dangers.

Before: `upstream.py` read the JSON. After: `chat.py` and `responses.py` build what the client gets.

Under a policy that holds text every object that goes out is built from these: numbers, truth values,
identifiers (one word without blanks), and the arguments of tool calls, which are input of a program. Prose
passes as `text_released` alone. Whatever else the upstream sends stays here; `Withheld` remembers its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_IDENTIFIER = re.compile(r"[\w.:/@+=~-]{1,512}", re.ASCII)
_OPAQUE = re.compile(r"[A-Za-z0-9+/=_-]*")
_MOST_NAMES = 32


class Withheld:
    """Names of fields that were kept back, for the client and the operator."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}

    def note(self, place: str, fields: Mapping[str, Any], known: Iterable[str]) -> None:
        """Remember the fields of an object that say something and are not known."""
        for name in fields.keys() - set(known):
            if fields[name] not in (None, "", [], {}):
                self.add(f"{place}.{name}" if identifier(name) else f"{place}.?")

    def add(self, name: str) -> None:
        """Remember one."""
        if len(self._names) < _MOST_NAMES:
            self._names[name] = None

    @property
    def names(self) -> list[str]:
        """In the order they came."""
        return list(self._names)


def identifier(value: object) -> str | None:
    """An id, a model's name, a role: one word."""
    return value if isinstance(value, str) and _IDENTIFIER.fullmatch(value) else None


def opaque(value: object) -> str | None:
    """Base64, such as the encrypted reasoning that a client has to send back."""
    return value if isinstance(value, str) and _OPAQUE.fullmatch(value) else None


def identifiers(fields: Mapping[str, Any], names: Iterable[str]) -> dict[str, str]:
    """Those of the named fields that are identifiers."""
    found = {name: identifier(fields.get(name)) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def numbers(value: object, depth: int = 4) -> dict[str, Any]:
    """The numbers, truth values and nulls of an object, and of objects in it: usage, temperature, times."""
    if not isinstance(value, dict) or not depth:
        return {}
    kept: dict[str, Any] = {}
    for name, one in value.items():
        if identifier(name) is None:
            continue
        if one is None or isinstance(one, bool | int | float):
            kept[name] = one
        elif isinstance(one, dict) and (inner := numbers(one, depth - 1)):
            kept[name] = inner
    return kept


def objects(value: object) -> list[dict[str, Any]]:
    """The objects of an array; nothing where it is no array."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def mapping(value: object) -> dict[str, Any]:
    """An object; empty where it is none."""
    return value if isinstance(value, dict) else {}


def text_in(content: object) -> str:
    """The text of a message's content: a string, or a list with parts of text."""
    if isinstance(content, str):
        return content
    texts = [
        part.get("text") for part in objects(content) if part.get("type") in ("text", "output_text", None)
    ]
    return "".join(text for text in texts if isinstance(text, str))


def whole_number(value: object, *, below: int) -> int | None:
    """A number from 0 on that counts something; 0 where it is missing."""
    if value is None:
        return 0
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < below else None


def tool_calls(value: object) -> list[dict[str, Any]]:
    """The tool calls of a chat message or delta; arguments pass as the model wrote them."""
    return [
        numbers({"index": call.get("index")} if "index" in call else {})
        | identifiers(call, ("id", "type"))
        | {name: called(call[name]) for name in ("function", "custom") if isinstance(call.get(name), dict)}
        for call in objects(value)
    ]


def called(value: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's name and what it is called with."""
    said = {name: value[name] for name in ("arguments", "input") if isinstance(value.get(name), str)}
    return identifiers(value, ("name",)) | said


def error_in(value: object) -> dict[str, Any]:
    """An upstream's error: message, type, param and code, nothing that it may quote beside them."""
    if isinstance(value, str):
        value = {"message": value}
    fields = mapping(value)
    message = fields.get("message")
    told: dict[str, Any] = {
        "message": message[:2000] if isinstance(message, str) else "the upstream told an error",
        "type": identifier(fields.get("type")) or "upstream_error",
        "param": identifier(fields.get("param")),
    }
    code = fields.get("code")
    told["code"] = code if isinstance(code, int) else identifier(code)
    return told
