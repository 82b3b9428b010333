"""Where should a second scorer decide? Quality and cost between the two ends, and the band to be stored.

    python benchmarks/cascade.py FIRST SECOND DATASET.jsonl[.gz] … [--keep FOLDER] [--write calibration.json]

FIRST and SECOND are scorers as `check --scorer` takes them. Both judge every claim once; `--keep` keeps what
they said, so that the next run loads no model. A band is two probabilities of the first; claims in it get a
mean of both log-odds, counted from the thresholds, in which the first's share is `kept`. Both are fitted for
a share of claims asked, from none to all: of the bands that ask no more, and of the shares kept, those with
the best balanced accuracy. The figures are those of held-out cases, by five folds that split no case.

`--write` puts the band into the second's calibration: the one for the smallest share with `--gain` of what
the second adds to the first, held out. A second that adds nothing gets an empty band.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from figures import auroc
from streamverify.calibration import Calibration, DoubtBand, logit
from verdicts import Verdicts, verdicts

FOLDS = 5
SHARES = tuple(round(0.1 * step, 1) for step in range(11))
EDGES = 21
"""Places a band may begin and end: quantiles of the first's probabilities."""
KEPT = (0.0, 0.25, 0.5, 0.75)
"""Shares of the first's log-odds in the verdict of the second."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pair:
    """The claims on which both scorers gave a probability."""

    first: Floats
    """Probabilities; a band is made of them."""
    margins: Floats
    """Log-odds above the threshold: the first's, the second's; (2, claims)."""
    supported: NDArray[np.bool_]
    fold: NDArray[np.int64]

    def __getitem__(self, chosen: NDArray[np.bool_]) -> Pair:
        """Some of them."""
        return Pair(self.first[chosen], self.margins[:, chosen], self.supported[chosen], self.fold[chosen])

    def weighed(self, asked: NDArray[np.bool_], kept: float) -> Floats:
        """Margins of a cascade that asks the second about these claims."""
        return np.where(asked, kept * self.margins[0] + (1 - kept) * self.margins[1], self.margins[0])


@dataclass(frozen=True, slots=True)
class Point:
    """One place between the two ends."""

    share: float
    """Of claims that may be asked about."""
    asked: float
    """Held out: of claims that were."""
    auroc: float
    balanced_accuracy: float
    cpu_ms: float
    band: tuple[float, float]
    kept: float
    """Both fitted on all cases."""


def paired(first: Verdicts, second: Verdicts, seed: int = 0) -> Pair:
    """Claims that both scored, with folds by case."""
    both = [
        (a, b) for a, b in zip(first.claims, second.claims, strict=True) if a is not None and b is not None
    ]
    items = sorted({a.item for a, _ in both})
    random.Random(seed).shuffle(items)
    fold = {item: number % FOLDS for number, item in enumerate(items)}
    supported = np.array([a.supported for a, _ in both], bool)
    margins = [
        [logit(a.score) - logit(first.threshold) for a, _ in both],
        [logit(b.score) - logit(second.threshold) for _, b in both],
    ]
    return Pair(
        first=np.array([a.score for a, _ in both]),
        margins=np.array(margins),
        supported=supported,
        fold=np.array([fold[a.item] for a, _ in both]),
    )


def inside(pair: Pair, band: tuple[float, float]) -> NDArray[np.bool_]:
    """The claims in a band, as a cascade has it: ends included, and empty where they are equal."""
    low, high = band
    return (pair.first >= low) & (pair.first <= high) & (low < high)


def balanced(margins: Floats, supported: NDArray[np.bool_]) -> float:
    """Balanced accuracy; 0.5 where one side is missing, which tells nothing."""
    if supported.all() or not supported.any():
        return 0.5
    right = (margins >= 0) == supported
    return float((right[supported].mean() + right[~supported].mean()) / 2)


def fitted(pair: Pair, share: float) -> tuple[tuple[float, float], float]:
    """Band and share kept with the best balanced accuracy among those that ask about at most `share`."""
    edges = np.unique(np.quantile(pair.first, np.linspace(0, 1, EDGES)))
    bands = [(float(low), float(high)) for at, low in enumerate(edges) for high in edges[at + 1 :]]
    if share >= 1:
        bands = [(0.0, 1.0)]
    best, chosen = balanced(pair.margins[0], pair.supported) if share < 1 else -1.0, ((0.5, 0.5), 0.0)
    for band in bands:
        asked = inside(pair, band)
        if asked.mean() > share:
            continue
        for kept in KEPT:
            value = balanced(pair.weighed(asked, kept), pair.supported)
            if value > best + 1e-9:
                best, chosen = value, (band, kept)
    return chosen


def point(pair: Pair, share: float, first_ms: float, second_ms: float) -> Point:
    """Quality on held-out cases where at most this share is asked about, and the band for all cases."""
    asked, margins = np.zeros(len(pair.first), bool), pair.margins[0].copy()
    for number in range(FOLDS):
        held = pair.fold == number
        band, kept = fitted(pair[~held], share)
        here = held & inside(pair, band)
        asked |= here
        margins = np.where(here, pair.weighed(here, kept), margins)
    band, kept = fitted(pair, share)
    return Point(
        share=share,
        asked=float(asked.mean()),
        auroc=float(auroc(margins, pair.supported) or 0.5),
        balanced_accuracy=balanced(margins, pair.supported),
        cpu_ms=first_ms + float(asked.mean()) * second_ms,
        band=band,
        kept=kept,
    )


def chosen(points: Sequence[Point], gain: float) -> Point:
    """The smallest share that has this part of what the second adds; none where it adds nothing."""
    start, end = points[0].balanced_accuracy, points[-1].balanced_accuracy
    best = max(point.balanced_accuracy for point in points)
    if max(end, best) <= start:
        return points[0]
    wanted = start + gain * (max(end, start) - start)
    return next(
        point for point in points if point.balanced_accuracy >= wanted and point.balanced_accuracy > start
    )


def store(path: Path, band: DoubtBand) -> None:
    """Put the band into a calibration file, and the file's new checksum into the model's list."""
    Calibration.read(path).model_copy(update={"band": band}).write(path)
    sums = path.parent / "sha256sums"
    if sums.is_file():
        digest = sha256(path.read_bytes()).hexdigest()
        lines = [line.split() for line in sums.read_text(encoding="utf-8").splitlines()]
        told = [f"{digest if name == path.name else known}  {name}" for known, name in lines]
        sums.write_text("\n".join(told) + "\n", encoding="utf-8", newline="\n")


def main() -> None:
    """Print the curve; write the band where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--keep", type=Path, help="folder for what the scorers said")
    parser.add_argument("--gain", type=float, default=0.9, help="part of the second's gain to be had")
    parser.add_argument("--write", type=Path, help="the second's calibration file")
    parser.add_argument("--json", type=Path, help="the curve as JSON")
    given = parser.parse_args()
    first, second = (verdicts(name, given.sets, given.keep) for name in (given.first, given.second))
    pair = paired(first, second)
    points = [point(pair, share, first.cpu_ms, second.cpu_ms) for share in SHARES]
    print(f"{first.model}, then {second.model}: {len(pair.first)} claims, held out by case")
    print(f"{'at most':>8} {'asked':>6} {'AUROC':>6} {'balanced':>8} {'CPU ms':>7}  band, kept")
    for one in points:
        low, high = one.band
        figures = f"{one.share:8.0%} {one.asked:6.1%} {one.auroc:6.3f} {one.balanced_accuracy:8.3f}"
        print(f"{figures} {one.cpu_ms:7.1f}  {low:.3f} to {high:.3f}, {one.kept:g}")
    found = chosen(points, given.gain)
    low, high = found.band
    print(f"chosen for {given.gain:.0%} of the gain: {low:.3f} to {high:.3f}, {found.kept:g} kept")
    names = ", ".join(path.name.split(".")[0] for path in given.sets)
    if given.json is not None:
        rows = [{name: getattr(one, name) for name in Point.__slots__} for one in points]
        told = {"first": first.model, "second": second.model, "sets": names, "points": rows}
        given.json.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    if given.write is not None:
        about = f"{len(pair.first)} claims of {names}"
        band = DoubtBand(low=low, high=high, first=first.scale, kept=found.kept, fitted_on=about)
        store(given.write, band)
        print(f"written to {given.write}", file=sys.stderr)


if __name__ == "__main__":
    main()
