"""In how many right and wrong sentences a check speaks up: `python -m training.accused SET…`.

No model is asked (windows are chosen by shared words), so sets that models are trained on can be used: a
check knows none of their labels. From the counts comes the weight of a signal that development sets hold
too few cases of: `--weights` fits one logistic map to the checks alone. Needs the library installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import log
from pathlib import Path

import numpy as np

from streamverify.scorers.lexical import LexicalScorer
from training.fitting import Row, fit
from training.fuse import CHECKS, COUNTED, rows
from training.jsonl import json_lines

WEIGHED = (*CHECKS, *COUNTED)
PENALTY = 1e-5
"""Next to none: there are thousands of sentences for ten weights."""


def spoken(found: Sequence[Row], name: str, above: float) -> tuple[int, int, float]:
    """Right and wrong sentences whose signal lies above a bar, and the log of how many times as often it does
    among the wrong ones (half a sentence added to each, so that none is infinite)."""
    right = [row.features[name] > above for row in found if row.label == "supported"]
    wrong = [row.features[name] > above for row in found if row.label != "supported"]
    odds = ((sum(wrong) + 0.5) / (len(wrong) + 1)) / ((sum(right) + 0.5) / (len(right) + 1))
    return sum(right), sum(wrong), log(odds)


def weights(found: Sequence[Row], names: Sequence[str] = WEIGHED) -> dict[str, float]:
    """Weights of the checks alone for P(supported), right and wrong sentences counting alike in sum."""
    inputs = np.array([[row.features[name] for name in names] for row in found])
    truth = np.array([row.label == "supported" for row in found], float)
    share = truth.mean()
    counted = np.where(truth == 1, 0.5 / share, 0.5 / (1 - share))
    fitted, _ = fit(inputs, truth, counted, [-1] * len(names), PENALTY)
    return {name: round(float(weight), 2) for name, weight in zip(names, fitted, strict=True)}


def main() -> None:
    """Print the counts, and the weights where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", type=Path, nargs="+", help="labelled answers or claims")
    parser.add_argument("--above", type=float, default=0.0, help="bar above which a signal counts")
    parser.add_argument("--weights", action="store_true", help="fit the checks' weights too")
    options = parser.parse_args()
    scorer = LexicalScorer()
    found = [row for path in options.sets for row in rows(list(json_lines(path)), scorer)]
    right = sum(row.label == "supported" for row in found)
    print(f"{len(found)} sentences, {right} supported")
    for name in WEIGHED:
        agree, against, odds = spoken(found, name, options.above)
        print(f"{name:20} right {agree:5} wrong {against:5} log odds {odds:+.2f}")
    if options.weights:
        print(weights(found))


if __name__ == "__main__":
    main()
