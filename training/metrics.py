"""Figures used to choose and describe a model.

AUROC and calibration error stand a second time here, after `benchmarks/figures.py` and
`streamverify/evaluate/stats.py`: the recipe runs without the library installed. A test holds them equal
(`tests/test_one_formula.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores = NDArray[np.float64]
    Truth = NDArray[np.bool_]


def auroc(scores: Scores, truth: Truth) -> float:
    """Chance that a supported claim scores above another; ties count half.

    NaN where all claims have one label.
    """
    positive, negative = int(truth.sum()), int((~truth).sum())
    if not positive or not negative:
        return float("nan")
    ranks = rankdata(scores)
    return float((ranks[truth].sum() - positive * (positive + 1) / 2) / (positive * negative))


def balanced_accuracy(scores: Scores, truth: Truth, threshold: float) -> float:
    """Mean of the shares of supported and of other claims judged rightly."""
    said = scores >= threshold
    return float((said[truth].mean() + (~said[~truth]).mean()) / 2)


def best_threshold(scores: Scores, truth: Truth) -> tuple[float, float]:
    """The highest balanced accuracy over thresholds, and its threshold."""
    candidates = np.unique(np.quantile(scores, np.linspace(0.01, 0.99, 199)))
    return max((balanced_accuracy(scores, truth, float(t)), float(t)) for t in candidates)


def calibration_error(scores: Scores, truth: Truth, bins: int = 10) -> float:
    """Expected calibration error over equally filled bins."""
    parts = np.array_split(np.argsort(scores, kind="stable"), bins)
    gaps = [len(p) * abs(float(scores[p].mean()) - float(truth[p].mean())) for p in parts if len(p)]
    return float(sum(gaps) / len(scores))


def span_f1(marked: list[NDArray[np.bool_]], gold: list[NDArray[np.bool_]]) -> float:
    """Token F1 of unsupported spans over all claims together."""
    hit = sum(int((m & g).sum()) for m, g in zip(marked, gold, strict=True))
    said = sum(int(m.sum()) for m in marked)
    true = sum(int(g.sum()) for g in gold)
    return 2 * hit / max(said + true, 1)
