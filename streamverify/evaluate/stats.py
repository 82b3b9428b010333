"""Intervals and tests, as small functions around SciPy.

SciPy is imported inside: whoever only reads runs, or asks for the interval of a mean or a rate, does not wait
for it. Where it would answer NaN (constant values, one value, one label only) the answer here is
`NotComputed` with the reason, and no interval has width 0.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

from streamverify._extras import require
from streamverify.errors import UsageError
from streamverify.figure import Figure, Interval, NotComputed, share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 9999
BINS = 10
"""Of the calibration error."""
AT_ONCE = 500_000
"""Numbers drawn at once in a bootstrap: bounds its memory to some megabytes."""


@cache
def _scipy() -> Any:
    """`scipy.stats`.

    Raises:
        MissingExtraError: SciPy is not installed. Caller.
    """
    return require("scipy.stats", extra="eval", feature="an interval or a test")


def missing() -> NotComputed | None:
    """Why no interval can be computed here; None where SciPy is installed."""
    return None if _installed() else NotComputed("pip install 'streamverify[eval]'")


@cache
def _installed() -> bool:
    try:
        return find_spec("scipy") is not None  # imported only by what asks it for something
    except ModuleNotFoundError:
        return False


def seed_of(*words: str) -> int:
    """A seed that depends on these words alone."""
    return int.from_bytes(hashlib.sha256("\0".join(words).encode()).digest()[:8], "big")


def wilson(successes: float, trials: int, *, confidence: float = 0.95) -> Interval | NotComputed:
    """Wilson's score interval of a proportion (Wilson 1927, "Probable inference", JASA 22).

    Args:
        successes: 0 to `trials`; no whole number where it is a sum of figures of 0-1, for whose mean the
            interval is wider than it need be, since no such figures spread more than 0 and 1 do.
        trials: how many.
        confidence: of both ends together.
    """
    z = _quantile(successes, trials, confidence)
    if isinstance(z, NotComputed):
        return z
    rate, scale = successes / trials, 1 + z * z / trials
    middle = (rate + z * z / (2 * trials)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    # At 0 and at all the formula meets the end itself; rounding would put it beside.
    low = 0.0 if successes == 0 else max(middle - half, 0.0)
    return Interval(low, 1.0 if successes == trials else min(middle + half, 1.0), "wilson")


def normal(successes: int, trials: int, *, confidence: float = 0.95) -> Interval | NotComputed:
    """The normal approximation of a proportion's interval, cut at 0 and 1; none where all or none succeed."""
    z = _quantile(successes, trials, confidence)
    if isinstance(z, NotComputed):
        return z
    if successes in (0, trials):
        return NotComputed("the normal approximation has no width at 0 and 1; use Wilson's interval")
    rate = successes / trials
    half = z * math.sqrt(rate * (1 - rate) / trials)
    return Interval(max(rate - half, 0.0), min(rate + half, 1.0), "normal")


def _quantile(successes: float, trials: int, confidence: float) -> Figure:
    if not 0 <= successes <= trials:
        raise UsageError(f"{successes} successes of {trials} trials: must be between 0 and the trials")
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must lie between 0 and 1, not {confidence:g}")
    return NormalDist().inv_cdf((1 + confidence) / 2) if trials else NotComputed("no case")


def mean_interval(values: Sequence[float], seed: int, *, binary: bool = True) -> Interval | NotComputed:
    """An interval of the mean of per-case figures: bias-corrected bootstrap (Efron 1987), seeded.

    Args:
        values: finite, one a case.
        seed: equal seeds give equal intervals.
        binary: whether figures that are all 0 or all 1 are outcomes, which have Wilson's interval; of
            other equal figures nothing is known about their spread.
    """
    if len(values) < 2:
        return NotComputed("one case" if values else "no case")
    if (gap := missing()) is not None:
        return gap
    if len(set(values)) == 1:
        if binary and values[0] in (0, 1):
            return wilson(len(values) if values[0] == 1 else 0, len(values))
        return NotComputed("all cases equal")
    return _bca(values, seed)


def _bca(values: Sequence[float], seed: int) -> Interval:
    """The bootstrap of a mean as SciPy does it, without the second that importing `scipy.stats` takes.

    `bootstrap(method="BCa")` of the same generator draws the same resamples; where it would answer NaN, the
    percentiles of the means drawn are the interval.
    """
    import numpy as np  # noqa: PLC0415 - only where an interval is asked for

    data, tail, usual = np.asarray(values, dtype=float), 0.025, NormalDist()
    drawn = np.sort(_resampled(lambda chosen: data[chosen].mean(-1), len(data), seed))
    mean = data.mean()
    below, within = np.searchsorted(drawn, mean, "left"), np.searchsorted(drawn, mean, "right")
    share_below = float(below + within) / (2 * len(drawn))
    # Of each mean that leaves one case out, how far it lies from them all; only ratios of these count.
    away = data - mean
    spread = float((away**2).sum()) ** 1.5
    if not 0 < share_below < 1 or not spread:
        low, high = np.quantile(drawn, [tail, 1 - tail])
        return Interval(float(low), float(high), "percentile")
    shift, speed = usual.inv_cdf(share_below), float((away**3).sum()) / (6 * spread)

    def level(z: float) -> float:
        return usual.cdf(shift + (shift + z) / (1 - speed * (shift + z)))

    z = usual.inv_cdf(tail)
    low, high = np.quantile(drawn, [level(z), level(-z)])
    return Interval(float(low), float(high), "bca")


def pooled_interval(parts: Sequence[tuple[float, float]], seed: int) -> Interval | NotComputed:
    """An interval of a pooled rate: answers are resampled, since sentences of one answer are not independent.

    Args:
        parts: numerator and denominator of each answer; denominators above 0.
        seed: equal seeds give equal intervals.
    """
    if len(parts) < 2:
        return NotComputed("one case" if parts else "no case")
    if (gap := missing()) is not None:
        return gap
    if len({numerator / denominator for numerator, denominator in parts}) == 1:
        numerator, denominator = parts[0]
        if numerator in (0, denominator):
            # Every sentence of every answer agrees; the answers are the independent trials.
            return wilson(len(parts) if numerator else 0, len(parts))
        return NotComputed("all cases equal")
    import numpy as np  # noqa: PLC0415 - only with SciPy

    tops, wholes = (np.array(column, dtype=float) for column in zip(*parts, strict=True))
    rates = _resampled(lambda chosen: tops[chosen].sum(1) / wholes[chosen].sum(1), len(parts), seed)
    low, high = np.percentile(rates, [2.5, 97.5])
    return Interval(float(low), float(high), "clustered")


def _resampled(rate: Any, count: int, seed: int) -> NDArray[np.float64]:
    import numpy as np  # noqa: PLC0415 - only with SciPy

    generator, batch = np.random.default_rng(seed), max(1, AT_ONCE // count)
    drawn = []
    for start in range(0, RESAMPLES, batch):
        rows = min(batch, RESAMPLES - start)
        drawn.append(rate(generator.integers(0, count, (rows, count))))
    return np.concatenate(drawn)


def paired_rates(
    parts: Sequence[tuple[float, float, float, float]], seed: int
) -> tuple[Figure, Figure, Interval | NotComputed]:
    """Two pooled rates over the same answers, and an interval of their difference; answers are resampled.

    Args:
        parts: numerator and denominator before, numerator and denominator after, of each answer.
        seed: equal seeds give equal intervals.
    """
    sums = [math.fsum(column) for column in zip(*parts, strict=True)] or [0.0] * 4
    nothing = "there is nothing to divide by"
    before, after = share(sums[0], sums[1], nothing), share(sums[2], sums[3], nothing)
    if len(parts) < 2:
        return before, after, NotComputed("one case" if parts else "no case")
    if (gap := missing()) is not None:
        return before, after, gap
    if len({(a * d, b * c) for a, b, c, d in parts}) == 1 or all(a * d == b * c for a, b, c, d in parts):
        return before, after, NotComputed("all differences equal")
    import numpy as np  # noqa: PLC0415 - only with SciPy

    a, b, c, d = (np.array(column, dtype=float) for column in zip(*parts, strict=True))
    drawn = _resampled(
        lambda chosen: c[chosen].sum(1) / d[chosen].sum(1) - a[chosen].sum(1) / b[chosen].sum(1),
        len(parts),
        seed,
    )
    low, high = np.percentile(drawn, [2.5, 97.5])
    return before, after, Interval(float(low), float(high), "clustered")


def standardised(differences: Sequence[float]) -> Figure:
    """Mean of paired differences over their standard deviation (Cohen's d of pairs)."""
    if len(differences) < 2:
        return NotComputed("fewer than two pairs")
    mean = math.fsum(differences) / len(differences)
    spread = math.sqrt(math.fsum((x - mean) ** 2 for x in differences) / (len(differences) - 1))
    return share(mean, spread, "all differences equal")


def mcnemar(lost: int, won: int) -> Figure:
    """Exact McNemar test: p of as uneven a split of the discordant pairs by chance (two-sided binomial)."""
    if not lost + won:
        return NotComputed("no case changed its outcome")
    return float(_scipy().binomtest(lost, lost + won, 0.5).pvalue)


def paired_test(differences: Sequence[float]) -> Figure:
    """The p-value of differences whose mean lies this far from 0 (paired t, two-sided)."""
    if len(differences) < 2:
        return NotComputed("fewer than two pairs")
    if len(set(differences)) == 1:
        return NotComputed("all differences equal")
    return float(_scipy().ttest_1samp(list(differences), 0.0).pvalue)


def discoveries(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for how many were looked at (Benjamini and Hochberg 1995), in order."""
    return [float(p) for p in _scipy().false_discovery_control(list(p_values))] if p_values else []


@dataclass(frozen=True, slots=True)
class TwoSamples:
    """How two arms differ; every figure may be not computed."""

    difference: Figure
    """Mean of B minus mean of A."""
    welch: Figure
    """p of Welch's t-test."""
    mann_whitney: Figure
    """p of the Mann-Whitney U test."""
    cohens_d: Figure
    """Difference over the pooled standard deviation; above 0 where B is higher."""


def two_samples(a: Sequence[float], b: Sequence[float]) -> TwoSamples:
    """Tests of two independent arms."""
    if len(a) < 2 or len(b) < 2:
        few = NotComputed("fewer than two cases in an arm")
        return TwoSamples(few, few, few, few)
    difference = math.fsum(b) / len(b) - math.fsum(a) / len(a)
    if len(set(a)) == 1 and len(set(b)) == 1:
        flat = NotComputed("no spread within the arms")
        return TwoSamples(difference, flat, float(_scipy().mannwhitneyu(list(a), list(b)).pvalue), flat)
    welch = float(_welch(a, b).pvalue)
    return TwoSamples(
        difference=difference,
        # A spread whose square is too small for a float is none, and the test divides by it.
        welch=welch if math.isfinite(welch) else NotComputed("no spread within the arms"),
        mann_whitney=float(_scipy().mannwhitneyu(list(a), list(b)).pvalue),
        cohens_d=cohens_d(a, b),
    )


def _welch(a: Sequence[float], b: Sequence[float]) -> Any:
    with warnings.catch_warnings():
        # SciPy warns where one arm has no spread, which is no fault of the data and does the test no harm.
        warnings.filterwarnings("ignore", "Precision loss occurred", RuntimeWarning)
        return _scipy().ttest_ind(list(a), list(b), equal_var=False)


def welch_interval(a: Sequence[float], b: Sequence[float], level: float = 0.05) -> Interval | NotComputed:
    """An interval of mean of B - mean of A, by Welch's t (1947) with Satterthwaite's degrees of freedom.

    Args:
        a: of one arm.
        b: of the other.
        level: what lies outside of the interval, both ends together, above 0.
    """
    if len(a) < 2 or len(b) < 2:
        return NotComputed("fewer than two cases in an arm")
    if len(set(a)) == 1 and len(set(b)) == 1:
        return NotComputed("no spread within the arms")
    found = _welch(b, a).confidence_interval(1 - level)
    if not math.isfinite(found.low) or not math.isfinite(found.high):
        return NotComputed("no spread within the arms")  # none whose square a float can hold
    return Interval(float(found.low), float(found.high), "welch")


def cohens_d(a: Sequence[float], b: Sequence[float]) -> Figure:
    """(mean of B - mean of A) / pooled standard deviation (Cohen 1988, section 2.2)."""
    if len(a) < 2 or len(b) < 2:
        return NotComputed("fewer than two cases in an arm")
    means = math.fsum(a) / len(a), math.fsum(b) / len(b)
    squares = math.fsum((x - means[0]) ** 2 for x in a) + math.fsum((x - means[1]) ** 2 for x in b)
    pooled = math.sqrt(squares / (len(a) + len(b) - 2))
    return share(means[1] - means[0], pooled, "no spread within the arms")


def sample_size(effect: float, *, power: float = 0.8, alpha: float = 0.05, paired: bool = False) -> int:
    """Cases an arm (or pairs) for a two-sided t-test to see an effect of this size with this probability.

    Args:
        effect: Cohen's d; for pairs the mean difference over the standard deviation of the differences.
        power: probability of seeing it, 0-1.
        alpha: level of the test, 0-1.
        paired: whether each case is measured in both arms.

    Raises:
        UsageError: a value is out of range. Caller.
        MissingExtraError: SciPy is not installed. Caller.
    """
    if not effect or not math.isfinite(effect):
        raise UsageError("the effect must be a number other than 0")
    if not alpha < power < 1 or not 0 < alpha < 1:
        raise UsageError("alpha must lie above 0, and power between alpha and 1")
    low, high = 2, 4
    while power_of(effect, high, alpha=alpha, paired=paired) < power:
        low, high = high, high * 2
        if high > 2**40:
            raise UsageError("the effect is too small: no number of cases that could be collected shows it")
    while low < high:
        middle = (low + high) // 2
        if power_of(effect, middle, alpha=alpha, paired=paired) >= power:
            high = middle
        else:
            low = middle + 1
    return low


def power_of(effect: float, cases: int, *, alpha: float = 0.05, paired: bool = False) -> float:
    """Power of the t-test with this many cases an arm, by the noncentral t distribution (Cohen 1988)."""
    freedom = cases - 1 if paired else 2 * cases - 2
    shift = abs(effect) * math.sqrt(cases if paired else cases / 2)
    bound = float(_scipy().t.ppf(1 - alpha / 2, freedom))
    far = shift - bound
    if far > 8:
        return 1.0  # the noncentral distribution has no digits left out there
    power = float(_scipy().nct.sf(bound, freedom, shift) + _scipy().nct.cdf(-bound, freedom, shift))
    return power if math.isfinite(power) else _power_by_integral(bound, freedom, shift)


def _power_by_integral(bound: float, freedom: int, shift: float) -> float:
    """The same over the chi distribution of the denominator, where scipy's series has no answer."""
    import numpy as np  # noqa: PLC0415 - kept out of start-up

    root = math.sqrt(freedom)
    first, step = max(root - 12, 0.0), 1e-3
    spreads = first + (np.arange(round((root + 12 - first) / step)) + 0.5) * step
    scaled = bound * spreads / root
    beyond = _scipy().norm.cdf(shift - scaled) + _scipy().norm.cdf(-shift - scaled)
    return min(float((_scipy().chi.pdf(spreads, freedom) * beyond).sum() * step), 1.0)


def calibration_error(
    scores: NDArray[np.float64], outcomes: NDArray[np.float64], *, equal: Literal["count", "width"] = "count"
) -> float:
    """The expected calibration error: the mean distance of scores from outcomes over ten bins, 0-1.

    Args:
        scores: probabilities, at least one.
        outcomes: 1 where it came true, 0 where not; as many.
        equal: what the bins share: how many scores they hold, which an estimate from few labels needs
            (Naeini, Cooper and Hauskrecht 2015), or their width, as published tables have it (Guo et al.
            2017).
    """
    import numpy as np  # noqa: PLC0415 - kept out of start-up

    if equal == "count":
        bins = np.array_split(np.argsort(scores, kind="stable"), BINS)
    else:
        place = np.minimum((scores * BINS).astype(int), BINS - 1)
        bins = [np.flatnonzero(place == one) for one in range(BINS)]
    gaps = [len(own) * abs(float(scores[own].mean() - outcomes[own].mean())) for own in bins if len(own)]
    return math.fsum(gaps) / len(scores)
