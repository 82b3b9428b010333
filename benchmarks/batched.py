"""The graph for graphics processors, on a CPU: does it say the same, and do callers share its runs?

    python benchmarks/batched.py                    the embedded model over the bundled cases
    python benchmarks/batched.py --model FOLDER     another one
    python benchmarks/batched.py --quick            a few claims: a sanity run, not a measurement

First table: probabilities of single and joint passes beside those of the same weights in 32 bits, one pass a
run. Second: claims that many threads ask for at once. A CPU has no kernels for most operations in 16 bits and
gains little by longer runs, so the seconds tell nothing of a graphics processor; the claims of a run do.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelled import bundled
from machine import describe
from streamverify.passages import cut
from streamverify.scorers.graphs.batched_graph import BatchedGraph
from streamverify.scorers.graphs.premise_graph import PremiseGraph
from streamverify.scorers.graphs.runtime import softmax
from streamverify.scorers.model_files import ModelFiles
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort
from streamverify.scorers.windows.keys_values import KeysValues

JOINT = 3
PARITY = 0.02
"""What 16 bits may move a probability by; 0.0042 was measured at most."""
Graph = PremiseGraph | BatchedGraph
Probabilities = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Case:
    """Windows and claims as tokens."""

    windows: list[list[int]]
    claims: list[list[int]]

    @property
    def groups(self) -> list[list[int]]:
        """Each window by itself, and the first ones together."""
        return [*([place] for place in range(len(self.windows))), list(range(len(self.windows)))[:JOINT]]


def cases(folder: Path | None, limit: int | None) -> list[Case]:
    """The bundled cases in the model's tokens."""
    scorer = PremiseCachedScorer(folder)
    found = []
    for item in bundled().items[:limit]:
        windows = cut(item.passages, scorer.token_spans, scorer.traits.window_tokens)
        claims = [item.answer[gold.start : gold.end] for gold in item.gold]
        ids = [[*scorer._encode(text).ids] for text in claims]  # noqa: SLF001 - tokens are no one else's matter
        found.append(Case([[*scorer._window_ids(window)] for window in windows], ids))  # noqa: SLF001
    scorer.close()
    return found


def encoded(graph: Graph, case: Case) -> list[KeysValues]:
    """The windows of a case, one by one."""
    return [graph.encode(ids, abort=Abort()) for ids in case.windows]


def passes(graph: Graph, given: Sequence[Case]) -> Probabilities:
    """(passes, 3) of all cases, a claim at a time."""
    rows = []
    for case in given:
        windows = encoded(graph, case)
        groups = [[windows[place] for place in group] for group in case.groups]
        for claim in case.claims:
            rows += [softmax(logits) for logits, _ in graph.read_several(claim, groups, abort=Abort())]
    return np.array(rows)


def beside(found: Probabilities, expected: Probabilities) -> dict[str, Any]:
    """How far the one lies from the other."""
    apart = np.abs(found - expected)
    return {
        "passes": len(found),
        "most": float(apart.max()),
        "mean": float(apart.mean()),
        "other_label": int((found.argmax(1) != expected.argmax(1)).sum()),
    }


def shared(graph: BatchedGraph, given: Sequence[Case], callers: int) -> dict[str, Any]:
    """So many threads ask for all claims: seconds, and how many passes a run held."""
    asked = []
    for case in given:
        windows = encoded(graph, case)
        groups = [[windows[place] for place in group] for group in case.groups]
        asked += [(claim, groups) for claim in case.claims]
    runs: list[int] = []
    read = graph._claims._run  # noqa: SLF001 - counted here, run there

    def counted(claims: Sequence[Any], abort: Abort) -> Sequence[Any]:
        runs.append(sum(len(claim.groups) for claim in claims))
        return read(claims, abort)

    graph._claims._run = counted  # noqa: SLF001
    start = time.perf_counter()
    with ThreadPoolExecutor(callers) as pool:
        list(pool.map(lambda one: graph.read_several(*one, abort=Abort()), asked))
    seconds = time.perf_counter() - start
    graph._claims._run = read  # noqa: SLF001
    passes_of_all = sum(runs)
    return {
        "callers": callers,
        "claims": len(asked),
        "runs": len(runs),
        "passes_a_run": passes_of_all / len(runs),
        "ms_a_claim": 1000 * seconds / len(asked),
    }


def main() -> int:
    """Measure, print, optionally write; 1 where 16 bits say something else."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, help="a model's folder; the embedded one if none")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    given = cases(options.model, 2 if options.quick else None)
    file = ModelFiles.open(options.model).graph
    whole = BatchedGraph(file, provider="cpu", precision="float32")
    halves = BatchedGraph(file, provider="cpu")
    expected = passes(whole, given)
    found = {
        "float16, batched": beside(passes(halves, given), expected),
        "int8, one claim a run": beside(passes(PremiseGraph(file, packed_passes=False), given), expected),
    }
    print("| beside 32 bits | passes | most | mean | likeliest label another |\n|---|---|---|---|---|")
    for name, row in found.items():
        cells = f"{row['passes']} | {row['most']:.4f} | {row['mean']:.5f} | {row['other_label']}"
        print(f"| {name} | {cells} |")
    print("\n| callers | claims | runs | passes a run | ms a claim |\n|---|---|---|---|---|")
    together = [shared(whole, given, callers) for callers in (1, 4, 16, 64)]
    for row in together:
        times = f"{row['passes_a_run']:.1f} | {row['ms_a_claim']:.1f}"
        print(f"| {row['callers']} | {row['claims']} | {row['runs']} | {times} |")
    if options.json:
        told = {"machine": describe(), "model": file.parent.name, "parity": found, "callers": together}
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    held = found["float16, batched"]["most"] <= PARITY
    print(f"16 bits move no probability by more than {PARITY}: {'yes' if held else 'NO'}")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
