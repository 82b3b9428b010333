"""`verify_stream`: an OpenAI stream in, the same chunks out, verified."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable, Iterator
from typing import Any, TypeVar, overload

from streamverify import Policy, UsageError, Verifier
from streamverify.adapters import Move, OnEvent, Released, Translator, VerifiedChunks, VerifiedSyncChunks
from streamverify_openai.chat import ChatTranslator
from streamverify_openai.responses import ResponsesTranslator

T = TypeVar("T")


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
    if str(getattr(chunk, "type", "")).startswith("response."):
        return ResponsesTranslator()
    raise UsageError(
        f"{type(chunk).__name__} is neither a chat completion chunk nor an event of the Responses API"
    )


@overload
def verify_stream(
    stream: AsyncIterable[T],
    passages: Iterable[object],
    *,
    verifier: Verifier | None = None,
    policy: Policy | None = None,
    question: str | None = None,
    on_event: OnEvent | None = None,
) -> VerifiedChunks[T]: ...
@overload
def verify_stream(
    stream: Iterable[T],
    passages: Iterable[object],
    *,
    verifier: Verifier | None = None,
    policy: Policy | None = None,
    question: str | None = None,
    on_event: OnEvent | None = None,
) -> VerifiedSyncChunks[T]: ...
def verify_stream(
    stream: AsyncIterable[T] | Iterable[T],
    passages: Iterable[object],
    *,
    verifier: Verifier | None = None,
    policy: Policy | None = None,
    question: str | None = None,
    on_event: OnEvent | None = None,
) -> VerifiedChunks[T] | VerifiedSyncChunks[T]:
    """The stream's chunks, verified: of the same class, in the same order.

    Under a policy that lets text flow they are the very chunks, at once. Under one that holds text a
    sentence passes in one chunk when it was judged, and no chunk or event carries what was not released.

    Args:
        stream: of `chat.completions.create(stream=True)` or `responses.create(stream=True)`, or what looks
            like one. It is closed on every way out.
        passages: as for `Verifier.stream`.
        verifier: one for the whole process by default.
        policy: in place of the verifier's.
        question: what was asked.
        on_event: told every event as it happens, with the choice's index or `(output, content)` index.

    Raises:
        PassageError: a passage cannot be read. Caller.
    """
    if isinstance(stream, AsyncIterable):
        return VerifiedChunks(
            stream,
            OpenAITranslator(),
            passages,
            verifier=verifier,
            policy=policy,
            question=question,
            on_event=on_event,
        )
    return VerifiedSyncChunks(
        stream,
        OpenAITranslator(),
        passages,
        verifier=verifier,
        policy=policy,
        question=question,
        on_event=on_event,
    )
