"""The ordinary way: the same weights read every sentence together with every window."""

from __future__ import annotations

import time

import numpy as np

from streamverify.passages import cut
from streamverify.scorers.model_files import ModelFiles
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort
from streamverify.scorers.runtime import Session
from workloads import answer, passages


def ordinary_cpu_per_pair(scorer: PremiseCachedScorer, pairs: int = 40) -> float:
    """Median CPU milliseconds of one pass over a window and a sentence in one sequence, on one thread."""
    session = Session(ModelFiles.open(None).graph, provider="cpu")
    windows = cut(passages(4), scorer.token_spans, scorer.traits.window_tokens)
    sentences = [sentence for sentence in "".join(answer(pairs * 30)).split(". ") if sentence.strip()][:pairs]
    layers, heads, size = 6, 12, 32
    empty = np.zeros((layers, 1, heads, 0, size), np.float32)
    took = []
    for index, sentence in enumerate(sentences):
        window = windows[index % len(windows)]
        first = len(scorer.token_spans(window.text)) + 2
        second = len(scorer.token_spans(sentence)) + 1
        ids = np.full((1, first + second), 2003, np.int64)
        segment = np.concatenate([np.zeros((1, first), np.int64), np.ones((1, second), np.int64)], 1)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "segment": segment,
            "past_keys": empty,
            "past_values": empty,
            "past_mask": np.zeros((1, 0), np.int64),
        }
        start = time.process_time()
        session.run(("logits",), inputs, abort=Abort())
        took.append((time.process_time() - start) * 1000)
    return float(np.median(took))
