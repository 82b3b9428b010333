"""Seeded workloads made from the bundled cases: passages of a given length, answers of a given length."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncGenerator, Sequence

import anyio

from streamverify import Passage
from streamverify.demo import Case, case_ids, load_case, tokens


def cases() -> list[Case]:
    """Every bundled case."""
    return [load_case(name) for name in case_ids()]


def passages(count: int, words: int = 200, seed: int = 0) -> list[Passage]:
    """`count` different passages of about `words` words, sentences in shuffled order."""
    generator = random.Random(seed)
    sentences = [
        sentence.strip() + "."
        for case in cases()
        for passage in case.passages
        for sentence in passage.text.split(". ")
        if len(sentence.split()) > 4
    ]
    made = []
    for number in range(count):
        chosen: list[str] = []
        while sum(len(sentence.split()) for sentence in chosen) < words:
            chosen.append(generator.choice(sentences))
        made.append(Passage(f"p{number + 1}", " ".join(chosen), f"Source {number + 1} of set {seed}"))
    return made


def answer(pieces: int, seed: int = 0) -> list[str]:
    """About `pieces` pieces of answer prose, cut like tokens."""
    generator = random.Random(seed)
    texts = [sentence.text for case in cases() for sentence in case.sentences]
    made: list[str] = []
    while len(made) < pieces:
        made += tokens(generator.choice(texts) + " ")
    return made[:pieces]


async def paced(pieces: Sequence[str], rate: float | None, prefill: float = 0.0) -> AsyncGenerator[str, None]:
    """The pieces at `rate` a second on a fixed schedule, or as fast as they are taken, after a prefill.

    A reader that comes late does not move the schedule, as it would not move a model at the other end of
    a connection.
    """
    await anyio.sleep(prefill)
    start = time.perf_counter()
    for index, piece in enumerate(pieces):
        if rate is not None:
            delay = start + (index + 1) / rate - time.perf_counter()
            await anyio.sleep(max(delay, 0))
        yield piece
