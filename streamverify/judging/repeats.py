"""Assessments of sentences that stood in the same surroundings before: an answer in a loop is read once.

Before: `assessor.py` is about to read a sentence. After: it need not.

An assessment depends on the sentence, the sentences before it and the passages, and on their places in the
answer only in that its own places move along; what one sentence got is therefore right for its like, moved.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias, TypeVar

from streamverify.types import Citation, Finding, Sentence, Span, Verdict, Work

CAPACITY = 64
"""Assessments that are remembered: the longest passage of sentences that may come round again."""

P = TypeVar("P", Citation, Finding)


class Lean(NamedTuple):
    """What a scorer before said, for the one that decides after it."""

    margin: float
    """Log-odds by which its probability lies above its threshold."""
    share: float
    """Of the log-odds that are its, 0-1."""


Key: TypeAlias = tuple[tuple[tuple[str, str, int], ...], Lean | None]


@dataclass(frozen=True, slots=True)
class Assessment:
    """A verdict, what it cost and what it hangs on."""

    verdict: Verdict
    work: Work
    probabilities: tuple[float, ...] = ()
    """Calibrated probabilities (0-1) that the label and the findings about citations were read from."""
    unread: bool = False
    """The scorer could not read it (its language, its length); another one might."""
    margin: float | None = None
    """Log-odds by which the label's probability lies above the threshold; None where no claim was scored."""


class Repeats:
    """The assessments of one stream used last; safe to use from several threads."""

    def __init__(self) -> None:
        """Empty."""
        self._lock = threading.Lock()
        self._known: OrderedDict[Key, tuple[Sentence, Assessment]] = OrderedDict()

    def get(
        self, sentence: Sentence, previous: Sequence[Sentence], lean: Lean | None = None
    ) -> Assessment | None:
        """What its like got, moved to where this sentence stands; its work counts as remembered."""
        key = _key(sentence, previous, lean)
        with self._lock:
            known = self._known.get(key)
            if known is None:
                return None
            self._known.move_to_end(key)
        like, assessment = known
        work = assessment.work
        remembered = Work(
            claims_from_cache=work.claims + work.claims_from_cache, tokens_generated=work.tokens_generated
        )
        verdict = moved(assessment.verdict, sentence.index, sentence.start - like.start)
        return replace(assessment, verdict=verdict, work=remembered)

    def put(
        self,
        sentence: Sentence,
        previous: Sequence[Sentence],
        assessment: Assessment,
        lean: Lean | None = None,
    ) -> None:
        """Remember what a sentence got."""
        key = _key(sentence, previous, lean)
        with self._lock:
            self._known[key] = sentence, assessment
            self._known.move_to_end(key)
            while len(self._known) > CAPACITY:
                self._known.popitem(last=False)


def _key(sentence: Sentence, previous: Sequence[Sentence], lean: Lean | None) -> Key:
    around = (*previous, sentence)
    return tuple((one.text, one.kind.value, one.start - sentence.start) for one in around), lean


def moved(verdict: Verdict, index: int, by: int) -> Verdict:
    """The verdict with every place in the answer `by` characters further on."""
    suggestion = verdict.suggestion
    return verdict.model_copy(
        update={
            "index": index,
            "citations": tuple(_placed(citation, by) for citation in verdict.citations),
            "findings": tuple(_placed(finding, by) for finding in verdict.findings),
            "unsupported_spans": tuple(
                Span(span.start + by, span.end + by) for span in verdict.unsupported_spans
            ),
            "suggestion": None
            if suggestion is None
            else suggestion.model_copy(update={"at": suggestion.at + by}),
        }
    )


def _placed(found: P, by: int) -> P:
    return found.model_copy(update={"start": found.start + by, "end": found.end + by})
