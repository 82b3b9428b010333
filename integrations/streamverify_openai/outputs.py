"""What stands in the output of a response: texts to be judged, and an allow-list of what else may pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamverify_openai.fields import fields

TEXT_FIELD = {"output_text": "text", "refusal": "refusal"}
"""Content parts that are text for a reader, and the field that holds it."""

_PASS = frozenset({
    "message", "function_call", "file_search_call", "web_search_call", "computer_call", "mcp_call",
    "mcp_list_tools", "mcp_approval_request", "code_interpreter_call", "image_generation_call",
    "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "tool_search_call",
})  # fmt: skip
"""Items that pass: messages, whose text is judged, and calls of tools, which speak to programs."""

_KEPT = frozenset({"id", "type", "status", "encrypted_content"})
"""What every other item (reasoning, for one) keeps."""

Part = tuple[tuple[int, int], Any, str]
"""A content part with text: its key, itself, and the name of the field."""


def parts_of(output_index: int, item: Any) -> Iterator[Part]:
    """The content parts with text of an output item."""
    if getattr(item, "type", None) == "message":
        for index, part in enumerate(item.content or ()):
            yield from texts_of((output_index, index), part)


def texts_of(key: tuple[int, int], part: Any) -> Iterator[Part]:
    """The content part, where it has text."""
    if (field := TEXT_FIELD.get(getattr(part, "type", ""))) is not None:
        yield key, part, field


def keep_of_item(item: Any) -> None:
    """Take out of an output item what may not pass, in place."""
    if getattr(item, "type", None) not in _PASS:
        for name, value in fields(item).items():
            if value is not None and name not in _KEPT:
                setattr(item, name, [] if isinstance(value, list) else None)
    elif item.type == "message":
        for part in item.content or ():
            keep_of_part(part)


def keep_of_part(part: Any) -> None:
    """Take out of a content part of an unknown kind everything but its kind, in place."""
    if getattr(part, "type", None) not in TEXT_FIELD:
        for name, value in fields(part).items():
            if name != "type" and value is not None:
                setattr(part, name, "" if isinstance(value, str) else None)
    elif getattr(part, "logprobs", None):
        part.logprobs = []


def keep_of_response(response: Any) -> None:
    """Take out of a response what may not pass, in place."""
    for item in response.output or ():
        keep_of_item(item)


def passes(item: Any) -> bool:
    """Whether nothing would be taken out of an item."""
    if getattr(item, "type", None) == "message":
        return all(
            getattr(part, "type", None) in TEXT_FIELD and not getattr(part, "logprobs", None)
            for part in item.content or ()
        )
    return getattr(item, "type", None) in _PASS
