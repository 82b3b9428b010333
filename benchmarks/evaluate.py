"""What evaluating recorded answers costs beside the scorer, and how its memory and its import grow.

    python benchmarks/evaluate.py                 200 answers, memory up to 20,000 cases; some minutes
    python benchmarks/evaluate.py --quick         few answers, small sets, no bars
    python benchmarks/evaluate.py --check         exit 1 where a bar is missed
    python benchmarks/evaluate.py --json FILE     also write the figures

Throughput: what an evaluation asks of its scorer is written down and asked again by itself, on a scorer with
an empty cache, one answer a thread, on as many threads as there are cores: once as any caller of a scorer
does (`prepare` all windows, `score` each claim), once with each window left until a claim asks for it
(`read`), as evaluations do. The ratios of the times are taken within each round, in turn. The evaluation's
time runs from the file of answers to the run's file, intervals included. Memory: the peak of a process that
evaluates a file with the lexical scorer and writes the run, for sets of three sizes. Import: processor time
of a process that imports, less that of bare Python.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from machine import describe
from streamverify import Verifier
from streamverify.console.turns import rare_collections, short_turns
from streamverify.evaluate import evaluate, read_dataset
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort, Claim, ClaimScore, Deferring, Prepared, Window
from workloads import cases, passages

RATIO, KB_A_CASE, IMPORT_MS = 0.85, 2.0, 50.0
"""Bars: least share of the scorer's throughput, most memory a case, most processor time of the import."""
SENTENCES, PASSAGES = 8, 5


def rows(count: int, *, sentences: int, sources: int, words: int) -> list[dict[str, object]]:
    """Different answers over different passages, made from the bundled cases."""
    texts = [one.text.strip() for case in cases() for one in case.sentences]
    made = []
    for number in range(count):
        answer = " ".join(texts[(number * 7 + place * 3) % len(texts)] for place in range(sentences))
        known = passages(sources, words, seed=number) if sources else []
        made.append(
            {
                "id": f"answer-{number}",
                "question": "What do the sources say about it?",
                "answer": answer,
                "category": "abcd"[number % 4],
                "passages": [{"id": p.id, "title": p.title, "text": p.text} for p in known],
            }
        )
    return made


def written(path: Path, given: Sequence[dict[str, object]]) -> Path:
    """The rows as a file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    return path


class Recorder:
    """The embedded scorer, and every call made of it, by what it was asked to prepare.

    Only texts are kept: whoever kept what was encoded of them would have the scorer take new memory for each.
    """

    def __init__(self) -> None:
        self._scorer = PremiseCachedScorer()
        self.fingerprint, self.traits = self._scorer.fingerprint, self._scorer.traits
        self.token_spans, self.close = self._scorer.token_spans, self._scorer.close
        self.calls: dict[int, tuple[Sequence[Window], list[Sequence[Claim]]]] = {}
        """By the identity of the windows, which stay, so that none is given twice."""

    def prepare(self, windows: Sequence[Window], *, abort: Abort) -> Prepared:
        return self._written(self._scorer.prepare(windows, abort=abort))

    def read(self, windows: Sequence[Window], *, abort: Abort) -> Prepared:
        return self._written(self._scorer.read(windows, abort=abort))

    def reread(self, prepared: Prepared) -> Prepared:
        return self._written(self._scorer.reread(prepared))

    def ahead(self, prepared: Prepared, *, abort: Abort) -> None:
        self._scorer.ahead(prepared, abort=abort)

    def _written(self, prepared: Prepared) -> Prepared:
        self.calls.setdefault(id(prepared.windows), (prepared.windows, []))
        return prepared

    def score(self, prepared: Prepared, claims: Sequence[Claim], *, abort: Abort) -> list[ClaimScore]:
        self.calls[id(prepared.windows)][1].append(claims)
        return self._scorer.score(prepared, claims, abort=abort)


def scorer_alone(
    calls: Sequence[tuple[Sequence[Window], list[Sequence[Claim]]]], *, deferred: bool
) -> tuple[float, float]:
    """Seconds that the calls take by themselves, one answer a thread: of the clock and of the processors."""
    scorer = PremiseCachedScorer()
    begin = scorer.read if deferred else scorer.prepare

    def answer(call: tuple[Sequence[Window], list[Sequence[Claim]]]) -> None:
        windows, claims = call
        prepared = begin(windows, abort=Abort())
        for one in claims:
            scorer.score(prepared, one, abort=Abort())

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(answer, calls[:2]))  # warm
        cpu, start = _cpu(), time.perf_counter()
        list(threads.map(answer, calls))
        took, spent = time.perf_counter() - start, _cpu() - cpu
    scorer.close()
    return took, spent


@dataclass(frozen=True, slots=True)
class Pair:
    """One evaluation and its scorer alone, in both ways; seconds of the clock and of the processor."""

    evaluation: float
    evaluation_cpu: float
    alone: float
    alone_cpu: float
    deferred: float
    deferred_cpu: float
    claims: int

    @property
    def ratio(self) -> float:
        return self.alone / self.evaluation

    @property
    def cpu_ratio(self) -> float:
        """Hangs less on what else the machine does."""
        return self.alone_cpu / self.evaluation_cpu

    @property
    def deferred_ratio(self) -> float:
        """Beside the scorer that does as little as the evaluation asks of it."""
        return self.deferred / self.evaluation

    @property
    def deferred_cpu_ratio(self) -> float:
        return self.deferred_cpu / self.evaluation_cpu


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def pair(answers: int, folder: Path) -> Pair:
    """An evaluation from file to file, then its scorer's calls by themselves."""
    path = written(folder / "answers.jsonl", rows(answers, sentences=SENTENCES, sources=PASSAGES, words=200))
    scorer = Recorder()
    # Whoever lacks one of its methods is asked to encode all passages first, as no embedded scorer is.
    assert isinstance(scorer, Deferring)
    with Verifier(scorer) as verifier:
        verifier.check_sync("Warm up the model.", ["One short passage to warm up the model."])
        scorer.calls.clear()
        cpu, start = _cpu(), time.perf_counter()
        run = evaluate(read_dataset(path), verifier=verifier, out=folder / f"{time.monotonic_ns()}.jsonl")
        run.write(folder / "run.json")
        took, spent = time.perf_counter() - start, _cpu() - cpu
    scorer.close()
    if run.errors:
        raise SystemExit(f"{len(run.errors)} cases went wrong: {run.errors[0].error}")
    calls = list(scorer.calls.values())
    claims = sum(len(claims) for _, made in calls for claims in made)
    plain, deferred = scorer_alone(calls, deferred=False), scorer_alone(calls, deferred=True)
    return Pair(took, spent, *plain, *deferred, claims)


MEMORY = """
import sys
from streamverify import Verifier
from streamverify.evaluate import evaluate, read_dataset
def peak():
    with open('/proc/self/status') as file:
        return next(int(line.split()[1]) for line in file if line.startswith('VmHWM')) / 1024
with Verifier('lexical') as verifier:
    run = evaluate(read_dataset(sys.argv[1]), verifier=verifier, out=sys.argv[2])
    checked = peak()
    run.write(sys.argv[3])
print(checked, peak())
"""


def memory(count: int, folder: Path) -> tuple[float, float]:
    """Peak megabytes of a process that evaluates so many cases: of checking them, and of all it does."""
    # Short answers over few passages: what is asked is how it grows, and with what a case is.
    few = rows(min(count, 200), sentences=2, sources=1, words=40)
    given = [{**few[number % len(few)], "id": f"answer-{number}"} for number in range(count)]
    path = written(folder / f"{count}.jsonl", given)
    command = [sys.executable, "-c", MEMORY, path, folder / f"{count}.journal", folder / f"{count}.json"]
    first, last = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(first), float(last)


def cpu_ms(code: str, repeats: int) -> float:
    """Median processor milliseconds of a fresh process, its children's bytecode warm."""

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

    once()
    return statistics.median(once() for _ in range(repeats))


Found = tuple[dict[str, object], list[str]]
"""Figures, and the bars they miss, in words."""


def throughput(answers: int, repeats: int, folder: Path) -> Found:
    """Pairs of an evaluation and its scorer alone."""
    pairs = []
    for _ in range(repeats):
        with short_turns(), rare_collections():  # as the program has them, for both
            pairs.append(one := pair(answers, folder))
        print(
            f"{answers} answers, {one.claims} claims: evaluated in {one.evaluation:.1f} s "
            f"({one.evaluation_cpu:.1f} s of processors), scorer alone {one.alone:.1f} s "
            f"({one.alone_cpu:.1f} s), deferred {one.deferred:.1f} s ({one.deferred_cpu:.1f} s); ratio "
            f"{one.ratio:.3f}, of processor time {one.cpu_ratio:.3f}; deferred {one.deferred_ratio:.3f}, "
            f"{one.deferred_cpu_ratio:.3f}",
            flush=True,
        )
    ratio = statistics.median(one.ratio for one in pairs)
    figures = {
        "n": {"answers": answers, "sentences": SENTENCES, "passages": PASSAGES, "pairs": repeats},
        "ratio": ratio,
        "cpu_ratio": statistics.median(one.cpu_ratio for one in pairs),
        "deferred_ratio": statistics.median(one.deferred_ratio for one in pairs),
        "deferred_cpu_ratio": statistics.median(one.deferred_cpu_ratio for one in pairs),
        "answers_per_second": statistics.median(answers / one.evaluation for one in pairs),
        "pairs": [asdict(one) for one in pairs],
    }
    return figures, [f"throughput {ratio:.3f} of the scorer's < {RATIO}"] if ratio < RATIO else []


def growth(sizes: Sequence[int], folder: Path) -> Found:
    """Peaks by number of cases, and what a case adds."""
    peaks = []
    for size in sizes:
        peaks.append(memory(size, folder))
        print("{} cases: peak {:.0f} MB, {:.0f} MB with the run written".format(size, *peaks[-1]), flush=True)
    checked, whole = (
        1024 * (last - first) / (sizes[-1] - sizes[0])
        for first, last in zip(peaks[0], peaks[-1], strict=True)
    )
    print(f"a case adds {checked:.2f} kB, {whole:.2f} kB with the run written")
    figures = {
        "cases": list(sizes),
        "peak_mb": [peak for peak, _ in peaks],
        "peak_mb_written": [peak for _, peak in peaks],
        "kb_a_case": checked,
        "kb_a_case_written": whole,
    }
    return figures, [f"memory {checked:.2f} kB a case > {KB_A_CASE}"] if checked > KB_A_CASE else []


def imports(repeats: int) -> Found:
    """What importing costs."""
    bare = cpu_ms("pass", repeats)
    package = cpu_ms("import streamverify.evaluate", repeats) - bare
    names = cpu_ms("from streamverify.evaluate import evaluate, read_dataset", repeats) - bare
    print(
        f"import streamverify.evaluate {package:.1f} ms of a processor over {bare:.1f} ms of bare Python; "
        f"{names:.1f} ms with evaluate and read_dataset (medians of {repeats})"
    )
    figures = {"n": repeats, "bare_ms": bare, "package_ms": package, "names_ms": names}
    return figures, [f"import {package:.1f} ms > {IMPORT_MS}"] if package > IMPORT_MS else []


def main() -> int:
    """Measure, print, optionally write and check."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="6 answers, sets of 50 and 200 cases")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    parser.add_argument("--only", choices=["throughput", "memory", "import"], help="one part")
    parser.add_argument("--answers", type=int, help="of an evaluation; 6 with --quick, 200 without")
    parser.add_argument("--repeats", type=int, help="pairs; 1 with --quick, 3 without")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    quick = options.quick
    with tempfile.TemporaryDirectory() as name:
        parts: dict[str, Callable[[], Found]] = {
            "throughput": lambda: throughput(
                options.answers or (6 if quick else 200), options.repeats or (1 if quick else 3), Path(name)
            ),
            "memory": lambda: growth((50, 200) if quick else (500, 5_000, 20_000), Path(name)),
            "import": lambda: imports(5 if quick else 21),
        }
        found = {part: run() for part, run in parts.items() if options.only in (None, part)}
    # Few cases tell nothing about what one adds, and few answers wait for the start.
    missed = [] if quick else [miss for _, misses in found.values() for miss in misses]
    print(
        "\n".join(f"MISSED {miss}" for miss in missed)
        or ("bars are not asked for" if quick else "every bar is met")
    )
    if options.json is not None:
        figures = {part: figures for part, (figures, _) in found.items()}
        record = {"machine": describe(), "command": sys.argv, **figures, "missed": missed}
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
