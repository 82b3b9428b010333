"""The ordinary way: the same weights read every sentence together with every window."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from streamverify.passages import cut
from streamverify.scorers.graphs.premise_graph import PremiseGraph
from streamverify.scorers.model_files import ModelFiles
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort
from workloads import answer, passages


def ordinary_cpu_per_pair(
    scorer: PremiseCachedScorer, pairs: int = 40, *, folder: Path | None = None
) -> float:
    """Median CPU milliseconds of one pass over a window and a sentence in one sequence, on one thread."""
    graph = PremiseGraph(ModelFiles.open(folder).graph)
    windows = cut(passages(4), scorer.token_spans, scorer.traits.window_tokens)
    sentences = [sentence for sentence in "".join(answer(pairs * 30)).split(". ") if sentence.strip()][:pairs]
    took = []
    for index, sentence in enumerate(sentences):
        window = windows[index % len(windows)]
        first = len(scorer.token_spans(window.text)) + 2
        second = len(scorer.token_spans(sentence)) + 1
        ids = [2003] * (first + second)
        start = time.process_time()
        graph.read(ids, [], abort=Abort())
        took.append((time.process_time() - start) * 1000)
    return float(np.median(took))
