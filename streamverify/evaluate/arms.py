"""A or B, tried on different cases: is B better, and by enough to matter?

Before: two runs over different cases, or two releases that answered. After: `ab decide`.

Who looks before the last case has come finds differences by chance. Look k of K may spend what O'Brien and
Fleming's spending function grants it, a*(t) = 2 - 2 Phi(z / sqrt t) at t = k / K, less what the looks before
it spent (Lan and DeMets 1983, "Discrete sequential boundaries for clinical trials", Biometrika 70). The parts
sum to the level, so that all looks together are wrong as seldom as one; exact boundaries would ask a little
less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

from streamverify.errors import UsageError
from streamverify.evaluate import stats
from streamverify.evaluate.run import Run
from streamverify.figure import Interval, NotComputed, shown

LEVEL, EFFECT = 0.05, 0.1
"""B is adopted where Welch's p lies below the one and Cohen's d, towards better, above the other."""


@dataclass(frozen=True, slots=True)
class ArmsDecision:
    """Whether B should replace A."""

    metric: str
    tests: stats.TwoSamples
    adopt: bool
    cases: tuple[int, int]
    """Cases with a figure, in A and in B."""
    level: float = LEVEL
    """What Welch's p is held against: less than `LEVEL` where others looked before, or will later."""
    interval: Interval | NotComputed = field(default_factory=lambda: NotComputed("not asked for"))
    """Of the difference, B - A; what lies outside of it has the probability `level`."""

    def __str__(self) -> str:
        """What is decided and why, on one line."""
        tests = self.tests
        word = "adopt B" if self.adopt else "keep A"
        held = ""
        if isinstance(self.interval, Interval):
            held = f" [{shown(self.interval.low)}, {shown(self.interval.high)}]"
        looked = "" if self.level == LEVEL else f" (below {self.level:.2g} at this look)"
        return (
            f"{word}: {self.metric} differs by {shown(tests.difference)}{held} (B - A, {self.cases[0]} and "
            f"{self.cases[1]} cases), Welch p {shown(tests.welch)}{looked}, Mann-Whitney p "
            f"{shown(tests.mann_whitney)}, Cohen's d {shown(tests.cohens_d)}"
        )


def look_level(look: int, looks: int, alpha: float = LEVEL) -> float:
    """What one of several planned looks may spend of a level.

    Args:
        look: which, from 1.
        looks: how many there will be, at even distances.
        alpha: of all of them together, 0-1.

    Raises:
        UsageError: there is no such look. Caller.
    """
    if not 1 <= look <= looks:
        raise UsageError(f"look {look} of {looks}: looks are counted from 1 to the last one planned")
    normal = NormalDist()
    z = normal.inv_cdf(1 - alpha / 2)

    def spent(count: int) -> float:
        return 0.0 if not count else 2 - 2 * normal.cdf(z * math.sqrt(looks / count))

    return alpha if looks == 1 else spent(look) - spent(look - 1)


def decide_samples(
    metric: str,
    a: Sequence[float],
    b: Sequence[float],
    *,
    higher_is_better: bool = True,
    look: int = 1,
    looks: int = 1,
) -> ArmsDecision:
    """Whether B should replace A, by one figure of each independent case.

    Args:
        metric: its name.
        a: of what is used now.
        b: of what could replace it.
        higher_is_better: which way is up.
        look: which of the planned looks this is, from 1.
        looks: how many are planned.

    Raises:
        UsageError: there is no such look. Caller.
    """
    level, tests = look_level(look, looks), stats.two_samples(a, b)
    sign = 1 if higher_is_better else -1
    sure = not isinstance(tests.welch, NotComputed) and tests.welch < level
    large = not isinstance(tests.cohens_d, NotComputed) and sign * tests.cohens_d > EFFECT
    interval = stats.welch_interval(a, b, level) if level > 0 else NotComputed("this look spends nothing")
    return ArmsDecision(metric, tests, sure and large, (len(a), len(b)), level, interval)


def decide_arms(a: Run, b: Run, metric: str, *, look: int = 1, looks: int = 1) -> ArmsDecision:
    """Whether B, tried on other cases than A, should replace it.

    Args:
        a: of what is used now.
        b: of what could replace it.
        metric: what decides.
        look: which of the planned looks this is, from 1.
        looks: how many are planned.

    Raises:
        UsageError: a run lacks the metric, its versions or the scorers differ, or both runs hold the same
            cases, which an unpaired test would waste. Caller.
    """
    for run in (a, b):
        run[metric]  # refuses an unknown metric
    if a.header.metrics[metric] != b.header.metrics[metric] or a.header.fingerprint != b.header.fingerprint:
        raise UsageError(
            f"{metric} means different things in the two runs: its version or the scorer differs"
        )
    common = {case.id for case in a.cases} & {case.id for case in b.cases}
    if common:
        raise UsageError(
            f"{len(common)} cases are in both runs: compare them case by case with `streamverify compare A B`"
        )
    arms = [[value for case in run.cases if isinstance(value := case[metric], float)] for run in (a, b)]
    better = a.header.metrics[metric].higher_is_better
    return decide_samples(metric, *arms, higher_is_better=better, look=look, looks=looks)
