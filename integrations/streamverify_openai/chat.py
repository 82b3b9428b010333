"""What the chunks of a streamed chat completion mean.

A channel is a choice, by its `index`. Read by shape, so what LiteLLM and other OpenAI-like libraries
stream is understood too.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from streamverify import UsageError
from streamverify.adapters import Cited, Ended, Move, Other, Released, Words

_PLAIN = frozenset({"content", "role"})


class ChatTranslator:
    """Reads the chunks of one stream."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[Any, int]] = {}

    def read(self, chunk: Any, released: Released) -> Iterator[Move[Any]]:  # noqa: ARG002 - repeats no text
        """Content is text; roles, tool calls, refusals, reasons to finish and usage keep their place.

        Raises:
            UsageError: the content is nothing that can be verified.
        """
        choices = chunk.choices or ()
        for position, choice in enumerate(choices):
            index, delta = choice.index, getattr(choice, "delta", None)
            text = getattr(delta, "content", "") or ""
            if delta is None or not isinstance(text, str):
                raise UsageError("only chat chunks whose delta.content is text can be verified")
            finished = getattr(choice, "finish_reason", None)
            if text:
                yield Words(index, text, partial(_with_text, chunk, position))
                if not finished and _says_no_more(delta):  # as most chunks do not
                    continue
            fields = _fields(delta)
            if citations := fields.get("annotations"):
                yield Cited(index, citations)
            if finished:
                yield Ended(index)
            if not text and len(choices) == 1 and getattr(choice, "logprobs", None) is None:
                yield Other(partial(_same, chunk), index)
            elif not text or finished or any(map(fields.get, fields.keys() - _PLAIN)):
                yield Other(partial(_without_text, chunk, position), index)
        if not choices:
            yield Other(partial(_same, chunk))

    def sent(self, chunk: Any) -> None:
        """Remember which choices are still open."""
        for position, choice in enumerate(chunk.choices or ()):
            if getattr(choice, "finish_reason", None):
                self._open.pop(choice.index, None)
            else:
                self._open[choice.index] = (chunk, position)

    def halted(self, released: Released) -> Iterable[Any]:  # noqa: ARG002 - repeats no text
        """A last chunk for every open choice, with `finish_reason="content_filter"`."""
        for chunk, position in self._open.values():
            last = _without_text(chunk, position)
            _clear(last.choices[0].delta, keep=frozenset())
            last.choices[0].finish_reason = "content_filter"
            yield last


def _same(chunk: Any) -> Any:
    return chunk


def _with_text(chunk: Any, position: int, text: str) -> Any:
    made = _one_choice(chunk, position)
    choice = made.choices[0]
    _clear(choice.delta, keep=_PLAIN)
    choice.delta.content = text
    choice.finish_reason = None
    return made


def _without_text(chunk: Any, position: int) -> Any:
    made = _one_choice(chunk, position)
    if made.choices[0].delta.content:
        made.choices[0].delta.content = None
    return made


def _one_choice(chunk: Any, position: int) -> Any:
    """A copy with this choice alone, and without log probabilities, which spell the text out."""
    made = copy.deepcopy(chunk)
    made.choices = [made.choices[position]]
    if getattr(made.choices[0], "logprobs", None) is not None:
        made.choices[0].logprobs = None
    return made


def _says_no_more(delta: Any) -> bool:
    """Whether a delta says nothing but text."""
    if getattr(delta, "model_extra", None):
        return False
    return not any(value and name not in _PLAIN and name[0] != "_" for name, value in vars(delta).items())


def _fields(delta: Any) -> dict[str, Any]:
    """What a delta says, fields that the library in question does not know by name included."""
    known = {**vars(delta), **(getattr(delta, "model_extra", None) or {})}
    return {name: value for name, value in known.items() if name[0] != "_"}


def _clear(delta: Any, *, keep: frozenset[str]) -> None:
    for name, value in _fields(delta).items():
        if value is not None and name not in keep:
            setattr(delta, name, None)
