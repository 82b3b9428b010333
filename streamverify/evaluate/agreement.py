"""How far annotators agree beyond chance, with an interval: people among each other, or a judge with people.

Before: the same sentences labelled by several hands. After: a figure that says whether labels can be trusted.

Whole cases are resampled for the interval, since the sentences of one answer are not independent.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamverify.errors import JudgeError, UsageError
from streamverify.evaluate.case import Case
from streamverify.evaluate.dataset import Dataset
from streamverify.evaluate.judge.questions import SENTENCES
from streamverify.evaluate.kappa import cohens_kappa, fleiss_kappa
from streamverify.evaluate.protocol import Judge
from streamverify.evaluate.stats import RESAMPLES, seed_of
from streamverify.figure import Figure, Interval, NotComputed, shown
from streamverify.types import Label

Rows = Sequence[Sequence[str]]
"""One row a sentence: the label each annotator gave it, in the annotators' order."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement beyond chance: 1 is perfect, 0 is what chance gives, below 0 is less than that."""

    kappa: Figure
    interval: Interval | NotComputed
    """95 %, cases resampled."""
    sentences: int
    cases: int
    alike: int
    """Sentences to which everybody gave the same label."""
    left_out: int = 0
    """Sentences that not everybody labelled."""

    def __str__(self) -> str:
        """On one line."""
        head = (
            f"not computed: {self.kappa.reason}" if isinstance(self.kappa, NotComputed) else shown(self.kappa)
        )
        if isinstance(self.interval, Interval):
            head += f" [{shown(self.interval.low)}, {shown(self.interval.high)}]"
        text = f"{head}, {self.sentences} sentences of {self.cases} cases, {self.alike} labelled alike"
        return f"{text}, {self.left_out} not labelled by everybody" if self.left_out else text


def agreement(cases: Mapping[str, Rows], *, left_out: int = 0) -> Agreement:
    """Cohen's kappa for two annotators, Fleiss' for more.

    Args:
        cases: id to rows; as many labels in every row, at least two.
        left_out: sentences that are not among them.

    Raises:
        UsageError: rows of different lengths, or of one label. Caller.
    """
    groups = [rows for _, rows in sorted(cases.items()) if rows]
    rows = [row for group in groups for row in group]
    hands = {len(row) for row in rows}
    if len(hands) > 1 or hands & {0, 1}:
        raise UsageError("every sentence needs a label from each of at least two annotators")
    return Agreement(
        kappa=_kappa(rows),
        interval=_interval(groups),
        sentences=len(rows),
        cases=len(groups),
        alike=sum(len(set(row)) == 1 for row in rows),
        left_out=left_out,
    )


def _kappa(rows: Rows) -> Figure:
    if not rows:
        return NotComputed("no sentence was labelled by everybody")
    if len(rows[0]) == 2:
        return cohens_kappa([row[0] for row in rows], [row[1] for row in rows])
    return fleiss_kappa(rows)


def _interval(groups: Sequence[Rows]) -> Interval | NotComputed:
    """Percentiles of kappa over resampled cases; kappa is a function of sums, so each case is summed once."""
    import numpy as np  # noqa: PLC0415 - kept out of start-up

    if len(groups) < 2:
        return NotComputed("one case" if groups else "no case")
    labels = sorted({label for group in groups for row in group for label in row})
    if len(labels) == 1:
        return NotComputed("only one label occurs")
    place, hands = {label: n for n, label in enumerate(labels)}, len(groups[0][0])
    size = np.array([len(group) for group in groups], dtype=float)
    # Counts a case: of each annotator's labels, and of agreeing pairs among the annotators.
    given = np.zeros((len(groups), hands, len(labels)))
    alike = np.zeros(len(groups))
    for number, group in enumerate(groups):
        for row in group:
            for hand, label in enumerate(row):
                given[number, hand, place[label]] += 1
            alike[number] += sum(row.count(label) ** 2 for label in labels) - hands
    pairs = hands * (hands - 1)
    draw = np.random.default_rng(seed_of("kappa", _digest(groups)))
    found = []
    for _ in range(RESAMPLES // 5):
        taken = np.bincount(draw.integers(0, len(groups), len(groups)), minlength=len(groups)).astype(float)
        whole = float(taken @ size)
        shares = np.tensordot(taken, given, axes=1) / whole
        # Two annotators keep habits of their own (Cohen); of more only the mean habit counts (Fleiss).
        chance = float(shares[0] @ shares[1]) if hands == 2 else float((shares.mean(0) ** 2).sum())
        if chance < 1 - 1e-12:
            found.append((float(taken @ alike) / (pairs * whole) - chance) / (1 - chance))
    if len(found) < 0.95 * (RESAMPLES // 5):
        return NotComputed("too few cases with more than one label")
    low, high = np.percentile(found, [2.5, 97.5])
    if math.isclose(low, high):
        return NotComputed("all cases equal")
    return Interval(float(low), float(high), "clustered")


def _digest(groups: Sequence[Rows]) -> str:
    return hashlib.sha256(repr([[list(row) for row in group] for group in groups]).encode()).hexdigest()


def between(datasets: Sequence[Dataset]) -> Agreement:
    """Agreement of the same cases labelled by several people, a file each; sentences pair by their text.

    Raises:
        UsageError: fewer than two files. Caller.
    """
    if len(datasets) < 2:
        raise UsageError("agreement needs at least two files, one an annotator")
    return between_hands([{case.id: _labels(case) for case in dataset} for dataset in datasets])


def between_hands(told: Sequence[Mapping[str, Mapping[tuple[str, int], str]]]) -> Agreement:
    """Agreement of several annotators.

    Args:
        told: for each of them case to sentence (text, and which of its like) to label.

    Raises:
        UsageError: fewer than two annotators. Caller.
    """
    if len(told) < 2:
        raise UsageError("agreement needs labels of at least two annotators")
    cases: dict[str, list[list[str]]] = {}
    left_out = 0
    for id_ in dict.fromkeys(one for labels in told for one in labels):
        held = [labels.get(id_, {}) for labels in told]
        for text in dict.fromkeys(text for labels in held for text in labels):
            row = [labels[text] for labels in held if text in labels]
            if len(row) == len(told):
                cases.setdefault(id_, []).append(row)
            else:
                left_out += 1
    return agreement(cases, left_out=left_out)


def _labels(case: Case) -> dict[tuple[str, int], str]:
    """Sentence to label; a sentence that is said twice counts twice."""
    found: dict[tuple[str, int], str] = {}
    for label in case.labels:
        text = " ".join(label.text.split())
        times = sum(one == text for one, _ in found)
        found[text, times] = str(label.label)
    return found


def with_judge(dataset: Dataset, judge: Judge) -> Agreement:
    """Agreement of a judge with the labels of a dataset; sentences labelled `unverified` are left out.

    Raises:
        UsageError: no row has labels and passages. Caller.
        JudgeError: the judge does not answer, or not with a label for each sentence.
    """
    cases: dict[str, list[list[str]]] = {}
    left_out = 0
    for case in dataset:
        labels = [one for one in case.labels if one.label is not Label.UNVERIFIED]
        left_out += len(case.labels) - len(labels)
        if not labels or case.passages is None:
            left_out += len(labels)
            continue
        passages = [{"number": n, "text": p.text} for n, p in enumerate(case.passages, 1)]
        sentences = [one.text for one in labels]
        said = judge.ask(SENTENCES, {"passages": passages, "sentences": sentences}).labels
        if len(said) != len(labels):
            raise JudgeError(f"case {case.id!r}: {len(said)} labels for {len(labels)} sentences")
        cases[case.id] = [[str(one.label), word] for one, word in zip(labels, said, strict=True)]
    if not cases:
        raise UsageError(f"{dataset.name}: no row has both labels and passages")
    return agreement(cases, left_out=left_out)
