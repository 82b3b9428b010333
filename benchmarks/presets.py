"""Thresholds for three purposes, and what each costs on answers it was not fitted on.

    python benchmarks/presets.py MODEL --fit GOLDEN.jsonl ORDINARY.jsonl --measure REPLIES.jsonl.gz
        [--keep FOLDER] [--write calibration.json]

MODEL is a scorer as `check --scorer` takes it. Every set counts alike, however long it is:

* strict: the lowest threshold that at most `--misses` of the sentences without support reach;
* lenient: the highest below which at most `--alarms` of the supported sentences fall;
* balanced: the model's own.

They are chosen on `--fit`; the rates that are printed and written are those on `--measure`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamverify.calibration import Calibration, Preset, PresetName
from verdicts import Claim, verdicts

GRID = np.round(np.linspace(0.01, 0.99, 99), 2)
"""Thresholds to choose from."""

Floats = NDArray[np.float64]


class Rates(NamedTuple):
    """Mistakes at every threshold of `GRID`."""

    false_alarms: Floats
    misses: Floats

    @classmethod
    def of(cls, claims: Sequence[Claim]) -> Rates:
        """Of one set; both labels must occur in it."""
        score = np.array([one.score for one in claims])
        supported = np.array([one.supported for one in claims])
        if supported.all() or not supported.any():
            raise SystemExit("each set needs sentences with and without support")
        reached = score[None, :] >= GRID[:, None]
        return cls(1 - reached[:, supported].mean(1), reached[:, ~supported].mean(1))

    @classmethod
    def mean(cls, sets: Sequence[Rates]) -> Rates:
        """Over sets that count alike."""
        return cls(np.mean([s.false_alarms for s in sets], 0), np.mean([s.misses for s in sets], 0))


def chosen(rates: Rates, own: float, misses: float, alarms: float) -> dict[PresetName, int]:
    """Places in `GRID`; strict is never below balanced, nor lenient above it."""
    balanced = int(np.argmin(np.abs(GRID - own)))
    few_misses = np.flatnonzero(rates.misses <= misses)
    few_alarms = np.flatnonzero(rates.false_alarms <= alarms)
    strict = int(few_misses[0]) if len(few_misses) else len(GRID) - 1
    lenient = int(few_alarms[-1]) if len(few_alarms) else 0
    return {"strict": max(strict, balanced), "balanced": balanced, "lenient": min(lenient, balanced)}


def main() -> None:
    """Choose, measure, print; write where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--fit", type=Path, nargs="+", required=True)
    parser.add_argument("--measure", type=Path, nargs="+", required=True)
    parser.add_argument("--misses", type=float, default=0.15)
    parser.add_argument("--alarms", type=float, default=0.10)
    parser.add_argument("--keep", type=Path, help="folder where scores are kept, so that no model runs twice")
    parser.add_argument("--write", type=Path, help="calibration to put the presets into")
    options = parser.parse_args()

    def rates(path: Path) -> Rates:
        said = verdicts(options.model, [path], options.keep).claims
        return Rates.of([one for one in said if one is not None])

    own = verdicts(options.model, options.fit[:1], options.keep).threshold
    places = chosen(Rates.mean([rates(path) for path in options.fit]), own, options.misses, options.alarms)
    measured = {path.name.split(".")[0]: rates(path) for path in options.measure}
    found = Rates.mean(list(measured.values()))
    presets: dict[PresetName, Preset] = {}
    for name, place in places.items():
        presets[name] = Preset(
            threshold=float(GRID[place]),
            false_alarms=round(float(found.false_alarms[place]), 3),
            misses=round(float(found.misses[place]), 3),
            measured_on=", ".join(measured),
        )
        each = "; ".join(
            f"{of} {100 * r.false_alarms[place]:.1f} / {100 * r.misses[place]:.1f}"
            for of, r in measured.items()
        )
        print(f"{name:<8} from {GRID[place]:.2f}: false alarms / misses of 100: {each}")
    if options.write is not None:
        before = Calibration.read(options.write)
        before.model_copy(update={"presets": presets}).write(options.write)


if __name__ == "__main__":
    main()
