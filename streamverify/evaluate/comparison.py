"""Is this run worse than that one? Case by case, never as if the cases were different ones.

Before: two runs over the same questions. After: a command's exit status, a test's outcome, a report.

Differences are taken within each case, and whole answers are resampled for their interval; several metrics
looked at together have their p-values adjusted (Benjamini and Hochberg 1995).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from streamverify.errors import MissingExtraError, UsageError
from streamverify.evaluate import stats
from streamverify.evaluate.gates import BaselineRules
from streamverify.evaluate.protocol import Measured, Need
from streamverify.evaluate.records import Header, MetricRecord
from streamverify.evaluate.result import PASSED, SCORE, CaseResult
from streamverify.evaluate.run import Run
from streamverify.figure import Figure, Interval, NotComputed, shown
from streamverify.text.printing import counted

Status = Literal["passed", "improved", "failed", "failed, within noise", "not computed"]
LEVEL = 0.05
"""Adjusted p-value from which a difference in the right direction counts as an improvement."""

_DECIDED = NotComputed("nothing is left to decide")


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric in both runs."""

    metric: str
    before: Figure
    """Over the pairs."""
    after: Figure
    difference: Figure
    """After - before; its sign says nothing about better or worse."""
    interval: Interval | NotComputed
    pairs: int
    """Cases with a figure in both runs."""
    lost: tuple[str, ...]
    """Ids of the cases that had a figure and have none now."""
    allowed: float
    """How much worse it may be."""
    p: Figure
    """Of the paired t-test, or of McNemar's where every figure is 0 or 1."""
    adjusted: Figure
    """`p`, adjusted for how many metrics were looked at."""
    status: Status
    detail: str = ""
    needed: Figure = _DECIDED
    """Pairs it would take to decide a drop that is within noise."""
    better: bool = False
    """Whether the difference points the right way."""
    idle: bool = False
    """Whether the baseline has no figure and nobody asked for one by name: no pass, and no failure."""

    @property
    def failed(self) -> bool:
        """Whether it fails a comparison: what can no longer be computed does."""
        return not self.idle and self.status not in ("passed", "improved")

    def __str__(self) -> str:
        """The difference, its interval and what it means, on one line."""
        if isinstance(self.difference, NotComputed):
            return f"not computed: {self.difference.reason}"
        return self._told("regressed" if self.status.startswith("failed") else self.status)

    @property
    def measured(self) -> str:
        """The figures of both runs and their difference, for a line that says the status elsewhere."""
        if isinstance(self.difference, NotComputed):
            return self.difference.reason
        return f"{shown(self.before)} -> {shown(self.after)}  {self._told('')}"

    def _told(self, word: str) -> str:
        text = f"{self.difference:+.3f}"
        if isinstance(self.interval, Interval):
            text += f" [{self.interval.low:+.3f}, {self.interval.high:+.3f}]"
        text += f" paired over {counted(self.pairs, 'case')}{f': {word}' if word else ''}"
        if self.failed:
            text += f" (allowed {self.allowed:.3g})"
        return f"{text}; {self.detail}" if self.detail else text


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs, side by side."""

    differences: Mapping[str, Difference]
    newly_failing: tuple[str, ...]
    """Ids of the cases that passed and pass no longer."""
    newly_passing: tuple[str, ...]
    not_comparable: Mapping[str, str]
    """Metric to the reason why its figures mean different things."""
    unpaired: tuple[str, ...]
    """Ids of the cases that only one run has."""
    rules: BaselineRules
    asked_otherwise: tuple[str, ...] = ()
    """Ids that stand for another question in each run, such as numbers of lines; these cases are left out."""

    def __getitem__(self, metric: str) -> Difference:
        """The difference of a metric.

        Raises:
            UsageError: it was not compared. Caller.
        """
        if metric not in self.differences:
            why = self.not_comparable.get(metric, f"compared were {', '.join(self.differences)}")
            raise UsageError(f"{metric!r} was not compared: {why}")
        return self.differences[metric]

    @property
    def failed(self) -> bool:
        """Whether a metric is worse than allowed or was to be compared and is not, or too many cases fail."""
        worse = any(one.failed for one in self.differences.values())
        return worse or bool(self.owed) or self.too_many_failures

    @property
    def owed(self) -> Mapping[str, str]:
        """Critical metrics that are not compared, and why: what was asked for by name is no pass by that."""
        return {name: why for name, why in self.not_comparable.items() if name in self.rules.critical}

    @property
    def too_many_failures(self) -> bool:
        """Whether more cases fail newly than the rules allow."""
        return len(self.newly_failing) > self.rules.new_failures

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "failed": self.failed,
            "differences": {name: _plain(one) for name, one in self.differences.items()},
            "newly_failing": list(self.newly_failing),
            "newly_passing": list(self.newly_passing),
            "not_comparable": dict(self.not_comparable),
            "critical_not_compared": sorted(self.owed),
            "unpaired": list(self.unpaired),
            "asked_otherwise": list(self.asked_otherwise),
        }


def _plain(one: Difference) -> dict[str, Any]:
    row: dict[str, Any] = {
        "status": one.status,
        "pairs": one.pairs,
        "allowed": one.allowed,
        "lost": list(one.lost),
    }
    for name in ("before", "after", "difference", "p", "adjusted", "needed"):
        figure: Figure = getattr(one, name)
        row[name] = {"not_computed": figure.reason} if isinstance(figure, NotComputed) else figure
    if isinstance(one.interval, Interval):
        row |= {"low": one.interval.low, "high": one.interval.high}
    else:
        row["interval_not_computed"] = one.interval.reason
    return row


def compare(
    before: Run,
    after: Run,
    *,
    rules: BaselineRules | None = None,
    allow_different_cases: bool = False,
    allow_different_scorers: bool = False,
) -> Comparison:
    """The differences of two runs over the same questions, paired by case id.

    Args:
        before: the baseline.
        after: what may be worse.
        rules: how much worse it may be.
        allow_different_cases: compare the cases that both runs have, by id and question.
        allow_different_scorers: compare figures that other scorers or calibrations made.

    Raises:
        UsageError: the questions differ, or no case or no metric can be compared. Caller.
    """
    rules = rules if rules is not None else BaselineRules()
    if before.header.questions != after.header.questions and not allow_different_cases:
        raise UsageError(
            "the runs are over different questions (or other labels for them); --allow-different-cases "
            "compares the cases that both have"
        )
    known = {*before.header.metrics, *after.header.metrics}
    if unknown := [name for name in rules.critical if name not in known]:
        raise UsageError(
            f"neither run has a metric {unknown[0]!r} to hold to a drop of its own; "
            f"they have {', '.join(before.header.metrics)}"
        )
    old, new = ({case.id: case for case in run.cases} for run in (before, after))
    common = [one for one in old if one in new]
    otherwise = tuple(one for one in common if _asked_otherwise(old[one], new[one]))
    left_out = frozenset(otherwise)
    pairs = [one for one in common if one not in left_out]
    if not pairs:
        told = f"; {len(otherwise)} ids stand for another question in each" if otherwise else ""
        raise UsageError(f"the runs have no case in common: nothing can be paired{told}")
    not_comparable = _differing(before, after, allow_scorers=allow_different_scorers)
    metrics = [name for name in before.header.metrics if name not in not_comparable]
    if not metrics:
        reasons = "; ".join(sorted(set(not_comparable.values())))
        raise UsageError(f"no metric can be compared: {reasons or 'the runs share none'}")
    found = {}
    for name in metrics:
        measured = [(one, old[one].figures[name], new[one].figures[name]) for one in pairs]
        seed = stats.seed_of(before.header.dataset, after.header.dataset, name)
        found[name] = _difference(name, before.header.metrics[name], measured, rules, seed)
    return Comparison(
        differences=_adjusted(found),
        newly_failing=tuple(one for one in pairs if old[one].passed and not new[one].passed),
        newly_passing=tuple(one for one in pairs if old[one].passed is False and new[one].passed),
        not_comparable=not_comparable,
        unpaired=tuple(sorted(set(old) ^ set(new))),
        rules=rules,
        asked_otherwise=otherwise,
    )


def _asked_otherwise(one: CaseResult, other: CaseResult) -> bool:
    """Whether two cases of one id are known to ask different things."""
    told = (one.question_digest, other.question_digest)
    return all(told) and told[0] != told[1]


def _differing(before: Run, after: Run, *, allow_scorers: bool) -> dict[str, str]:
    found = {}
    scorer = before.header.fingerprint != after.header.fingerprint and not allow_scorers
    for name, record in before.header.metrics.items():
        other = after.header.metrics.get(name)
        if other is None:
            found[name] = "only the baseline has it"
        elif record != other:
            found[name] = f"version {record.version} before, {other.version} after"
        elif scorer:
            found[name] = "the scorer or its calibration differs"
        elif why := _made_otherwise(name, before.header, after.header):
            found[name] = why
    new = [name for name in after.header.metrics if name not in before.header.metrics]
    return found | dict.fromkeys(new, "only the new run has it")


def _made_otherwise(name: str, before: Header, after: Header) -> str:
    """Why equal versions of a metric still measured something else; empty where they did not."""
    from streamverify.evaluate.metrics import asking_for  # noqa: PLC0415 - the whole catalogue, for this alone

    of_pack = name.startswith("stage.") or name in (SCORE, PASSED)
    if of_pack and before.pack != after.pack:
        return "the pack or its settings differ"
    used = (Need.JUDGE, Need.EMBEDDER) if of_pack else asking_for(name)
    for need, one, other in (
        (Need.JUDGE, before.judge, after.judge),
        (Need.EMBEDDER, before.embedder, after.embedder),
    ):
        if need in used and one != other:
            return f"the {need} differs: {one or 'none'} before, {other or 'none'} after"
    return ""


def _difference(
    name: str,
    record: MetricRecord,
    measured: Sequence[tuple[str, Measured, Measured]],
    rules: BaselineRules,
    seed: int,
) -> Difference:
    had = [entry for entry in measured if not isinstance(entry[1].figure, NotComputed)]
    both = [entry for entry in had if not isinstance(entry[2].figure, NotComputed)]
    lost = tuple(one for one, _, new in had if isinstance(new.figure, NotComputed))
    plain = [(old.figure, new.figure) for _, old, new in both]
    values = [(old, new) for old, new in plain if isinstance(old, float) and isinstance(new, float)]
    before, after, interval = _paired(record, both, values, seed)
    share = rules.critical.get(name, rules.max_drop)
    if isinstance(before, NotComputed) or isinstance(after, NotComputed):
        gap = NotComputed("no case has a figure in both runs")
        # What the baseline has for no case cannot have become worse; asked for by name, it is owed.
        idle = not had and name not in rules.critical
        return Difference(
            name, gap, gap, gap, gap, len(both), lost, share, gap, gap, "not computed", idle=idle
        )
    drop = before - after if record.higher_is_better else after - before
    allowed = share if rules.absolute else share * abs(before)
    p, better = _p(values), drop < 0
    one = Difference(
        name, before, after, after - before, interval, len(both), lost, allowed, p, p, "passed", better=better
    )
    # Divided as gates do it: 1 - 0.9 is a little less than the tenth that may be lost.
    if len(both) / len(had) < rules.min_coverage:
        have = "has" if len(lost) == 1 else "have"
        detail = f"{counted(len(lost), 'case')} that had a figure {have} none now: {_some(lost, 5)}"
        return replace(one, status="not computed", detail=detail)
    return one if drop <= allowed + 1e-12 else _failed(one, values)


def _failed(one: Difference, values: Sequence[tuple[float, float]]) -> Difference:
    """Worse than allowed: plainly, or by so little on so few cases that it may be chance."""
    noise = 0 in one.interval if isinstance(one.interval, Interval) else one.pairs < 2
    if not noise:
        return replace(one, status="failed")
    needed = _needed(values)
    more = needed.reason if isinstance(needed, NotComputed) else f"about {needed:.0f} cases would decide"
    return replace(one, status="failed, within noise", detail=f"too few cases to tell; {more}", needed=needed)


def _paired(
    record: MetricRecord,
    both: Sequence[tuple[str, Measured, Measured]],
    plain: Sequence[tuple[float, float]],
    seed: int,
) -> tuple[Figure, Figure, Interval | NotComputed]:
    if record.combination == "pooled":
        parts = [
            (*old.parts, *new.parts)
            for _, old, new in both
            if old.parts is not None and new.parts is not None
        ]
        return stats.paired_rates(parts, seed)
    if not plain:
        none = NotComputed("no case")
        return none, none, none
    before, after = (math.fsum(column) for column in zip(*plain, strict=True))
    if record.combination == "sum":
        return before, after, NotComputed("a sum has no interval")
    differences = [new - old for old, new in plain]
    return before / len(plain), after / len(plain), stats.mean_interval(differences, seed, binary=False)


def _p(plain: Sequence[tuple[float, float]]) -> Figure:
    try:
        if {value for pair in plain for value in pair} <= {0.0, 1.0}:
            return stats.mcnemar(sum(a > b for a, b in plain), sum(b > a for a, b in plain))
        return stats.paired_test([new - old for old, new in plain])
    except MissingExtraError as error:
        return NotComputed(str(error))


def _needed(plain: Sequence[tuple[float, float]]) -> Figure:
    differences = [new - old for old, new in plain]
    effect = stats.standardised(differences)
    if isinstance(effect, NotComputed) or not effect:
        return NotComputed("how many would decide cannot be told from these")
    try:
        return float(max(stats.sample_size(effect, paired=True), len(plain) + 1))
    except MissingExtraError as error:
        return NotComputed(str(error))


def _adjusted(found: Mapping[str, Difference]) -> dict[str, Difference]:
    """False discovery control over the metrics, and what counts as an improvement under it."""
    tested = [(name, one.p) for name, one in found.items() if isinstance(one.p, float)]
    adjusted = dict(zip((n for n, _ in tested), stats.discoveries([p for _, p in tested]), strict=True))
    result = {}
    for name, one in found.items():
        p = adjusted.get(name)
        if p is None:
            gap = one.p if isinstance(one.p, NotComputed) else NotComputed("no p-value")
            result[name] = replace(one, adjusted=gap)
            continue
        better = one.status == "passed" and p <= LEVEL and one.better
        result[name] = replace(one, adjusted=p, status="improved" if better else one.status)
    return result


def lines(comparison: Comparison) -> list[str]:
    """The comparison in lines: one a metric, then the cases."""
    width = max(len(name) for name in (*comparison.differences, *comparison.owed))
    told = [
        f"{one.status:<20}  {name:<{width}}  {one.measured}" for name, one in comparison.differences.items()
    ]
    owed = comparison.owed
    told += [
        f"{'not computed':<20}  {name:<{width}}  critical, and not compared: {why}"
        for name, why in owed.items()
    ]
    left = [one for one in comparison.not_comparable.items() if one[0] not in owed]
    told += [f"not compared: {name}: {why}" for name, why in left]
    if new := comparison.newly_failing:
        fail = "fails" if len(new) == 1 else "fail"
        allowed = f"({comparison.rules.new_failures} allowed)"
        told.append(f"{counted(len(new), 'case')} {fail} that passed {allowed}: {_some(new)}")
    if alone := comparison.unpaired:
        stand = "is" if len(alone) == 1 else "are"
        told.append(f"{counted(len(alone), 'case')} {stand} in one run only: {_some(alone)}")
    if other := comparison.asked_otherwise:
        held = counted(len(other), "case")
        told.append(f"{held} left out, whose id is another question's in each run: {_some(other)}")
    return told


def _some(ids: Sequence[str], count: int = 10) -> str:
    return ", ".join(ids[:count]) + (", …" if len(ids) > count else "")
