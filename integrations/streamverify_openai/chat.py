"""What the chunks of a streamed chat completion mean.

A channel is a choice, by its `index`; a refusal is text too, in a channel of its own, `(index, REFUSAL)`.
Read by shape, so what LiteLLM and other OpenAI-like libraries stream is understood too. Where text is held a
chunk passes with the fields that `fields.py` names, and no others.

A reason to finish ends no text, for Gemini behind LiteLLM writes one into every chunk. The end of the stream
does.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from streamverify import UsageError
from streamverify.adapters import CitationDelta, Move, PassThrough, Released, TextDelta
from streamverify_openai.fields import fields, is_plain_chat, keep, keep_of_chat, move

REFUSAL = 1
"""Names the channel of a choice's refusal: `(index, REFUSAL)`."""

_PLAIN = frozenset({"content", "role"})


class ChatTranslator:
    """Reads the chunks of one stream."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[Any, int]] = {}
        """The chunk read last of each choice whose end has not been sent, and its place there."""
        self._told: set[int] = set()
        """Choices of which a chunk was sent."""
        self._ended: set[int] = set()
        """Choices whose end was sent."""
        self._refusing: set[int] = set()

    def read(self, chunk: Any, released: Released) -> Iterator[Move[Any]]:
        """Content and refusals are text; roles, tool calls, reasons to finish and usage keep their place.

        Raises:
            UsageError: the content is nothing that can be verified.
        """
        for position, choice in enumerate(chunk.choices or ()):
            yield from self._choice(chunk, position, choice, released)
        if not chunk.choices:
            yield PassThrough(partial(_same if is_plain_chat(chunk) else _cleaned, chunk))

    def _choice(self, chunk: Any, position: int, choice: Any, released: Released) -> Iterator[Move[Any]]:
        index, delta = choice.index, getattr(choice, "delta", None)
        text = getattr(delta, "content", "") or ""
        refusal = getattr(delta, "refusal", "") or ""
        if delta is None or not isinstance(text, str) or not isinstance(refusal, str):
            raise UsageError("only chat chunks whose delta.content is text can be verified")
        finished = getattr(choice, "finish_reason", None)
        if index not in self._ended:
            self._open[index] = (chunk, position)
        if text:
            yield TextDelta(index, text, partial(_with_text, chunk, position))
            if not finished and _says_no_more(delta):  # as most chunks do not
                return
        if refusal:
            self._refusing.add(index)
            yield TextDelta((index, REFUSAL), refusal, partial(_with_refusal, chunk, position))
        said = fields(delta)
        citations = said.get("annotations")
        if citations:
            yield CitationDelta(index, citations)
        key = index if index not in self._refusing else None
        if not (text or refusal or citations) and len(chunk.choices) == 1 and is_plain_chat(chunk):
            yield PassThrough(partial(_same, chunk), key)
        elif not (text or refusal) or finished or any(map(said.get, said.keys() - _PLAIN - {"refusal"})):
            yield PassThrough(partial(_moved, chunk, position, released), key)

    def sent(self, chunk: Any) -> None:
        """Remember which choices are still open."""
        for choice in chunk.choices or ():
            self._told.add(choice.index)
            if getattr(choice, "finish_reason", None):
                self._ended.add(choice.index)
                self._open.pop(choice.index, None)

    def halted(self, released: Released) -> Iterable[Any]:  # noqa: ARG002 - repeats no text
        """A last chunk for every open choice, with `finish_reason="content_filter"`."""
        for index, (chunk, position) in self._open.items():
            last = _without_text(chunk, position)
            keep(last.choices[0].delta, frozenset() if index in self._told else frozenset({"role"}))
            last.choices[0].finish_reason = "content_filter"
            yield last


def _same(chunk: Any) -> Any:
    return chunk


def _with_text(chunk: Any, position: int, text: str) -> Any:
    made = _one_choice(chunk, position)
    choice = made.choices[0]
    keep(choice.delta, _PLAIN)
    choice.delta.content = text
    choice.finish_reason = None
    return made


def _with_refusal(chunk: Any, position: int, text: str) -> Any:
    made = _one_choice(chunk, position)
    choice = made.choices[0]
    keep(choice.delta, frozenset({"role"}))
    choice.delta.refusal = text
    choice.finish_reason = None
    return made


def _without_text(chunk: Any, position: int) -> Any:
    made = _one_choice(chunk, position)
    delta = made.choices[0].delta
    for name in ("content", "refusal"):
        if getattr(delta, name, None):
            setattr(delta, name, None)
    return made


def _moved(chunk: Any, position: int, released: Released) -> Any:
    """The chunk without its text, its annotations pointing into what was released."""
    made = _without_text(chunk, position)
    choice = made.choices[0]
    for annotation in fields(choice.delta).get("annotations") or ():
        move(annotation, released(choice.index))
    return made


def _one_choice(chunk: Any, position: int) -> Any:
    """A copy with this choice alone, and nothing in it that may not pass."""
    made = copy.deepcopy(chunk)
    made.choices = [made.choices[position]]
    keep_of_chat(made)
    return made


def _cleaned(chunk: Any) -> Any:
    made = copy.deepcopy(chunk)
    keep_of_chat(made)
    return made


def _says_no_more(delta: Any) -> bool:
    """Whether a delta says nothing but text."""
    if getattr(delta, "model_extra", None):
        return False
    return not any(value and name not in _PLAIN and name[0] != "_" for name, value in vars(delta).items())
