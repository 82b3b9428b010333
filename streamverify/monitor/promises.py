"""Whether scores are still the probabilities they claim to be, by sentences that people looked at.

Before: `traffic.py` gives scored sentences with a person's judgment. After: `streamverify monitor drift`.

The *expected calibration error* is the mean distance of scores from the share that is grounded, over bins of
equally many sentences (`evaluate/stats.py`). It is above 0 for perfect scores too; what chance alone makes of
it comes from labels drawn by the scores themselves (Bröcker and Smith 2007, "Increasing the reliability of
reliability diagrams").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from streamverify.bounds import allowed_misses, binomial_at_most
from streamverify.calibration import Calibration
from streamverify.evaluate.fitting import one_an_answer
from streamverify.evaluate.stats import calibration_error as binned_error
from streamverify.evaluate.stats import seed_of
from streamverify.evaluate.thresholds import LabelledScore
from streamverify.figure import Figure, Interval, NotComputed
from streamverify.monitor.traffic import HumanLabel
from streamverify.text.printing import counted

_RESAMPLES = 1_000
_FEWEST = 50
_SURE = 0.05


@dataclass(frozen=True, slots=True)
class CalibrationError:
    """How far scores are from what people found."""

    error: Figure
    """0-1; see the module."""
    interval: Interval | NotComputed
    """95 %, by resampling answers: sentences of one answer are not independent."""
    by_chance: Figure
    """What perfect scores would not exceed in 95 of 100 such samples."""
    labels: int
    answers: int

    @property
    def drifted(self) -> bool:
        """Whether even the low end of the interval lies above what chance makes."""
        if isinstance(self.interval, NotComputed) or isinstance(self.by_chance, NotComputed):
            return False
        return self.interval.low > self.by_chance


Status = Literal["not contradicted", "broken", "not computed", "none"]


@dataclass(frozen=True, slots=True)
class PromiseCheck:
    """What became of the guarantee that `calibrate` gave."""

    status: Status
    detail: str


def calibration_error(labels: Sequence[HumanLabel]) -> CalibrationError:
    """The expected calibration error of labelled sentences; needs 50 of them in 2 answers or more."""
    answers = len({one.stream for one in labels})
    if len(labels) < _FEWEST or answers < 2:
        found = f"{counted(len(labels), 'labelled sentence')} of {counted(answers, 'answer')}"
        few = NotComputed(f"{found}; {_FEWEST} labelled sentences of at least 2 answers are needed")
        return CalibrationError(few, few, few, len(labels), answers)
    import numpy as np  # noqa: PLC0415 - kept out of start-up

    scores = np.array([one.score for one in labels])
    held = np.array([one.grounded for one in labels], dtype=float)
    generator = np.random.default_rng(seed_of("calibration error", *(str(one.stream) for one in labels)))

    ordered = sorted(range(len(labels)), key=lambda place: labels[place].stream)
    of_streams = [np.array(list(own)) for _, own in groupby(ordered, key=lambda place: labels[place].stream)]
    drawn, chance = [], []
    for _ in range(_RESAMPLES):
        chosen = np.concatenate([of_streams[one] for one in generator.integers(0, answers, answers)])
        drawn.append(binned_error(scores[chosen], held[chosen]))
        chance.append(binned_error(scores, (generator.random(len(scores)) < scores).astype(float)))
    low, high = np.percentile(drawn, [2.5, 97.5])
    return CalibrationError(
        binned_error(scores, held),
        Interval(float(low), float(high), "clustered"),
        float(np.percentile(chance, 95)),
        len(labels),
        answers,
    )


def promise(calibration: Calibration, labels: Sequence[HumanLabel], seed: int = 0) -> PromiseCheck:
    """Whether labels of later answers contradict what a calibration promises.

    One ungrounded sentence of each answer is picked, as the promise is about; misses are those that reach the
    threshold. It is broken where as many misses come by chance with a probability of less than 0.05 although
    the rate is the promised one.

    Args:
        calibration: in force.
        labels: from streams after it was fitted.
        seed: picks the sentences.
    """
    told = calibration.guarantee
    if told is None:
        return PromiseCheck("none", "the calibration promises nothing")
    others = sorted({one.model for one in labels} - {told.model}) if told.model else []
    if others:
        return PromiseCheck("broken", f"it was made for scores of {told.model}; these are of {others[0]}")
    rows = [LabelledScore(str(one.stream), one.sentence, "", one.score, one.grounded) for one in labels]
    picked = one_an_answer(rows, seed)
    misses = sum(row.score >= calibration.threshold for row in picked)
    said = f"{misses} of {len(picked)} ungrounded sentences reach {calibration.threshold:.4f}; at most "
    said += f"{told.alpha:.1%} were promised"
    as_many = 1 - binomial_at_most(misses - 1, len(picked), told.alpha) if misses else 1.0
    if as_many < _SURE:
        return PromiseCheck("broken", f"{said} (probability of as many: {as_many:.2g})")
    if allowed_misses(len(picked), told.alpha, 1 - told.delta) is None:
        return PromiseCheck("not computed", f"{said}; too few to tell")
    return PromiseCheck("not contradicted", said)
