"""Findings of one claim as they are made: of its own characters, and where the sources say otherwise.

Before: a check saw something. After: `signals.py` hands all of it on, in text order.
"""

from __future__ import annotations

from streamverify.checks.aligned import Place
from streamverify.checks.date import Date
from streamverify.checks.index import Near, Source, SourceIndex
from streamverify.checks.quantity import Quantity
from streamverify.scorers.protocol import Claim
from streamverify.types import Finding, FindingKind

_VALUES = frozenset({FindingKind.NUMBER_MISMATCH, FindingKind.DATE_MISMATCH})


class Told:
    """What is told of a claim so far."""

    def __init__(self, claim: Claim, index: SourceIndex) -> None:
        self._claim, self._index = claim, index
        self._findings: list[Finding] = []
        self._against: list[Near] = []

    @property
    def findings(self) -> tuple[Finding, ...]:
        """In text order."""
        return tuple(sorted(self._findings, key=lambda finding: (finding.start, finding.end, finding.kind)))

    @property
    def against(self) -> tuple[Near, ...]:
        """Where the sources have another value, in the order of being told."""
        return tuple(self._against)

    def own(self, start: int, end: int) -> bool:
        """Whether the range holds a character of the answer itself."""
        offsets = self._claim.offsets
        return not offsets or any(offset >= 0 for offset in offsets[start:end])

    def find(self, kind: FindingKind, start: int, end: int, detail: str) -> None:
        """Tell something of a range of the claim; nothing where none of it is the answer's own."""
        if kind in _VALUES:
            end = start + len(_without_stop(self._claim.text[start:end]))
        offsets = self._claim.offsets
        if offsets:
            own = [offset for offset in offsets[start:end] if offset >= 0]
            if not own:
                return
            start, end = min(own), max(own) + 1
        self._findings.append(Finding(kind=kind, start=start, end=end, detail=detail))

    def at(self, start: int, end: int) -> bool:
        """Whether something has been told of a range of the claim, or of a part of it."""
        offsets = self._claim.offsets[start:end] if self._claim.offsets else range(start, end)
        return any(one.start <= offset < one.end for one in self._findings for offset in offsets)

    def instead(self, value: Quantity | Date, other: Quantity | Date | Place, source: Source) -> str:
        """What a finding says of a value in whose place a source has another; the place is kept."""
        if source.offset >= 0:
            self._against.append((source.passage, source.offset + other.start, source.offset + other.end))
        ours, theirs = _without_stop(value.text), _without_stop(other.text)
        return f"{ours} here, {theirs} in {self._index.name(source.passage)}"

    def beside(self, value: Quantity | Date, found: tuple[Source, Quantity | Date] | None) -> str:
        """What a finding says of a value that no source holds, of those that have another or of none."""
        if found is None:
            return f"{_without_stop(value.text)} is in no passage"
        return self.instead(value, found[1], found[0])


def _without_stop(text: str) -> str:
    """A value as it stands, but for a stop that may end the sentence: of "5 pm.", not of "5 p.m."."""
    return text if "." in text.rsplit(maxsplit=1)[-1][:-1] else text.removesuffix(".")


def on_one_line(text: str) -> str:
    """A sentence for a finding, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= 120 else line[:119] + "…"
