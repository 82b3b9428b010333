"""How far a judge's grades of whole answers agree with people's, beyond chance.

Before: rows whose `judgments` hold what a person decided. After: a figure that says whether to trust a judge.

Grades are ordered, so that one grade off is a smaller mistake than three: the weighted kappa counts squared
distances. The plain one beside it knows only right and wrong. Numbers from 0 to 1 are measured alike: of them
the weighted kappa is Lin's concordance, and the plain one takes the nearest quarter.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from streamverify.errors import JudgeError, UsageError
from streamverify.evaluate.agreement import Agreement, agreement
from streamverify.evaluate.case import GRADES, SHARES
from streamverify.evaluate.dataset import Dataset
from streamverify.evaluate.kappa import concordance, weighted_kappa
from streamverify.evaluate.metrics.judged import (
    correctness_1_5,
    judged_groundedness,
    judged_helpfulness,
    judged_non_fabrication,
    relevance_1_5,
)
from streamverify.evaluate.protocol import Judge, Metric, Tools, unmet
from streamverify.evaluate.stats import AT_ONCE, RESAMPLES, seed_of
from streamverify.figure import Figure, Interval, NotComputed, shown

BY: Mapping[str, Metric] = MappingProxyType(
    {
        "helpfulness": judged_helpfulness,
        "correctness": correctness_1_5,
        "relevance": relevance_1_5,
        "non_fabrication": judged_non_fabrication,
        "groundedness": judged_groundedness,
    }
)
"""Criterion to the metric whose question is put to the judge; so one cache serves an evaluation too."""

FAR, FAR_SHARE = 2, 0.5
"""Grades apart, or of a number from 0 to 1 how much, from which two judgments are far from each other."""


@dataclass(frozen=True, slots=True)
class GradedAgreement:
    """How a judge's grades stand beside a person's."""

    criterion: str
    weighted: Figure
    """Kappa with squared distances, of numbers Lin's concordance: 1 is perfect, 0 is what chance gives."""
    interval: Interval | NotComputed
    """95 %, cases resampled."""
    plain: Agreement
    """Kappa of the same grades as if they had no order; of numbers by the nearest quarter."""
    far: tuple[tuple[str, str, str], ...]
    """Case, the person's judgment, the judge's: those `FAR` or more apart, farthest first."""
    shift: Figure
    """By how many grades, or how much, the judge is above the person on average; below 0: it is harsher."""
    left_out: int = 0
    """Rows that lack the judgment, or what the judge has to be shown."""

    def __str__(self) -> str:
        """On one line."""
        head = (
            f"not computed: {self.weighted.reason}"
            if isinstance(self.weighted, NotComputed)
            else shown(self.weighted)
        )
        if isinstance(self.interval, Interval):
            head += f" [{shown(self.interval.low)}, {shown(self.interval.high)}]"
        text = f"{head}, {self.plain.cases} cases, {self.plain.alike} graded alike, {len(self.far)} far apart"
        if isinstance(self.shift, float):
            text += f", the judge {self.shift:+.2f}{'' if self.criterion in SHARES else ' grades'} off"
        return f"{text}, {self.left_out} rows left out" if self.left_out else text


def graded(criterion: str, grades: Mapping[str, tuple[str, str]], *, left_out: int = 0) -> GradedAgreement:
    """Agreement of two graders on ordered grades, or on numbers from 0 to 1.

    The interval holds the percentiles of the weighted kappa over resampled cases (Efron 1979), seeded by the
    grades themselves.

    Args:
        criterion: of `GRADES` or `SHARES`.
        grades: case to the person's grade and the judge's, or to their numbers, as text.
        left_out: cases that are not among them.

    Raises:
        UsageError: there is no such criterion, or a grade is none of its. Caller.
    """
    if criterion not in (*GRADES, *SHARES):
        raise UsageError(
            f"there is no criterion {criterion!r} with grades; choose {', '.join((*GRADES, *SHARES))}"
        )
    pairs = [pair for _, pair in sorted(grades.items())]
    places = [(_place(criterion, one), _place(criterion, other)) for one, other in pairs]
    shares = criterion in SHARES
    weighted = (
        concordance([one for one, _ in places], [other for _, other in places])
        if shares
        else weighted_kappa([one for one, _ in pairs], [other for _, other in pairs], GRADES[criterion])
    )
    apart = {case: other - one for case, (one, other) in zip(sorted(grades), places, strict=True)}
    limit = FAR_SHARE if shares else FAR
    far = sorted((case for case, by in apart.items() if abs(by) >= limit), key=lambda one: -abs(apart[one]))
    words = {case: [_quarter(one) if shares else one for one in pair] for case, pair in grades.items()}
    return GradedAgreement(
        criterion=criterion,
        weighted=weighted,
        interval=_interval(places) if isinstance(weighted, float) else weighted,
        plain=agreement({case: [pair] for case, pair in words.items()}),
        far=tuple((case, *grades[case]) for case in far),
        shift=math.fsum(apart.values()) / len(apart) if apart else NotComputed("no row"),
        left_out=left_out,
    )


def _place(criterion: str, told: str) -> float:
    """Where a judgment stands: a grade's number from 0, or the number that it is."""
    try:
        value = float(told if criterion in SHARES else GRADES[criterion].index(told))
    except ValueError:
        value = math.nan
    if criterion in SHARES and not 0 <= value <= 1:
        raise UsageError(f"{criterion} is a number from 0 to 1, not {told!r}")
    if math.isnan(value):
        raise UsageError(f"{criterion} is judged by the grades {', '.join(GRADES[criterion])}, not {told!r}")
    return value


def _quarter(told: str) -> str:
    """The nearest of 0, 0.25, 0.5, 0.75 and 1; the higher one halfway."""
    return f"{math.floor(4 * float(told) + 0.5) / 4:g}"


def _interval(pairs: Sequence[tuple[float, float]]) -> Interval | NotComputed:
    import numpy as np  # noqa: PLC0415 - kept out of start-up

    if len(pairs) < 2:
        return NotComputed("one case")
    rng = np.random.default_rng(seed_of("weighted kappa", hashlib.sha256(repr(pairs).encode()).hexdigest()))
    one, other = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    found: list[float] = []
    draws, batch = RESAMPLES // 5, max(1, AT_ONCE // len(pairs))
    for start in range(0, draws, batch):
        drawn = rng.integers(0, len(pairs), (min(batch, draws - start), len(pairs)))
        x, y = one[drawn], other[drawn]
        chance = (x * x).mean(1) + (y * y).mean(1) - 2 * x.mean(1) * y.mean(1)
        seen, told = ((x - y) ** 2).mean(1), chance > 1e-12
        found += (1 - seen[told] / chance[told]).tolist()
    if len(found) < 0.95 * draws:
        return NotComputed("too few cases with another grade")
    low, high = np.percentile(found, [2.5, 97.5])
    if math.isclose(low, high):
        return NotComputed("all cases equal")
    return Interval(float(low), float(high), "percentile")


def grades_with_judge(dataset: Dataset, judge: Judge, criterion: str) -> GradedAgreement:
    """Agreement of a judge with what people judged of whole answers.

    Raises:
        UsageError: there is no such criterion, or no row with its judgment can be shown to the judge. Caller.
        JudgeError: the judge does not answer; names the case.
    """
    if criterion not in BY:
        raise UsageError(f"there is no criterion {criterion!r} with grades; choose {', '.join(BY)}")
    metric, tools = BY[criterion], Tools(judge=judge)
    held: dict[str, tuple[str, str]] = {}
    left_out = 0
    for case in dataset:
        person = case.judgments.get(criterion)
        if person is None or unmet(metric, case, tools) is not None:
            left_out += 1
            continue
        try:
            said = metric(case, None, tools)
        except JudgeError as error:
            raise JudgeError(f"case {case.id!r}: {error}") from error
        if isinstance(said.figure, NotComputed):
            left_out += 1
            continue
        held[case.id] = person, str(said.details["judgment"]["label"])
    if not held:
        raise UsageError(f"{dataset.name}: no row has judgments.{criterion} and all that the judge is shown")
    return graded(criterion, held, left_out=left_out)
