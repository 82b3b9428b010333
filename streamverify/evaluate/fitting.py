"""Thresholds on labels of one's own: what they miss, what they alarm about, what can be promised.

Before: a dataset whose rows label sentences. After: `Calibration.write`, a file that is accepted everywhere.

    labelled cases ──► checked ──► scores beside labels ──► one ungrounded sentence an answer ──► threshold

Sentences of one answer are not independent: what was misread once is misread again. The guarantee therefore
rests on one ungrounded sentence an answer, picked by a seeded choice; every labelled sentence counts in the
curve and the table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Literal

from streamverify.bounds import (
    conformal_misses,
    expected_miss_rate,
    guaranteed_threshold,
    least_labels,
    threshold_above,
)
from streamverify.calibration import Calibration, Guarantee
from streamverify.errors import NotEnoughLabelsError, ScoringError, UsageError
from streamverify.evaluate.case import Case
from streamverify.evaluate.dataset import Dataset, dataset_of
from streamverify.evaluate.matching import ALL, NAME, at_odds, measure, refuse_ungrouped, ungrounded
from streamverify.evaluate.runner import Progress, evaluate
from streamverify.evaluate.thresholds import LabelledScore, Threshold, at, cheapest, curve, sweep
from streamverify.figure import Figure
from streamverify.verifier import Verifier

Rule = Literal["binomial", "cost"]


@dataclass(frozen=True, slots=True)
class GroupThreshold:
    """The threshold that one group by itself asks for."""

    group: str
    threshold: float
    answers: int
    """With a sentence that is not grounded."""
    allowed: int
    """Misses among their picked sentences."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A calibration and what it was chosen by."""

    calibration: Calibration
    rule: Rule
    before: Threshold
    """Of the calibration that scored."""
    after: Threshold
    """Of the new one, on the very sentences it was chosen by: other sentences will be less kind."""
    curve: tuple[Threshold, ...]
    """A point for each threshold at which something changes, ascending, at most 101 of them; thresholds are
    probabilities of the new calibration."""
    by_cost: tuple[tuple[float, Threshold], ...]
    """For several prices of a miss, in false alarms, the cheapest threshold; none promises anything."""
    groups: tuple[GroupThreshold, ...]
    """The highest of them was taken; empty for the rule `cost`."""
    expected_miss_rate: float | None
    """What is missed at most on average over sets of labels; None for the rule `cost`."""
    conformal: float | None
    """The lower threshold that keeps that average at the rate asked for, without the guarantee."""
    labels: int
    """Labelled sentences that were scored."""
    answers: int
    """Cases with at least one of them."""
    unmatched: int
    """Labels whose text does not stand in the answer, or not within one sentence."""
    unscored: int
    """Labelled sentences without a score, most of them taken for no claim: no threshold catches these."""

    @property
    def miss_rate(self) -> Figure:
        """Of the new calibration, on the sentences it was chosen by."""
        return self.after.miss_rate

    @property
    def false_alarms(self) -> Figure:
        """Likewise."""
        return self.after.false_alarms


def calibrate(
    cases: Dataset | Iterable[Case],
    max_miss_rate: float = 0.05,
    confidence: float = 0.95,
    per: str | None = None,
    *,
    fit_weights: bool = False,
    cost_miss: float | None = None,
    cost_alarm: float | None = None,
    verifier: Verifier | None = None,
    seed: int = 0,
    workers: int | None = None,
    out: Path | str | None = None,
    progress: Progress | None = None,
) -> Fitted:
    """The threshold that keeps misses rare, on labels of one's own.

    Args:
        cases: with `labels`; rows without any are passed over.
        max_miss_rate: share of sentences that are not grounded which may be called supported, 0-1.
        confidence: probability that this holds, over sets of labels, 0-1.
        per: has the guarantee hold in each group by itself: `kind` (of the sentence: prose, table …),
            `category`, `difficulty`, `domain`, or a name in the cases' metadata. The highest threshold wins.
        fit_weights: also make the scores probabilities on such text; changes no sentence's rank.
        cost_miss: with `cost_alarm`: take the threshold whose mistakes cost least instead. Promises nothing.
        cost_alarm: see there.
        verifier: whose scores and calibration to start from; one with the embedded model if None.
        seed: picks the one sentence of each answer.
        workers: cases at once.
        out: journal, with which the same call goes on.
        progress: told after each case.

    Raises:
        NotEnoughLabelsError: too few answers with a sentence that is not grounded; says how many. Caller.
        UsageError: nothing labelled, or an argument is out of range. Caller.
        ScoringError: an answer could not be checked; names the case.
        ModelError: the model cannot be loaded. Operator.
    """
    if verifier is None:
        with Verifier() as own:
            return calibrate(
                cases,
                max_miss_rate,
                confidence,
                per,
                fit_weights=fit_weights,
                cost_miss=cost_miss,
                cost_alarm=cost_alarm,
                verifier=own,
                seed=seed,
                workers=workers,
                out=out,
                progress=progress,
            )
    needed = least_labels(max_miss_rate, confidence)  # refuses what is out of range before any work
    costs = _costs(cost_miss, cost_alarm, per)
    dataset = dataset_of(cases)
    if per is not None:
        refuse_ungrouped(dataset, per)
    _refuse_unlabelled(dataset, needed if costs is None else 0)
    run = evaluate(
        dataset,
        metrics=[measure(per)],
        verifier=verifier,
        policy="flag",
        out=out,
        workers=workers,
        progress=progress,
    )
    for failed in run.errors:
        raise ScoringError(f"case {failed.id!r}: {failed.error}")
    rows: list[LabelledScore] = []
    unmatched = unscored = 0
    for result in run.cases:
        details = result.details(NAME)
        rows += [LabelledScore(result.id, *found) for found in details.get("scores", ())]
        unmatched += details.get("unmatched", 0)
        unscored += details.get("unscored", 0)
    if not rows:
        raise UsageError("no labelled sentence was scored: rows need `labels`, each with text and label")
    base = verifier.calibration
    before = at(base.threshold, rows)
    if fit_weights:
        base, scores = base.refitted([row.score for row in rows], [row.grounded for row in rows])
        rows = [replace(row, score=score) for row, score in zip(rows, scores, strict=True)]
    picked = one_an_answer(rows, seed)
    note = f"{len(rows)} labelled sentences of {len({row.case for row in rows})} answers"
    if costs is not None:
        calibration, groups = _by_cost(base, rows, costs, note)
    else:
        # A group without a bad sentence too, which then has too few.
        names = sorted({row.group for row in rows}) if per is not None else None
        calibration, groups = _by_promise(base, picked, max_miss_rate, confidence, note, names=names)
    if calibration.guarantee is not None:
        mark = run.header.fingerprint
        model = f"{mark.model} {mark.revision}".strip()
        told = calibration.guarantee.model_copy(update={"model": model, "digest": dataset.digest})
        calibration = calibration.model_copy(update={"guarantee": told})
    return Fitted(
        calibration=calibration,
        rule="binomial" if costs is None else "cost",
        before=before,
        after=at(calibration.threshold, rows),
        curve=curve(rows),
        by_cost=sweep(curve(rows, points=None)),
        groups=groups,
        expected_miss_rate=max((expected_miss_rate(g.allowed, g.answers) for g in groups), default=None),
        conformal=None if costs is not None else _conformal(picked, max_miss_rate),
        labels=len(rows),
        answers=len({row.case for row in rows}),
        unmatched=unmatched,
        unscored=unscored,
    )


def _conformal(picked: Sequence[LabelledScore], rate: float) -> float | None:
    found = []
    for group in {row.group for row in picked}:
        bad = [row.score for row in picked if row.group == group]
        misses = conformal_misses(len(bad), rate)
        if misses is None:
            return None
        found.append(threshold_above(bad, misses))
    return max(found, default=None)


def _costs(miss: float | None, alarm: float | None, per: str | None) -> tuple[float, float] | None:
    if miss is None and alarm is None:
        return None
    if miss is None or alarm is None or min(miss, alarm) < 0 or not 0 < max(miss, alarm) < inf:
        raise UsageError(
            "the cost of a miss and the cost of a false alarm go together: numbers of 0 or more, not both 0"
        )
    if per is not None:
        raise UsageError("a threshold by cost is one for all: leave out `per`")
    return miss, alarm


def _by_cost(
    base: Calibration, scored: Sequence[LabelledScore], costs: tuple[float, float], note: str
) -> tuple[Calibration, tuple[GroupThreshold, ...]]:
    best = cheapest(curve(scored, points=None), costs)
    told = f"{note}; cheapest where a miss costs {costs[0]:g} and a false alarm {costs[1]:g}"
    return base.model_copy(update={"threshold": best.threshold, "guarantee": None, "fitted_on": told}), ()


def _refuse_unlabelled(dataset: Dataset, needed: int) -> None:
    """What the labels alone tell is told before anything is scored."""
    for case in dataset:
        if (found := at_odds(case.labels, case.answer)) is not None:
            one, other = (case.labels[place] for place in found)
            said = f"its sentence {one.text!r} is labelled {one.label} and {other.label}"
            raise UsageError(f"case {case.id!r}: {said}; keep one")
    if not any(case.labels for case in dataset):
        raise UsageError("no sentence is labelled: rows need `labels`, each with text and label")
    known = sum(map(ungrounded, dataset))
    if known < needed:
        raise NotEnoughLabelsError(known, needed)


def _by_promise(
    base: Calibration,
    picked: Sequence[LabelledScore],
    rate: float,
    confidence: float,
    note: str,
    *,
    names: Sequence[str] | None,
) -> tuple[Calibration, tuple[GroupThreshold, ...]]:
    groups, grouped = [], names is not None
    for name in names or [ALL]:
        bad = [row.score for row in picked if row.group == name and not row.grounded]
        try:
            threshold, allowed = guaranteed_threshold(bad, rate, confidence)
        except NotEnoughLabelsError as error:
            raise NotEnoughLabelsError(error.found, error.needed, name if grouped else "") from None
        groups.append(GroupThreshold(name, threshold, len(bad), allowed))
    promise = Guarantee(
        alpha=rate,
        delta=1 - confidence,
        labels=min(group.answers for group in groups),
        groups=tuple(group.group for group in groups) if grouped else (),
    )
    chosen = {"threshold": max(group.threshold for group in groups), "guarantee": promise, "fitted_on": note}
    return base.model_copy(update=chosen), tuple(groups)


def one_an_answer(rows: Iterable[LabelledScore], seed: int = 0) -> list[LabelledScore]:
    """One sentence that is not grounded from each answer (of each group of it), by a seeded hash.

    Its score and its place in the file have no say, so that any of an answer's is as likely.
    """
    held: dict[tuple[str, str], tuple[bytes, LabelledScore]] = {}
    for row in rows:
        if row.grounded:
            continue
        drawn = hashlib.sha256(f"{seed}\0{row.case}\0{row.index}".encode("utf-8", "surrogatepass")).digest()
        place = row.case, row.group
        if place not in held or drawn < held[place][0]:
            held[place] = drawn, row
    return [row for _, row in held.values()]


def lines(fitted: Fitted) -> list[str]:
    """The table for a terminal: what was labelled, before and after, what is promised, what others cost."""
    about = f"{fitted.labels} labelled sentences of {fitted.answers} answers"
    gaps = []
    if fitted.unmatched:
        gaps.append(f"{fitted.unmatched} labels not found in their answer")
    if fitted.unscored:
        gaps.append(f"{fitted.unscored} labelled sentences without a score: no threshold catches them")
    rows = [("", "threshold", "missed", "false alarms")]
    for name, one in (("before", fitted.before), ("after", fitted.after)):
        missed, alarms = _told(one.missed, one.ungrounded), _told(one.alarms, one.grounded)
        rows.append((name, f"{one.threshold:.4f}", missed, alarms))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    table = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return ["; ".join([about, *gaps]), *table, *_promised(fitted), *_swept(fitted)]


def _swept(fitted: Fitted) -> list[str]:
    head = "cheapest threshold by what a miss costs, in false alarms (no guarantee):"
    return [head] + [
        f"  {ratio:>3g}  {one.threshold:.4f}  missed {_told(one.missed, one.ungrounded)}, "
        f"false alarms {_told(one.alarms, one.grounded)}"
        for ratio, one in fitted.by_cost
    ]


def _promised(fitted: Fitted) -> list[str]:
    promise = fitted.calibration.guarantee
    if promise is None or fitted.expected_miss_rate is None:
        return [f"no guarantee: {fitted.calibration.fitted_on}"]
    sure = f"confidence {1 - promise.delta:.1%}, {promise.labels} answers"
    told = [
        f"guarantee: one ungrounded sentence of an answer is missed at most {promise.alpha:.1%} ({sure})",
        f"on average over such sets of labels at most {fitted.expected_miss_rate:.1%} are missed",
    ]
    if fitted.conformal is not None:
        told.append(f"threshold {fitted.conformal:.4f} would keep only that average at {promise.alpha:.1%}")
    if len(fitted.groups) > 1:
        told += [f"{g.group}: {g.threshold:.4f} ({g.answers} answers)" for g in fitted.groups]
    return told


def _told(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.1%})" if whole else "none labelled"
