"""What of a chunk or an answer may pass where text is held: an allow-list of fields.

Before: `chat.py` and `whole.py` read text. After: nothing is left in a chunk that was not read or named here.
"""

from __future__ import annotations

from typing import Any

from streamverify.adapters import Shown

ANSWER = frozenset(
    {"id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier"}
)
"""Of a chat completion, and of a chunk of one."""

CHOICE = frozenset({"index", "finish_reason"})
"""Of a choice, beside its delta or message; log probabilities spell the text out."""

MESSAGE = frozenset({"role", "content", "refusal", "tool_calls", "function_call", "annotations"})
"""Of a message or a delta. Reasoning, audio and whatever comes next are text that nobody has judged."""


def fields(thing: Any) -> dict[str, Any]:
    """What a thing says, fields that its library does not know by name included."""
    known = {**vars(thing), **(getattr(thing, "model_extra", None) or {})}
    return {name: value for name, value in known.items() if name[0] != "_"}


def says_only(thing: Any, allowed: frozenset[str]) -> bool:
    """Whether a thing says nothing but this."""
    return all(value is None or name in allowed for name, value in fields(thing).items())


def keep(thing: Any, allowed: frozenset[str]) -> None:
    """Take everything else out of a thing, in place."""
    extra = getattr(thing, "model_extra", None) or {}
    for name, value in fields(thing).items():
        if value is None or name in allowed:
            continue
        if name in extra:
            delattr(thing, name)
        else:
            setattr(thing, name, None)


def keep_of_chat(answer: Any) -> None:
    """Take out of a chat completion, or of a chunk, what may not pass, in place."""
    keep(answer, ANSWER)
    for choice in answer.choices or ():
        holds = "delta" if getattr(choice, "delta", None) is not None else "message"
        keep(choice, CHOICE | {holds})
        keep(getattr(choice, holds), MESSAGE)


def is_plain_chat(chunk: Any) -> bool:
    """Whether a chunk says nothing that would be taken out."""
    return says_only(chunk, ANSWER) and all(
        says_only(choice, CHOICE | {"delta"}) and says_only(choice.delta, MESSAGE)
        for choice in chunk.choices or ()
    )


def move(annotation: Any, shown: Shown) -> None:
    """Let an annotation's offsets point into what is shown of its text, in place.

    It is a model or, in openai 2 and beside a chat's text, a mapping; a chat's has its offsets a level down.
    """
    own: dict[str, Any] = annotation if isinstance(annotation, dict) else vars(annotation)
    if (cited := own.get("url_citation")) is not None:
        move(cited, shown)
    for name in ("start_index", "end_index"):
        if isinstance(offset := own.get(name), int):
            place = shown.place(offset, end=name == "end_index")
            if isinstance(annotation, dict):
                annotation[name] = place
            else:
                setattr(annotation, name, place)
