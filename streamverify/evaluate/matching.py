"""The answer's sentences beside their labels by hand.

Before: a case with labels, and its report. After: `fitting.py` chooses thresholds by what is found here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from streamverify.errors import UsageError
from streamverify.evaluate.case import Case, LabelledSentence
from streamverify.evaluate.protocol import Measured, Metric, Need, metric
from streamverify.figure import NotComputed, share
from streamverify.types import JudgedSentence, Label, Report

_JUDGED = {Label.SUPPORTED, Label.UNSUPPORTED, Label.CONTRADICTED}
ALL = "all"
"""The group of every sentence where none are told apart."""
NAME = "labelled_scores"


def measure(per: str | None) -> Metric:
    """Collects scores beside labels; its figure is how many of the labels were scored."""

    @metric(name=NAME, needs=(Need.ANSWER, Need.PASSAGES, Need.LABELS), combination="pooled")
    def labelled_scores(case: Case, report: Report) -> Measured:
        if report.outcome != "finished":
            return Measured(NotComputed(f"the stream {report.outcome}"))
        matched, unmatched = matched_labels(case, report)
        scores: list[list[Any]] = []
        unscored = 0
        for sentence, grounded in matched:
            if sentence.score is None:
                unscored += 1
            else:
                group = ALL if per is None else _group(per, case, sentence)
                scores.append([sentence.index, group, sentence.score, grounded])
        parts = (len(scores), len(scores) + unscored)
        return Measured(
            share(*parts, "no labelled sentence makes a claim"),
            parts,
            {"scores": scores, "unmatched": unmatched, "unscored": unscored},
        )

    return labelled_scores


def refuse_ungrouped(cases: Iterable[Case], per: str) -> None:
    """Refuse what does not tell every labelled case's group, before anything is scored.

    Raises:
        UsageError: a case lacks it; names the case and what it could be. Caller.
    """
    if per == "kind":  # of the sentence: every one has it
        return
    for case in cases:
        if case.labels and _group_of(per, case) is None:
            known = ", ".join(["kind", *_own(case), *sorted(case.metadata)])
            raise UsageError(f"case {case.id!r} has no {per!r} to group by; choose one of {known}")


def _group(per: str, case: Case, sentence: JudgedSentence) -> str:
    return str(sentence.kind if per == "kind" else _group_of(per, case))


def _group_of(per: str, case: Case) -> object:
    return _own(case).get(per, case.metadata.get(per))


def _own(case: Case) -> dict[str, str]:
    told = {"category": case.category, "difficulty": case.difficulty, "domain": case.domain}
    return {name: value for name, value in told.items() if value is not None}


def matched_labels(case: Case, report: Report) -> tuple[list[tuple[JudgedSentence, bool]], int]:
    """The answer's sentences with their labels by hand, and how many labels found no sentence.

    A label belongs to the sentence that holds most of its text. A sentence with several is grounded where all
    of them are: what is half made up is made up. Labels without a claim say nothing.
    """
    labels: dict[int, list[bool]] = {}
    unmatched = start = 0
    answer, offsets = _squeezed(report.answer)
    for label in case.labels:
        text, _ = _squeezed(label.text)
        place = answer.find(text, start) if text else -1
        if place < 0:
            place = answer.find(text) if text else -1
        if place < 0:
            unmatched += 1
            continue
        start = place + len(text)
        first, last = offsets[place], offsets[start - 1] + 1
        sentence = max(report.sentences, key=lambda s: min(s.end, last) - max(s.start, first))
        if 2 * (min(sentence.end, last) - max(sentence.start, first)) <= last - first:
            unmatched += 1
        elif label.label in _JUDGED:
            labels.setdefault(sentence.index, []).append(_grounded(label))
    return [(s, all(labels[s.index])) for s in report.sentences if s.index in labels], unmatched


def at_odds(labels: Sequence[LabelledSentence], answer: str | None) -> tuple[int, int] | None:
    """Places of two labels that say different things of one sentence; None where there are none.

    A sentence that the answer says several times may be labelled as many times.
    """
    places: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        places.setdefault(_squeezed(label.text)[0], []).append(place)
    squeezed = _squeezed(answer or "")[0]
    for text, own in places.items():
        other = next((one for one in own if labels[one].label is not labels[own[0]].label), None)
        if other is not None and len(own) > squeezed.count(text):
            return own[0], other
    return None


def ungrounded(case: Case) -> bool:
    """Whether a sentence of the answer is labelled as not grounded."""
    return any(label.label in _JUDGED and not _grounded(label) for label in case.labels or ())


def _grounded(label: LabelledSentence) -> bool:
    return label.label is Label.SUPPORTED


def _squeezed(text: str) -> tuple[str, list[int]]:
    """The text without blanks, and where each of its characters stood: line breaks must not hide a label."""
    kept = [(char, place) for place, char in enumerate(text) if not char.isspace()]
    return "".join(char for char, _ in kept), [place for _, place in kept]
