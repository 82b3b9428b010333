"""How sure a rate is that was chosen on labels of one's own: exact binomial bounds, no tables, no SciPy.

Before: labels. After: `calibration.py` sets a threshold by them.

A *miss* is a sentence that is not grounded and reaches the threshold all the same. With n such sentences that
are independent of each other, a threshold that k of them reach misses more than a share `rate` of all such
sentences with a probability of at most P(Bin(n, rate) <= k): the tolerance limit of Wilks (1941,
"Determination of sample sizes for setting tolerance limits"). On average it misses at most
(k + 1) / (n + 1) of them (Vovk, Gammerman and Shafer 2005, "Algorithmic learning in a random world").
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from streamverify.errors import NotEnoughLabelsError, UsageError

STEP = 1e-9
"""A threshold lies this far above the score that it must exclude: more than arithmetic loses on its way."""


def binomial_at_most(successes: int, trials: int, rate: float) -> float:
    """P(Bin(trials, rate) <= successes), for a rate between 0 and 1, both excluded."""
    terms = []
    for count in range(min(successes, trials) + 1):
        ways = math.lgamma(trials + 1) - math.lgamma(count + 1) - math.lgamma(trials - count + 1)
        terms.append(math.exp(ways + count * math.log(rate) + (trials - count) * math.log1p(-rate)))
    return min(math.fsum(terms), 1.0)


def allowed_misses(labels: int, rate: float, confidence: float) -> int | None:
    """The most misses among so many labels that leave the true rate at most `rate` with this confidence.

    Returns:
        None where even 0 misses would not.

    Raises:
        UsageError: a share does not lie between 0 and 1. Caller.
    """
    _between(rate, confidence)
    if not _enough(labels, rate, confidence):
        return None
    low, high = 0, labels
    while low < high:
        middle = (low + high + 1) // 2
        if binomial_at_most(middle, labels, rate) <= 1 - confidence:
            low = middle
        else:
            high = middle - 1
    return low


def least_labels(rate: float, confidence: float) -> int:
    """The fewest labels of sentences that are not grounded for which `allowed_misses` is not None.

    Raises:
        UsageError: a share does not lie between 0 and 1. Caller.
    """
    _between(rate, confidence)
    count = max(math.floor(math.log(1 - confidence) / math.log1p(-rate)) - 1, 0)
    while not _enough(count, rate, confidence):
        count += 1
    return count


def _enough(labels: int, rate: float, confidence: float) -> bool:
    """Whether so many labels, none of them missed, bear the guarantee."""
    # Rounding may make the sum a hair too large; what is refused for it would hold.
    return binomial_at_most(0, labels, rate) <= 1 - confidence


def expected_miss_rate(misses: int, labels: int) -> float:
    """What a threshold reached by `misses` of so many labels misses at most, on average over such sets."""
    return (misses + 1) / (labels + 1)


def conformal_misses(labels: int, rate: float) -> int | None:
    """The most misses for which the expected rate is at most `rate`; None where 0 are too many."""
    _between(rate)
    found = math.floor(rate * (labels + 1) + 1e-9) - 1
    return found if found >= 0 else None


def threshold_above(scores: Sequence[float], misses: int) -> float:
    """The lowest threshold that at most `misses` of the scores reach.

    Args:
        scores: 0-1, of sentences that are not grounded; more of them than `misses`.
        misses: 0 or more.

    Raises:
        UsageError: no threshold below 1 excludes as many. Caller.
    """
    barred = sorted(scores, reverse=True)[misses]
    found = barred + STEP
    if found >= 1:
        raise UsageError(
            f"{misses + 1} sentences labelled as not grounded have a score of 1 or next to it: no threshold "
            "excludes them. Look at their labels, or use another scorer"
        )
    return found


def guaranteed_threshold(scores: Sequence[float], rate: float, confidence: float) -> tuple[float, int]:
    """The lowest threshold for which the guarantee holds, and the misses it allows.

    Args:
        scores: of independent sentences that are not grounded, 0-1.
        rate: of such sentences that may be missed.
        confidence: probability that the guarantee holds, over sets of labels.

    Raises:
        NotEnoughLabelsError: there are too few; says how many are needed. Caller.
        UsageError: no threshold below 1 is enough, or a share is out of range. Caller.
    """
    misses = allowed_misses(len(scores), rate, confidence)
    if misses is None:
        raise NotEnoughLabelsError(len(scores), least_labels(rate, confidence))
    return threshold_above(scores, misses), misses


def platt(scores: Sequence[float], grounded: Sequence[bool]) -> tuple[float, float]:
    """Slope and shift that make log-odds fit labels (Platt 1999, with his targets that never are 0 or 1).

    Args:
        scores: log-odds.
        grounded: the labels, in the same order.

    Raises:
        UsageError: only one label occurs, or the scores rank the labels the wrong way round. Caller.
    """
    positive = sum(grounded)
    negative = len(grounded) - positive
    if not positive or not negative:
        raise UsageError("weights can only be fitted where some sentences are grounded and some are not")
    targets = [(positive + 1) / (positive + 2) if one else 1 / (negative + 2) for one in grounded]
    slope, shift = 1.0, 0.0
    loss = _loss(slope, shift, scores, targets)
    for _ in range(100):
        step = _newton(slope, shift, scores, targets)
        size = 1.0
        while size > 1e-8:
            tried = slope - size * step[0], shift - size * step[1]
            if (lower := _loss(*tried, scores, targets)) < loss:
                break
            size /= 2
        else:
            break
        (slope, shift), gained, loss = tried, loss - lower, lower
        if gained < 1e-12:
            break
    if slope <= 0:
        raise UsageError(
            "the scores rank grounded sentences below the others: look at the labels, or use another scorer"
        )
    return slope, shift


def _loss(slope: float, shift: float, scores: Sequence[float], targets: Sequence[float]) -> float:
    total = []
    for score, target in zip(scores, targets, strict=True):
        margin = slope * score + shift
        # log(1 + e^-|m|) cannot overflow.
        total.append(max(margin, 0.0) - target * margin + math.log1p(math.exp(-abs(margin))))
    return math.fsum(total)


def _newton(
    slope: float, shift: float, scores: Sequence[float], targets: Sequence[float]
) -> tuple[float, float]:
    g_slope = g_shift = 0.0
    h11, h12, h22 = 1e-9, 0.0, 1e-9
    for score, target in zip(scores, targets, strict=True):
        margin = slope * score + shift
        p = 1 / (1 + math.exp(-margin)) if margin >= 0 else math.exp(margin) / (1 + math.exp(margin))
        weight = p * (1 - p)
        g_slope += (p - target) * score
        g_shift += p - target
        h11, h12, h22 = h11 + weight * score * score, h12 + weight * score, h22 + weight
    determinant = h11 * h22 - h12 * h12
    return (h22 * g_slope - h12 * g_shift) / determinant, (h11 * g_shift - h12 * g_slope) / determinant


def _between(*shares: float) -> None:
    # A share so small that 1 less it is 1 is no share: every bound would hold, or none.
    if not all(0 < share < 1 and 1 - share < 1 for share in shares):
        raise UsageError("a miss rate and a confidence must lie between 0 and 1, such as 0.05 and 0.95")
