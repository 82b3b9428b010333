"""`verify_stream` for raw events, `verify_messages` for the SDK's helper."""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable
from typing import Any, TypeVar, cast

from anthropic import NOT_GIVEN
from anthropic.lib.streaming import AsyncMessageStream, MessageStream

from streamverify import Verifier
from streamverify.adapters import OnEvent, PolicyLike, attach, stream_verifier
from streamverify_anthropic.messages import MessageTranslator

Messages = TypeVar("Messages", AsyncMessageStream[Any], MessageStream[Any])

verify_stream = stream_verifier(MessageTranslator)
"""The raw events of `messages.create(stream=True)`, verified. Give the passages in the order of the request's
documents, since the model's citations name them by `document_index`. A key is the number of a run of text."""


def verify_messages(
    stream: Messages,
    passages: Iterable[object],
    *,
    verifier: Verifier | None = None,
    policy: PolicyLike | None = None,
    question: str | None = None,
    on_event: OnEvent | None = None,
) -> Messages:
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
    verified: Messages = helper(chunks, output_format=NOT_GIVEN)
    attach(verified, chunks)
    return verified
