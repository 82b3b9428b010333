"""The texts of an answer that was not streamed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from streamverify.adapters import ChannelKey, Shown
from streamverify_openai.chat import REFUSAL
from streamverify_openai.fields import keep_of_chat, move
from streamverify_openai.outputs import keep_of_response, parts_of


class UnreadableError(Exception):
    """The answer, or a text in it, has no shape that is known here."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text in an answer, where it stands."""

    owner: Any
    field: str
    log: Any
    """What holds the log probabilities of the text, which spell it out."""

    @property
    def value(self) -> str:
        """The text."""
        value = getattr(self.owner, self.field)
        assert isinstance(value, str)
        return value

    def replace(self, shown: Shown) -> None:
        """Put what was released in its place; nothing changes where that is the same."""
        if shown.text != self.value:
            setattr(self.owner, self.field, shown.text)
            for annotation in getattr(self.owner, "annotations", None) or ():
                move(annotation, shown)
            if getattr(self.log, "logprobs", None) is not None:
                self.log.logprobs = None


def whole_texts(answer: Any) -> list[tuple[ChannelKey, Text]]:
    """The texts of a chat completion or a response.

    Raises:
        UnreadableError: it is neither, or a text in it cannot be read.
    """
    if getattr(answer, "object", None) == "response":
        return list(_of_outputs(answer))
    if hasattr(answer, "choices"):
        return list(_of_choices(answer))
    raise UnreadableError(f"cannot verify {type(answer).__name__}: expected a chat completion or a response")


def keep_only(answer: Any) -> None:
    """Take out of an answer that was read whatever nobody has judged, in place."""
    if getattr(answer, "object", None) == "response":
        keep_of_response(answer)
    else:
        keep_of_chat(answer)


def _of_choices(answer: Any) -> Iterator[tuple[ChannelKey, Text]]:
    for choice in answer.choices or ():
        message = getattr(choice, "message", None)
        for field, key in (("content", choice.index), ("refusal", (choice.index, REFUSAL))):
            text = getattr(message, field, None)
            if message is None or not isinstance(text, str | None):
                raise UnreadableError(f"a choice without a message whose {field} is text cannot be verified")
            if text:
                yield key, Text(message, field, choice)


def _of_outputs(answer: Any) -> Iterator[tuple[ChannelKey, Text]]:
    for output_index, item in enumerate(answer.output or ()):
        for key, part, field in parts_of(output_index, item):
            if getattr(part, field):
                yield key, Text(part, field, part)
