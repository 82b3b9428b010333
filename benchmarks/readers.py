"""Every function that reads text from outside, as `growth.py` calls it: with one text and nothing else.

A public function of the rooms that read text is called with the text alone where that is enough. What
needs more is written down in `CALLS`, what meets no text of any length in `NOT_READERS`, with the reason. A
test keeps both complete.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from patterns import modules
from stopwatch import Subject
from streamverify.checks import numerals
from streamverify.checks.acronyms import in_other_forms
from streamverify.checks.aligned import Ground, Reader, run_of
from streamverify.checks.denied import denied
from streamverify.checks.editions import edition, names_edition
from streamverify.checks.exchanged import exchanged
from streamverify.checks.index import SourceIndex
from streamverify.checks.misquoted import misquoted
from streamverify.checks.moved import moved
from streamverify.checks.names import names
from streamverify.checks.negation import Statement, mismatch, statements
from streamverify.checks.quotes import near_miss, occurs, quotations
from streamverify.checks.quotes import plain as quoted_words
from streamverify.checks.signals import check, unheld
from streamverify.checks.subjects import of_another
from streamverify.checks.supposed import conditional, exemplary, of_some_case, of_some_kind, supposed
from streamverify.checks.told import Told
from streamverify.citations import (
    Resolver,
    annotate,
    attach,
    check_citations,
    context,
    find_markers,
    forms,
    marker_spans,
    native,
    suggest,
)
from streamverify.citations.attributions import named_sources
from streamverify.claims import coreference, reader
from streamverify.claims.asides import aside
from streamverify.passages import cut, passages_from
from streamverify.pii import Recognisers, blocked, marked, numbers, people
from streamverify.pii.policy import RedactPii
from streamverify.scorers import LexicalScorer
from streamverify.scorers.protocol import Abort, Claim
from streamverify.sentences.segmenter import SentenceSegmenter, segment
from streamverify.showing.releases import Release
from streamverify.text import markdown, sentence_ends
from streamverify.text.words import placed_words
from streamverify.types import Action, Evidence, Label, Passage, Sentence, SentenceKind, Span

ROOMS = ("text", "sentences", "claims", "checks", "citations", "passages", "pii")
"""Rooms whose public functions read text."""

_CLAIM = "NASA built the Tower of Example in 1889 for $4 million, says “the big book”, not later [1]."
_PASSAGES = (Passage("p1", "It is 330 m tall.", "Report (2021)"), Passage("p2", "It opened in 1889."))


def _sentence(text: str, kind: SentenceKind = SentenceKind.PROSE) -> Sentence:
    return Sentence(index=0, text=text, start=0, end=len(text), kind=kind)


def _titled(text: str) -> Passage:
    names = ("author", "year", "url", "file_name")
    return Passage("p1", "It is tall.", text, dict.fromkeys(names, text))


def _segmented(text: str, piece: int) -> int:
    segmenter = SentenceSegmenter()
    closed = [segmenter.feed(text[at : at + piece]) for at in range(0, len(text), piece)]
    return sum(map(len, closed)) + len(segmenter.flush())


def _tokens(text: str) -> list[Span]:
    return [Span(at, min(at + 4, len(text))) for at in range(0, len(text), 4)]


def _numeral(text: str) -> str:
    """The text as far as it can be a numeral that is found in it; 1 where it has none."""
    return numerals.numeral_at(f"1{text}", 0)[0] or "1"


def _filtered(text: str, piece: int) -> int:
    seen = RedactPii().release_filter()
    parts = ((text[at : at + piece], at) for at in range(0, len(text), piece))
    releases = (Release(part, Span(at, at + len(part)), Action.RELEASE) for part, at in parts)
    return sum(len(seen.feed([release], release.text)) for release in releases) + len(seen.flush())


def _checked(text: str) -> object:
    """A claim with one of everything against a passage, its title and a question made of this text."""
    index = SourceIndex([Passage("p1", text, text)], question=text)
    return check(Claim(_CLAIM), index)


def _misquoted(text: str) -> float:
    index = SourceIndex(_PASSAGES)
    return misquoted(text, index.everything, Told(Claim(text), index), index)


def _read_before(text: str) -> object:
    """Sentences of the answer that lean on those before them."""
    before = [_sentence(text), _sentence(f"{text}:")]
    after = (_sentence("It is so."), _sentence("- tall", SentenceKind.LIST_ITEM))
    return [reader.read(one, previous=before) for one in after]


CALLS: dict[str, Callable[[str], object]] = {
    "checks.aligned.Ground": lambda text: Ground([(0, run_of(text, placed_words(text)), False)]),
    "checks.aligned.Reader": lambda text: Reader(text).around(0, 1),
    "checks.index.SourceIndex": _checked,
    "checks.coverage.wording": lambda text: check(
        Claim("It is tall."), SourceIndex([Passage("p1", text[:190_000])])
    ),
    "checks.moved.moved": lambda text: moved(
        _CLAIM, names("Otto Falk built it."), [("p1", one) for one in statements(f"{_CLAIM} {text}")]
    ),
    "checks.denied.denied": lambda text: denied(text, text),
    "checks.exchanged.exchanged": lambda text: exchanged(text, Statement(text)),
    "checks.negation.mismatch": lambda text: mismatch(_CLAIM, statements(text)),
    "checks.numerals.step_of": lambda text: numerals.step_of(_numeral(text)),
    "checks.numerals.values_of": lambda text: numerals.values_of(_numeral(text)),
    "checks.supposed.conditional": lambda text: conditional(text, len(text)),
    "checks.supposed.exemplary": lambda text: exemplary(text, len(text)),
    "checks.supposed.supposed": lambda text: supposed(text, len(text)),
    "checks.supposed.of_some_kind": lambda text: of_some_kind(text, len(text)),
    "checks.supposed.of_some_case": lambda text: of_some_case(text, len(text), len(text)),
    "checks.editions.names_edition": lambda text: names_edition(
        text, set(), edition(_titled(text)), edition(_PASSAGES[0])
    ),
    "checks.subjects.of_another": lambda text: [of_another(_CLAIM, text, text), of_another(text, "", _CLAIM)],
    "checks.misquoted.misquoted": lambda text: _misquoted(text[:2000]),
    "checks.quotes.near_miss": lambda text: [near_miss(q, [quoted_words(text)]) for q in quotations(_CLAIM)],
    "checks.quotes.occurs": lambda text: [occurs(q, [quoted_words(text)]) for q in quotations(_CLAIM)],
    "checks.signals.check": lambda text: check(Claim(text[:2000]), SourceIndex(_PASSAGES)),
    "checks.signals.unheld": lambda text: unheld(Claim(text[:2000]), SourceIndex(_PASSAGES)),
    "checks.acronyms.in_other_forms": lambda text: [
        *in_other_forms(text, SourceIndex(_PASSAGES).everything),
        *in_other_forms("The WHO met NASA.", SourceIndex([_titled(text)]).everything),
    ],
    "citations.agreement.marker_spans": lambda text: marker_spans(_sentence(text), text[:1]),
    "citations.annotation.annotate": lambda text: annotate(text, *_supported()),
    "citations.annotation.suggest": lambda text: suggest(text, *_supported()),
    "citations.attachment.attach": lambda text: attach([_sentence(text)] * 2, [()] * 2),
    "citations.attributions.named_sources": lambda text: list(named_sources(text, Resolver(_PASSAGES))),
    "citations.bibliography.addresses_of": lambda text: Resolver([_titled(text)]),
    "citations.bibliography.authors_of": lambda text: Resolver([_titled(text)]),
    "citations.bibliography.files_of": lambda text: Resolver([_titled(text)]),
    "citations.bibliography.year_of": lambda text: Resolver([_titled(text)]),
    "citations.check.check_citations": lambda text: check_citations(
        _sentence(text), Label.SUPPORTED, (), Resolver(_PASSAGES), {"p1": 0.9}, require="numbers"
    ),
    "citations.context.is_checkbox": lambda text: context.is_checkbox(text, len(text), "x"),
    "citations.context.is_exponent": lambda text: context.is_exponent(text, len(text)),
    "citations.context.is_index": lambda text: context.is_index(text, len(text), len(text)),
    "citations.context.is_interval": lambda text: context.is_interval(text, len(text), "0, 1", counted=False),
    "citations.context.names_before": lambda text: context.names_before(text, len(text)),
    "citations.forms.attributes": lambda text: forms.attributes(text, positions=True),
    "citations.forms.words": lambda text: forms.words(text, square=True),
    "citations.markers.find_markers": lambda text: find_markers(text, known=Resolver(_PASSAGES)),
    "citations.provider.native": lambda text: native([{"id": "p1", "title": text, "url": text}], text=text),
    "citations.resolve.Resolver": lambda text: Resolver([Passage(f"k-1{text}", "It.", text)]),
    "claims.asides.aside": lambda text: aside(text, 0, len(text)),
    "claims.coreference.frame": lambda text: [
        coreference.frame(*pair) for pair in ((text, "tall"), ("It is:", text))
    ],
    "claims.coreference.referent": lambda text: [
        coreference.referent(word, [text] * 4) for word in ("it", "he")
    ],
    "claims.reader.read": lambda text: [
        reader.read(_sentence(text, kind)) for kind in SentenceKind if kind is not SentenceKind.CODE
    ],
    "claims.reader.previous": _read_before,
    "passages.cut": lambda text: cut([Passage("p1", text)], _tokens, 400),
    "passages.cut by the lexical scorer": lambda text: LexicalScorer().prepare(
        cut([Passage("p1", text)], _tokens, 400), abort=Abort()
    ),
    "passages.passages_from of chunks": lambda text: passages_from(
        SimpleNamespace(page_content=f"{at} {text[at : at + 8]}", metadata={"doc_id": "d"})
        for at in range(0, len(text), 8)
    ),
    "passages.passages_from": lambda text: passages_from([{"id": "p1", "text": text, "title": text}]),
    "pii.items.blocked": lambda text: blocked(text, Recognisers()),
    "pii.items.marked": lambda text: marked(text, Recognisers()),
    "pii.numbers.cards": lambda text: list(numbers.cards(text)),
    "pii.numbers.emails": lambda text: list(numbers.emails(text)),
    "pii.numbers.hosts": lambda text: list(numbers.hosts(text)),
    "pii.numbers.ibans": lambda text: list(numbers.ibans(text)),
    "pii.numbers.national_ids": lambda text: list(numbers.national_ids(text)),
    "pii.numbers.phones": lambda text: list(numbers.phones(text)),
    "pii.people.addresses": lambda text: list(people.addresses(text)),
    "pii.people.birth_dates": lambda text: list(people.birth_dates(text)),
    "pii.people.papers": lambda text: list(people.papers(text)),
    "pii.people.persons": lambda text: list(people.persons(text)),
    "pii.policy.release_filter": lambda text: _filtered(text, 1_000),
    "sentences.segmenter.segment": segment,
    "sentences.segmenter.feed": lambda text: _segmented(text, 4),
    "text.markdown.around": lambda text: markdown.around(markdown.INLINE["link"], text),
    "text.markdown.cells": lambda text: markdown.cells(text, 0, markers=()),
    "text.markdown.plain": lambda text: markdown.plain(text, 0, markers=()),
    "text.sentence_ends.opens_sentence": lambda text: sentence_ends.opens_sentence(text, len(text)),
}
"""How what needs more than a text is called; also longer ways through several functions."""

NOT_READERS: dict[str, str] = {
    "checks.bounding.bounding": "looks at forty characters",
    "checks.years.stray": "looks at what stands before a year, as `checks.supposed` does",
    "checks.month_ends.edges": "is asked by SourceIndex for each passage",
    "checks.currencies.foreign": "is asked by check for a claim's amounts",
    "checks.currencies.is_currency": "of a unit",
    "checks.phones.listed": "looks for one number in texts",
    "checks.weekdays.between": "is asked by SourceIndex for each passage",
    "checks.weekdays.outside": "is asked by check for the days of a claim",
    "checks.weekdays.stands_for_a_day": "is asked by dates for what it found",
    "checks.indefinite.indefinite": "looks at sixteen characters on either side",
    "checks.compared.difference": "meets one number of a claim and eighty of the sources at most",
    "checks.ranges.within_range": "meets the dates of SourceIndex, of a date that no source holds",
    "checks.hedges.hedged": "is asked by quantities for what it found",
    "checks.number_words.spelled": "is asked by quantities for what it found",
    "checks.counted.alike": "asks negation.nearest_to for the sentence",
    "checks.counted.other_count": "meets one number, and those of one sentence",
    "checks.former.former": "looks at 240 characters",
    "checks.same_times.same_time": "meets a claim and a sentence that exchanged has read",
    "checks.exchanged.says": "meets the sentences that share most words with a claim, a few",
    "checks.opposites.clashes": "compares the words of two sentences, as negation.mismatch asks",
    "checks.opposites.phrases": "meets the words of one sentence, as negation.mismatch reads it",
    "checks.clock_times.behind_date": "is asked by dates for what it found",
    "checks.clock_times.by_clock": "is asked by dates for what it found",
    "checks.clock_times.clock_at": "is asked by dates for what it found",
    "checks.clock_times.half_past": "is asked by dates for what it found",
    "checks.clock_times.in_hours": "is asked by dates for what it found",
    "checks.clock_times.military": "is asked by dates for what it found",
    "checks.clock_times.noon": "is asked by dates for what it found",
    "checks.clock_times.quarter_past": "is asked by dates for what it found",
    "checks.zones.apart": "of two names",
    "checks.zones.zone_behind": "is asked by dates for what it found",
    "checks.joined.join": "is asked by quantities for what it found",
    "checks.joined.marked": "is asked by quantities for what it found",
    "checks.roman.number_of": "of a word",
    "checks.roman.roman": "of a word",
    "checks.shared.spread": "is asked by quantities for what it found",
    "checks.numerals.below_zero": "is asked by quantities for what it found",
    "checks.numerals.sign_before": "is asked by quantities for what it found",
    "checks.numerals.in_name": "is asked by quantities for what it found",
    "checks.numerals.decimal_point_before": "is asked by quantities for what it found",
    "checks.numerals.power_of_ten": "is asked by quantities for what it found",
    "checks.day_ranges.day_before": "is asked by dates for what it found",
    "checks.day_ranges.day_behind": "is asked by dates for what it found",
    "checks.eras.era": "is asked by dates for what it found",
    "checks.numerals.mixed_with": "is asked by quantities for what it found",
    "checks.numerals.numeral_at": "is asked by quantities for what it found",
    "citations.metrics.citation_completeness": "counts ids",
    "citations.metrics.citation_metrics": "counts verdicts",
    "citations.metrics.citation_precision": "counts ids",
    "citations.metrics.multi_source_coverage": "counts ids",
    "claims.alike.unpack": "reads a file of the package",
    "claims.arrays.unpacked": "reads a file of the package",
    "claims.coreference.is_possessive": "looks at one word",
    "text.words.alternatives": "makes a pattern of a table",
    "text.words.split_words": "asks its patterns, which are run by themselves",
    "text.words.stems_of": "of words",
    "text.words.stems_of_content": "of words",
    "text.words.without_possessives": "of words",
    "checks.aligned.run_of": "is asked by Ground's entry for the words of its text",
    "checks.versions.read_version": "is asked by SourceIndex for each passage",
    "claims.linear.hashed": "reads the names `claims.features` gave",
    "claims.linear.unpack": "reads the weights that come with the library",
    "claims.released.released": "reads a file of the package",
    "claims.silence.patterns": "makes a pattern of a table",
    "checks.aliases.has_other_name": "of a word",
    "checks.aliases.renamed": "of a name of a claim",
    "checks.aliases.written_with_sign": "of a name of a claim",
    "checks.denied.denying": "of the words of a sentence; `denied` asks it",
    "checks.given_names.may_be_one": "of two words",
    "checks.namesakes.namesake": "of a name; it is asked by names.missing and moved",
    "checks.coverage.strong_missing": "asks its patterns, which are run by themselves",
    "checks.quotes.plain": "of words",
    "citations.annotation.apply": "puts two texts together",
    "pii.checksums.dutch_bsn": "reads a number of nine digits",
    "pii.checksums.french_nir": "reads a number of fifteen digits",
    "pii.checksums.german_tax": "reads a number of eleven digits",
    "pii.checksums.iban": "reads a number of 34 characters at most",
    "pii.checksums.luhn": "reads a number of nineteen digits at most",
    "pii.checksums.spanish_dni": "reads a number of nine characters",
    "pii.items.replaced": "puts in what was found",
    "text.printing.counted": "of a number and a noun",
    "text.printing.headline": "writes what `printable` has read on one line",
    "text.printing.html_table": "writes what `printable` has read into cells",
}
"""Public functions of these rooms that are not run, and why."""


def _supported() -> tuple[Label, list[Evidence], Resolver]:
    evidence = Evidence(passage="p1", start=0, end=5, score=0.9, label=Label.SUPPORTED, text="It is")
    return Label.SUPPORTED, [evidence], Resolver(_PASSAGES)


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions of the rooms that take a text, by name."""
    for module in modules():
        short = module.__name__.removeprefix("streamverify.")
        if short.partition(".")[0] not in ROOMS:
            continue
        for name, value in vars(module).items():
            own = inspect.isfunction(value) and value.__module__ == module.__name__ and name[0] != "_"
            if own and any("str" in str(one.annotation) for one in _parameters(value)):
                yield f"{short}.{name}", value


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def _takes_a_text_alone(function: Callable[..., Any]) -> bool:
    first, *others = _parameters(function)
    return str(first.annotation) in {"str", "'str'"} and all(one.default is not one.empty for one in others)


def unaccounted() -> list[str]:
    """Public functions that take a text and are neither run nor said not to be."""
    return [
        name
        for name, function in public_functions()
        if name not in CALLS and name not in NOT_READERS and not _takes_a_text_alone(function)
    ]


def reader_subjects() -> list[Subject]:
    """Every reader, to be run on a text."""
    alone = {
        name: function
        for name, function in public_functions()
        if _takes_a_text_alone(function) and name not in NOT_READERS
    }
    return [Subject(name, run) for name, run in sorted({**alone, **CALLS}.items())]
