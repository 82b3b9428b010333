"""Whether many streams at once cost more a claim than one after the other.

    python benchmarks/many_at_once.py                 50 streams at once, three pairs
    python benchmarks/many_at_once.py --streams 200

Unthrottled answers of about 120 tokens over the same ten passages, which are encoded before. Processor time
of the whole process for each claim that was scored; claims that were remembered are told and not counted.
"""

from __future__ import annotations

import argparse
import time

import anyio

import workloads
from machine import describe
from streamverify import Verifier

PIECES, SINGLES = 120, 25


async def measured(streams: int, pairs: int) -> None:
    """Print a row for each half of each pair."""
    passages = workloads.passages(10, seed=0)
    async with Verifier() as verifier:

        async def one(seed: int, told: list[tuple[int, int, int]]) -> None:
            source = workloads.paced(workloads.answer(PIECES, seed), None)
            async with verifier.stream(source, passages) as stream:
                async for _ in stream:
                    pass
            work = stream.report.work
            told.append((work.claims, work.passes, work.claims_from_cache))

        await one(-1, [])
        for pair in range(pairs):
            for at_once in (1, streams):
                told: list[tuple[int, int, int]] = []
                cpu, start = time.process_time(), time.perf_counter()
                if at_once == 1:
                    for number in range(SINGLES):
                        await one(1000 * pair + number, told)
                else:
                    async with anyio.create_task_group() as group:
                        for number in range(streams):
                            group.start_soon(one, 1000 * pair + 500 + number, told)
                cpu, start = time.process_time() - cpu, time.perf_counter() - start
                claims, passes, remembered = map(sum, zip(*told, strict=True))
                cells = (at_once, claims, remembered, f"{passes / claims:.2f}", f"{1e3 * cpu / claims:.1f}")
                print("| " + " | ".join(map(str, cells)) + f" | {start:.0f} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    print(describe())
    print("| streams at once | claims scored | remembered | passes a claim | CPU ms a claim | seconds |")
    print("|---|---|---|---|---|---|")
    anyio.run(measured, options.streams, options.pairs)


if __name__ == "__main__":
    main()
