"""Figures: the worked examples, the laws, what cannot be computed; agreement with labels."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Citation, Evidence, Label, Sentence, Verdict
from streamverify.citations import (
    AccuracyScale,
    LabelledCitation,
    NotComputed,
    citation_accuracy,
    citation_completeness,
    citation_metrics,
    citation_precision,
    citation_quality,
    fabricated_citations,
    found_at,
    marker_spans,
    measure_agreement,
    multi_source_coverage,
)
from streamverify.types import CitationFinding

CORRECT, PARTIAL, WRONG, FABRICATED, MISSING, UNSUPPORTED, UNVERIFIED = CitationFinding


def citation(finding, *passages, start=0, score=None):
    marker = "" if finding is MISSING else "[1]"
    return Citation(
        marker=marker, start=start, end=start + len(marker), passages=passages, finding=finding, score=score
    )


def evidence(passage, label=Label.SUPPORTED):
    return Evidence(passage=passage, start=0, end=1, text="x", score=0.9, label=label)


def verdict(index, label, *citations, score=0.9, proof=()):
    scored = label not in {Label.NO_CLAIM, Label.UNVERIFIED}
    return Verdict(
        index=index,
        label=label,
        score=score if scored else None,
        citations=citations,
        evidence=tuple(map(evidence, proof)),
    )


def test_two_of_three_citations_on_the_climate_are_correct():
    found = [citation(CORRECT, "ipcc"), citation(CORRECT, "noaa"), citation(WRONG, "blog")]
    assert round(citation_accuracy(found), 2) == 0.67


def test_two_of_three_cited_passages_support_and_nothing_that_supports_is_left_out():
    cited, supporting = [{"a", "b", "c"}], [{"a", "b"}]
    assert citation_precision(cited, supporting) == 2 / 3
    assert citation_completeness(cited, supporting) == 1.0


@pytest.mark.parametrize(
    ("score", "points"),
    [(0.81, 1.0), (0.8, 0.7), (0.51, 0.7), (0.5, 0.0), (0.0, 0.0), (1.0, 1.0), (None, 0.0)],
)
def test_support_gives_accuracy_points(score, points):
    assert points == AccuracyScale().points(score)


def test_the_scale_can_be_set():
    assert tuple(AccuracyScale(full=0.6, most=0.3).points(score) for score in (0.7, 0.4, 0.3)) == (
        1.0,
        0.7,
        0.0,
    )


def test_quality_weighs_existence_accuracy_and_grounding():
    assert math.isclose(0.4 * 0.5 + 0.3 * 0.7 + 0.3 * 0.2, citation_quality(0.5, 0.7, 0.2))
    assert citation_quality(1.0, 1.0, 1.0) == 1.0
    assert NotComputed("why") == citation_quality(1.0, NotComputed("why"), 1.0)


def test_coverage_counts_the_claims_that_need_several_sources():
    assert multi_source_coverage([1, 2, 3], [{"a"}, {"a", "b"}, {"a", "b"}]) == 0.5


def test_what_has_nothing_to_be_computed_from_says_why():
    figures = [
        citation_accuracy([]),
        citation_accuracy([citation(MISSING), citation(UNVERIFIED, "a")]),
        citation_precision([], []),
        citation_precision([()], [{"a"}]),
        citation_completeness([{"a"}], [()]),
        multi_source_coverage([1, 1], [{"a"}, ()]),
    ]
    assert all(isinstance(figure, NotComputed) and figure.reason for figure in figures)


def test_the_figures_of_an_answer():
    metrics = citation_metrics(
        [
            verdict(0, Label.NO_CLAIM, citation(UNVERIFIED, "a")),
            verdict(1, Label.SUPPORTED, citation(CORRECT, "a", score=0.9), proof="ab"),
            verdict(
                2,
                Label.SUPPORTED,
                citation(WRONG, "c", score=0.1),
                citation(FABRICATED),
                score=0.6,
                proof="b",
            ),
            verdict(3, Label.SUPPORTED, citation(CORRECT, "a", "c", score=0.7)),
            verdict(4, Label.SUPPORTED, citation(PARTIAL, "a", score=0.3)),
            verdict(5, Label.CONTRADICTED, citation(MISSING), score=0.1),
            verdict(6, Label.UNVERIFIED, citation(UNVERIFIED, "a")),
        ]
    )
    assert (metrics.citations, metrics.fabricated, metrics.missing) == (7, 1, 1)
    assert Fraction(6, 7) == Fraction(metrics.existence).limit_denominator(100)
    assert metrics.citation_accuracy == 2 / 5
    # Cited: a | c, what does not exist | a, c | a. Supporting: a, b | b | a, c | nothing.
    assert metrics.citation_precision == 3 / 6
    assert metrics.citation_completeness == 3 / 5
    # Sentences 3 and 4 are supported by no single passage; 3 cites two.
    assert metrics.multi_source_coverage == 0.5
    points, grounding = (1.0 + 0.7) / 5, (0.9 + 0.6 + 0.9 + 0.9 + 0.1) / 5
    assert math.isclose(0.4 * 6 / 7 + 0.3 * points + 0.3 * grounding, metrics.citation_quality)


def test_labels_of_what_supports_and_how_much_is_needed_go_first():
    metrics = citation_metrics(
        [verdict(4, Label.SUPPORTED, citation(CORRECT, "a", score=0.9), proof="a")],
        supporting={4: ["a", "b"]},
        needs={4: 2},
    )
    assert (
        metrics.citation_precision, metrics.citation_completeness, metrics.multi_source_coverage,
    ) == (1.0, 0.5, 0.0)  # fmt: skip


def test_an_answer_without_citations_has_no_figures():
    metrics = citation_metrics([verdict(0, Label.SUPPORTED, proof="a")])
    assert (metrics.citations, metrics.fabricated) == (0, 0)
    assert all(
        isinstance(figure, NotComputed)
        for figure in (
            metrics.existence,
            metrics.citation_accuracy,
            metrics.citation_precision,
            metrics.citation_quality,
        )
    )
    assert metrics.citation_completeness == 0.0


citations = st.builds(
    lambda finding, ids, score: citation(
        finding, *(() if finding in {FABRICATED, MISSING} else ids), score=score
    ),
    st.sampled_from(CitationFinding),
    st.sets(st.sampled_from("abc"), min_size=1).map(sorted),
    st.floats(0, 1),
)
verdicts = st.lists(
    st.builds(
        lambda label, cited, proof, score: verdict(0, label, *cited, score=score, proof=proof),
        st.sampled_from(Label), st.lists(citations, max_size=3),
        st.sets(st.sampled_from("abc")).map(sorted), st.floats(0, 1),
    ),
    max_size=5,
)  # fmt: skip


@given(verdicts)
def test_every_figure_lies_between_0_and_1_or_says_why_not(verdicts):
    metrics = citation_metrics(verdicts)
    for figure in (
        metrics.existence, metrics.citation_accuracy, metrics.citation_precision,
        metrics.citation_completeness, metrics.citation_quality, metrics.multi_source_coverage,
    ):  # fmt: skip
        assert isinstance(figure, NotComputed) or 0 <= figure <= 1
    assert metrics.fabricated == fabricated_citations(c for v in verdicts for c in v.citations)


@given(verdicts)
def test_the_order_of_sentences_changes_no_figure(verdicts):
    one, other = citation_metrics(verdicts), citation_metrics(verdicts[::-1])
    for name in one.__slots__:
        first, second = getattr(one, name), getattr(other, name)
        assert first == second or math.isclose(first, second)


sets = st.lists(st.tuples(st.sets(st.integers(0, 4)), st.sets(st.integers(0, 4))), max_size=5)


@given(sets)
def test_precision_and_completeness_equal_a_slow_count(pairs):
    cited, supporting = [[str(n) for n in a] for a, _ in pairs], [[str(n) for n in b] for _, b in pairs]
    hits = sum(1 for a, b in pairs for n in a if n in b)
    for figure, total in (
        (citation_precision(cited, supporting), sum(len(a) for a, _ in pairs)),
        (citation_completeness(cited, supporting), sum(len(b) for _, b in pairs)),
    ):
        assert figure == hits / total if total else isinstance(figure, NotComputed)


# Agreement with labels


@pytest.mark.parametrize(
    ("expected", "supported", "found", "agrees"),
    [
        (CORRECT, True, CORRECT, True),
        (CORRECT, True, PARTIAL, False),
        (PARTIAL, True, PARTIAL, True),
        (WRONG, True, UNSUPPORTED, False),
        (FABRICATED, True, FABRICATED, True),
        (CORRECT, True, None, False),
        (CORRECT, False, UNSUPPORTED, True),
        (CORRECT, False, CORRECT, False),
        (WRONG, False, PARTIAL, True),
        (WRONG, False, FABRICATED, False),
        (FABRICATED, False, FABRICATED, True),
        (FABRICATED, False, UNSUPPORTED, False),
        (WRONG, False, None, False),
    ],
)
def test_when_a_finding_agrees_with_a_label(expected, supported, found, agrees):
    assert agrees is LabelledCitation(expected, supported, found).agrees


def test_agreement_by_finding_and_the_confusion_matrix():
    rows = [
        LabelledCitation(CORRECT, True, CORRECT),
        LabelledCitation(CORRECT, True, WRONG),
        LabelledCitation(PARTIAL, True, PARTIAL),
        LabelledCitation(WRONG, False, CORRECT),
    ]
    result = measure_agreement(rows)
    assert (result.accuracy, result.on_supported, result.on_others) == (0.5, 2 / 3, 0.0)
    assert result.per_finding == {CORRECT: 0.5, PARTIAL: 1.0}
    assert result.confusion == {(CORRECT, CORRECT): 1, (CORRECT, WRONG): 1, (PARTIAL, PARTIAL): 1}
    assert result.confusion_others == {(WRONG, CORRECT): 1}
    assert isinstance(measure_agreement([]).accuracy, NotComputed)


def test_labelled_markers_are_found_in_order_and_compared_by_place():
    sentence = Sentence(index=0, text="It grew [1], and fell [1].", start=10, end=36)
    first, second = marker_spans(sentence, ["[1]", "[1]"])
    assert (first, second) == ((18, 21), (32, 35))
    found = [
        citation(CORRECT, "a", start=18),
        citation(FABRICATED, start=18),
        citation(PARTIAL, "a", start=32),
    ]
    assert (found_at(found, *first), found_at(found, *second), found_at(found, 0, 10)) == (
        FABRICATED,
        PARTIAL,
        None,
    )
    with pytest.raises(ValueError, match="substring"):
        marker_spans(sentence, ["[1]", "[1]", "[1]"])
