"""A source's text goes in, events come out.

Before: `streaming/sources.py` makes any source an asynchronous iterator.
After: `streaming/session.py` keeps the order; `verifier.py` supplies what judges.

    VerifiedStream ── handle of the reader; dropping it ends everything
        │ owns
    Pump ── one task, started on opening, joined on closing
        ├─ prepare  passages → windows → encoded windows, begun before the source is read
        ├─ read     source → session → judge tasks; waits while the reader is behind
        └─ judge    one task a closed sentence: scorer in a thread, deadline, repair

The pump outlives single steps of the reader, so it is no task group of the reader's (PEP 789); inside,
everything is structured. The reader's side holds the handle and the pump does not, so a handle that
is forgotten after a `break` is collected, and its finaliser stops the pump.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from types import TracebackType
from typing import Self

from streamverify.citations import Marker
from streamverify.errors import StreamStateError
from streamverify.events import Event, TextReleased
from streamverify.streaming.config import StreamConfig
from streamverify.streaming.pump import Pump
from streamverify.streaming.sources import Source
from streamverify.types import Passage, Report


class VerifiedStream:
    """Events of one verified stream, for one reader; leave the `async with` block to release it.

    Iterating gives every event, the terminal one last. When the source failed, its own error is raised
    after `StreamFailed`.
    """

    def __init__(self, settle: Callable[[str], Awaitable[StreamConfig]], source: Source) -> None:
        """Made by `Verifier.stream`.

        Args:
            settle: gives the configuration once the model is loaded, for the stream's id.
            source: not touched before the stream is opened.
        """
        self.id = str(uuid.uuid4())
        """Unique in the world; observers know the stream by it."""
        self._settle, self._source = settle, source
        self._pump: Pump | None = None

    async def __aenter__(self) -> Self:
        """Load the model if need be, begin encoding the passages, begin reading.

        Raises:
            StreamStateError: the stream was opened before.
            ModelError: the model cannot be loaded.
        """
        if self._pump is not None:
            raise StreamStateError("this stream was opened before; make another with Verifier.stream()")
        self._pump = Pump(await self._settle(self.id), self._source)
        self._pump.start()
        self._pump.abandoned_with(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        await self.aclose()

    async def aclose(self) -> None:
        """Stop the source and every check, and wait until they have ended; again does nothing."""
        if self._pump is not None:
            await self._pump.stop()

    def interrupt(self, reason: str) -> None:
        """End the source now, and let the stream end in order; safe from any thread.

        What came so far is judged and told; then the stream fails with code `interrupted`, and the reader
        gets a `StreamInterruptedError`. Nothing happens where the source has ended already. A check that
        hangs still holds the stream up to its deadline: `aclose` waits for none.

        Args:
            reason: for the report.

        Raises:
            StreamStateError: outside of the `async with` block.
        """
        self._opened().interrupt(reason)

    def __aiter__(self) -> Self:
        """The stream is its own iterator."""
        return self

    async def __anext__(self) -> Event:
        """The next event; stays ended once it has ended.

        Raises:
            StreamStateError: outside of the `async with` block, or another task waits for it already.
            Exception: the source's own error, or a ScoringError under `on_failure="raise"`.
        """
        return await anext(self._opened().events)

    async def run_callback(self, tell: Callable[[Event], object]) -> None:
        """Hand every event to `tell` as it happens, the terminal one last, in place of iterating.

        No step of the event loop lies between an event and its call, which is cheaper and sooner; so `tell`
        must be quick, and nothing but the source's pace holds the stream up.

        Raises:
            StreamStateError: outside of the `async with` block.
            Exception: as iterating does; or what `tell` raised, after which nothing more is told.
        """
        await self._opened().events.run_callback(_heedless(tell))

    def add_listener(self, tell: Callable[[Event], object]) -> None:
        """`run_callback` for code that must not wait there; iterating the stream then waits for its end.

        Raises:
            StreamStateError: outside of the `async with` block.
        """
        self._opened().events.add_listener(_heedless(tell))

    def cite(self, markers: Sequence[Marker]) -> None:
        """Have citations that a provider handed in beside the text checked with their sentence.

        Call it in the stream's own event loop, best while the source runs. A citation of a sentence that is
        being judged already is checked apart; what was found is in the report then, not in the event, and
        where that check failed the report has the citation as `unverified`.

        Args:
            markers: from `citations.native`, placed in the answer as generated.

        Raises:
            StreamStateError: outside of the `async with` block.
        """
        self._opened().cite(markers)

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Judge the sentences that close from now on against these too; safe from any thread.

        Args:
            passages: as `passages_from` makes them; one that is known already changes nothing.

        Raises:
            PassageError: an id is known already, with another text. Caller.
            StreamStateError: outside of the `async with` block.
        """
        self._opened().add_passages(passages)

    async def text(self) -> AsyncGenerator[str, None]:
        """What a reader may see, piece by piece; raises as iterating the events does."""
        async for event in self:
            if isinstance(event, TextReleased) and event.text:
                yield event.text

    @property
    def report(self) -> Report:
        """The whole stream, once it has ended.

        Raises:
            StreamStateError: it has not ended yet.
        """
        report = self._opened().report
        if report is None:
            raise StreamStateError("the report is there once the stream has ended; read it to its end first")
        return report

    def _opened(self) -> Pump:
        if self._pump is None:
            raise StreamStateError("open the stream first: async with verifier.stream(...) as stream")
        return self._pump


def _heedless(tell: Callable[[Event], object]) -> Callable[[Event], None]:
    """To a pipe False is a refusal; what a listener returns means nothing."""

    def told(event: Event) -> None:
        tell(event)

    return told
