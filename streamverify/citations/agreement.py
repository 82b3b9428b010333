"""How well findings agree with labels: accuracy for each finding, and the confusion matrix.

A label says whether a marker points at the right place, apart from whether its sentence is true; a
finding says whether the passage supports the sentence. So on supported sentences the two must be
equal, and on others only `fabricated` is comparable, and a `correct` is always wrong.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamverify.figure import Figure, NotComputed
from streamverify.types import Citation, CitationFinding, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class LabelledCitation:
    """A marker somebody labelled, beside what was found for it."""

    expected: CitationFinding
    supported: bool
    """Whether its sentence is labelled supported."""
    found: CitationFinding | None
    """None where no citation was found at the marker."""

    @property
    def agrees(self) -> bool:
        """Whether the finding is right, by the rule of this module."""
        if self.supported:
            return self.found is self.expected
        fabricated = CitationFinding.FABRICATED
        same = (self.found is fabricated) == (self.expected is fabricated)
        return same and self.found is not None and self.found is not CitationFinding.CORRECT


@dataclass(frozen=True, slots=True)
class Agreement:
    """Figures over a labelled set."""

    accuracy: Figure
    """Findings that agree / labelled citations, all sentences."""
    on_supported: Figure
    """Likewise on supported sentences."""
    on_others: Figure
    """Likewise on all other sentences."""
    per_finding: Mapping[CitationFinding, Figure]
    """On supported sentences, for each label: those found as such / those labelled."""
    confusion: Mapping[tuple[CitationFinding, CitationFinding | None], int]
    """On supported sentences: (label, finding) to count; pairs that do not occur are absent."""
    confusion_others: Mapping[tuple[CitationFinding, CitationFinding | None], int]
    """Likewise on all other sentences."""


def measure_agreement(rows: Iterable[LabelledCitation]) -> Agreement:
    """Accuracy for each finding and the confusion matrices."""
    everything = list(rows)
    supported = [row for row in everything if row.supported]
    others = [row for row in everything if not row.supported]
    labels = sorted({row.expected for row in supported})
    return Agreement(
        accuracy=_share(everything),
        on_supported=_share(supported),
        on_others=_share(others),
        per_finding={label: _share([row for row in supported if row.expected is label]) for label in labels},
        confusion=Counter((row.expected, row.found) for row in supported),
        confusion_others=Counter((row.expected, row.found) for row in others),
    )


def found_at(citations: Sequence[Citation], start: int, end: int) -> CitationFinding | None:
    """The finding of the citation that overlaps a labelled marker; the worst when there are several.

    `[1, 9]` has a citation for the passage and one for what does not exist.
    """
    here = [c.finding for c in citations if c.start < end and start < c.end]
    return max(here, key=_SEVERITY.index, default=None)


def marker_spans(sentence: Sentence, markers: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """Where labelled markers, given as text in order, stand in the answer.

    Raises:
        ValueError: a marker is not in the sentence behind the one before it. Whoever labelled.
    """
    spans, position = [], 0
    for marker in markers:
        start = sentence.text.index(marker, position)
        position = start + len(marker)
        spans.append((sentence.start + start, sentence.start + position))
    return tuple(spans)


_SEVERITY = (
    CitationFinding.UNVERIFIED,
    CitationFinding.CORRECT,
    CitationFinding.PARTIAL,
    CitationFinding.UNSUPPORTED,
    CitationFinding.WRONG_PASSAGE,
    CitationFinding.MISSING,
    CitationFinding.FABRICATED,
)


def _share(rows: Sequence[LabelledCitation]) -> Figure:
    if not rows:
        return NotComputed("no such citation is labelled")
    return sum(row.agrees for row in rows) / len(rows)
