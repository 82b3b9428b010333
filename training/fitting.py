"""A logistic map whose weights keep the sign they mean: fitted, cross-validated, and what a weight changes.

Before: `fuse.py` measured claims through the library. After: it writes the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from streamverify.calibration import Calibration

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled claim."""

    case: str
    label: str
    features: dict[str, float]


def fit(
    inputs: Floats, truth: Floats, weights: Floats, signs: Sequence[int], penalty: float
) -> tuple[Floats, float]:
    """Weights and bias of a penalised logistic regression whose weights keep their signs.

    Features are scaled, not centred, so that a weight of 0 means the feature is not used.
    """
    scale = inputs.std(0) + 1e-9
    scaled = inputs / scale

    def loss(point: Floats) -> tuple[float, Floats]:
        margin = scaled @ point[:-1] + point[-1]
        value = np.logaddexp(0, -margin) * truth + np.logaddexp(0, margin) * (1 - truth)
        slope = (1 / (1 + np.exp(-margin)) - truth) * weights / weights.sum()
        gradient = np.append(scaled.T @ slope + 2 * penalty * point[:-1], slope.sum())
        return float((weights * value).sum() / weights.sum() + penalty * (point[:-1] ** 2).sum()), gradient

    bounds = [(0, None) if sign > 0 else (None, 0) for sign in signs] + [(None, None)]
    best = minimize(loss, np.zeros(len(signs) + 1), jac=True, bounds=bounds, method="L-BFGS-B").x
    return best[:-1] / scale, float(best[-1])


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far probabilities agree with labels, cross-validated."""

    auroc: float
    balanced_accuracy: float
    missed_per_100: float
    """Of those that should be above the threshold; false alarms where that means supported."""
    calibration_error: float

    def __str__(self) -> str:
        return (
            f"AUROC {self.auroc:.3f}, balanced accuracy {self.balanced_accuracy:.3f}, "
            f"missed of 100 {self.missed_per_100:.1f}, calibration error {self.calibration_error:.3f}"
        )


def threshold_for(positive: Floats, alarms: float | None) -> float:
    """The threshold, in hundredths, below which this share of what should be above lies; 0.5 without one."""
    if alarms is None:
        return 0.5
    return float(np.floor(np.quantile(positive, alarms) * 100) / 100)


@dataclass(frozen=True, slots=True)
class Fitting:
    """What is fitted on what."""

    first: Sequence[Row]
    """The set to be right on; cross-validated."""
    second: Sequence[Row]
    share: float
    """Weight of the second set beside the first."""
    penalty: float
    alarms: float | None = None
    """Share of the first set's positive rows that may fall below the threshold; None: it is 0.5."""

    def map(
        self, names: Sequence[str], positive: str, signs: Sequence[int], keep: NDArray[np.bool_]
    ) -> tuple[Floats, float]:
        """Weights and bias from the kept rows of the first set and all of the second."""
        first = [row for row, kept in zip(self.first, keep, strict=True) if kept]
        share = self.share * len(first) / max(len(self.second), 1)
        weights = np.array([1.0] * len(first) + [share] * len(self.second))
        both = [*first, *self.second]
        inputs = np.array([[row.features[name] for name in names] for row in both])
        return fit(
            inputs, np.array([row.label == positive for row in both], float), weights, signs, self.penalty
        )

    def validate(
        self,
        names: Sequence[str],
        positive: str,
        signs: Sequence[int],
        shares: Mapping[str, float] | None = None,
        given: Mapping[str, float] | None = None,
        folds: int = 8,
        repeats: int = 4,
    ) -> Agreement:
        """Cross-validated figures on the first set, cases never split, mean over repeated foldings.

        `shares` are what stays of weights (`paying`), 1 where none is given; `given` are weights of further
        features that are not fitted.
        """
        part = np.array([(shares or {}).get(name, 1.0) for name in names])
        cases = sorted({row.case for row in self.first})
        inputs = np.array([[row.features[name] for name in names] for row in self.first])
        beside = np.array(
            [sum(weight * row.features[name] for name, weight in (given or {}).items()) for row in self.first]
        )
        truth = np.array([row.label == positive for row in self.first])
        figures = []
        for seed in range(repeats):
            called = np.zeros(len(truth), bool)
            order = np.random.default_rng(seed).permutation(len(cases))
            fold = {cases[case]: place % folds for place, case in enumerate(order)}
            number = np.array([fold[row.case] for row in self.first])
            chance = np.zeros(len(truth))
            for one in range(folds):
                weights, bias = self.map(names, positive, signs, number != one)
                every = 1 / (1 + np.exp(-(inputs @ (weights * part) + bias + beside)))
                held = number == one
                chance[held] = every[held]
                called[held] = every[held] >= threshold_for(every[truth & ~held], self.alarms)
            figures.append(agreement(chance, called, truth))
        return Agreement(*(round(float(value), 4) for value in np.mean(figures, 0)))


@dataclass(frozen=True, slots=True)
class Flips:
    """Labels that a feature changes in a fitted verdict, beside the same verdict without its weight."""

    right: int
    wrong: int

    @classmethod
    def of(cls, name: str, names: Sequence[str], weights: Floats, bias: float, found: Sequence[Row]) -> Flips:
        """Count them at even odds, on claims that the verdict was not fitted on."""
        inputs = np.array([[row.features[one] for one in names] for row in found]).reshape(-1, len(names))
        truth = np.array([row.label == "supported" for row in found], bool)
        called = inputs @ weights + bias >= 0
        without = inputs @ np.where([one == name for one in names], 0, weights) + bias >= 0
        changed = called != without
        return cls(int((changed & (called == truth)).sum()), int((changed & (called != truth)).sum()))

    @property
    def pay(self) -> bool:
        """Whether it turns at least twice as many labels right as wrong."""
        return self.right >= 2 * self.wrong


def paying(
    checks: Sequence[str], names: Sequence[str], weights: Floats, bias: float, found: Sequence[Row]
) -> dict[str, float]:
    """For each check the share of its weight, in tenths, with which it pays beside the others.

    The worst first, each lowered until it pays, and again until none has to be lowered: a label hangs on all
    of them. One that changes no label is never seen to hurt, and keeps its weight.
    """
    tenths = dict.fromkeys(checks, 10)
    lowered = weights.copy()

    def flips(check: str) -> Flips:
        return Flips.of(check, names, lowered, bias, found)

    while any(not flips(check).pay for check in checks):
        for check in sorted(checks, key=lambda one: flips(one).right - 2 * flips(one).wrong):
            while not flips(check).pay:
                tenths[check] -= 1
                place = names.index(check)
                lowered[place] = weights[place] * tenths[check] / 10
    return {check: left / 10 for check, left in tenths.items()}


def agreement(chance: Floats, called: NDArray[np.bool_], truth: NDArray[np.bool_]) -> tuple[float, ...]:
    """The figures of `Agreement` from probabilities, what was called so and what is."""
    bins = np.minimum((chance * 10).astype(int), 9)
    gap = sum(
        abs(chance[bins == b].mean() - truth[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins)
    )
    balanced = (called[truth].mean() + (~called[~truth]).mean()) / 2
    return (float(roc_auc_score(truth, chance)), balanced, 100 * (~called[truth]).mean(), gap)


def beside(calibration: Calibration, found: Sequence[Row]) -> Agreement:
    """How the fitted verdict agrees with claims that it was not fitted on."""
    chance = np.array([calibration.probability(row.features) for row in found])
    truth = np.array([row.label == "supported" for row in found])
    figures = agreement(chance, chance >= calibration.threshold, truth)
    return Agreement(*(round(float(value), 4) for value in figures))
