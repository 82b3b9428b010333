"""Fits when a sentence is called contradicted: its own weights and a bar of its own, beside the verdict's.

    python -m training.contradiction SET… --calibration calibration.json --rows ROWS.jsonl [--precision 0.8]

P(contradicted) is fitted on every claim of the sets, supported ones too, each set with the same weight. The
threshold is the lowest at which, cross-validated by case, so large a share of what is called contradicted is,
each set weighing alike again.
What was measured is kept in ROWS.jsonl, so that a second fit takes seconds. Development sets only.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamverify.calibration import Calibration
from streamverify.evaluate.stats import wilson
from streamverify.figure import NotComputed
from streamverify.scorers.model_files import ModelFiles
from streamverify.scorers.premise_cached import PremiseCachedScorer
from training.fitting import Floats, Row, fit
from training.fuse import rows_of, set_name
from training.kept_rows import COPIED, KeptRows

RISING = (
    "contradiction",
    "about",
    "negation_mismatch",
    "opposite",
    "number_missing",
    "number_rival",
    "value_unaligned",
    "date_missing",
)
FALLING = ("single", "verbatim")
"""What speaks against a contradiction. The joint pass is left out: a passage on another matter moves it."""
GIVEN = {"verb_denied": 5.0, "exchanged": 4.0}
"""Not fitted here, since development sets hold next to none: of 63 and 225 in training sets 56 and 199 are
contradicted."""
NAMES = (*RISING, *FALLING)
SIGNS = tuple(1 if name in RISING else -1 for name in NAMES)
Flags = NDArray[np.bool_]


class Claims:
    """Measured claims of several sets, with the calibration that decides which of them are supported."""

    def __init__(self, found: Sequence[tuple[str, Row]], calibration: Calibration) -> None:
        self.sets = np.array([name for name, _ in found])
        self.cases = np.array([f"{name}:{row.case}" for name, row in found])
        self.labels = np.array([row.label for _, row in found])
        self.inputs = np.array([[row.features[name] for name in NAMES] for _, row in found])
        chance = np.array([calibration.probability(row.features) for _, row in found])
        about = np.array([row.features["about"] for _, row in found])
        self.open = (chance < calibration.threshold) & (about >= calibration.contradiction_about)
        """Claims that may be called contradicted at all."""
        sizes = {name: (self.sets == name).sum() for name in set(self.sets)}
        self.weights = np.array([1 / sizes[name] for name in self.sets])

    @property
    def truth(self) -> Flags:
        """Which claims are labelled contradicted."""
        return self.labels == "contradicted"

    def map(self, keep: Flags, penalty: float) -> tuple[Floats, float]:
        """Weights and bias from the claims kept."""
        truth = self.truth[keep].astype(float)
        return fit(self.inputs[keep], truth, self.weights[keep], SIGNS, penalty)

    def validated(self, penalty: float, folds: int = 8) -> Floats:
        """P(contradicted) of every claim, from a fit that has not seen its case."""
        names = sorted(set(self.cases))
        order = np.random.default_rng(0).permutation(len(names))
        fold = {names[case]: place % folds for place, case in enumerate(order)}
        number = np.array([fold[case] for case in self.cases])
        chance = np.zeros(len(self.labels))
        for one in range(folds):
            weights, bias = self.map(number != one, penalty)
            held = number == one
            chance[held] = 1 / (1 + np.exp(-(self.inputs[held] @ weights + bias)))
        return chance


def interval(hits: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share; all of 0-1 where there is nothing to share."""
    found = wilson(hits, of)
    return (0.0, 1.0) if isinstance(found, NotComputed) else (round(found.low, 2), round(found.high, 2))


def figures(claims: Claims, called: Flags, name: str | None = None) -> dict[str, object]:
    """Precision and recall of what is called contradicted, of one set or of all."""
    inside = claims.sets == name if name is not None else np.ones(len(called), bool)
    called, truth = called & inside, claims.truth & inside
    hits, rejected = int((called & truth).sum()), int((called & (claims.labels != "supported")).sum())
    return {
        "claims": int(inside.sum()),
        "called": int(called.sum()),
        "precision": round(hits / max(int(called.sum()), 1), 3),
        "interval": interval(hits, int(called.sum())),
        "not_supported": round(rejected / max(int(called.sum()), 1), 3),
        "recall": round(hits / max(int(truth.sum()), 1), 3),
        "recall_interval": interval(hits, int(truth.sum())),
    }


def lowest(claims: Claims, chance: Floats, precision: float) -> float:
    """The lowest threshold, in hundredths, that holds the precision asked for; sets weigh alike."""
    best = 0.99
    for threshold in np.arange(0.99, 0.29, -0.01):
        called = claims.open & (chance >= threshold)
        if called.sum() < _FEW:
            continue
        if np.average(claims.truth[called], weights=claims.weights[called]) >= precision:
            best = float(threshold)
    return round(best, 2)


_FEW = 20
"""Claims called contradicted below which a precision says nothing."""


def measure(paths: Sequence[Path], file: Path, model: Path | None) -> list[tuple[str, Row]]:
    """The claims of the sets, from the file they are kept in or measured and kept there.

    Raises:
        ValueError: the file holds claims of another model. Caller: name another file, or that model.
    """
    kept = KeptRows(file, ModelFiles.open(model).revision)
    names = [set_name(path) for path in paths] or [name for name in kept.sets if name != COPIED]
    if not kept.sets.keys() >= set(names):
        scorer = PremiseCachedScorer(model, joint_windows=3)
        for path in paths:
            rows_of(path, kept, scorer)
    return [(name, row) for name in names for row in kept.sets[name]]


def main() -> None:
    """Measure or load, cross-validate, fit, write into the calibration."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", type=Path, nargs="*")
    parser.add_argument("--calibration", type=Path, required=True, help="read, and written with the new fit")
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--model", type=Path, help="folder of the model; the embedded one without")
    parser.add_argument("--precision", type=float, default=0.8)
    parser.add_argument("--penalty", type=float, default=0.001)
    options = parser.parse_args()
    calibration = Calibration.read(options.calibration)
    claims = Claims(measure(options.sets, options.rows, options.model), calibration)
    chance = claims.validated(options.penalty)
    threshold = lowest(claims, chance, options.precision)
    called = claims.open & (chance >= threshold)
    weights, bias = claims.map(np.ones(len(chance), bool), options.penalty)
    fitted = calibration.model_copy(
        update={
            "contradiction_weights": {
                name: round(float(weight), 4)
                for name, weight in zip(NAMES, weights, strict=True)
                if abs(weight) > 1e-4
            }
            | GIVEN,
            "contradiction_bias": round(bias, 4),
            "contradiction_threshold": threshold,
        }
    )
    options.calibration.write_text(fitted.model_dump_json(indent=2) + "\n", encoding="utf-8")
    # Written before anything is printed: whoever reads the output may stop reading.
    for name in (None, *sorted(set(claims.sets))):
        print(name or "all", figures(claims, called, name))
    print(options.calibration.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
