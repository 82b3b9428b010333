"""One streamed answer on its way from the upstream to the client, every text in it verified.

Before: `chat.py` and `responses.py` say what the chunks of their API mean (a `Wire`).
After: `response.py` writes.

    upstream ─► Wire.chunks ─► ChunkMultiplexer ─┬─ released text, and what keeps its place beside it
                                                 └─ verdicts, as they happen        ─► client
    what closes the answer (finish reasons, usage) ─► once every verdict was told   ─► client

Under a policy that lets text flow the upstream's chunks pass as they are, and are checked beside that.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterable
from typing import Any, Protocol

from streamverify.adapters import ChannelKey, Released, Translator
from streamverify.adapters.multiplexer import ChunkMultiplexer
from streamverify.events import Event, StreamHalted, TextReleased
from streamverify.server.exchange import ProxyExchange
from streamverify.server.fields import Withheld
from streamverify.server.response import ResponseWriter
from streamverify.server.runs import log_failed_check
from streamverify.server.upstream import Answer
from streamverify.showing.redaction import Redactor
from streamverify.stream import VerifiedStream

_LOG = logging.getLogger("streamverify.server")

Chunk = dict[str, Any]


class Wire(Translator[Chunk], Protocol):
    """One API's chunks, for one answer."""

    withheld: Withheld
    """What was kept back because nobody can judge it."""

    def chunks(self, answer: Answer) -> AsyncGenerator[Chunk, None]:
        """The upstream's chunks; raises where the answer ends before it is complete."""
        ...

    def closes(self, chunk: Chunk) -> bool:
        """Whether a chunk belongs to the answer's end, behind the last verdict."""
        ...

    def verdict(self, key: ChannelKey, event: Event) -> Chunk:
        """A chunk for an event beside the text."""
        ...

    def note(self, names: list[str]) -> Chunk:
        """A chunk that tells the names of fields that were kept back."""
        ...

    def halting(self, released: Released) -> list[Chunk]:
        """What closes an answer that the policy stopped."""
        ...

    async def write(self, writer: ResponseWriter, chunk: Chunk) -> None:
        """One chunk to the client."""
        ...

    async def end(self, writer: ResponseWriter) -> None:
        """The end of the answer."""
        ...


async def relay_stream(exchange: ProxyExchange, writer: ResponseWriter, answer: Answer, wire: Wire) -> None:
    """Answer one request with a stream; raises whatever the upstream's stream raises."""
    await _Relayed(exchange, writer, wire, wire.chunks(answer)).run()


class _Relayed:
    def __init__(
        self, exchange: ProxyExchange, writer: ResponseWriter, wire: Wire, source: AsyncIterable[Chunk]
    ) -> None:
        self._exchange, self._writer, self._wire = exchange, writer, wire
        self._redactors: dict[ChannelKey, Redactor] = {}
        self._halted = False
        self._multiplexer: ChunkMultiplexer[Chunk] = ChunkMultiplexer(
            source, wire, self._open, holds=exchange.asked.policy.holds_text, on_event=self._tell
        )

    async def run(self) -> None:
        closing: list[Chunk] = []
        self._multiplexer.start()
        try:
            async for chunk in self._multiplexer.chunks:
                if self._wire.closes(chunk):
                    closing.append(chunk)
                else:
                    await self._wire.write(self._writer, chunk)
        finally:
            await self._multiplexer.stop()
        if self._halted:
            closing = self._wire.halting(self._multiplexer.released)
        if names := self._wire.withheld.names:
            _LOG.info("kept back what cannot be verified: %s", ", ".join(names))
            if self._exchange.asked.events:
                closing.insert(0, self._wire.note(names))
        for chunk in closing:
            await self._wire.write(self._writer, chunk)
        await self._wire.end(self._writer)

    def _open(self, pieces: AsyncIterable[str]) -> VerifiedStream:
        stream = self._exchange.stream(pieces)
        self._exchange.answering.streams.add(stream)
        return stream

    def _tell(self, key: ChannelKey, event: Event) -> None:
        log_failed_check(event, "of the proxy")
        self._halted = self._halted or isinstance(event, StreamHalted)
        if not self._exchange.asked.events:
            return
        for seen in self._redactors.setdefault(key, Redactor())(event):
            if not isinstance(seen, TextReleased):
                self._multiplexer.chunks.put(self._wire.verdict(key, seen))
