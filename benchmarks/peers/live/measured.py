"""One library in its own environment: `python measured.py PROGRAM SPEC`, one line of JSON at the end.

The program of a library makes a stream of a source and a checker (`programs/`); what is measured is measured
here, the same way for all.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from streams import Checker, Opened, Reading, Source, Workload, bare, followed, left, sleeping

RATE = 100.0
Make = Callable[[Checker, list[str]], Opened]
Checkers = Callable[[list[str]], Checker]
"""A checker for answers about these passages."""


def scoring() -> Checkers:
    """Our own scorer as the checker: a text passes where no sentence of it is rejected."""
    from streamverify import Label, Verifier  # where it is the checker

    verifier = Verifier().open()
    rejected = {Label.UNSUPPORTED, Label.CONTRADICTED}

    def made(passages: list[str]) -> Checker:
        def judge(text: str) -> bool:
            report = verifier.check_sync(text, passages)
            return not any(one.label in rejected for one in report.sentences)

        async def later(text: str) -> bool:
            report = await verifier.check(text, passages)
            return not any(one.label in rejected for one in report.sentences)

        return Checker(judge, later)

    return made


async def timed(make: Make, checkers: Checkers, workload: Workload, numbers: range) -> dict[str, Any]:
    """Answers at once of which all is supported."""
    count, load = len(numbers), os.getloadavg()[0]
    plain = [Source(workload.sentences(number), RATE) for number in numbers]
    cpu = time.process_time()
    bare_seconds = await bare(plain)
    bare_cpu = time.process_time() - cpu
    sources = [Source(workload.sentences(number), RATE) for number in numbers]
    asked = [checkers(workload.passages(number)) for number in numbers]
    opened = [
        make(checker, workload.passages(number)) for number, checker in zip(numbers, asked, strict=True)
    ]
    cpu, began = time.process_time(), time.perf_counter()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(followed(*one)) for one in zip(sources, opened, strict=True)]
    readings = [task.result() for task in tasks]
    seconds = time.perf_counter() - began
    spent = time.process_time() - cpu - bare_cpu
    lags, firsts = [], []
    for source, reading in zip(sources, readings, strict=True):
        firsts += [(reading.parts[0][0] - source.first_at) * 1000] if reading.parts else []
        known = map(reading.known_at, source.sentences)
        lags += [(at - end) * 1000 for at, end in zip(known, source.ended_at, strict=False) if at is not None]
    total = sum(len(source.text) for source in sources)
    return {
        "streams": count,
        "total_over_bare": round(seconds / bare_seconds, 3),
        "first_text_ms": round(_middle(firsts), 1),
        "lag_ms": {"p50": round(_middle(lags), 1), "p95": round(_at(lags, 0.95), 1)},
        "cpu_ms_per_stream": round(spent * 1000 / count, 1),
        "sentences": sum(len(source.sentences) for source in sources),
        "checked_alone": sum(map(_alone, sources, asked, readings)),
        "checked_within_a_text": sum(map(_within, sources, asked, readings)),
        "asked": sum(len(one.asked) for one in asked),
        "asked_per_character": round(sum(len(text) for one in asked for text in one.asked) / total, 2),
        "characters_lost": sum(map(_lost, sources, readings)),
        "errors": sorted({reading.error for reading in readings if reading.error}),
        "load": [round(load, 1), round(os.getloadavg()[0], 1)],
    }


def _alone(source: Source, checker: Checker, reading: Reading) -> int:
    texts = {text.strip() for text in checker.asked} | set(reading.told)
    return sum(sentence in texts for sentence in source.sentences)


def _within(source: Source, checker: Checker, reading: Reading) -> int:
    texts = [*checker.asked, *reading.told]
    return sum(any(sentence in text for text in texts) for sentence in source.sentences)


def _lost(source: Source, reading: Reading) -> int:
    return 0 if reading.text == source.text else max(abs(len(source.text) - len(reading.text)), 1)


def _middle(values: list[float]) -> float:
    return _at(values, 0.5)


def _at(values: list[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))] if values else float("nan")


async def probed(make: Make, checkers: Checkers, workload: Workload) -> dict[str, Any]:
    """Planted facts, readers that leave, a broken checker, a tail, one piece of four sentences."""
    passages = workload.passages(0)

    def opened(checker: Checker) -> Opened:
        return make(checker, passages)

    source, checker = Source(workload.sentences(0, planted=True), RATE), checkers(passages)
    judge = checkers(passages)
    planted = [one for one in source.sentences if one in workload.planted and not await judge.ask(one)]
    passing = [one for one in source.sentences if one not in workload.planted and await judge.ask(one)]
    reading = await followed(source, opened(checker))
    found: dict[str, Any] = {
        "planted": len(planted),
        "planted_shown": sum(fact.rstrip(".")[-25:] in reading.text for fact in planted),
        "passing": len(passing),
        "passing_shown": sum(one in reading.text for one in passing),
        "characters_read": source.written,
        "of": len(source.text),
        "ends_with": reading.text[-120:],
        "error": reading.error,
    }
    for name, close in (("forgotten", False), ("closed", True)):
        source = Source(workload.sentences(0), RATE)
        found[name] = await left(source, opened(checkers(passages)), close=close)
    checker = checkers(passages)
    checker.broken = True
    source = Source(workload.sentences(0)[:4], RATE)
    reading = await followed(source, opened(checker))
    found["broken_checker"] = {
        "characters_shown": len(reading.text),
        "of": len(source.text),
        "error": reading.error,
        "told": bool(reading.error or reading.unchecked) or '{"error"' in reading.text,
        "asked": len(checker.asked),
    }
    tail = workload.planted[0].rstrip(".")
    source, checker = Source([*workload.sentences(0)[:2], tail], RATE), checkers(passages)
    reading = await followed(source, opened(checker))
    found["tail"] = {
        "checked": any(tail in text for text in (*checker.asked, *reading.told)),
        "shown": tail in reading.text,
    }
    four = [workload.planted[0], *workload.sentences(0)[:3]]
    source, checker = Source(four, RATE, pieces=[" ".join(four)]), checkers(passages)
    reading = await followed(source, opened(checker))
    found["four_in_a_piece"] = {
        "checked_alone": _alone(source, checker, reading),
        "others_shown": sum(one in reading.text for one in four[1:]),
        "planted_shown": four[0].rstrip(".")[-25:] in reading.text,
    }
    return found


async def main(program: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Everything of one library with one checker."""
    workload = Workload.read(Path(spec["workload"]))
    module = importlib.import_module(f"programs.{program}")
    make: Make = module.made(spec["checker"], spec["mode"])
    if spec["checker"] == "model":
        checkers = scoring()
    else:

        def checkers(passages: list[str]) -> Checker:
            del passages
            return sleeping(0.04, workload.planted)

    warm = checkers(workload.passages(0))
    await warm.ask(workload.sentences(0)[0])
    await followed(Source(workload.sentences(0)[:2], RATE), make(warm, workload.passages(0)))
    runs, first = [], spec["first"]
    for count in spec["streams"]:  # each with answers that nobody has seen
        runs.append(await timed(make, checkers, workload, range(first, first + count)))
        first += count
    return {"timed": runs, **({"probed": await probed(make, checkers, workload)} if spec["probes"] else {})}


if __name__ == "__main__":
    told = asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
    print("\n" + json.dumps(told), flush=True)
    os._exit(0)  # what a library left running is its own; it was measured
