"""An adapter for a provider of one's own: its chunks stay what they are, their text is verified.

pip install streamverify
python examples/own_adapter.py
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace

import anyio

from streamverify import Passage, Redact
from streamverify.adapters import (
    CitationDelta,
    Move,
    PassThrough,
    Released,
    TextDelta,
    TextEnd,
    VerifiedChunks,
)

ANSWER = "The Eiffel Tower was completed in 1889. It stands 450 metres tall."
PASSAGES = [Passage("p1", "The Eiffel Tower was completed in 1889 and stands 330 metres tall.")]


@dataclass(frozen=True)
class Chunk:
    """What this provider streams: some text, the sources it comes from, the tokens used at the end."""

    text: str = ""
    sources: tuple[str, ...] = ()
    tokens: int | None = None


class ChunkTranslator:
    """Says what a chunk means. There is one text in this provider's streams, so its key is always 0."""

    def read(self, chunk: Chunk, released: Released) -> Iterable[Move[Chunk]]:  # noqa: ARG002 - repeats no text
        if chunk.text:
            yield TextDelta(0, chunk.text, Chunk)  # Chunk(text): how one with another text is made
        if chunk.sources:
            yield CitationDelta(0, [{"type": "citation", "document_ids": chunk.sources}])
        if chunk.tokens is not None:
            yield TextEnd(0)
            yield PassThrough(lambda: replace(chunk, text=""), 0)  # keeps its place, behind the text

    def sent(self, chunk: Chunk) -> None:
        """Nothing to remember about what the reader got."""

    def halted(self, released: Released) -> Iterable[Chunk]:  # noqa: ARG002 - as above
        yield Chunk(tokens=0)  # how a stream ends that a policy stopped


async def provider() -> AsyncIterator[Chunk]:
    for word in ANSWER.split(" "):
        yield Chunk(word + " ")
    yield Chunk(sources=("p1",))
    yield Chunk(tokens=17)


async def main() -> None:
    async with VerifiedChunks(provider(), ChunkTranslator(), PASSAGES, policy=Redact()) as chunks:
        async for chunk in chunks:
            print(chunk)
    report = chunks.reports[0]
    for sentence in report.sentences:
        found = [f"{citation.finding} {citation.passages}" for citation in sentence.citations]
        print(sentence.label, sentence.text.strip(), *found)


if __name__ == "__main__":
    anyio.run(main)
