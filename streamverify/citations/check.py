"""Says, for each citation of a sentence, whether it points at the right place.

Before: `resolve.py` knows what the markers mean, the scorer how far each passage supports the
sentence, `judging/verdict.py` the sentence's label. After: the findings go into the verdict.

The rules, first that holds:

    fabricated      the marker means no passage
    unverified      the sentence has no verdict or makes no claim, or a cited passage was not scored
    correct         the sentence is supported, the cited set lacks no number, date or name of it that
                    other passages have, and a cited passage alone supports it, or the cited
                    set together does while none of it does alone or clearly better than any of it,
                    or the set would lack one of these without the passage,
                    or no passage alone supports the sentence and the cited one comes nearest to it;
                    or the passage supports the part of the sentence that the marker closes
    partial         a cited passage supports some clauses; or it comes near and no other passage alone
                    supports the sentence, where clauses were not scored or the cited set lacks something
    wrong_passage   the sentence is supported, by another passage or by several
    unsupported     the sentence is not supported

A sentence that is not supported never carries a correct citation, even when it misreports the very
passage it cites: the finding answers "does this passage support this sentence".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from streamverify.citations.annotation import insertion_point
from streamverify.citations.parts import clauses
from streamverify.text.list_marks import marks_end
from streamverify.types import Citation, CitationFinding, Label, Sentence, Span

if TYPE_CHECKING:
    from streamverify.citations.markers import Marker
    from streamverify.citations.resolve import Resolver

Requirement = Literal["never", "claims", "numbers"]
"""Which sentences must carry a citation: none, those that make a claim, those that claim a number."""
Support = Mapping[str, float] | Callable[[str], float | None]
PartSupport = Callable[[Span, str], float | None]
TOGETHER = 0.1
"""By how much a cited set must be likelier to support a sentence than a passage of it that does so alone."""
NEAREST = 0.8
"""Part of the support threshold at which a passage counts where it comes nearest and none reaches it."""
SAME = 0.01
"""Difference below which two passages come equally near: one piece of text, cut at other places."""


@dataclass(frozen=True, slots=True)
class CitationThresholds:
    """Probabilities (0-1) at which a score counts.

    Raises:
        ValueError: not `0 < support < 1`, or not `0 < part <= support`. Caller.
    """

    support: float = 0.5
    """A passage that reaches it supports the sentence; the calibration's own threshold, usually."""
    part: float | None = None
    """A passage that reaches it, alone, has to do with the sentence; two fifths of `support` unless given.

    Used only where clauses were not scored."""

    def __post_init__(self) -> None:
        """Refuse bars in the wrong order."""
        if not 0 < self.near <= self.support < 1:
            raise ValueError(f"0 < part <= support < 1 does not hold for {self.near:g} and {self.support:g}")

    @property
    def near(self) -> float:
        """`part`, or what takes its place."""
        return 0.4 * self.support if self.part is None else self.part


def cited_passages(markers: Sequence[Marker], resolver: Resolver) -> tuple[str, ...]:
    """The passages that need a single pass each, in the order cited; when several, also a joint one."""
    return tuple(dict.fromkeys(id_ for marker in markers for id_ in resolver.resolve(marker)))


def check_citations(
    sentence: Sentence,
    label: Label,
    markers: Sequence[Marker],
    resolver: Resolver,
    support: Support,
    *,
    joint_support: float | None = None,
    part_support: PartSupport | None = None,
    lacks: Callable[[Sequence[str]], bool] = lambda _: False,
    thresholds: CitationThresholds = CitationThresholds(),
    require: Requirement = "never",
    lent: Sequence[Marker] = (),
) -> tuple[Citation, ...]:
    """One citation for each marker, in order; two for one that also names what does not exist (`[1, 9]`).

    Args:
        sentence: closed.
        label: its label.
        markers: its own markers, with offsets into the answer.
        resolver: of the stream.
        support: for a passage's id, the calibrated probability (0-1), from single passes over its
            windows, that it supports the sentence, taken from its best window. None, or absent, where
            it was not scored: fine for a passage nobody cites, which then is never `better`.
        joint_support: likewise for all cited passages together, from a joint pass; None without one.
        part_support: likewise for a part of the sentence (a span in `sentence.text`) and a passage.
            Asked only about clauses of sentences whose citation is not settled otherwise.
        lacks: whether passages together lack a number, date or name of the sentence that others have.
            Asked only about supported sentences.
        thresholds: when a probability counts.
        require: whether a claim without any marker gets a `missing` citation, empty, at the place
            where a marker should stand.
        lent: markers that serve the sentence from elsewhere (`attach`): it is not `missing` then.
    """
    if not markers:
        absent = not lent and _required(sentence, label, require)
        return (_missing(sentence, label, resolver, _lookup(support), thresholds),) if absent else ()
    return _Check(
        sentence=sentence,
        label=label,
        markers=markers,
        resolver=resolver,
        support=_lookup(support),
        joint=joint_support,
        part=part_support,
        lacks=lacks,
        thresholds=thresholds,
    ).run()


def states_number(text: str) -> bool:
    """Whether a sentence, its list number, heading marks and markers taken off, has a digit in it."""
    return any(char.isdigit() for char in text[marks_end(text) :])


@dataclass(frozen=True, slots=True)
class _Check:
    """Everything about one sentence with markers."""

    sentence: Sentence
    label: Label
    markers: Sequence[Marker]
    resolver: Resolver
    support: Callable[[str], float | None]
    joint: float | None
    part: PartSupport | None
    lacks: Callable[[Sequence[str]], bool]
    thresholds: CitationThresholds

    def run(self) -> tuple[Citation, ...]:
        cited = cited_passages(self.markers, self.resolver)
        lacking = self.label is Label.SUPPORTED and bool(cited) and self.lacks(cited)
        found: list[Citation] = []
        for position, marker in enumerate(self.markers):
            ids = self.resolver.resolve(marker)
            if ids:
                found.append(self._judged(position, ids, cited, lacking))
            if not ids or self.resolver.unresolved(marker):
                found.append(self._citation(marker, (), CitationFinding.FABRICATED, None))
        return tuple(found)

    def _citation(
        self,
        marker: Marker,
        ids: tuple[str, ...],
        finding: CitationFinding,
        score: float | None,
        *,
        better: str | None = None,
        span: Span | None = None,
    ) -> Citation:
        start = self.sentence.start
        return Citation(
            marker=marker.text,
            start=marker.start,
            end=marker.end,
            passages=ids,
            finding=finding,
            score=score,
            better=better,
            supported_span=Span(start + span.start, start + span.end) if span else None,
        )

    def _judged(self, position: int, ids: tuple[str, ...], cited: tuple[str, ...], lacking: bool) -> Citation:
        scores = [score for id_ in ids if (score := self.support(id_)) is not None]
        best = max(scores, default=0.0)
        unscored = not scores or (len(scores) < len(ids) and best < self.thresholds.support)
        if unscored or self.label in {Label.UNVERIFIED, Label.NO_CLAIM}:
            return self._citation(self.markers[position], ids, CitationFinding.UNVERIFIED, None)
        if self.label is not Label.SUPPORTED:
            return self._incorrect(position, ids, best, lacking=False)
        correct = self._of_part(position, ids, best) if lacking else self._correct(position, ids, cited, best)
        return correct or self._incorrect(position, ids, best, lacking)

    def _correct(
        self, position: int, ids: tuple[str, ...], cited: tuple[str, ...], best: float
    ) -> Citation | None:
        """Of a supported sentence: the citation, when it points at the right place."""
        marker = self.markers[position]
        if best >= self.thresholds.support:
            return self._citation(marker, ids, CitationFinding.CORRECT, best)
        if self._together(cited):
            return self._citation(marker, ids, CitationFinding.CORRECT, self.joint)
        if self._needed(ids, cited):
            return self._citation(marker, ids, CitationFinding.CORRECT, best)
        if (part := self._of_part(position, ids, best)) is not None:
            return part
        if self._nearest(ids, best):
            return self._citation(marker, ids, CitationFinding.CORRECT, best)
        return None

    def _of_part(self, position: int, ids: tuple[str, ...], best: float) -> Citation | None:
        """The citation, when its passages support the part of the sentence that it closes."""
        scope = self._scope(position) if self.part is not None else None
        if scope is None or not self._backs(scope, ids):
            return None
        return self._citation(self.markers[position], ids, CitationFinding.CORRECT, best, span=scope)

    def _nearest(self, ids: tuple[str, ...], best: float) -> bool:
        """Whether these passages come nearest to supporting what no passage supports alone.

        The sentence is supported all the same, so something here supports it: if not they, who?
        """
        others = (self.support(id_) or 0.0 for id_ in self.resolver.ids if id_ not in ids)
        bar, rival = NEAREST * self.thresholds.support, max(others, default=0.0)
        # A passage that stands twice, in overlapping pieces, is no nearer than itself.
        return best >= bar and best >= rival - SAME and rival < self.thresholds.support

    def _incorrect(self, position: int, ids: tuple[str, ...], best: float, lacking: bool) -> Citation:
        marker, supported = self.markers[position], self.label is Label.SUPPORTED
        better = self._better(ids, lacking) if supported else None
        span = self._backed(ids) if self.part is not None and (better is None or not lacking) else None
        near = (self.part is None or lacking) and better is None and best >= self.thresholds.near
        if span is not None or near:
            finding = CitationFinding.PARTIAL
        else:
            finding = CitationFinding.WRONG_PASSAGE if supported else CitationFinding.UNSUPPORTED
        return self._citation(marker, ids, finding, best, better=better, span=span)

    def _better(self, ids: tuple[str, ...], lacking: bool) -> str | None:
        """The passage that supports the sentence best by itself, if one does; it lacks nothing of it."""
        better = _best(self.resolver, self.support, self.thresholds)
        if not lacking or better is None:
            return better
        return None if better in ids or self.lacks((better,)) else better

    def _together(self, cited: tuple[str, ...]) -> bool:
        """Whether it takes the cited set: together it supports, no passage of it does alone, or far less."""
        if len(cited) < 2 or self.joint is None or self.joint < self.thresholds.support:
            return False
        alone = max(self.support(id_) or 0.0 for id_ in cited)
        return alone < self.thresholds.support or self.joint >= alone + TOGETHER

    def _needed(self, ids: tuple[str, ...], cited: tuple[str, ...]) -> bool:
        """Whether the cited set, which lacks nothing, would lack something without these passages."""
        others = tuple(id_ for id_ in cited if id_ not in ids)
        return bool(others) and self.lacks(others)

    def _scope(self, position: int) -> Span | None:
        """The part of the sentence a marker closes, when that is not all of it; in the sentence's text."""
        marker, start = self.markers[position], self.sentence.start
        if marker.scope is not None:
            return Span(max(marker.scope.start - start, 0), marker.scope.end - start)
        text = self.sentence.text
        # Markers side by side, `[1][2]`, close the same words.
        ends = [0, *(other.end - start for other in self.markers[:position])]
        begin = next((end for end in reversed(ends) if re.search(r"\w", text[end : marker.start - start])), 0)
        whole = not re.search(r"\w", text[:begin]) and not re.search(r"\w", text[marker.end - start :])
        return None if whole else Span(begin, marker.start - start)

    def _backs(self, span: Span, ids: tuple[str, ...]) -> bool:
        assert self.part is not None
        return any((self.part(span, id_) or 0.0) >= self.thresholds.support for id_ in ids)

    def _backed(self, ids: tuple[str, ...]) -> Span | None:
        """The longest run of clauses these passages support; None when there is none, or but one clause."""
        spans = clauses(self.sentence.text)
        if len(spans) < 2:
            return None
        best: Span | None = None
        run: Span | None = None
        for span in spans:
            backed = self._backs(span, ids)
            run = (Span(run.start, span.end) if run else span) if backed else None
            if run and (best is None or run.end - run.start > best.end - best.start):
                best = run
        return best


def _best(
    resolver: Resolver, support: Callable[[str], float | None], thresholds: CitationThresholds
) -> str | None:
    scored = [(support(id_) or 0.0, -place, id_) for place, id_ in enumerate(resolver.ids)]
    score, _, best = max(scored, default=(0.0, 0, ""))
    return best if score >= thresholds.support else None


def _missing(
    sentence: Sentence,
    label: Label,
    resolver: Resolver,
    support: Callable[[str], float | None],
    thresholds: CitationThresholds,
) -> Citation:
    place = insertion_point(sentence.text, sentence.kind)
    at = sentence.start + (len(sentence.text.rstrip()) if place is None else place)
    better = _best(resolver, support, thresholds) if label is Label.SUPPORTED else None
    return Citation(marker="", start=at, end=at, finding=CitationFinding.MISSING, better=better)


def _required(sentence: Sentence, label: Label, require: Requirement) -> bool:
    if require == "never" or label is Label.NO_CLAIM:
        return False
    return require == "claims" or states_number(sentence.text)


def _lookup(support: Support) -> Callable[[str], float | None]:
    return support.get if isinstance(support, Mapping) else support
