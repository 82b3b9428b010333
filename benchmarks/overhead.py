"""What verification costs a stream: the same paced source bare and verified, in turn, in one run.

    python benchmarks/overhead.py                 every row, under five minutes
    python benchmarks/overhead.py --repeats 3     with three pairs of every row, twice as long
    python benchmarks/overhead.py --quick         the rows that have a bar, once
    python benchmarks/overhead.py --model accurate  the same with an installed model, under its own bars
    python benchmarks/overhead.py --check         exit 1 where a bar is missed
    python benchmarks/overhead.py --json FILE     also write the figures

Every figure but the lags is a ratio or a difference within the run. A bare stream is the source read
to its end by the same event loop; both wait for the same prefill before the first token, as for a model that
reads its prompt. CPU is the process's own time, the bare stream's taken off; encoding the passages,
which happens once for each however many answers use it, is told apart from what the claims cost: the windows
that were encoded, at what encoding them by themselves takes.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import anyio

from footprint import footprint
from machine import describe
from ordinary import ordinary_cpu_per_pair
from streamverify import Flag, Policy, Redact, SentenceClosed, SentenceJudged, TextReleased, Verifier
from streamverify.passages import cut
from streamverify.scorers.installed import installed_folder
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort
from streamverify.types import Report
from workloads import answer, paced, passages


@dataclass(frozen=True, slots=True)
class Row:
    """One setting."""

    streams: int
    rate: float | None
    passages: int
    policy: str = "flag"
    pieces: int = 600
    prefill: float = 0.3
    """Seconds before the first token."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What one setting measured; times in milliseconds, ratios without unit."""

    total_ratio: float
    first_text_delay_ms: float
    lag_p50_ms: float
    lag_p95_ms: float
    lag_p99_ms: float
    lag_p95_later_ms: float
    """Of all verdicts but the first of each stream."""
    tokens_scored_per_generated: float
    passes_per_claim: float
    windows: int
    windows_from_cache: int
    pairs: int
    claims: int
    cpu_ms_per_claim: float
    """Encoding not counted."""
    encoding_cpu_ms_per_stream: float
    """All of its windows."""
    windows_encoded: float
    """Share of the windows, 0-1: those that a claim asked for, or that cores were idle for."""
    ordinary_cpu_ratio: float
    """What reading every sentence with every window would cost / what the claims cost."""
    ordinary_cpu_ratio_with_encoding: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class Bar:
    """What a setting must reach."""

    row: Row
    total_ratio: float
    lag_p95_ms: float | None = None
    lag_p95_later_ms: float | None = None
    first_text_delay_ms: float | None = None
    ordinary_cpu_ratio: float | None = None

    def missed(self, figures: Figures) -> list[str]:
        """The bars these figures miss, in words."""
        upper = {
            "total_ratio": self.total_ratio,
            "lag_p95_ms": self.lag_p95_ms,
            "lag_p95_later_ms": self.lag_p95_later_ms,
            "first_text_delay_ms": self.first_text_delay_ms,
        }
        missed = [
            f"{name} {getattr(figures, name):.3g} > {limit:g}"
            for name, limit in upper.items()
            if limit is not None and getattr(figures, name) > limit
        ]
        if self.ordinary_cpu_ratio is not None and figures.ordinary_cpu_ratio < self.ordinary_cpu_ratio:
            missed.append(
                f"ordinary_cpu_ratio {figures.ordinary_cpu_ratio:.3g} < {self.ordinary_cpu_ratio:g}"
            )
        return missed


BARS = (
    Bar(Row(1, 100, 10), 1.05, lag_p95_ms=60, first_text_delay_ms=5, ordinary_cpu_ratio=10),
    Bar(Row(4, 50, 10), 1.10),
)
ACCURATE = (Bar(Row(1, 100, 10), 1.05, lag_p95_later_ms=250),)
"""The larger model's, whose lag begins to count after the first sentence."""
MORE = (
    Row(1, 20, 10, pieces=160),
    Row(1, 50, 10, pieces=300),
    Row(1, 100, 10, prefill=0.0),
    Row(1, 100, 3),
    Row(1, 100, 30),
    Row(1, 100, 10, "redact"),
    Row(1, None, 10),
    Row(4, 50, 10, "redact"),
    Row(16, 20, 10, pieces=200),
    Row(16, 20, 10, "redact", pieces=200),
)
MORE_LARGER = (
    Row(1, 20, 10, pieces=160),
    Row(1, 100, 10, prefill=0.0),
    Row(1, 100, 3),
    Row(1, 100, 10, "redact"),
    Row(4, 20, 10, pieces=160),
)
POLICIES: dict[str, Policy] = {"flag": Flag(), "redact": Redact()}


async def bare(row: Row, seed: int) -> tuple[float, list[float]]:
    """Seconds until all sources are read, and until the first piece of each."""
    firsts: list[float] = []

    async def read(stream: int) -> None:
        pieces = texts[stream]
        start = time.perf_counter()
        first = True
        async for _ in paced(pieces, row.rate, row.prefill):
            if first:
                firsts.append(time.perf_counter() - start)
                first = False

    texts = [answer(row.pieces, seed + stream) for stream in range(row.streams)]
    began = time.perf_counter()
    async with anyio.create_task_group() as group:
        for stream in range(row.streams):
            group.start_soon(read, stream)
    return time.perf_counter() - began, firsts


async def verified(
    verifier: Verifier, row: Row, seed: int
) -> tuple[float, list[float], list[list[float]], list[Report]]:
    """Seconds until all streams ended, until the first text of each, its verdicts' lags, the reports."""
    firsts: list[float] = []
    lags: list[list[float]] = [[] for _ in range(row.streams)]
    reports: list[Report] = []

    async def read(number: int) -> None:
        pieces, sources = texts[number], known[number]
        start = time.perf_counter()
        first = True
        closed: dict[int, float] = {}
        source = paced(pieces, row.rate, row.prefill)
        async with verifier.stream(source, sources, policy=POLICIES[row.policy]) as stream:
            async for event in stream:
                if isinstance(event, TextReleased) and first:
                    firsts.append(time.perf_counter() - start)
                    first = False
                elif isinstance(event, SentenceClosed):
                    closed[event.sentence.index] = event.at_ms
                elif isinstance(event, SentenceJudged) and event.score is not None:
                    lags[number].append(event.at_ms - closed[event.index])
            reports.append(stream.report)

    texts = [answer(row.pieces, seed + number) for number in range(row.streams)]
    known = [passages(row.passages, seed=seed + number) for number in range(row.streams)]
    began = time.perf_counter()
    async with anyio.create_task_group() as group:
        for number in range(row.streams):
            group.start_soon(read, number)
    return time.perf_counter() - began, firsts, lags, reports


async def measure(row: Row, repeats: int, ordinary_ms_per_pair: float, folder: Path | None) -> Figures:
    """The row's figures over `repeats` pairs of a bare and a verified run, each with its own passages."""
    ratios: list[float] = []
    delays: list[float] = []
    cpu: list[float] = []
    with_encoding: list[float] = []
    encodings: list[float] = []
    shares: list[float] = []
    lags: list[list[float]] = []
    reports: list[Report] = []
    scorer = PremiseCachedScorer(folder)
    async with Verifier(scorer) as verifier:
        await verifier.check("Warm up the model.", ["One short passage to warm up the model."])
        for repeat in range(repeats):
            seed = 1000 * (repeat + 1)
            cpu_start = time.process_time()
            bare_seconds, bare_firsts = await bare(row, seed)
            cpu_bare = time.process_time() - cpu_start
            encoded = scorer.statistics().misses
            cpu_start = time.process_time()
            seconds, firsts, more_lags, more = await verified(verifier, row, seed)
            cpu_verified = time.process_time() - cpu_start
            ratios.append(seconds / bare_seconds)
            delays.append((statistics.median(firsts) - statistics.median(bare_firsts)) * 1000)
            share = (scorer.statistics().misses - encoded) / sum(report.work.windows for report in more)
            encoding = [encoding_cpu_ms(row, seed + number, folder) for number in range(row.streams)]
            encodings += encoding
            shares.append(share)
            spent = (cpu_verified - cpu_bare) * 1000
            made = max(sum(report.work.claims for report in more), 1)
            cpu.append((spent - share * sum(encoding)) / made)
            with_encoding.append(spent / made)
            lags += more_lags
            reports += more
    # Closed by a thread, since it waits for those that encode.
    await anyio.to_thread.run_sync(scorer.close)
    work = [report.work for report in reports]
    claims = sum(one.claims for one in work)
    cpu_ms = statistics.median(cpu)
    windows = sum(one.windows for one in work) / len(work)
    ordered = sorted(lag for stream in lags for lag in stream)
    return Figures(
        total_ratio=statistics.median(ratios),
        first_text_delay_ms=statistics.median(delays),
        lag_p50_ms=statistics.median(ordered),
        lag_p95_ms=share_of(ordered, 95),
        lag_p99_ms=share_of(ordered, 99),
        lag_p95_later_ms=share_of(sorted(lag for stream in lags for lag in stream[1:]), 95),
        tokens_scored_per_generated=sum(one.tokens_scored for one in work)
        / sum(one.tokens_generated for one in work),
        passes_per_claim=sum(one.passes for one in work) / claims,
        windows=sum(one.windows for one in work),
        windows_from_cache=sum(one.windows_from_cache for one in work),
        pairs=repeats,
        claims=claims,
        cpu_ms_per_claim=cpu_ms,
        encoding_cpu_ms_per_stream=statistics.median(encodings),
        windows_encoded=statistics.median(shares),
        ordinary_cpu_ratio=ordinary_ms_per_pair * windows / cpu_ms,
        ordinary_cpu_ratio_with_encoding=ordinary_ms_per_pair * windows / statistics.median(with_encoding),
        peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def share_of(ordered: Sequence[float], percent: int) -> float:
    """The value that so many in 100 do not exceed."""
    return ordered[-(-percent * len(ordered) // 100) - 1]


def encoding_cpu_ms(row: Row, seed: int, folder: Path | None) -> float:
    """CPU milliseconds to encode one stream's windows in a cache that is empty."""
    scorer = PremiseCachedScorer(folder, threads=1)
    traits = scorer.traits
    windows = cut(
        passages(row.passages, seed=seed),
        scorer.token_spans,
        traits.window_tokens,
        title_tokens=traits.title_tokens,
    )
    start = time.process_time()
    scorer.prepare(windows, abort=Abort())
    took = (time.process_time() - start) * 1000
    scorer.close()
    return took


def show(rows: Sequence[tuple[Row, Figures]]) -> None:
    """A table, one setting a line."""
    print(
        "| streams | tokens/s | passages | policy | total ratio | first text +ms | lag p50 | p95 | p99 | "
        "after the first | scored/generated | passes/claim | CPU ms/claim | encoding CPU ms, share done | "
        "ordinary/ours | with encoding | pairs, claims |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for row, f in rows:
        rate = "unthrottled" if row.rate is None else f"{row.rate:g}"
        rate += " at once" if not row.prefill else ""
        print(
            f"| {row.streams} | {rate} | {row.passages} | {row.policy} | {f.total_ratio:.3f} | "
            f"{f.first_text_delay_ms:.1f} | {f.lag_p50_ms:.0f} | {f.lag_p95_ms:.0f} | {f.lag_p99_ms:.0f} | "
            f"{f.lag_p95_later_ms:.0f} | "
            f"{f.tokens_scored_per_generated:.2f} | {f.passes_per_claim:.1f} | {f.cpu_ms_per_claim:.1f} | "
            f"{f.encoding_cpu_ms_per_stream:.0f}, {f.windows_encoded:.2f} | {f.ordinary_cpu_ratio:.1f} | "
            f"{f.ordinary_cpu_ratio_with_encoding:.1f} | {f.pairs}, {f.claims} |",
            flush=True,
        )


def main() -> int:
    """Measure, print, optionally write and check."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="only the rows with a bar, once each")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    parser.add_argument(
        "--repeats", type=int, help="pairs of every row; else 3 where it has a bar, 1 elsewhere"
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--model", default="default", help="the embedded model, or an installed one's name")
    options = parser.parse_args()
    folder = installed_folder(options.model)
    if folder is None and options.model != "default":
        parser.error(f"no model {options.model!r} is installed")
    bars = BARS if folder is None else ACCURATE
    judged = [bar.row for bar in bars]
    more = MORE if folder is None else MORE_LARGER
    ordinary = ordinary_cpu_per_pair(PremiseCachedScorer(folder), folder=folder)
    results: list[tuple[Row, Figures]] = []
    missed: list[str] = []
    for row in judged if options.quick else [*judged, *more]:
        # A pair takes twice as long as its stream; no bar depends on most rows.
        repeats = options.repeats or (3 if row in judged and not options.quick else 1)
        figures = anyio.run(measure, row, repeats, ordinary, folder)
        results.append((row, figures))
        for bar in bars:
            if bar.row == row:
                missed += [
                    f"{row.streams} stream(s) at {row.rate} tokens/s: {miss}" for miss in bar.missed(figures)
                ]
    process = {} if folder is not None else footprint()
    limits = {"import_seconds": 0.3, "verifier_mb": 200, "idle_cpu_share": 0.01}
    missed += [
        f"{name} {value:.3g} > {limits[name]:g}" for name, value in process.items() if value > limits[name]
    ]
    show(results)
    print("; ".join(f"{name} {value:.3g}" for name, value in process.items()))
    print(f"ordinary way: {ordinary:.1f} CPU ms for one sentence and one window read together")
    print("\n".join(f"MISSED {miss}" for miss in missed) or "every bar is met")
    if options.json is not None:
        record = {
            "machine": describe(),
            "command": sys.argv,
            "ordinary_cpu_ms_per_pair": ordinary,
            "process": process,
            "rows": [{**asdict(row), **asdict(figures)} for row, figures in results],
            "missed": missed,
        }
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
