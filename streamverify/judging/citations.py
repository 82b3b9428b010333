"""The citations of one stream's sentences, checked against the material and suggested where they lack.

Before: `assessor.py` labelled the sentence. After: the findings go into its verdict.

Most citations cost nothing: the single passes that decided the verdict cover the cited passages (they are
in the claim's focus), and a cited set is one more pass. Only a citation that these leave open has the
clauses of its sentence scored against the cited passage, one pass for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from streamverify.calibration import Calibration, logit
from streamverify.citations import (
    CitationThresholds,
    Marker,
    Mode,
    Numbering,
    Place,
    Requirement,
    Resolver,
    Style,
    attach,
    check_citations,
    cited_passages,
    combine,
    find_markers,
    markup,
    settle,
    suggest,
)
from streamverify.claims.reader import read
from streamverify.errors import UsageError
from streamverify.judging.premises import Measured, PreparedPremises
from streamverify.parameters import one_of
from streamverify.scorers.protocol import Abort, Claim, NliScore
from streamverify.types import (
    Citation,
    Evidence,
    Label,
    Sentence,
    Span,
    SuggestedCitation,
    Work,
)

_SHARED = 0.4
"""Share of a clause's content words a window must hold before the clause is scored against it."""


_WORDS: dict[str, tuple[str, ...]] = {
    "require": get_args(Requirement),
    "numbering": get_args(Numbering),
    "scope": get_args(Mode),
    "style": get_args(Style),
    "place": get_args(Place),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationOptions:
    """What citations mean in an application, and which it asks for."""

    require: Requirement = "never"
    """Which sentences must carry one: none, those that make a claim, those that claim a number."""
    numbering: Numbering = "auto"
    """Whether `[1]` is the first passage or the second; `auto` goes by the passages' ids."""
    scope: Mode = "sentence"
    """With `paragraph`, the markers at a paragraph's end serve all of it; nothing can be required then."""
    style: Style = "[1]"
    """How suggested markers look."""
    place: Place = "before"
    """Whether suggested markers stand before the final stop or after it."""

    def __post_init__(self) -> None:
        """Refuse a word that means nothing, and a requirement that could not be checked."""
        for name, words in _WORDS.items():
            one_of(f"CitationOptions: {name}", getattr(self, name), words)
        if self.scope == "paragraph" and self.require != "never":
            raise UsageError(
                f"CitationOptions: require={self.require!r} needs scope='sentence': while a paragraph goes "
                "on, its end may still cite for every sentence of it"
            )


class CitationChecker:
    """Finds, checks and suggests the citations of one stream."""

    def __init__(
        self, material: PreparedPremises, calibration: Calibration, options: CitationOptions
    ) -> None:
        self._material, self._calibration, self._options = material, calibration, options
        self._resolver = Resolver(material.passages, numbering=options.numbering)
        self._thresholds = CitationThresholds(support=calibration.threshold)

    def find(self, sentence: Sentence, native_markers: Sequence[Marker] = ()) -> tuple[Marker, ...]:
        """The markers of a sentence, placed in the answer, with those handed in beside the text."""
        return _found(sentence, native_markers, self._resolver)

    def asked(self, claim: Claim, markers: Sequence[Marker]) -> Claim:
        """The claim, with single passes over the cited passages and a joint one over the cited set."""
        cited = cited_passages(markers, self._resolver)
        focus = self._material.finder.likeliest(cited, claim.text) if cited else ()
        together = (focus,) if len(focus) > 1 and not claim.hurried else ()
        return replace(claim, focus=focus, together=together)

    def check(
        self,
        sentence: Sentence,
        label: Label,
        markers: Sequence[Marker],
        measured: Measured | None,
        *,
        previous: Sequence[Sentence],
        abort: Abort,
    ) -> tuple[tuple[Citation, ...], Work]:
        """The sentence's citations with their findings, and what checking them cost beyond its verdict.

        Args:
            sentence: closed.
            label: its label.
            markers: of `find`.
            measured: what its verdict rests on; None where nothing was scored.
            previous: the sentences before it, for markers that serve a paragraph.
            abort: when set, the call ends soon with `ScoringError`.
        """
        parts = _Parts(self._material, self._calibration, measured, sentence.start, abort)
        own = self._findings(sentence, label, markers, measured, parts)
        work = parts.work
        if self._options.scope == "paragraph" and markers and not self._material.empty:
            served, more = self._served(sentence, markers, previous, abort)
            work = work + more
            own = settle([*served, own])[-1]
        return own, work

    def suggestion(
        self, sentence: Sentence, label: Label, markers: Sequence[Marker], evidence: Sequence[Evidence]
    ) -> SuggestedCitation | None:
        """The marker a supported sentence without one could carry."""
        if markers or label is not Label.SUPPORTED:
            return None
        options = self._options
        made = suggest(
            sentence.text,
            label,
            evidence,
            self._resolver,
            kind=sentence.kind,
            style=options.style,
            place=options.place,
        )
        if made is None:
            return None
        return SuggestedCitation(at=sentence.start + made.at, text=made.text, passages=made.passages)

    def _findings(
        self,
        sentence: Sentence,
        label: Label,
        markers: Sequence[Marker],
        measured: Measured | None,
        parts: _Parts,
    ) -> tuple[Citation, ...]:
        require = self._options.require
        if not markers and require == "never":
            return ()
        joint: float | None = None
        if measured is not None and measured.score.together:
            together = features_for(measured.features, measured.score.together[0])
            joint = self._calibration.probability(together)
        return check_citations(
            sentence,
            label,
            markers,
            self._resolver,
            parts.alone,
            joint_support=joint,
            part_support=parts.support if measured is not None and not measured.claim.hurried else None,
            lacks=parts.lacks,
            thresholds=self._thresholds,
            require=require,
        )

    def _served(
        self, sentence: Sentence, markers: Sequence[Marker], previous: Sequence[Sentence], abort: Abort
    ) -> tuple[list[tuple[Citation, ...]], Work]:
        """What the sentence's markers are worth for the sentences of its paragraph that lack any."""
        before = [self.find(other) for other in previous]
        attached = attach([*previous, sentence], [*before, markers], mode="paragraph")
        found: list[tuple[Citation, ...]] = []
        work = Work()
        for other, served in zip(previous, attached, strict=False):
            lent = [entry.marker for entry in served if entry.home == len(previous) and not entry.own]
            if not lent:
                continue
            taken_off = [span for known in before for span in markup(known)]
            reading = read(other, previous=previous[: previous.index(other)], markers=taken_off)
            if reading.claim is None:
                continue
            measured = self._material.measure(self.asked(reading.claim, lent), abort)
            work = work + measured.work
            supported = self._calibration.probability(measured.features) >= self._calibration.threshold
            label = Label.SUPPORTED if supported else Label.UNSUPPORTED
            parts = _Parts(self._material, self._calibration, measured, other.start, abort)
            found.append(self._findings(other, label, lent, measured, parts))
            work = work + parts.work
        return found, work


class _Parts:
    """What single passages say of a sentence and of its clauses, scored when asked for, each once."""

    def __init__(
        self,
        material: PreparedPremises,
        calibration: Calibration,
        measured: Measured | None,
        start: int,
        abort: Abort,
    ) -> None:
        self._material, self._calibration = material, calibration
        self._measured, self._start, self._abort = measured, start, abort
        self._known: dict[tuple[Span, str], float | None] = {}
        self._alone: dict[str, float | None] = {}
        self._seen = (
            list(dict.fromkeys(material.id_of(entry.window) for entry in measured.score.single))
            if measured is not None
            else []
        )
        self.work = Work()

    def alone(self, passage: str) -> float | None:
        """Probability that the passage alone supports the sentence; None where no window of it was read."""
        if passage not in self._seen:
            return None
        if passage not in self._alone:
            self._alone[passage] = self._by_itself(passage)
        return self._alone[passage]

    def _by_itself(self, passage: str) -> float:
        measured = self._measured
        assert measured is not None
        if len(self._seen) == 1 or measured.claim.hurried:
            score = next(
                entry.score
                for entry in measured.score.single
                if self._material.id_of(entry.window) == passage
            )
            return self._calibration.probability(features_for(measured.features, score))
        features, work = self._material.alone(measured, passage, self._abort)
        self.work = self.work + work
        return self._calibration.probability(features)

    def lacks(self, passages: Sequence[str]) -> bool:
        """Whether these passages together lack a value of the sentence that others have; not in a hurry."""
        measured = self._measured
        if measured is None or measured.claim.hurried:
            return False
        return self._material.lacks(measured, passages)

    def support(self, span: Span, passage: str) -> float | None:
        """Probability that the passage supports what stands in `span` of the sentence's text."""
        key = (span, passage)
        if key not in self._known:
            self._known[key] = self._scored(span, passage)
        return self._known[key]

    def _scored(self, span: Span, passage: str) -> float | None:
        assert self._measured is not None
        whole = self._measured.claim
        part = clipped(whole, Span(self._start + span.start, self._start + span.end))
        focus = self._material.finder.likeliest([passage], part.text)
        if not focus or not any(char.isalnum() for char in part.text):
            return None
        if self._material.finder.coverage(focus[0], part.text) < _SHARED:
            return 0.0
        measured = self._material.measure(Claim(part.text, part.offsets, focus, only_focus=True), self._abort)
        self.work = self.work + measured.work
        return self._calibration.probability(measured.features)


def unchecked(
    sentence: Sentence,
    native_markers: Sequence[Marker],
    resolver: Resolver,
    *,
    beside: Sequence[Citation] | None = None,
) -> tuple[Citation, ...]:
    """The citations of a sentence whose check did not run: unverified, or fabricated where they mean nothing.

    Args:
        sentence: closed.
        native_markers: citations that came beside the text, placed in the answer.
        resolver: of the passages the sentence would have been checked against.
        beside: what was told of the sentence before; these come first, and only `native_markers` are added to
            them, those left out that repeat one. None: the markers in the text are taken too.
    """
    markers = tuple(native_markers)
    if beside is None:
        markers = _found(sentence, native_markers, resolver)
    told = {(citation.start, citation.end, citation.passages) for citation in beside or ()}
    found = check_citations(sentence, Label.UNVERIFIED, markers, resolver, {})
    new = (c for c in found if c.start == c.end or (c.start, c.end, c.passages) not in told)
    return (*(beside or ()), *new)


def _found(sentence: Sentence, native_markers: Sequence[Marker], resolver: Resolver) -> tuple[Marker, ...]:
    written = tuple(m.moved(sentence.start) for m in find_markers(sentence.text, known=resolver))
    return combine(written, native_markers) if native_markers else written


def clipped(claim: Claim, span: Span) -> Claim:
    """The part of a claim that stands in the answer's characters `span`, with borrowed words in between."""
    inside = [at for at, offset in enumerate(claim.offsets) if span.start <= offset < span.end]
    if not inside:
        return Claim("", ())
    start, end = inside[0], inside[-1] + 1
    while start > 0 and claim.offsets[start - 1] < 0:
        start -= 1  # a subject put in from the context leads the clause it stands before
    return Claim(claim.text[start:end], claim.offsets[start:end])


def features_for(measured: Mapping[str, float], score: NliScore) -> dict[str, float]:
    """The features as if the claim had met this premise only; the checks' signals stay those of the claim."""
    entailment, contradiction = logit(score.entailment), logit(score.contradiction)
    return {
        **measured,
        "single": entailment,
        "second": entailment,
        "joint": entailment,
        "contradiction": contradiction,
    }
