"""What of a message, beside its text, may pass where text is held: an allow-list; all else stays in.

Before: `texts.py` found the text. After: messages carry released text, and what is named here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables.utils import AddableDict

from streamverify import UsageError

_TOOLS = frozenset({
    "tool_call", "tool_call_chunk", "tool_use", "input_json_delta", "function_call", "server_tool_call",
    "server_tool_call_chunk", "server_tool_result", "server_tool_use", "redacted_thinking",
})  # fmt: skip
"""Content blocks that pass: calls of tools speak to programs, and what is encrypted says nothing."""

_BLOCK = frozenset({"type", "text", "index", "id", "annotations"})
"""Of a text block."""

_KWARGS = frozenset({"tool_calls", "function_call"})
"""Of `additional_kwargs`."""

_METADATA = frozenset({
    "created_at", "finish_reason", "id", "model", "model_id", "model_name", "model_provider", "object",
    "output_version", "service_tier", "status", "stop_reason", "stop_sequence", "system_fingerprint",
    "token_usage", "usage",
})  # fmt: skip
"""Of `response_metadata`, beside numbers."""

_CITATION = frozenset({"type", "id", "url", "title", "start_index", "end_index", "cited_text"})
"""Of a citation: what it names, and the words of the source."""

_JSON = re.compile(r"\s*(?:```json|\{\s*[\"}]|\[\s*[{\"\]])")
_JSON_BEGINS = re.compile(r"\s*(?:`{0,3}|```j(?:s(?:o)?)?|[\[{]\s*)\Z")

_HEAD = 200
"""Characters. Later than this no answer shows that it is JSON."""

ADVICE = (
    "structured answers cannot be verified while a policy holds text: let the model answer in prose, or use "
    "Flag(), or check the fields that are prose with Verifier.check() once they are parsed"
)


def metadata_passing(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of an answer that may pass."""
    return {k: v for k, v in metadata.items() if k in _METADATA or isinstance(v, int | float | None)}


def kwargs_passing(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The additional arguments of a message that may pass."""
    return {k: v for k, v in kwargs.items() if k in _KWARGS}


def block_passes(block: Any) -> bool:
    """Whether a content block that is no text may pass."""
    return isinstance(block, dict) and block.get("type") in _TOOLS


def text_block(block: Mapping[str, Any], **changed: Any) -> dict[str, Any]:
    """A text block with what of it may pass."""
    return {k: v for k, v in {**block, **changed}.items() if k in _BLOCK}


def annotations_passing(annotations: Collection[Any], moved: Callable[[int], int]) -> list[dict[str, Any]]:
    """Citations, at the places where their words stand in what is shown."""
    kept = []
    for one in annotations:
        if isinstance(one, dict) and one.get("type") == "citation":
            places = {k: moved(v) for k in ("start_index", "end_index") if isinstance(v := one.get(k), int)}
            kept.append({k: v for k, v in {**one, **places}.items() if k in _CITATION})
    return kept


def message_passing(message: AIMessage, content: Any) -> dict[str, Any]:
    """The fields of a message that must change for it to pass with this content."""
    return {
        "content": content,
        "additional_kwargs": kwargs_passing(message.additional_kwargs),
        "response_metadata": metadata_passing(message.response_metadata),
    }


def without_unknown(part: dict[str, Any]) -> None:
    """Take out of an event of LangGraph's messages, one without text, what may not pass, in place."""
    if part.get("event") == "error":
        part["message"] = "the model failed"
    for name in ("content", "delta"):
        held = part.get(name)
        if isinstance(held, dict):
            fields = held.get("fields")
            inner: dict[str, Any] = fields if isinstance(fields, dict) else held
            if held.get("type") != "tool-call-delta" and inner.get("type") not in _TOOLS:
                _blank(inner)


def _blank(held: dict[str, Any]) -> None:
    for name in held.keys() - {"type", "index", "id"}:
        if isinstance(held[name], str):
            held[name] = ""
        else:
            del held[name]


class StructureGuard:
    """Refuses an answer that is JSON, from its first characters on; one for each text."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self._head: str | None = ""

    def __call__(self, text: str) -> None:
        """Take the next piece.

        Raises:
            UsageError: the answer is JSON, of which no sentence can be judged. Caller.
        """
        if self._head is None:
            return
        self._head = (self._head + text).lstrip()
        if _JSON.match(self._head):
            raise UsageError(f"the answer is JSON: {ADVICE}")
        if len(self._head) > _HEAD or not _JSON_BEGINS.match(self._head):
            self._head = None


def refuse_other_keys(chunk: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse a dict that holds more than is known.

    Raises:
        UsageError: it does; names the key. Caller.
    """
    for key, value in chunk.items():
        if key not in known and not _are_documents(value):
            raise UsageError(
                f"the chain's output has the key {key!r}, which nobody verifies, and the policy holds text: "
                "name it in other_keys to let it pass as it is, or leave it out of the output"
            )


class Replacing:
    """Refuses a stream of dicts that replace each other, as `JsonOutputParser` yields them."""

    def __init__(self) -> None:
        """None came yet."""
        self._came = False

    def __call__(self, chunk: Mapping[str, Any]) -> None:
        """Take a dict.

        Raises:
            UsageError: it is the second that is no piece of a dict. Caller.
        """
        if isinstance(chunk, AddableDict):
            return
        if self._came:
            raise UsageError(
                "the chain yields whole dicts, each in the place of the one before (a JsonOutputParser?), so "
                "none is a piece of an answer: verify the prose before it is parsed, call invoke(), or yield "
                "AddableDict pieces"
            )
        self._came = True


def _are_documents(value: object) -> bool:
    return isinstance(value, list) and all(hasattr(item, "page_content") for item in value)
