"""Passages that are versions of one text, and claims that follow the one that no longer holds.

Two passages are versions of each other when they share most of their words. The later one is told by the date
of its title or metadata, or by what either says of itself ("withdrawn in 2021", "replaces the edition of").
A claim follows the older version when it has in common with the older sentence what the newer one says
otherwise, and nothing that only the newer one says. A claim that names the older version, or says that it
speaks of the past, is about it and not against the newer one. Passages on two things, of two offices or two
plans, share as many words and are no versions (`subjects.py`). English cues.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations

from streamverify._lazy import cached_property
from streamverify.checks.dates import dates
from streamverify.checks.editions import Edition, Moment, edition, moment, names_edition
from streamverify.checks.editions import newer as is_newer
from streamverify.checks.quantities import quantities
from streamverify.checks.source_text import SourceText
from streamverify.checks.subjects import OF_COMPANIES, named, subject, title_subject, without_speaker
from streamverify.text.sentence_ends import SENTENCE_END
from streamverify.text.words import content_stems
from streamverify.types import Passage

MOST_PASSAGES = 64
"""Passages that are compared with each other; the work grows with the square of their number."""
LONGEST = 20_000
"""Characters of a passage that are read for this."""
_HEAD, _TAIL = 240, 160
"""Characters at a passage's beginning and end in which it speaks of itself."""

ALIKE = 0.6
"""Share of the shorter passage's words that two versions share, where one says that it is a version."""
VERY_ALIKE = 0.75
"""The same where only dates tell which is the later."""
COUNTERPART = 0.5
"""Share of words that a sentence has in common with the one that took its place."""
ABOUT = 0.5
"""Share of the claim's words that the older sentence must hold."""

_ENDED = re.compile(
    r"\b(?:superseded|withdrawn|replaced (?:by|in|on|with)|out of date|outdated|obsolete|archived|deprecated"
    r"|repealed|expired|no longer (?:in (?:force|use|effect)|valid|applicable|current|applies|apply)"
    r"|(?:valid|applied|in (?:force|effect|use)|effective|applicable) (?:only )?(?:until|up to|till|through)"
    r"|valid for \d{4} only|ceased to (?:apply|have effect)|previous (?:version|edition)|old version)\b",
    re.IGNORECASE,
)
_BEGUN = re.compile(
    r"\b(?:replac(?:es|ing)|supersed(?:es|ing)|takes? (?:the )?place of|in place of the|revised|updated"
    r"|current (?:version|edition|as of)|as amended"
    r"|(?:applies|applicable|valid|effective|in (?:force|effect)) (?:as )?(?:of|from|since)"
    r"|effective (?:on )?(?:\d{1,2} )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6})\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:(?:previously|formerly|at (?:the|that) time|back then|originally|once (?:was|were|had)"
    r"|used to (?:be|have|cost|take|apply|last|need|pay|require|allow|charge|stand)"
    r"|(?:older?|previous|earlier|former|first) (?:version|edition|rules?|text|policy)"
    r"|before the (?:change|revision|amendment|update)|until (?:recently|then|\d{4}))\b"
    r"|no longer [^.,:;]{0,60}?(?:\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred)\b)"
    r"|old (?:[\w-]{1,30} ){1,3}(?:was|were|had|cost|took)\b)",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d++(?>(?:[.,]\d++)*)")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a version as a bag of what it says: stems of content words, and values."""

    text: str
    words: frozenset[str]


@dataclass(frozen=True)
class Version:
    """One passage, read for what it says of itself."""

    passage: int
    source: SourceText
    """Its text, as far as it is read for this."""
    title: str
    head: str
    """Title, beginning and end."""
    when: Moment | None
    edition: Edition
    """What its title tells of its edition."""

    @cached_property
    def ended(self) -> bool:
        """It says that it holds no longer."""
        return _ENDED.search(self.head) is not None

    @cached_property
    def begun(self) -> bool:
        """It says that it took another's place."""
        return _BEGUN.search(self.head) is not None

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences, in order."""
        parts = (part.strip() for part in SENTENCE_END.split(self.source.text))
        return tuple(Sentence(part, said(part)) for part in parts if part)

    @cached_property
    def words(self) -> frozenset[str]:
        """Stems of all its content words."""
        return frozenset(self.source.stem_run)

    @cached_property
    def known(self) -> frozenset[str]:
        """Stems of its words and its title's."""
        return self.words | title_subject(self.title) | named(self.source.text[:_HEAD])

    @cached_property
    def subject(self) -> frozenset[str]:
        """What it is on, as its title and the names in its first sentence tell."""
        return title_subject(self.title) | (
            named(without_speaker(self.sentences[0].text)) if self.sentences else frozenset()
        )


@dataclass(frozen=True, slots=True)
class Superseded:
    """A claim follows `older` where `newer` says otherwise; positions of passages."""

    older: int
    newer: int
    sentence: str
    """What the newer one says."""


def said(text: str) -> frozenset[str]:
    """Stems of the content words of a text, and its values, spelled out or not, each with what follows it."""
    found = [q for q in quantities(text, hedges=False) if q.readings]
    values = {f"#{q.readings[0].value:g}" for q in found}
    # A value that both versions hold may have moved to another thing: 160 GB and 80 hours, now 160 hours.
    counted = {f"#{q.readings[0].value:g} {q.noun or q.readings[0].dimension}" for q in found}
    figures = {f"#{figure.replace(',', '')}" for figure in _FIGURE.findall(text)}
    return frozenset(content_stems(text)) | values | counted | figures


def read_version(position: int, passage: Passage, read: Callable[[str], SourceText] = SourceText) -> Version:
    """A passage, read for what it says of itself; `read` as of `index.SourceView`."""
    text = passage.text[:LONGEST]
    title = passage.title or ""
    head = " ".join((title[:_HEAD], text[:_HEAD], text[-_TAIL:]))
    return Version(position, read(text), title[:_HEAD], head, moment(passage), edition(passage))


def _supersedes(newer: Version, older: Version) -> bool:
    later = newer.when is not None and older.when is not None and newer.when > older.when
    earlier = newer.when is not None and older.when is not None and newer.when < older.when
    by_date = newer.when is not None and older.when is not None and newer.when != older.when
    later = later or (not by_date and is_newer(newer.edition, older.edition))
    earlier = earlier or (not by_date and is_newer(older.edition, newer.edition))
    told = (older.ended and not newer.ended) or (newer.begun and not older.begun)
    if earlier or not (later or told):
        return False
    smaller = min(len(newer.words), len(older.words))
    if not smaller or _on_two_things(newer, older):
        return False
    return len(newer.words & older.words) / smaller >= (ALIKE if told else VERY_ALIKE)


def _on_two_things(one: Version, other: Version) -> bool:
    """Whether each passage is on something that the other never names: two offices, two plans."""
    ours, theirs = title_subject(one.title), title_subject(other.title)
    if ours and ours == theirs:
        return False
    return bool(one.subject - other.known - OF_COMPANIES and other.subject - one.known - OF_COMPANIES)


class Versions:
    """Which passages of a stream are versions of each other."""

    def __init__(self, passages: Sequence[Passage], read: Callable[[str], SourceText] = SourceText) -> None:
        compared = passages[:MOST_PASSAGES]
        self._versions = [read_version(i, passage, read) for i, passage in enumerate(compared)]

    @cached_property
    def pairs(self) -> tuple[tuple[Version, Version], ...]:
        """Older and newer versions."""
        return tuple(
            (older, newer) for older, newer in permutations(self._versions, 2) if _supersedes(newer, older)
        )

    @cached_property
    def years(self) -> frozenset[int]:
        """Years that passages are from, as they say or their metadata tell."""
        return frozenset(version.when[0] for version in self._versions if version.when is not None)

    def followed(self, claim: str) -> Superseded | None:
        """The older version that a claim follows against a newer one, if it does."""
        if not self.pairs or _PAST.search(claim):
            return None
        words = said(claim)
        years = {date.year for date in dates(claim) if date.year is not None}
        for older, newer in self.pairs:
            of_its_year = older.when is not None and older.when[0] in years
            if of_its_year or names_edition(claim, years, older.edition, newer.edition):
                continue
            if (found := _followed(words, older, newer)) is not None:
                return Superseded(older.passage, newer.passage, found)
        return None


def _followed(claim: frozenset[str], older: Version, newer: Version) -> str | None:
    """The newer sentence that a claim goes against, if it follows the older one."""
    near = max(older.sentences, key=lambda one: len(one.words & claim), default=None)
    if near is None or not claim or len(near.words & claim) / len(claim) < ABOUT:
        return None
    counterpart = max(newer.sentences, key=lambda one: len(one.words & near.words), default=None)
    if counterpart is None or len(counterpart.words & near.words) < COUNTERPART * len(near.words):
        return None
    gone, come = near.words - counterpart.words, counterpart.words - near.words
    if not gone & claim or come & claim or not come:
        return None
    if any(word.startswith("#") for word in gone | come):
        ours, theirs = (subject(without_speaker(one.text)) for one in (near, counterpart))
        if ours - newer.known and theirs - older.known:
            return None  # they speak of two things
    return counterpart.text
