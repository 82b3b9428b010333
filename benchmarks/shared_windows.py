"""Several processes, popular passages: windows encoded twice, and what sharing them costs and saves.

    python benchmarks/shared_windows.py --workers 2
    python benchmarks/shared_windows.py --workers 4 --separate

Answers of four sentences over five passages of 200 words each, drawn from a pool by Zipf's law; request n
goes to process n modulo the workers, as a balancer would send it. Without sharing each process has its part
of the cache.
Needs no network and no server: a Verifier in each process.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import tempfile
import time
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import NamedTuple

import anyio

import workloads
from streamverify import Verifier
from streamverify.scorers import PremiseCachedScorer
from streamverify.scorers.premise_cached import cores
from streamverify.server.crew import threads_of_each


class Task(NamedTuple):
    requests: list[list[int]]
    """Numbers of the passages of each."""
    cache_bytes: int
    threads: int
    shared: Path | None
    concurrent: int


def drawn(requests: int, pool: int, each: int, exponent: float) -> list[list[int]]:
    generator = random.Random(1)
    weights = [1 / rank**exponent for rank in range(1, pool + 1)]
    found = []
    for _ in range(requests):
        chosen: dict[int, None] = {}
        while len(chosen) < each:
            chosen.setdefault(generator.choices(range(pool), weights)[0])
        found.append(list(chosen))
    return found


def process(task: Task, ready: Barrier, done: Barrier, told: Queue) -> None:
    pool = workloads.passages(1 + max(max(request) for request in task.requests))
    answers = ["".join(workloads.answer(90, seed)) for seed in range(40)]
    scorer = PremiseCachedScorer(
        cache_bytes=task.cache_bytes, threads=task.threads, shared_windows=task.shared
    )
    claims, begun = [0], [0.0]

    async def work() -> None:
        async with Verifier(scorer) as verifier:
            await verifier.check("The mill was built in 1804.", ["The mill was built in 1804."])
            ready.wait()
            begun[0] = time.process_time()
            left = iter(enumerate(task.requests))

            async def some() -> None:
                for number, request in left:
                    passages = [pool[one] for one in request]
                    report = await verifier.check(answers[number % len(answers)], passages)
                    claims[0] += sum(sentence.label.value != "no_claim" for sentence in report.sentences)

            async with anyio.create_task_group() as group:
                for _ in range(task.concurrent):
                    group.start_soon(some)

    anyio.run(work)
    found = scorer.statistics()
    told.put(
        {
            "claims": claims[0],
            "encoded": found.misses - 1,  # the warm-up's
            "evicted": found.evicted,
            "cpu": time.process_time() - begun[0],
            "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
    )
    done.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--separate", action="store_true", help="a cache for each process")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--requests", type=int, default=60)
    parser.add_argument("--pool", type=int, default=100, help="different passages")
    parser.add_argument("--exponent", type=float, default=1.0, help="of Zipf's law; 0 for equally popular")
    parser.add_argument("--cache", type=int, default=512, help="MiB, of all processes together")
    parser.add_argument("--concurrent", type=int, default=4, help="answers at once in each process")
    asked = parser.parse_args()
    requests = drawn(asked.requests, asked.pool, 5, asked.exponent)
    context = multiprocessing.get_context("spawn")
    ready, done = (context.Barrier(asked.workers + 1) for _ in range(2))
    told = context.Queue()
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        cache = asked.cache * 2**20
        task = Task(
            requests=[],
            cache_bytes=cache // asked.workers if asked.separate else cache,
            threads=threads_of_each(cores(), asked.workers),
            shared=None if asked.separate else Path(folder),
            concurrent=asked.concurrent,
        )
        tasks = [task._replace(requests=requests[number :: asked.workers]) for number in range(asked.workers)]
        started = [
            context.Process(target=process, args=(one, ready, done, told), daemon=True) for one in tasks
        ]
        for one in started:
            one.start()
        ready.wait()
        begun = time.perf_counter()
        rows = [told.get() for _ in started]
        took = time.perf_counter() - begun
        done.wait()
        for one in started:
            one.join()
    total = {name: sum(row[name] for row in rows) for name in rows[0]}
    figures = {
        "windows": "separate" if asked.separate else "shared",
        "workers": asked.workers,
        "answers": asked.requests,
        "claims": total["claims"],
        "encoded": total["encoded"],
        "evicted": total["evicted"],
        "cpu_ms_per_claim": round(1000 * total["cpu"] / total["claims"], 1),
        "took_s": round(took, 1),
        "load": round(os.getloadavg()[0], 1),
    }
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
