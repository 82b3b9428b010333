"""What an adapter adds to the bare core: the same paced answer as text and as a provider's chunks, in turn.

    python benchmarks/adapters.py            total time, ratio to the core; microseconds a chunk unthrottled
    python benchmarks/adapters.py --check    exit 1 where an adapter takes 3 % more than the core

No network: the chunks are built before the clock starts. Ratios are medians over pairs of runs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any

import anyio

from streamverify import Flag, Passage, Policy, Redact, Verifier
from streamverify.testing import ScriptedScorer
from workloads import answer, paced, passages

BAR = 1.03
RATE = 100.0
POLICIES: dict[str, Policy] = {"flag": Flag(), "redact": Redact()}

Run = Callable[[Verifier, Sequence[str], Sequence[Passage], Policy, float | None], Awaitable[float]]


async def core(
    verifier: Verifier, pieces: Sequence[str], sources: Sequence[Passage], policy: Policy, rate: float | None
) -> float:
    """Seconds until the core's text was read to its end."""
    start = time.perf_counter()
    async with verifier.stream(paced(pieces, rate), sources, policy=policy) as stream:
        async for _ in stream.text():
            pass
    return time.perf_counter() - start


async def openai_chat(
    verifier: Verifier, pieces: Sequence[str], sources: Sequence[Passage], policy: Policy, rate: float | None
) -> float:
    """Likewise for chat completion chunks."""
    from openai.types.chat import ChatCompletionChunk

    from streamverify_openai import verify_stream

    def made(delta: dict[str, Any], finish: str | None) -> ChatCompletionChunk:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        base = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        return ChatCompletionChunk.model_validate({**base, "choices": [choice]})

    chunks = [made({"content": piece}, None) for piece in pieces]
    start = time.perf_counter()
    async with verify_stream(
        in_step(chunks, pieces, rate), sources, verifier=verifier, policy=policy
    ) as stream:
        async for _ in stream:
            pass
    return time.perf_counter() - start


async def anthropic_messages(
    verifier: Verifier, pieces: Sequence[str], sources: Sequence[Passage], policy: Policy, rate: float | None
) -> float:
    """Likewise for the raw events of a message."""
    from anthropic.types import RawContentBlockDeltaEvent, TextDelta

    from streamverify_anthropic import verify_stream

    chunks = [
        RawContentBlockDeltaEvent(
            type="content_block_delta", index=0, delta=TextDelta(type="text_delta", text=piece)
        )
        for piece in pieces
    ]
    start = time.perf_counter()
    async with verify_stream(
        in_step(chunks, pieces, rate), sources, verifier=verifier, policy=policy
    ) as stream:
        async for _ in stream:
            pass
    return time.perf_counter() - start


async def in_step(
    chunks: Sequence[Any], pieces: Sequence[str], rate: float | None
) -> AsyncGenerator[Any, None]:
    """The chunks at the pace their pieces would have."""
    number = 0
    async for _ in paced(pieces, rate):
        yield chunks[number]
        number += 1


ADAPTERS: dict[str, Run] = {"openai chat": openai_chat, "anthropic messages": anthropic_messages}


async def measure(run: Run, policy: Policy, repeats: int) -> tuple[float, float]:
    """Total time at `RATE` as a ratio to the core's; microseconds added to a chunk without pacing."""
    ratios: list[float] = []
    added: list[float] = []
    async with Verifier() as verifier:
        await verifier.check("Warm up the model.", ["One short passage to warm up the model."])
        for repeat in range(repeats):
            pieces, sources = answer(300, repeat), passages(10, seed=repeat)
            await core(verifier, pieces, sources, policy, None)  # the passages are in the cache for both
            bare = await core(verifier, pieces, sources, policy, RATE)
            ratios.append(await run(verifier, pieces, sources, policy, RATE) / bare)
    async with Verifier(ScriptedScorer()) as verifier:  # without the model, whose times vary by more
        for repeat in range(repeats):
            pieces, sources = answer(3000, repeat), passages(10, seed=repeat)
            bare = await core(verifier, pieces, sources, policy, None)
            unpaced = await run(verifier, pieces, sources, policy, None)
            added.append((unpaced - bare) / len(pieces) * 1e6)
    return statistics.median(ratios), statistics.median(added)


def main() -> int:
    """Measure and print, one adapter and policy a line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help=f"exit 1 where a ratio is above {BAR}")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    missed = False
    print(f"| adapter | policy | total ratio at {RATE:g} tokens/s | added us/chunk unthrottled |")
    print("|---|---|---|---|")
    for name, run in ADAPTERS.items():
        for policy_name, policy in POLICIES.items():
            ratio, added = anyio.run(measure, run, policy, options.repeats)
            missed = missed or ratio > BAR
            print(f"| {name} | {policy_name} | {ratio:.4f} | {added:.0f} |", flush=True)
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
