"""What every provider's adapter offers its users: `verify_stream`, and how its result is found again.

Before: an adapter has a `Translator`. After: `chunks.py` verifies the stream.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable
from typing import Any, Protocol, TypeVar, cast, overload

from streamverify.chunks import OnEvent, VerifiedChunks, VerifiedSyncChunks
from streamverify.errors import UsageError
from streamverify.moves import Translator
from streamverify.policy import Policy
from streamverify.verifier import Verifier

T = TypeVar("T")

_ATTRIBUTE = "streamverify"


class VerifyStream(Protocol):
    """A provider's stream in, the same chunks out, verified: asynchronous or synchronous as it came."""

    @overload
    def __call__(
        self,
        stream: AsyncIterable[T],
        passages: Iterable[object],
        *,
        verifier: Verifier | None = None,
        policy: Policy | None = None,
        question: str | None = None,
        on_event: OnEvent | None = None,
    ) -> VerifiedChunks[T]: ...
    @overload
    def __call__(
        self,
        stream: Iterable[T],
        passages: Iterable[object],
        *,
        verifier: Verifier | None = None,
        policy: Policy | None = None,
        question: str | None = None,
        on_event: OnEvent | None = None,
    ) -> VerifiedSyncChunks[T]: ...


def stream_verifier(translator: Callable[[], Translator[Any]]) -> VerifyStream:
    """The function `verify_stream` of a provider.

    Args:
        translator: makes the translator of each stream.
    """

    def verify_stream(
        stream: AsyncIterable[Any] | Iterable[Any],
        passages: Iterable[object],
        *,
        verifier: Verifier | None = None,
        policy: Policy | None = None,
        question: str | None = None,
        on_event: OnEvent | None = None,
    ) -> VerifiedChunks[Any] | VerifiedSyncChunks[Any]:
        """The stream's chunks, verified: of the same classes, in the same order.

        Under a policy that lets text flow they are the very chunks, at once. Under one that holds text a
        sentence passes when it was judged, and no chunk carries what was not released.

        Args:
            stream: the provider's, asynchronous or not. It is closed on every way out.
            passages: as for `Verifier.stream`.
            verifier: one for the whole process by default.
            policy: in place of the verifier's.
            question: what was asked.
            on_event: told every event of the verification as it happens, with the key of its text.

        Raises:
            PassageError: a passage cannot be read. Caller.
        """
        kind: Any = VerifiedChunks if isinstance(stream, AsyncIterable) else VerifiedSyncChunks
        verified: VerifiedChunks[Any] | VerifiedSyncChunks[Any] = kind(
            stream,
            translator(),
            passages,
            verifier=verifier,
            policy=policy,
            question=question,
            on_event=on_event,
        )
        return verified

    return cast("VerifyStream", verify_stream)


def attach(stream: object, chunks: VerifiedChunks[Any] | VerifiedSyncChunks[Any]) -> None:
    """Let `verification` find the verified chunks behind a stream of the provider's own class."""
    setattr(stream, _ATTRIBUTE, chunks)


def verification(stream: object) -> VerifiedChunks[Any] | VerifiedSyncChunks[Any]:
    """Events and reports of a stream that was verified, whatever class it has.

    Raises:
        UsageError: it was not. Caller.
    """
    chunks = getattr(stream, _ATTRIBUTE, stream)
    if not isinstance(chunks, VerifiedChunks | VerifiedSyncChunks):
        raise UsageError(
            f"this {type(stream).__name__} is not verified: it comes neither from verify_stream "
            "nor from what a wrapped client or helper returned"
        )
    return chunks
