"""Figures over judged sentences, with bootstrap intervals that resample whole answers.

AUROC is the Mann–Whitney statistic with ties counted half (Hanley and McNeil 1982). Balanced accuracy is
the mean of the two classes' recalls. The calibration error takes ten bins of equal width (Naeini et al.
2015). Intervals are percentile bootstrap, 1,000 resamples of items, 95 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamverify.evaluate import stats

BAD = frozenset({"unsupported", "contradicted", "not_supported"})
LABELS = ("supported", "unsupported", "contradicted", "no_claim")


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled stretch and what was said of it."""

    item: str
    gold: str
    kind: str
    label: str
    """Label given, `missing` where no sentence covers the stretch."""
    score: float | None
    overlap: tuple[int, int, int] | None = None
    """Characters in both, in the given and in the labelled unsupported spans; None where unlabelled."""
    shared: float | None = None
    """Share of the claim's content words that stand in its passages, 0 to 1: what a reader must beat."""


def auroc(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float | None:
    """Chance that a supported row scores above one that is not; None without both."""
    ups, downs = int(positive.sum()), int((~positive).sum())
    if not ups or not downs:
        return None
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return float((ranks[positive].sum() - ups * (ups + 1) / 2) / (ups * downs))


def claims(rows: Sequence[Row]) -> list[Row]:
    """The rows that make a claim by hand."""
    return [row for row in rows if row.gold == "supported" or row.gold in BAD]


def area(rows: Sequence[Row]) -> float | None:
    """AUROC of the scored claims."""
    scored = [row for row in claims(rows) if row.score is not None]
    scores = np.array([row.score for row in scored], np.float64)
    return auroc(scores, np.array([row.gold == "supported" for row in scored], bool))


def overlap_area(rows: Sequence[Row]) -> float | None:
    """AUROC of plain word overlap on the same claims."""
    scored = [row for row in claims(rows) if row.score is not None and row.shared is not None]
    shared = np.array([row.shared for row in scored], np.float64)
    return auroc(shared, np.array([row.gold == "supported" for row in scored], bool))


def above_overlap(rows: Sequence[Row]) -> float | None:
    """The verdict's AUROC less that of word overlap, paired: both on the claims that have both."""
    both = [row for row in rows if row.score is not None and row.shared is not None]
    verdict, overlap = area(both), overlap_area(both)
    return None if verdict is None or overlap is None else verdict - overlap


def balanced(rows: Sequence[Row]) -> float | None:
    """Balanced accuracy of SUPPORTED against everything else, at the shipped threshold."""
    up = [row.label == "supported" for row in rows if row.gold == "supported"]
    down = [row.label != "supported" for row in rows if row.gold in BAD]
    return (float(np.mean(up)) + float(np.mean(down))) / 2 if up and down else None


def best_balanced(rows: Sequence[Row]) -> float | None:
    """Balanced accuracy at the threshold that is best for this very set: an upper bound, tuned on it."""
    scored = [row for row in claims(rows) if row.score is not None]
    up = np.sort([row.score for row in scored if row.gold == "supported"])
    down = np.sort([row.score for row in scored if row.gold != "supported"])
    if not len(up) or not len(down):
        return None
    grid = np.unique(np.concatenate([up, down]))
    hit = 1 - np.searchsorted(up, grid) / len(up)
    reject = np.searchsorted(down, grid) / len(down)
    return float(((hit + reject) / 2).max())


def false_alarms(rows: Sequence[Row]) -> float | None:
    """Of 100 supported sentences, those called unsupported or contradicted."""
    called = [row.label in BAD for row in rows if row.gold == "supported"]
    return 100 * float(np.mean(called)) if called else None


def misses(rows: Sequence[Row]) -> float | None:
    """Of 100 ungrounded sentences, those not called unsupported or contradicted."""
    missed = [row.label not in BAD for row in rows if row.gold in BAD]
    return 100 * float(np.mean(missed)) if missed else None


def macro_f1(rows: Sequence[Row]) -> float | None:
    """Mean F1 of the labels that the set knows; None where it only knows supported or not."""
    if any(row.gold == "not_supported" for row in rows):
        return None
    values = []
    for label in LABELS:
        both = sum(row.gold == row.label == label for row in rows)
        given, known = sum(row.label == label for row in rows), sum(row.gold == label for row in rows)
        if known:
            values.append(2 * both / (given + known))
    return float(np.mean(values)) if values else None


def span_f1(rows: Sequence[Row]) -> float | None:
    """F1 of the characters in unsupported spans, over the ungrounded sentences of the set."""
    counted = [row.overlap for row in rows if row.overlap is not None and row.gold in BAD]
    if not counted:
        return None
    both, given, known = (sum(column) for column in zip(*counted, strict=True))
    return 2 * both / (given + known) if given + known else None


def calibration_error(rows: Sequence[Row]) -> float | None:
    """Expected calibration error of the scores."""
    scored = [row for row in claims(rows) if row.score is not None]
    if not scored:
        return None
    scores = np.array([row.score for row in scored], np.float64)
    truth = np.array([row.gold == "supported" for row in scored], np.float64)
    return stats.calibration_error(scores, truth, equal="width")


FIGURES: dict[str, Callable[[Sequence[Row]], float | None]] = {
    "auroc": area,
    "overlap_auroc": overlap_area,
    "above_overlap": above_overlap,
    "balanced_accuracy": balanced,
    "best_balanced_accuracy": best_balanced,
    "macro_f1": macro_f1,
    "false_alarms_per_100": false_alarms,
    "misses_per_100": misses,
    "span_f1": span_f1,
    "calibration_error": calibration_error,
}


def interval(
    rows: Sequence[Row], figure: Callable[[Sequence[Row]], float | None], resamples: int = 1000
) -> tuple[float, float] | None:
    """95 % percentile interval over resampled items; None where the figure cannot be computed."""
    by_item: dict[str, list[Row]] = {}
    for row in rows:
        by_item.setdefault(row.item, []).append(row)
    groups = list(by_item.values())
    generator = np.random.default_rng(0)
    values = []
    for _ in range(resamples):
        drawn = generator.integers(0, len(groups), len(groups))
        value = figure([row for index in drawn for row in groups[index]])
        if value is not None:
            values.append(value)
    if len(values) < resamples // 2:
        return None
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
