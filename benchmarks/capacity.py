"""How many cores do so many streams take, and how late are their verdicts?

    python benchmarks/capacity.py                  from one machine to a million streams
    python benchmarks/capacity.py --claim-ms 12.5  the same, were a claim to cost so much
    python benchmarks/capacity.py --check          exit 1 where formula, simulation, measured points disagree
    python benchmarks/capacity.py --measure        measure with the real scorer, and record
    python benchmarks/capacity.py --json FILE      also write the figures

`queueing.py` has the formulas with their sources, `fleet_simulation.py` the simulation. What a window, a
cached byte and the spread of claims cost, and how often the scorer's cache answers, is measured here; what a
claim costs, and the lags to which the simulation is held, by `overhead.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from fleet_simulation import simulate
from machine import describe
from queueing import Costs, Fleet, Load, forecast, lru_hits, popularity, sized

RESULTS = Path(__file__).parent / "results"
CLAIM_S, REQUEST_S = 0.026, 0.004
"""Of the row of overhead.json with one stream and 100 tokens a second; and of a request through Ray, measured
as time and not as processor time: an upper bound."""


def measured_costs(seed: int = 0) -> dict[str, object]:
    """Costs and cache hits of the real scorer, in processor time, which a busy machine changes little."""
    from streamverify.passages import cut
    from streamverify.scorers.premise_cached import PremiseCachedScorer
    from streamverify.scorers.protocol import Abort, Claim
    from workloads import cases, passages

    scorer = PremiseCachedScorer(threads=1, cache_bytes=2**33)
    limits = scorer.traits
    windows = cut(
        passages(10, seed=seed), scorer.token_spans, limits.window_tokens, title_tokens=limits.title_tokens
    )
    warm = cut(passages(1, seed=seed + 1), scorer.token_spans, limits.window_tokens)
    scorer.prepare(warm, abort=Abort())
    start = time.process_time()
    prepared = scorer.prepare(windows, abort=Abort())
    window = (time.process_time() - start) / len(windows)
    size = scorer.statistics().bytes // scorer.statistics().entries
    texts = [sentence.text for case in cases() for sentence in case.sentences]
    took = []
    for text in texts:
        if len(scorer.token_spans(text)) <= limits.claim_tokens:
            start = time.process_time()
            scorer.score(prepared, [Claim(text)], abort=Abort())
            took.append(time.process_time() - start)
    cv = float(np.std(took) / np.mean(took))
    scorer.close()
    return {
        "window_s": window,
        "window_bytes": size,
        "windows_of_10_passages": len(windows),
        "claim_cv": cv,
        "claims": len(took),
        "hits": [measured_hits(exponent, seed) for exponent in (0.7, 1.0)],
    }


def measured_hits(exponent: float, seed: int, *, sets: int = 60, held_sets: int = 12) -> dict[str, float]:
    """Hits of the real scorer's cache where single windows are asked for, and Che's word on it."""
    from streamverify.scorers.premise_cached import PremiseCachedScorer
    from streamverify.scorers.protocol import Abort, Window

    texts = [f"Item {number:04d} of the list is kept in hall {number:04d}." for number in range(sets)]
    with_one = PremiseCachedScorer(threads=1)
    with_one.prepare([Window(0, texts[0], 0, len(texts[0]))], abort=Abort())
    size = with_one.statistics().bytes
    with_one.close()
    # Half of the cache bounds what is encoded ahead at once, which is one window here.
    scorer = PremiseCachedScorer(threads=1, cache_bytes=size * held_sets)
    draws = np.searchsorted(np.cumsum(popularity(sets, exponent)), np.random.default_rng(seed).random(1200))
    for number, one in enumerate(draws.tolist()):
        if number == 200:
            before = scorer.statistics()
        scorer.prepare([Window(0, texts[one], 0, len(texts[one]))], abort=Abort())
    after = scorer.statistics()
    scorer.close()
    asked = after.hits + after.misses - before.hits - before.misses
    return {
        "zipf": exponent,
        "sets": sets,
        "held": held_sets,
        "measured": (after.hits - before.hits) / asked,
        "forecast": lru_hits(popularity(sets, exponent), held_sets),
    }


POINTS = ((1, 100), (4, 50), (16, 20))
"""Streams and tokens a second of rows of overhead.json to which the simulation is held."""
CROWDED = 8
"""Streams that begin together above which two cores encode for seconds: only the median is compared."""


def points(costs: Costs) -> list[dict[str, float]]:
    """Rows measured by `overhead.py` on two cores, all streams beginning together, and the simulation's."""
    rows = json.loads((RESULTS / "overhead.json").read_text(encoding="utf-8"))["rows"]
    told = []
    for streams, rate in POINTS:
        row = next(
            row
            for row in rows
            if (row["streams"], row["rate"], row["passages"], row["policy"]) == (streams, rate, 10, "flag")
        )
        seconds = row["pieces"] / rate
        load = Load(
            streams=streams,
            rate=row["claims"] / streams / seconds,
            sentences=round(row["claims"] / streams),
            windows=row["windows"] // streams,
            sets=1_000_000,
            zipf=0.0,
        )
        own = replace(  # what both cost in that row: streams that crowd the cores make them dearer
            costs,
            claim=row["cpu_ms_per_claim"] / 1000,
            window=row["encoding_cpu_ms_per_stream"] / 1000 / load.windows,
        )
        runs = [
            simulate(load, Fleet(1, cores=2), own, seconds=seconds * 2, seed=seed, together=True)
            for seed in range(20)
        ]
        told.append(
            {
                "streams": streams,
                "tokens_per_s": rate,
                "measured_p50_ms": row["lag_p50_ms"],
                "simulated_p50_ms": 1000 * float(np.median([run.lag_p50 for run in runs])),
                "measured_p95_ms": row["lag_p95_ms"],
                "simulated_p95_ms": 1000 * float(np.median([run.lag_p95 for run in runs])),
            }
        )
    return told


STREAMS = (10, 100, 1_000, 5_000, 10_000, 100_000, 1_000_000)
SIMULATED = 5_000
"""Streams of a simulation: what is larger takes minutes."""


def growth(costs: Costs) -> list[dict[str, float | int | str]]:
    """From few streams to a million, alone and routed, by formula, and by simulation where they are few."""
    rows: list[dict[str, float | int | str]] = []
    for streams in STREAMS:
        for routed in (False, True):
            load = Load(streams)
            fleet = sized(load, Fleet(1, routed=routed), costs)
            told = forecast(load, fleet, costs)
            row: dict[str, float | int | str] = {
                "streams": streams,
                "fleet": "routed" if routed else "alone",
                "machines": fleet.machines,
                **asdict(told),
            }
            if streams <= SIMULATED:
                row |= {
                    f"simulated_{name}": value
                    for name, value in asdict(simulate(load, fleet, costs, seconds=45)).items()
                }
            rows.append(row)
    return rows


def table(rows: Sequence[dict[str, float | int | str]]) -> str:
    """In markdown."""
    lines = [
        "| streams | fleet | machines | busy | sets known | p50 / p95 | simulated: busy, known, p50 / p95 |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        told = f"{1000 * row['lag_p50']:.0f} / {1000 * row['lag_p95']:.0f} ms"
        simulated = "–"
        if "simulated_busy" in row:
            simulated = (
                f"{row['simulated_busy']:.2f}, {row['simulated_hits']:.2f}, "
                f"{1000 * row['simulated_lag_p50']:.0f} / {1000 * row['simulated_lag_p95']:.0f} ms"
            )
        lines.append(
            f"| {row['streams']:,} | {row['fleet']} | {row['machines']:,} | {row['busy']:.2f} "
            f"| {row['hits']:.2f} | {told} | {simulated} |"
        )
    return "\n".join(lines)


def faults(found: dict[str, object]) -> list[str]:
    """Where formula, simulation and measured points are further apart than they may be."""
    wrong = []
    for row in found["growth"]:  # type: ignore[attr-defined]
        if "simulated_busy" in row and abs(row["busy"] - row["simulated_busy"]) > 0.1:
            wrong.append(
                f"{row['streams']} streams, {row['fleet']}: {row['busy']:.2f} busy is not what was simulated"
            )
    for one in found["measured"]["hits"]:  # type: ignore[index]
        if abs(one["measured"] - one["forecast"]) > 0.05:
            wrong.append(
                f"{one['held']} of {one['sets']} held: {one['measured']:.2f} hits, not {one['forecast']:.2f}"
            )
    for point in found["points"]:  # type: ignore[attr-defined]
        # The tail of a start in which all streams encode at once is threads', of which the model has none.
        crowded = point["streams"] > CROWDED
        for share, bar in (("p50", 1.5),) if crowded else (("p50", 1.5), ("p95", 5)):
            ratio = point[f"simulated_{share}_ms"] / point[f"measured_{share}_ms"]
            if not 1 / bar < ratio < bar:
                wrong.append(
                    f"{point['streams']} streams: {share} simulated is {ratio:.2f} times that measured"
                )
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--claim-ms", type=float, help="in place of what was measured")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    recorded = RESULTS / "capacity.json"
    known = json.loads(recorded.read_text(encoding="utf-8")) if recorded.exists() else {}
    if arguments.measure:
        known["measured"] = measured_costs() | {"machine": describe()}
        known["measured"]["request_s"] = REQUEST_S
        known["measured"]["claim_s"] = CLAIM_S
    measured = known["measured"]
    costs = Costs(
        claim=measured["claim_s"] if arguments.claim_ms is None else arguments.claim_ms / 1000,
        cv=measured["claim_cv"],
        window=measured["window_s"],
        request=measured["request_s"],
        window_bytes=measured["window_bytes"],
    )
    found = {"measured": measured, "points": points(costs), "growth": growth(costs)}
    print(table(found["growth"]))
    print(json.dumps(found["points"], indent=1))
    if arguments.measure:
        recorded.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    wrong = faults(found) if arguments.check else []
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
