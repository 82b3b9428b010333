"""`verify_stream` for raw events, `verify_messages` for the SDK's helper."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from typing import Any, TypeVar, cast, overload

from anthropic import NOT_GIVEN
from anthropic.lib.streaming import AsyncMessageStream, MessageStream

from streamverify import Policy, UsageError, Verifier
from streamverify.adapters import OnEvent, VerifiedChunks, VerifiedSyncChunks
from streamverify_anthropic.messages import MessageTranslator

T = TypeVar("T")

_ATTRIBUTE = "streamverify"


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
    """The raw events of a message, verified: of the same classes, in the same order.

    Under a policy that lets text flow they are the very events, at once. Under one that holds text a
    sentence passes when it was judged, and no event carries what was not released.

    Args:
        stream: of `messages.create(stream=True)`. It is closed on every way out.
        passages: as for `Verifier.stream`, documents in the order of the request, since the model's
            citations name them by `document_index`.
        verifier: one for the whole process by default.
        policy: in place of the verifier's.
        question: what was asked.
        on_event: told every event of the verification as it happens, with the number of the run of text.

    Raises:
        PassageError: a passage cannot be read. Caller.
    """
    if isinstance(stream, AsyncIterable):
        return VerifiedChunks(
            stream,
            MessageTranslator(),
            passages,
            verifier=verifier,
            policy=policy,
            question=question,
            on_event=on_event,
        )
    return VerifiedSyncChunks(
        stream,
        MessageTranslator(),
        passages,
        verifier=verifier,
        policy=policy,
        question=question,
        on_event=on_event,
    )


@overload
def verify_messages(
    stream: AsyncMessageStream[Any],
    passages: Iterable[object],
    *,
    verifier: Verifier | None = None,
    policy: Policy | None = None,
    question: str | None = None,
    on_event: OnEvent | None = None,
) -> AsyncMessageStream[Any]: ...
@overload
def verify_messages(
    stream: MessageStream[Any],
    passages: Iterable[object],
    *,
    verifier: Verifier | None = None,
    policy: Policy | None = None,
    question: str | None = None,
    on_event: OnEvent | None = None,
) -> MessageStream[Any]: ...
def verify_messages(
    stream: AsyncMessageStream[Any] | MessageStream[Any],
    passages: Iterable[object],
    *,
    verifier: Verifier | None = None,
    policy: Policy | None = None,
    question: str | None = None,
    on_event: OnEvent | None = None,
) -> AsyncMessageStream[Any] | MessageStream[Any]:
    """The stream of `messages.stream()`, made anew over verified events.

    So its events, `text_stream`, `get_final_message()` and snapshots all say what was released. Do not use
    the stream given any more. The arguments are those of `verify_stream`; `verification` gives the reports.
    """
    chunks: Any = verify_stream(
        cast("AsyncIterable[Any]", stream),
        passages,
        verifier=verifier,
        policy=policy,
        question=question,
        on_event=on_event,
    )
    helper: Any = AsyncMessageStream if isinstance(stream, AsyncMessageStream) else MessageStream
    verified: AsyncMessageStream[Any] | MessageStream[Any] = helper(chunks, output_format=NOT_GIVEN)
    setattr(verified, _ATTRIBUTE, chunks)
    return verified


def verification(stream: Any) -> VerifiedChunks[Any] | VerifiedSyncChunks[Any]:
    """Events and reports of a stream that `verify_messages` made.

    Raises:
        UsageError: the stream is none of those. Caller.
    """
    chunks = getattr(stream, _ATTRIBUTE, stream)
    if not isinstance(chunks, VerifiedChunks | VerifiedSyncChunks):
        raise UsageError(f"this {type(stream).__name__} was not verified")
    return chunks
