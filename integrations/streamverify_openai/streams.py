"""`verify_stream`: an OpenAI stream in, the same chunks out, verified."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from streamverify import UsageError
from streamverify.adapters import Move, Released, Translator, stream_verifier
from streamverify_openai.chat import ChatTranslator
from streamverify_openai.responses import ResponsesTranslator


class OpenAITranslator:
    """Tells by its first chunk what a stream is."""

    def __init__(self) -> None:
        self._inner: Translator[Any] | None = None

    def read(self, chunk: Any, released: Released) -> Iterable[Move[Any]]:
        """As the API in question reads it.

        Raises:
            UsageError: the chunk is of neither API.
        """
        if self._inner is None:
            self._inner = _translator(chunk)
        return self._inner.read(chunk, released)

    def sent(self, chunk: Any) -> None:
        """Passed on."""
        if self._inner is not None:
            self._inner.sent(chunk)

    def halted(self, released: Released) -> Iterator[Any]:
        """As the API in question ends."""
        if self._inner is not None:
            yield from self._inner.halted(released)


def _translator(chunk: Any) -> Translator[Any]:
    if hasattr(chunk, "choices"):
        return ChatTranslator()
    kind = str(getattr(chunk, "type", ""))
    if kind.startswith("response.") or kind == "error":  # it may be all that comes
        return ResponsesTranslator()
    raise UsageError(
        f"{type(chunk).__name__} is neither a chat completion chunk nor an event of the Responses API"
    )


verify_stream = stream_verifier(OpenAITranslator)
"""The chunks of `chat.completions.create(stream=True)` or `responses.create(stream=True)`, or of what looks
like one, verified. A key is a choice's index, or the indexes of an output and its content part."""
