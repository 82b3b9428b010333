"""What an adapter adds to the bare core: the same paced answer three ways, in turn, in one run.

    python benchmarks/adapters.py                 every adapter, flagging and redacting; thirty minutes
    python benchmarks/adapters.py --only SSE      those whose name has this in it
    python benchmarks/adapters.py --check         exit 1 where an adapter takes 3 % more, in time or in CPU
    python benchmarks/adapters.py --json FILE     also write the figures

*Core* reads the bare pieces into a verified stream. *By hand* is the framework's own stream of the same
pieces, its text read into the core by a generator expression: what somebody would write who does not use
the adapter.
*Adapter* is the adapter around that same stream. No network; chunks and engines are made before the clock
starts, and the passages are encoded once for all three.

Total time is with the embedded model at 100 pieces a second: adapter / core, what the framework itself takes
included. Paced, waiting hides work, so the adapter's own work is told as CPU too: adapter less by hand, as a
share of what the core takes with the embedded model. The difference is measured under a scripted scorer, at
400 pieces a second, because one forward pass varies by more than an adapter costs. Unthrottled is the same
difference where nothing waits, in microseconds of time a piece. Figures are medians over pairs of runs.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import anyio

from adapter_runs import ADAPTERS, Adapter, Run, Setting, core
from machine import describe
from streamverify import Flag, Policy, Redact, Verifier
from streamverify.testing import ScriptedScorer
from workloads import answer, passages

BAR = 0.03
RATE = 100.0
PIECES = 200
UNTHROTTLED_PIECES = 3000
SCRIPTED_RATE = 400.0
SCRIPTED_ROUNDS = 10
"""Rounds under the scripted scorer for each with the model: three at `RATE` left what they tell apart
uncertain by 2 % of what the core takes."""
POLICIES: dict[str, Policy] = {"flag": Flag(), "redact": Redact()}


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one run, in seconds."""

    total: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one adapter under one policy; CPU in microseconds a piece."""

    total_ratio: float
    """Adapter / core, with the embedded model."""
    total_ratio_by_hand: float
    core_cpu_us: float
    """With the embedded model."""
    framework_cpu_us: float
    """By hand less core."""
    adapter_cpu_us: float
    """Adapter less by hand."""
    adapter_cpu_error_us: float
    """Standard error of that median, as that of a normal distribution."""
    adapter_cpu_share: float
    """Of the core's with the embedded model."""
    unthrottled_us: float
    """Adapter less by hand, time a piece."""

    @property
    def missed(self) -> bool:
        return self.total_ratio > 1 + BAR or self.adapter_cpu_share > BAR


async def timed(run: Run) -> Cost:
    gc.collect()
    total, cpu = time.perf_counter(), time.process_time()
    await run()
    return Cost(time.perf_counter() - total, time.process_time() - cpu)


async def in_turn(
    adapter: Adapter, setting: Callable[[int], Setting], repeats: int
) -> list[tuple[Cost, Cost, Cost]]:
    """Core, by hand and adapter of each repeat; which comes first changes from one to the next."""
    rounds = []
    for repeat in range(repeats):
        used = setting(repeat)
        ways = [core, adapter.by_hand, adapter.adapted]
        costs: dict[int, Cost] = {}
        await core(setting_unthrottled(used))()  # the passages are in the cache for all three
        for step in range(3):
            way = (step + repeat) % 3
            costs[way] = await timed(ways[way](used))
        rounds.append((costs[0], costs[1], costs[2]))
    return rounds


def setting_unthrottled(setting: Setting) -> Setting:
    return Setting(setting.verifier, setting.pieces[:20], setting.sources, setting.policy, None)


async def measure(adapter: Adapter, policy: Policy, repeats: int) -> Figures:
    def of(verifier: Verifier, pieces: int, rate: float | None) -> Callable[[int], Setting]:
        return lambda seed: Setting(verifier, answer(pieces, seed), passages(10, seed=seed), policy, rate)

    async with Verifier() as verifier:
        real = await in_turn(adapter, of(verifier, PIECES, RATE), repeats)
    async with Verifier(ScriptedScorer()) as verifier:
        paced = await in_turn(adapter, of(verifier, PIECES, SCRIPTED_RATE), repeats * SCRIPTED_ROUNDS)
        unthrottled = await in_turn(adapter, of(verifier, UNTHROTTLED_PIECES, None), repeats)
    median = statistics.median
    core_cpu = median(bare.cpu for bare, _, _ in real) / PIECES * 1e6
    own = [(adapted.cpu - hand.cpu) / PIECES * 1e6 for _, hand, adapted in paced]
    adapter_cpu = median(own)
    return Figures(
        total_ratio=median(adapted.total / bare.total for bare, _, adapted in real),
        total_ratio_by_hand=median(hand.total / bare.total for bare, hand, _ in real),
        core_cpu_us=core_cpu,
        framework_cpu_us=median(hand.cpu - bare.cpu for bare, hand, _ in paced) / PIECES * 1e6,
        adapter_cpu_us=adapter_cpu,
        adapter_cpu_error_us=1.2533 * statistics.stdev(own) / math.sqrt(len(own)),
        adapter_cpu_share=adapter_cpu / core_cpu,
        unthrottled_us=median(
            (adapted.total - hand.total) / UNTHROTTLED_PIECES * 1e6 for _, hand, adapted in unthrottled
        ),
    )


def main() -> int:
    """Measure and print, one adapter and policy a line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="a part of an adapter's name")
    parser.add_argument("--check", action="store_true", help=f"exit 1 where {BAR:.0%} is exceeded")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    missed = False
    print(
        f"| adapter | policy | total / core at {RATE:g}/s | of it the framework | CPU core us/piece | "
        "framework | adapter | +- | adapter's share | unthrottled us/piece |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for adapter in ADAPTERS:
        if options.only.lower() not in adapter.name.lower():
            continue
        for name, policy in POLICIES.items():
            f = anyio.run(measure, adapter, policy, options.repeats)
            missed = missed or f.missed
            rows.append({"adapter": adapter.name, "policy": name, **asdict(f)})
            print(
                f"| {adapter.name} | {name} | {f.total_ratio:.4f} | {f.total_ratio_by_hand:.4f} | "
                f"{f.core_cpu_us:.0f} | {f.framework_cpu_us:.0f} | {f.adapter_cpu_us:.0f} | "
                f"{f.adapter_cpu_error_us:.0f} | {f.adapter_cpu_share:.1%} | {f.unthrottled_us:.0f} |",
                flush=True,
            )
    if options.json is not None:
        record = {
            "machine": describe(),
            "load": os.getloadavg(),
            "command": sys.argv,
            "repeats": options.repeats,
            "scripted_rounds": options.repeats * SCRIPTED_ROUNDS,
            "pieces": PIECES,
            "rows": rows,
        }
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
