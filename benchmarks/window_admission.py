"""Popular passages and one-off ones: what the cache of encoded windows keeps, and a load that overflows it.

    python benchmarks/window_admission.py                   the cache alone, seconds
    python benchmarks/window_admission.py --streams 16      and so many streams of ten different passages each
    python benchmarks/window_admission.py --streams 16 --half   their windows kept in half precision
    python benchmarks/window_admission.py --shared          the folder that processes share, minutes

The first part is the library's own cache with values that only say their size. Each request prepares the
windows of a set of passages and then reads some of them ten times. Popular sets are drawn by Zipf's law.
With `--shared` it is the store of windows, a fifth of the windows in a fifth of the room, and two instances
that serve the requests in turn as two processes would; a quarter of the requests.
The second part is the embedded model on this machine.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import anyio
import numpy as np

import workloads
from machine import describe
from streamverify import Verifier
from streamverify.scorers import PremiseCachedScorer
from streamverify.scorers.protocol import Abort
from streamverify.scorers.windows.cache import ByteBoundedCache
from streamverify.scorers.windows.keys_values import CachePrecision, KeysValues
from streamverify.scorers.windows.window_store import WindowStore

LIMIT, WINDOW = 512 * 2**20, 1_800_000
SETS, WINDOWS, REQUESTS, WARM = 40, 30, 3000, 500
_READ = 10


@dataclass(frozen=True, slots=True)
class Encoded:
    """Stands for the keys and values of a window."""

    nbytes: int = WINDOW


class Cache(Protocol):
    """What keeps windows."""

    def fetch(
        self, key: bytes, compute: Callable[[], Any], *, abort: Abort, anew: bool = False
    ) -> tuple[Any, bool]:
        """As `ByteBoundedCache.fetch`."""
        ...


def found(one_off: float, exponent: float, *, known: bool) -> tuple[float, float]:
    """Shares of windows found: of popular sets, and of all requests.

    Args:
        one_off: share of requests whose passages nobody asks for again.
        exponent: of the popularity of the others.
        known: as the library does; False: as if nothing ever came again.
    """
    cache = ByteBoundedCache[Encoded](LIMIT, lambda value: value.nbytes)
    return shares([cache], Encoded, one_off, exponent, known=known, requests=REQUESTS, warm=WARM)


def found_shared(one_off: float, exponent: float, *, known: bool) -> tuple[float, float]:
    """As `found`, of the folder that processes share."""
    numbers = np.zeros((1, 16, 16), np.float32)
    small = KeysValues(((numbers, numbers),))
    limit = LIMIT // WINDOW // 5 * (small.nbytes + 64)  # a file's head
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        stores = [WindowStore(Path(name), limit) for _ in range(2)]
        told = shares(
            stores,
            lambda: small,
            one_off,
            exponent,
            known=known,
            requests=REQUESTS // 4,
            warm=WARM // 4,
            windows=WINDOWS // 5,
        )
        for store in stores:
            store.close()
    return told


def shares(
    caches: Sequence[Cache],
    compute: Callable[[], Any],
    one_off: float,
    exponent: float,
    *,
    known: bool,
    requests: int,
    warm: int,
    windows: int = WINDOWS,
) -> tuple[float, float]:
    """As `found`; the caches serve the requests in turn, and those before `warm` do not count."""
    rng = random.Random(1)
    weights = [1 / rank**exponent for rank in range(1, SETS + 1)]
    hits = asked = every = total = 0
    for request in range(requests):
        cache = caches[request % len(caches)]
        once = rng.random() < one_off
        of = f"once {request}" if once else f"popular {rng.choices(range(SETS), weights)[0]}"
        keys = [sha256(f"{of} {number}".encode()).digest() for number in range(windows)]
        for key in keys:
            _, held = cache.fetch(key, compute, abort=Abort(), anew=known)
            if request >= warm:
                every, total = every + held, total + 1
                if not once:
                    hits, asked = hits + held, asked + 1
        for key in rng.choices(keys, k=_READ):
            cache.fetch(key, compute, abort=Abort())
    return hits / max(asked, 1), every / total


async def streams(count: int, rate: float, pieces: int, precision: CachePrecision) -> str:
    """So many streams at once, each with ten passages of its own."""
    scorer = PremiseCachedScorer(cache_precision=precision)
    rows = []
    async with Verifier(scorer=scorer) as verifier:
        for turn in ("first", "again"):
            before, start, cpu = scorer.statistics(), time.perf_counter(), time.process_time()
            claims: list[int] = []
            lags: list[float] = []

            async def one(
                seed: int, claims: list[int] = claims, lags: list[float] = lags, turn: str = turn
            ) -> None:
                text = workloads.answer(pieces, seed + (0 if turn == "first" else 500))
                source = workloads.paced(text, rate, 0.3)
                async with verifier.stream(source, workloads.passages(10, seed=seed)) as stream:
                    async for _ in stream:
                        pass
                report = stream.report
                claims.append(report.work.claims)
                if report.timings.verdict_lag_ms is not None:
                    lags.append(report.timings.verdict_lag_ms.p95)

            async with anyio.create_task_group() as group:
                for seed in range(count):
                    group.start_soon(one, seed)
            after, cpu = scorer.statistics(), time.process_time() - cpu
            lags.sort()
            cells = (
                turn,
                sum(claims),
                f"{1e3 * cpu / max(sum(claims), 1):.1f}",
                after.hits - before.hits,
                after.misses - before.misses,
                after.evicted - before.evicted,
                f"{after.bytes / 2**20:.0f}",
                f"{lags[len(lags) // 2]:.0f} / {lags[-1]:.0f}" if lags else "-",
                f"{time.perf_counter() - start:.0f}",
            )
            rows.append("| " + " | ".join(map(str, cells)) + " |")
    head = (
        "| turn | claims | CPU ms a claim, encoding included | found | encoded | dropped | MiB held | "
        "p95 lag of a stream, median / worst ms | seconds |\n|---|---|---|---|---|---|---|---|---|"
    )
    return "\n".join([head, *rows])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=0)
    parser.add_argument("--rate", type=float, default=20.0, help="tokens a second of each")
    parser.add_argument("--pieces", type=int, default=400, help="tokens of each answer")
    parser.add_argument("--half", action="store_true", help="keep windows in half precision")
    parser.add_argument("--shared", action="store_true", help="the folder that processes share")
    options = parser.parse_args()
    print("| one-off requests | Zipf | popular found, before | now | all found, before | now |")
    print("|---|---|---|---|---|---|")
    for one_off in (0.0, 0.5, 0.9):
        for exponent in (0.7, 1.0):
            measure = found_shared if options.shared else found
            before, now = (measure(one_off, exponent, known=known) for known in (False, True))
            cells = [f"{share:.2f}" for pair in zip(before, now, strict=True) for share in pair]
            print(f"| {one_off:.0%} | {exponent} | {' | '.join(cells)} |", flush=True)
    if options.streams:
        print(describe())
        precision: CachePrecision = "float16" if options.half else "float32"
        print(anyio.run(streams, options.streams, options.rate, options.pieces, precision))


if __name__ == "__main__":
    main()
