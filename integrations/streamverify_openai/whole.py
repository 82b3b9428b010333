"""The texts of an answer that was not streamed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from streamverify.adapters import Key


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

    def replace(self, text: str) -> None:
        """Put what was released in its place; nothing changes where that is the same."""
        if text != self.value:
            setattr(self.owner, self.field, text)
            if getattr(self.log, "logprobs", None) is not None:
                self.log.logprobs = None


def whole_texts(answer: Any) -> list[tuple[Key, Text]] | None:
    """The texts of a chat completion or a response; None for anything else."""
    if hasattr(answer, "choices"):
        return list(_of_choices(answer))
    if getattr(answer, "object", None) == "response":
        return list(_of_outputs(answer))
    return None


def _of_choices(answer: Any) -> Iterator[tuple[Key, Text]]:
    for choice in answer.choices:
        if isinstance(choice.message.content, str) and choice.message.content:
            yield choice.index, Text(choice.message, "content", choice)


def _of_outputs(answer: Any) -> Iterator[tuple[Key, Text]]:
    for output_index, item in enumerate(answer.output):
        if item.type == "message":
            for index, part in enumerate(item.content):
                if part.type == "output_text" and part.text:
                    yield (output_index, index), Text(part, "text", part)
