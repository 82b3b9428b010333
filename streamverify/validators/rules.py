"""The rules that come with the library; each a frozen value, called with an answer.

Before: `protocol.py`. After: whoever lists them for a domain.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import ClassVar

from streamverify.errors import UsageError
from streamverify.figure import NotComputed
from streamverify.pii import PiiDetector, Recognisers
from streamverify.types import Action, Citation, CitationFinding, JudgedSentence, Label
from streamverify.validators.protocol import Answer, Outcome, outcome

_WORD = re.compile(r"\w{3,}")
_SHOWN = (Action.RELEASE, Action.FLAG)


def _shown(answer: Answer) -> Iterator[JudgedSentence]:
    """Sentences a reader saw as they were generated; a rule is about what was said to somebody."""
    return (sentence for sentence in answer.report.sentences if sentence.action in _SHOWN)


def _cited(answer: Answer) -> Iterator[tuple[JudgedSentence, Citation]]:
    for sentence in _shown(answer):
        for citation in sentence.citations:
            if citation.finding is not CitationFinding.MISSING:
                yield sentence, citation


def _least(value: float) -> None:
    if not 0 <= value <= 1:
        raise UsageError(f"least must be a share from 0 to 1, not {value!r}")


@dataclass(frozen=True, slots=True)
class MustCiteIfClaims:
    """Every sentence that makes a claim carries a citation.

    A sentence that could not be checked may make one: without a citation it leaves the rule undecided.
    """

    name: str = "must_cite_if_claims"
    by_sentence: ClassVar[bool] = True
    least: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a share that is none."""
        _least(self.least)

    def __call__(self, answer: Answer, /) -> Outcome:
        """Sentences that claim and cite / sentences that claim."""
        cited = {sentence.index for sentence, _ in _cited(answer)}
        shown = list(_shown(answer))
        claims = [one for one in shown if one.label not in (Label.NO_CLAIM, Label.UNVERIFIED)]
        bare = [one.index for one in claims if one.index not in cited]
        told = outcome(
            self.name,
            len(claims) - len(bare),
            len(claims),
            least=self.least,
            nothing="no sentence makes a claim",
            detail=f"{len(bare)} of {len(claims)} claims cite nothing",
            sentences=bare,
        )
        open_ones = [one.index for one in shown if one.label is Label.UNVERIFIED and one.index not in cited]
        if open_ones and told.passed is not False:
            reason = f"{len(open_ones)} sentences without a citation could not be checked for claims"
            return Outcome(
                criterion=self.name,
                score=NotComputed(reason),
                passed=None,
                detail=reason,
                sentences=tuple(open_ones),
            )
        return told


@dataclass(frozen=True, slots=True)
class CitationExists:
    """Every citation means a passage, and one whose document the requester may see."""

    name: str = "citation_exists"
    by_sentence: ClassVar[bool] = True
    least: float = 1.0

    def __post_init__(self) -> None:
        """Refuse a share that is none."""
        _least(self.least)

    def __call__(self, answer: Answer, /) -> Outcome:
        """Citations that mean visible passages / citations."""
        cited, wrong, hidden = 0, [], 0
        for sentence, citation in _cited(answer):
            cited += 1
            sources = [answer.provenance(passage) for passage in citation.passages]
            visible = all(one is not None and one.visible_to(answer.requester) for one in sources)
            if not sources or not visible:
                wrong.append(sentence.index)
                hidden += bool(sources)
        return outcome(
            self.name,
            cited - len(wrong),
            cited,
            least=self.least,
            nothing="the answer cites nothing",
            detail=f"{len(wrong) - hidden} citations mean no passage, {hidden} one the requester may not see",
            sentences=wrong,
        )


@dataclass(frozen=True, slots=True)
class RetrievalRelevance:
    """The words of the question stand in the titles and tags of the first `k` passages."""

    k: int = 5
    least: float = 0.3

    def __post_init__(self) -> None:
        """Refuse what is no rank, and no share."""
        _least(self.least)
        if self.k < 1:
            raise UsageError(f"k must be 1 or more, not {self.k}")

    @property
    def name(self) -> str:
        """With its `k`."""
        return f"retrieval_relevance@{self.k}"

    def __call__(self, answer: Answer, /) -> Outcome:
        """Words of the question found / words of the question."""
        asked = (answer.question or "").strip()
        wanted = {word.casefold() for word in _WORD.findall(asked)}
        headings = [
            " ".join([passage.title or "", *(provenance.tags if provenance is not None else ())])
            for passage in answer.passages[: self.k]
            for provenance in [answer.provenance(passage.id)]
        ]
        if answer.passages and not any(heading.strip() for heading in headings):
            reason = "no passage has a title or tags"
            return Outcome(criterion=self.name, score=NotComputed(reason), passed=None, detail=reason)
        found = {word.casefold() for heading in headings for word in _WORD.findall(heading)}
        missing = ", ".join(sorted(wanted - found)[:10])
        return outcome(
            self.name,
            len(wanted & found),
            len(wanted),
            least=self.least,
            nothing="the question has no words" if asked else "there is no question",
            detail=f"not in the titles and tags of the first {self.k} passages: {missing}",
        )


@dataclass(frozen=True, slots=True)
class PolicyScopeAllowed:
    """Every cited document belongs to scopes that the requester's roles open.

    A document's scopes are its tags. One without any, or with one that is not listed, is open to nobody.
    """

    allowed: Mapping[str, Sequence[str]]
    """Scope to the roles that open it; `*` stands for everybody."""
    name: str = "policy_scope_allowed"
    by_sentence: ClassVar[bool] = True

    def __call__(self, answer: Answer, /) -> Outcome:
        """Citations within the requester's scopes / citations that mean a passage."""
        cited, wrong, scopes, bare = 0, [], set[str](), 0
        for sentence, citation in _cited(answer):
            for passage in citation.passages:
                cited += 1
                source = answer.provenance(passage)
                tags = source.tags if source is not None else frozenset[str]()
                closed = {tag for tag in tags if not self._opens(tag, answer.requester.roles)}
                if closed or not tags:
                    wrong.append(sentence.index)
                    scopes |= closed
                    bare += not tags
        told = (
            [f"cited from scopes that are not the requester's: {', '.join(sorted(scopes))}"] if scopes else []
        )
        told += ["a cited document has no scope (tag)"] if bare else []
        return outcome(
            self.name,
            cited - len(wrong),
            cited,
            least=1.0,
            nothing="the answer cites no passage",
            detail="; ".join(told),
            sentences=wrong,
        )

    def _opens(self, scope: str, roles: frozenset[str]) -> bool:
        named = self.allowed.get(scope, ())
        return "*" in named or bool(roles & set(named))


HR_AGE = timedelta(days=90)
"""How old a policy of human resources may be."""


@dataclass(frozen=True, slots=True)
class FreshnessOk:
    """Cited documents are no older than their topic allows.

    A document that has a limit and does not say when it was updated counts as old.
    """

    limits: Mapping[str, timedelta] = field(default_factory=lambda: MappingProxyType({"HR": HR_AGE}))
    """Topic or tag to the greatest age; the shortest limit that fits a document counts, `*` fits all."""
    least: float = 0.9
    name: str = "freshness_ok"
    by_sentence: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse a share that is none."""
        _least(self.least)

    def __call__(self, answer: Answer, /) -> Outcome:
        """Fresh citations / citations of documents that have a limit."""
        cited, old = 0, []
        for sentence, citation in _cited(answer):
            for passage in citation.passages:
                source = answer.provenance(passage)
                if source is None:
                    continue
                named = {"*", *source.tags, *([source.topic] if source.topic is not None else [])}
                fitting = [limit for topic, limit in self.limits.items() if topic in named]
                if not fitting:
                    continue
                cited += 1
                if source.updated_at is None or answer.now - source.updated_at > min(fitting):
                    old.append(sentence.index)
        return outcome(
            self.name,
            cited - len(old),
            cited,
            least=self.least,
            nothing="no cited document has a greatest age",
            detail=f"{len(old)} of {cited} citations are of documents too old, or that do not say how old",
            sentences=old,
        )


@dataclass(frozen=True, slots=True)
class FormatOk:
    """The answer is not empty, shows nothing personal, and what it must hold can be read from it."""

    read: Callable[[str], object] | None = None
    """Reads the released text, and raises ValueError (pydantic's too) where it is not of its form."""
    personal: PiiDetector | None = field(default_factory=Recognisers)
    """Finds personal data in the released text; None where an answer may show some."""
    name: str = "format_ok"

    def __call__(self, answer: Answer, /) -> Outcome:
        """1.0 or 0.0."""
        wrong = "" if answer.report.released.strip() else "the answer is empty"
        if not wrong and self.read is not None:
            try:
                self.read(answer.report.released)
            except ValueError as error:
                # Its first line alone: what follows may repeat the answer.
                wrong = f"the answer is not of its form: {str(error).partition(chr(10))[0][:200]}"
        told, sentences = self._shown(answer)
        wrong = "; ".join(filter(None, (wrong, told)))
        return Outcome(
            criterion=self.name,
            score=0.0 if wrong else 1.0,
            passed=not wrong,
            detail=wrong,
            sentences=sentences,
        )

    def _shown(self, answer: Answer) -> tuple[str, tuple[int, ...]]:
        """Which kinds of personal data a reader saw, and in which sentences; never the data."""
        if self.personal is None:
            return "", ()
        counts = Counter(item.kind for item in self.personal(answer.report.released))
        if not counts:
            return "", ()
        found = self.personal(answer.report.answer)
        sentences = (
            one.index
            for one in _shown(answer)
            if any(item.start < one.end and one.start < item.end for item in found)
        )
        told = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        return f"it shows personal data: {told}", tuple(sentences)
