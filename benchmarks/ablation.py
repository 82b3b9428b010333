"""What each step that makes a claim cheaper is worth alone.

    python benchmarks/ablation.py                 some minutes
    python benchmarks/ablation.py --answers 2     fewer claims
    python benchmarks/ablation.py --rounds 12 --only signed three
                                                  rows of the third table that begin so, in more rounds

The first table is one run of the graph over a claim, the second several passes of a claim one after the
other and together. The third is a claim as the scorer takes it, and as the assessor does: with passes over
what its sentence cites, and the deterministic checks; passages are known, nothing is remembered of the claim.
Processor time; what is compared runs in turn, and the least of several rounds is told: other work on the
machine only adds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import graph_variants
import workloads
from machine import describe
from streamverify.citations import Marker
from streamverify.judging.assessor import Assessor, VerifierConfig
from streamverify.judging.premises import Measured
from streamverify.judging.score_cache import ScoreCache
from streamverify.passages import cut
from streamverify.scorers.graphs import premise_graph, runtime
from streamverify.scorers.graphs.onnx_runtime import onnxruntime as ort
from streamverify.scorers.graphs.premise_graph import PremiseGraph
from streamverify.scorers.graphs.signed_weights import turned
from streamverify.scorers.model_files import embedded
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort, Claim, ClaimScore, Prepared
from streamverify.sentences.segmenter import segment

ROUNDS = 40
TOKENS = (22, 30)
"""Of a claim: the mean of the development claims, and a long one."""


@contextmanager
def loaded(
    change: Callable[[bytes], bytes] = turned, options: Callable[[Any], None] | None = None
) -> Iterator[None]:
    """Graphs opened meanwhile are changed so and run so."""
    before = premise_graph.turned, runtime._options  # noqa: SLF001 - what the library itself would take

    def made(*, as_written: bool = False) -> ort.SessionOptions:
        found = before[1](as_written=as_written)
        if options is not None:
            options(found)
        return found

    premise_graph.turned, runtime._options = change, made  # noqa: SLF001 - put back below
    try:
        yield
    finally:
        premise_graph.turned, runtime._options = before  # noqa: SLF001 - as it was


def graphs() -> dict[str, PremiseGraph]:
    """The graph as it is and each change to it alone."""
    file: Path = embedded() / "model.int8.onnx"
    found = {}

    def opened(name: str, **how: Any) -> None:
        with loaded(**how):
            found[name] = PremiseGraph(file, packed_passes=False)

    opened("unsigned weights", change=_same)
    opened("signed weights, as shipped")
    opened("and one product for Q, K, V", change=lambda c: turned(graph_variants.one_product(c)))
    opened("and the runtime's MultiHeadAttention", change=lambda c: turned(graph_variants.one_attention(c)))
    opened("and no memory arena", options=lambda o: setattr(o, "enable_cpu_mem_arena", False))
    opened("and no memory pattern", options=lambda o: setattr(o, "enable_mem_pattern", False))
    opened(
        "and denormals as zero",
        options=lambda o: o.add_session_config_entry("session.set_denormal_as_zero", "1"),
    )
    return found


def single_runs() -> None:
    """The first table."""
    rng, abort = np.random.default_rng(1), Abort()
    of = graphs()
    base = of["signed weights, as shipped"]
    windows = [base.encode(rng.integers(1000, 20_000, 128).tolist(), abort=abort) for _ in range(3)]
    claims = {count: rng.integers(1000, 20_000, count).tolist() for count in TOKENS}
    cases = [(count, seen) for count in TOKENS for seen in (1, 3)]
    took: dict[tuple[str, int, int], list[float]] = {}
    same: dict[str, bool] = {}
    for _ in range(ROUNDS):
        for name, graph in of.items():
            for count, seen in cases:
                start = time.thread_time()
                logits, _ = graph.read(claims[count], windows[:seen], abort=abort)
                took.setdefault((name, count, seen), []).append(time.thread_time() - start)
                expected, _ = base.read(claims[count], windows[:seen], abort=abort)
                same[name] = same.get(name, True) and bool(np.array_equal(logits, expected))
    print(
        "\n| CPU ms of a run | " + " | ".join(f"{c} tokens, {s} windows" for c, s in cases) + " | same bits |"
    )
    print("|---|" + "---|" * (len(cases) + 1))
    for name in of:
        cells = [f"{min(took[name, *case]) * 1e3:.2f}" for case in cases]
        print(f"| {name} | {' | '.join(cells)} | {'yes' if same[name] else 'no'} |")


def several_passes() -> None:
    """The second table."""
    rng, abort = np.random.default_rng(1), Abort()
    graph = PremiseGraph(embedded() / "model.int8.onnx")
    windows = [graph.encode(rng.integers(1000, 20_000, 128).tolist(), abort=abort) for _ in range(3)]
    passes = {
        "two windows": [[windows[0]], [windows[1]]],
        "a window, all": [[windows[0]], windows],
        "two windows, all": [[windows[0]], [windows[1]], windows],
        "three windows, all": [[windows[0]], [windows[1]], [windows[2]], windows],
    }
    took: dict[tuple[int, str, bool], list[float]] = {}
    same = dict.fromkeys(passes, True)
    for _ in range(ROUNDS):
        for count in TOKENS:
            claim = rng.integers(1000, 20_000, count).tolist()
            for name, groups in passes.items():
                start = time.thread_time()
                apart = [graph.read(claim, group, abort=abort) for group in groups]
                between = time.thread_time()
                together = graph.read_several(claim, groups, abort=abort)
                took.setdefault((count, name, False), []).append(between - start)
                took.setdefault((count, name, True), []).append(time.thread_time() - between)
                for one, other in zip(apart, together, strict=True):
                    same[name] &= all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    columns = [f"{count} tokens, {how}" for count in TOKENS for how in ("apart", "together", "ratio")]
    print(f"\n| CPU ms of passes | {' | '.join(columns)} | same bits |\n|---|{'---|' * (len(columns) + 1)}")
    for name in passes:
        cells = []
        for count in TOKENS:
            apart_took, together_took = took[count, name, False], took[count, name, True]
            ratio = median(b / a for a, b in zip(apart_took, together_took, strict=True))
            cells += [f"{min(apart_took) * 1e3:.2f}", f"{min(together_took) * 1e3:.2f}", f"{ratio:.2f}"]
        print(f"| {name} | {' | '.join(cells)} | {'yes' if same[name] else 'no'} |")


def scorers(only: Sequence[str]) -> dict[str, PremiseCachedScorer]:
    """The scorer with each step alone; those whose names begin so."""
    found = {}
    for name, change, how in (
        ("unsigned weights, every pass", _same, {"early_exit": False, "packed_passes": False}),
        ("early exit alone", _same, {"packed_passes": False}),
        ("signed weights alone", turned, {"early_exit": False, "packed_passes": False}),
        ("packed passes alone", _same, {"early_exit": False}),
        ("signed weights and early exit", turned, {"packed_passes": False}),
        ("three steps, as shipped", turned, {}),
        ("three steps, windows in half precision", turned, {"cache_precision": "float16"}),
    ):
        if not name.startswith(tuple(only)):
            continue
        with loaded(change):
            found[name] = PremiseCachedScorer(threads=1, **how)
    return found


def _same(content: bytes) -> bytes:
    return content


Job = tuple[Callable[[], ClaimScore], Callable[[], Measured]]
"""A claim, scored, and scored and checked."""


def jobs(scorer: PremiseCachedScorer, answers: int) -> list[Job]:
    """The claims of so many answers, their passages known."""
    basis = VerifierConfig(scorer, scorer.traits.calibration, cache=ScoreCache(0))
    traits, found = scorer.traits, []

    def job(assessor: Assessor, prepared: Prepared, claim: Claim, markers: Sequence[Marker]) -> Job:
        return (
            lambda: scorer.score(prepared, [claim], abort=Abort())[0],
            lambda: assessor.measure(claim, markers, Abort()),
        )

    for seed in range(answers):
        passages = workloads.passages(10, seed=seed)
        assessor = basis.assessor(passages, None, Abort())
        windows = cut(passages, scorer.token_spans, traits.window_tokens, title_tokens=traits.title_tokens)
        prepared = scorer.prepare(windows, abort=Abort())
        sentences = segment("".join(workloads.answer(300, seed)))
        for place, sentence in enumerate(sentences):
            markers, reading = assessor.read(sentence, sentences[max(place - 40, 0) : place])
            if reading.claim is not None:
                found.append(job(assessor, prepared, reading.claim, markers))
    return found


def claims(answers: int, rounds: int, only: Sequence[str]) -> None:
    """The third table."""
    of = scorers(only)
    put = {name: jobs(scorer, answers) for name, scorer in of.items()}
    took: dict[tuple[str, int], list[list[float]]] = {}
    passes = dict.fromkeys(((name, kind) for name in of for kind in range(2)), 0)
    for turn in range(rounds + 1):  # the first makes everything warm
        for name, each in put.items():
            for kind in range(2):
                times = []
                for job in each:
                    start = time.process_time()
                    found = job[kind]()
                    times.append(time.process_time() - start)
                    if not turn:
                        score = found if isinstance(found, ClaimScore) else found.score
                        passes[name, kind] += score.passes
                if turn:
                    took.setdefault((name, kind), []).append(times)
    number = len(next(iter(put.values())))
    print(f"\n{number} claims, each against ten passages of 200 words\n")
    print("| | passes a claim | scorer, CPU ms: mean, median | passes, citations read | and checks, CPU ms |")
    print("|---|---|---|---|---|")
    for name, scorer in of.items():
        cells = []
        for kind in range(2):
            cells.append(f"{passes[name, kind] / number:.2f}")
            least = [min(times) * 1e3 for times in zip(*took[name, kind], strict=True)]
            cells.append(f"{sum(least) / number:.1f}, {median(least):.1f}")
        print(f"| {name} | {' | '.join(cells)} |")
        scorer.close()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--answers", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3, help="of the third table")
    parser.add_argument("--only", nargs="*", metavar="BEGINNING", help="rows of the third table alone")
    options = parser.parse_args()
    print(describe())
    if options.only is None:
        single_runs()
        several_passes()
    claims(options.answers, options.rounds, options.only or [""])


if __name__ == "__main__":
    main()
