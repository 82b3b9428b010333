"""The text in what chains yield: strings, messages, and dicts that hold one of these under a key."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.tool import tool_call_chunk

from streamverify import Passage, UsageError
from streamverify.adapters import Shown
from streamverify_langchain.passing import annotations_passing, block_passes, message_passing, text_block

_OF_EVERY_CHUNK = frozenset({"model_provider", "output_version"})
"""Metadata that says how to read a chunk; adding chunks up keeps it as it is."""

LONGEST_QUESTION = 2_000
"""Characters. A longer message holds the context in words of its own, and all of it would count as known."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text in a chunk."""

    slot: int
    """Number of the content block it stands in; 0 for plain text."""
    text: str
    annotations: tuple[Any, ...] = ()
    """Citations that came beside it."""


def _unmoved(offset: int) -> int:
    return offset


@dataclass(frozen=True, slots=True)
class Shape:
    """Reads and rebuilds chunks; the key under which dicts carry the answer is all it knows.

    What it builds says released text, and beside it what `passing.py` lets pass.
    """

    answer_key: str = "answer"

    def texts(self, chunk: Any) -> list[Text]:
        """The texts of a chunk, in order; blank where there are none.

        Raises:
            UsageError: the chunk is nothing that can be read, so nothing can be promised about it.
        """
        return list(_texts(self._answer(chunk)))

    def with_text(self, chunk: Any, slot: int, text: str) -> Any:
        """A chunk like this one that says only this text."""
        return self._put(chunk, _message_with(self._answer(chunk), slot, text), alone=True)

    def without_text(self, chunk: Any, moved: Callable[[int], int]) -> Any:
        """The chunk without its text, or None where it says nothing else.

        Args:
            chunk: one that has text.
            moved: where an offset into the answer as generated stands in what is shown.
        """
        answer = self._answer(chunk)
        rest = without_text(answer, moved) if isinstance(answer, AIMessage) else None
        if isinstance(chunk, dict):
            others = {name: value for name, value in chunk.items() if name != self.answer_key}
            if rest is None:
                return type(chunk)(others) if others else None
        return None if rest is None else self._put(chunk, rest, alone=False)

    def replaced(self, output: Any, text: str) -> Any:
        """A whole output with its text replaced, and nothing beside it that may not pass."""
        answer = self._answer(output)
        if not isinstance(answer, AIMessage):
            return output if answer == text else self._put(output, text, alone=False)
        content: Any = text
        if isinstance(answer.content, list):
            if "".join(part.text for part in _texts(answer)) == text:
                content = [_kept(block) for block in answer.content if _is_text(block) or block_passes(block)]
            else:
                kept = [block for block in answer.content if block_passes(block)]
                content = [{"type": "text", "text": text}, *kept]
        return self._put(output, answer.model_copy(update=message_passing(answer, content)), alone=False)

    def cleaned(self, chunk: Any, moved: Callable[[int], int] = _unmoved) -> Any:
        """A chunk that has no text, with nothing in it that may not pass.

        Args:
            chunk: one without text; citations may come in one of their own.
            moved: where an offset into their block as generated stands in what is shown.
        """
        answer = self._answer(chunk)
        if not isinstance(answer, AIMessage):
            return chunk
        content: Any = answer.content
        if isinstance(content, list):
            content = [_kept(block, moved) for block in content if _is_text(block) or block_passes(block)]
        return self._put(chunk, answer.model_copy(update=message_passing(answer, content)), alone=False)

    def carries_answer(self, chunk: Any) -> bool:
        """Whether the chunk is, or holds, a piece of the answer."""
        return not isinstance(chunk, dict) or self.answer_key in chunk

    def _answer(self, chunk: Any) -> Any:
        return chunk.get(self.answer_key, "") if isinstance(chunk, dict) else chunk

    def _put(self, chunk: Any, answer: Any, *, alone: bool) -> Any:
        if not isinstance(chunk, dict):
            return answer
        return type(chunk)({**({} if alone else chunk), self.answer_key: answer})


def last_question(messages: Sequence[BaseMessage]) -> str | None:
    """What a person said last; None where nobody did."""
    return next((m.text for m in reversed(messages) if isinstance(m, HumanMessage)), None)


def without_context(asked: str | None, known: Sequence[Passage]) -> str | None:
    """What was asked, without the passages a prompt puts beside it; None where no question is left.

    Left in, they would all count as known, and a number of one passage would pass for another's.
    """
    asked = asked or ""
    for passage in known:
        # As a prompt writes texts, and as it writes documents.
        for form in (passage.text, repr(passage.text)[1:-1]):
            asked = asked.replace(form, " ") if form else asked
    return asked if asked and len(asked) <= LONGEST_QUESTION else None


def moved_by(shown: Shown, start: int) -> Callable[[int], int]:
    """Where offsets into a text that begins at `start` stand in what is shown of it."""
    origin = shown.place(start)
    return lambda offset: shown.place(start + offset, end=True) - origin


def _texts(answer: Any) -> Iterator[Text]:
    if isinstance(answer, str):
        yield Text(0, answer)
    elif isinstance(answer, AIMessage):
        content = answer.content
        for place, block in enumerate([content] if isinstance(content, str) else content):
            if isinstance(block, str):
                yield Text(place, block)
            elif _is_text(block):
                yield Text(
                    _slot(block, place), block.get("text") or "", tuple(block.get("annotations") or ())
                )
    elif answer is not None:
        raise UsageError(
            f"cannot verify {type(answer).__name__}: chains must yield str, AI messages or dicts that "
            "hold one of these under answer_key"
        )


def _is_text(block: Any) -> bool:
    return isinstance(block, str) or (
        isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text", ""), str | None)
    )


def _is_text_at(block: dict[str, Any], place: int, slot: int) -> bool:
    return block.get("type") == "text" and _slot(block, place) == slot


def _slot(block: dict[str, Any], place: int) -> int:
    index = block.get("index", place)
    return index if isinstance(index, int) else place


def chunk_of(answer: AIMessage) -> AIMessageChunk:
    """The message as a chunk: a whole one too, since only chunks can be added to the chunks sent before."""
    if isinstance(answer, AIMessageChunk):
        return answer
    calls = [
        tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=index)
        for index, call in enumerate(answer.tool_calls)
    ]
    fields = {name: getattr(answer, name) for name in AIMessage.model_fields if name != "type"}
    return AIMessageChunk(**fields, tool_call_chunks=calls, chunk_position="last")


def _message_with(answer: Any, slot: int, text: str) -> Any:
    if not isinstance(answer, AIMessage):
        return text
    content: Any = text
    if isinstance(answer.content, list):
        blocks: list[Any] = [b if isinstance(b, dict) else {"type": "text"} for b in answer.content]
        block = next(b for place, b in enumerate(blocks) if _is_text_at(b, place, slot))
        content = [text_block({k: v for k, v in block.items() if k != "annotations"}, type="text", text=text)]
    # Added up, the chunks of an answer must say what is beside the text once: `_without` says it.
    return chunk_of(answer).model_copy(
        update={
            "content": content,
            "response_metadata": {k: v for k, v in answer.response_metadata.items() if k in _OF_EVERY_CHUNK},
            "additional_kwargs": {},
            "usage_metadata": None,
            "tool_calls": [],
            "invalid_tool_calls": [],
            "tool_call_chunks": [],
            "chunk_position": None,
        }
    )


def without_text(answer: AIMessage, moved: Callable[[int], int]) -> AIMessage | None:
    """The message without its text; None where nothing is left that may pass."""
    chunk = chunk_of(answer)
    content: Any = ""
    if isinstance(chunk.content, list):
        content = [kept for block in chunk.content if (kept := _block_without(block, moved)) is not None]
    rest = message_passing(chunk, content)
    if not (
        content
        or rest["response_metadata"].keys() - _OF_EVERY_CHUNK
        or rest["additional_kwargs"]
        or chunk.usage_metadata
        or chunk.tool_call_chunks
        or chunk.chunk_position
    ):
        return None
    return chunk.model_copy(update=rest)


def _block_without(block: Any, moved: Callable[[int], int]) -> Any:
    if not _is_text(block):
        return block if block_passes(block) else None
    if isinstance(block, str) or not block.get("annotations"):
        return None
    return text_block(block, text="", annotations=annotations_passing(block["annotations"], moved))


def _kept(block: Any, moved: Callable[[int], int] = _unmoved) -> Any:
    """A block that passes as it is, or a text block with what of it may pass."""
    if not isinstance(block, dict) or not _is_text(block):
        return block
    annotations = annotations_passing(block.get("annotations") or (), moved)
    rest = {name: value for name, value in block.items() if name != "annotations"}
    return text_block(rest, **({"annotations": annotations} if annotations else {}))
