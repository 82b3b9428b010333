"""A domain's answer while it streams: its prose is verified, its block read as it grows.

Before: a source of text. After: the same events as of any stream, and at the end what the domain says.

    source ──► BlockReader ──► prose ──► Verifier.stream ──► events
                    └────────► partial, at the end `result`
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Generic, Self

import anyio.lowlevel

from streamverify.context import ContextLike, context_from
from streamverify.domains.blocks import Block, BlockReader
from streamverify.domains.checking import DomainResult, judge_output, read_output
from streamverify.domains.registry import Domain, Output
from streamverify.errors import StreamStateError
from streamverify.events import Event
from streamverify.passages import passages_from
from streamverify.policy import PolicyLike
from streamverify.provenance import Visibility
from streamverify.streaming.sources import Source, checked, close_source, pieces_of, slices
from streamverify.types import Report
from streamverify.validators import Answer
from streamverify.verifier import Verifier


class DomainStream(Generic[Output]):
    """One answer of a domain: iterate its events inside `async with`; `result` is there behind the last."""

    def __init__(
        self,
        domain: Domain[Output],
        verifier: Verifier,
        source: Source,
        passages: Iterable[object],
        *,
        question: str | None = None,
        context: ContextLike | None = None,
        policy: PolicyLike | None = None,
        unsaid: Visibility = "restricted",
        now: datetime | None = None,
    ) -> None:
        """Nothing is read yet; arguments as of `Verifier.stream`, and as of `Answer`.

        Raises:
            PassageError: a passage cannot be read. Caller.
            UsageError: the context has an unknown field, or the policy is none. Caller.
        """
        self._domain, self._reader = domain, BlockReader()
        self._passages, self._question = passages_from(passages), question
        self._context = context_from(context)
        if self._context.domain is None:
            self._context = self._context.model_copy(update={"domain": domain.name})
        self._unsaid: Visibility = unsaid
        self._now = now or datetime.now(UTC)
        prose = self._prose(source)
        self._stream = verifier.stream(
            prose, self._passages, question=question, context=self._context, policy=policy
        )
        self.id = self._stream.id
        """Of the stream, as observers know it."""
        self._result: DomainResult[Output] | None = None

    @property
    def partial(self) -> Any:
        """What the block says so far, as plain values; None before it begins, and where it is no JSON."""
        return self._reader.partial

    @property
    def block(self) -> Block | None:
        """The block, once it has ended."""
        return self._reader.block

    @property
    def report(self) -> Report:
        """On the prose, once the stream has ended.

        Raises:
            StreamStateError: it has not ended yet.
        """
        return self._stream.report

    @property
    def result(self) -> DomainResult[Output]:
        """What the domain says, once the stream has ended.

        Raises:
            StreamStateError: it has not ended yet.
        """
        if self._result is None:
            answer = Answer(
                report=self._stream.report,
                passages=self._passages,
                requester=self._context,
                question=self._question,
                now=self._now,
                unsaid=self._unsaid,
            )
            self._result = judge_output(self._domain, self._reader.block, answer)
        return self._result

    async def __aenter__(self) -> Self:
        """Begin; as a `VerifiedStream` does."""
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the source and end every check."""
        await self._stream.aclose()

    def __aiter__(self) -> AsyncIterator[Event]:
        """The events of the prose."""
        return self._stream

    async def text(self) -> AsyncGenerator[str, None]:
        """The prose that a reader may see, piece by piece."""
        async with aclosing(self._stream.text()) as pieces:
            async for piece in pieces:
                yield piece

    def interrupt(self, reason: str) -> None:
        """End the source now, and let the stream end in order; see `VerifiedStream.interrupt`."""
        if self._result is not None:
            raise StreamStateError("this stream has ended")
        self._stream.interrupt(reason)

    async def _prose(self, source: Source) -> AsyncGenerator[str, None]:
        told, position = False, 0
        pieces = pieces_of(source)
        try:
            async for piece in pieces:
                for part in slices(checked(piece, position)):
                    if prose := self._reader.feed(part):
                        told = told or bool(prose.strip())
                        yield prose
                    else:
                        await anyio.lowlevel.checkpoint()  # a long block must not keep the loop to itself
                position += 1
        finally:
            await close_source(source, pieces)
        rest = self._reader.flush()
        if rest:
            yield rest
        if not told and not rest.strip() and self._domain.text is not None:
            output, _ = read_output(self._domain, self._reader.block)
            if output is not None:
                yield self._domain.text(output)


def check_answer(
    domain: Domain[Output],
    verifier: Verifier,
    text: str,
    passages: Iterable[object],
    *,
    question: str | None = None,
    context: ContextLike | None = None,
    unsaid: Visibility = "restricted",
    now: datetime | None = None,
) -> DomainResult[Output]:
    """What the domain says of a whole answer: the same as of its stream; for code without an event loop.

    Args:
        domain: of the answer.
        verifier: judges its prose.
        text: prose and block as generated.
        passages: as of `Verifier.stream`.
        question: as of `Verifier.stream`.
        context: as of `Verifier.stream`; who asked is who must be able to see what is cited.
        unsaid: who may see a document that does not say so.
        now: the moment that ages are counted to; now by default.

    Raises:
        PassageError: a passage cannot be read. Caller.
    """
    given = list(passages)

    async def run() -> DomainResult[Output]:
        stream = DomainStream(
            domain, verifier, text, given, question=question, context=context, unsaid=unsaid, now=now
        )
        async with stream:
            async for _ in stream:
                pass
        return stream.result

    return verifier.portal.run(run)
