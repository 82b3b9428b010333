"""Findings, clauses."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Label, Passage, Sentence, Span
from streamverify.citations import (
    CitationThresholds,
    Resolver,
    check_citations,
    cited_passages,
    clauses,
    find_markers,
    settle,
    states_number,
)
from streamverify.types import CitationFinding

RESOLVER = Resolver([Passage(f"p{n}", "text") for n in (1, 2, 3)])
OFFSET = 100

findings = st.sampled_from(CitationFinding)


def check(text, label=Label.SUPPORTED, support=None, **options):
    sentence = Sentence(index=0, text=text, start=OFFSET, end=OFFSET + len(text))
    markers = [marker.moved(OFFSET) for marker in find_markers(text, known=RESOLVER)]
    return check_citations(sentence, label, markers, RESOLVER, support or {}, **options)


def found(*arguments, **options):
    return [(c.marker, c.finding.value, c.better) for c in check(*arguments, **options)]


def part(known):
    """Support of a clause: by the clause's first word and the passage."""

    def support(text):
        return lambda span, id_: known.get((text[span.start : span.end].split()[0], id_), 0.0)

    return support


def test_a_passage_that_supports_the_sentence_is_cited_correctly():
    [citation] = check("It grew [2].", support={"p1": 0.1, "p2": 0.9, "p3": 0.2})
    assert (citation.finding, citation.score, citation.passages) == ("correct", 0.9, ("p2",))
    assert (citation.start, citation.end) == (OFFSET + 8, OFFSET + 11)


def test_the_wrong_passage_is_told_with_the_right_one():
    assert found("It grew [1].", support={"p1": 0.1, "p2": 0.6, "p3": 0.9}) == [
        ("[1]", "wrong_passage", "p3")
    ]


def test_a_passage_that_comes_near_is_wrong_where_another_supports_alone():
    assert found("It grew [1].", support={"p1": 0.4, "p3": 0.9}) == [("[1]", "wrong_passage", "p3")]


def test_a_marker_without_a_passage_is_fabricated_whatever_the_label():
    for label in Label:
        assert found("It grew [9].", label, {"p1": 0.9}) == [("[9]", "fabricated", None)]


def test_a_list_that_names_a_passage_and_nothing_has_a_citation_for_each():
    assert found("It grew [1, 9].", support={"p1": 0.9}) == [
        ("[1, 9]", "correct", None),
        ("[1, 9]", "fabricated", None),
    ]


def test_a_set_that_supports_together_is_correct_in_any_spelling():
    support = {"p1": 0.3, "p2": 0.01, "p3": 0.0}
    for text in ("It grew [1, 2].", "It grew [1][2].", "It grew [1] and shrank [2]."):
        citations = check(text, support=support, joint_support=0.8)
        assert {CitationFinding.CORRECT} == {c.finding for c in citations}
        assert {0.8} == {c.score for c in citations}


def test_beside_a_passage_that_supports_alone_another_is_not_excused_by_the_set():
    support = {"p1": 0.9, "p2": 0.05}
    assert found("It grew [1][2].", support=support, joint_support=0.9) == [
        ("[1]", "correct", None),
        ("[2]", "wrong_passage", "p1"),
    ]


def test_a_set_that_supports_far_better_than_any_of_it_is_correct():
    support = {"p1": 0.6, "p2": 0.3}
    assert found("It grew [1][2].", support=support, joint_support=0.75) == [
        ("[1]", "correct", None),
        ("[2]", "correct", None),
    ]


def test_where_none_supports_alone_the_one_that_comes_nearest_is_correct():
    text = "It grew, and costs fell [1]."
    for options in ({}, {"part_support": part({("and", "p1"): 0.9})(text)}):
        assert found(text, support={"p1": 0.45, "p2": 0.3}, **options) == [("[1]", "correct", None)]
        assert found(text, support={"p1": 0.45, "p2": 0.45}, **options) == [("[1]", "correct", None)]
        # Not nearest, not near enough, or another supports alone.
        for scores in ({"p1": 0.41, "p2": 0.43}, {"p1": 0.39, "p2": 0.1}, {"p1": 0.45, "p2": 0.5}):
            assert found(text, support=scores, **options)[0][1] != "correct"


def test_one_of_several_needed_is_partial():
    assert found("It grew [1].", support={"p1": 0.3, "p2": 0.3}) == [("[1]", "partial", None)]
    assert found("It grew [3].", support={"p1": 0.3, "p2": 0.3, "p3": 0.01}) == [
        ("[3]", "wrong_passage", None)
    ]


def test_a_passage_that_backs_a_clause_is_partial_with_its_span():
    text = "Revenue grew by 5 percent, but costs fell by a third [1]."
    [citation] = check(text, support={"p1": 0.1}, part_support=part({("but", "p1"): 0.9})(text))
    assert CitationFinding.PARTIAL is citation.finding
    start, end = citation.supported_span
    assert text[start - OFFSET : end - OFFSET] == "but costs fell by a third [1]."


def holding(*sets):
    """`lacks` where only these sets of passages have all that the sentence names."""
    return lambda passages: not any(set(passages) >= whole for whole in sets)


def test_a_set_that_lacks_a_value_others_have_is_partial_however_likely_it_supports():
    needed = holding({"p1", "p2"})
    assert found("It grew [1].", support={"p1": 0.9, "p2": 0.7}, lacks=needed) == [("[1]", "partial", None)]
    assert found("It grew [1].", support={"p1": 0.45, "p2": 0.3}, lacks=needed) == [("[1]", "partial", None)]
    support = {"p1": 0.9, "p2": 0.7}
    both = found("It grew [1][2].", support=support, lacks=needed)
    assert both == found("It grew [1][2].", support=support)
    # What has next to nothing to do with the sentence stays wrong.
    assert found("It grew [3].", support={"p3": 0.01}, lacks=needed) == [("[3]", "wrong_passage", None)]


def test_a_passage_without_which_the_set_would_lack_a_value_is_cited_correctly():
    support = {"p1": 0.9, "p2": 0.1, "p3": 0.1}
    needed = {"lacks": holding({"p1", "p2"})}
    assert found("It grew [1][2].", support=support, **needed) == [
        ("[1]", "correct", None),
        ("[2]", "correct", None),
    ]
    assert [finding for _, finding, _ in found("It grew [1][2][3].", support=support, **needed)] == [
        "correct",
        "correct",
        "wrong_passage",
    ]


def test_a_set_that_lacks_a_value_is_wrong_where_another_passage_has_all():
    support = {"p1": 0.9, "p2": 0.8}
    assert found("It grew [1].", support=support, lacks=holding({"p2"})) == [("[1]", "partial", None)]
    support["p2"] = 0.95
    assert found("It grew [1].", support=support, lacks=holding({"p2"})) == [("[1]", "wrong_passage", "p2")]


def test_what_a_set_lacks_does_not_count_for_the_part_that_a_marker_closes():
    text = "The expedition sailed in the Fram [1], a ship designed by Colin Archer."
    options = {"part_support": part({("The", "p1"): 0.9})(text), "lacks": holding({"p1", "p2"})}
    assert [finding for _, finding, _ in found(text, support={"p1": 0.9}, **options)] == ["correct"]


def test_a_marker_within_the_sentence_answers_for_the_part_it_closes():
    text = "The expedition sailed in the Fram [1], a ship designed by Colin Archer [2]."
    known = {("The", "p1"): 0.9, (",", "p2"): 0.9}
    citations = check(text, support={"p1": 0.2, "p2": 0.2}, part_support=part(known)(text))
    assert [c.finding for c in citations] == ["correct", "correct"]
    assert (
        text[slice(*(n - OFFSET for n in citations[0].supported_span))]
        == "The expedition sailed in the Fram "
    )


def test_of_an_unsupported_sentence_no_citation_is_correct():
    for label in (Label.UNSUPPORTED, Label.CONTRADICTED):
        assert found("It grew [1].", label, {"p1": 0.1, "p2": 0.9}) == [("[1]", "unsupported", None)]
        assert found("It grew [1].", label, {"p1": 0.9}) == [("[1]", "partial", None)]


def test_what_was_not_checked_is_unverified():
    assert found("It grew [1].", Label.UNVERIFIED, {"p1": 0.9}) == [("[1]", "unverified", None)]
    assert found("See [1].", Label.NO_CLAIM) == [("[1]", "unverified", None)]
    assert found("It grew [1].", support={"p2": 0.9}) == [("[1]", "unverified", None)]
    assert found("It grew [1, 2].", support={"p1": 0.1}) == [("[1, 2]", "unverified", None)]
    assert found("It grew [1, 2].", support={"p1": 0.9}) == [("[1, 2]", "correct", None)]


@pytest.mark.parametrize(
    ("require", "text", "label", "expected"),
    [
        ("never", "It grew by 5.", Label.SUPPORTED, 0),
        ("claims", "It grew.", Label.SUPPORTED, 1),
        ("claims", "It grew.", Label.UNVERIFIED, 1),
        ("claims", "Hello there.", Label.NO_CLAIM, 0),
        ("claims", "It grew [1].", Label.SUPPORTED, 0),
        ("numbers", "It grew.", Label.SUPPORTED, 0),
        ("numbers", "It grew by 5.", Label.CONTRADICTED, 1),
        ("numbers", "2. It grew.", Label.SUPPORTED, 0),
    ],
)
def test_a_missing_citation_is_told_where_one_is_required(require, text, label, expected):
    citations = check(text, label, {"p1": 0.9}, require=require)
    missing = [c for c in citations if c.finding is CitationFinding.MISSING]
    assert expected == len(missing)
    assert all((c.marker, c.passages, c.score) == ("", (), None) for c in missing)


def test_a_missing_citation_stands_where_the_marker_should_and_names_the_passage():
    [citation] = check("It grew.", support={"p2": 0.9}, require="claims")
    assert (citation.start, citation.end, citation.better) == (OFFSET + 7, OFFSET + 7, "p2")


def test_a_lent_marker_is_not_missing():
    assert found("It grew.", support={"p1": 0.9}, require="claims", lent=find_markers("[1]")) == []


def test_support_may_be_a_function_and_thresholds_move_the_bars():
    assert found("It grew [1].", support=lambda id_: 0.4, thresholds=CitationThresholds(0.4)) == [
        ("[1]", "correct", None)
    ]
    with pytest.raises(ValueError, match="does not hold"):
        CitationThresholds(support=0.1, part=0.2)


probabilities = st.floats(0, 1)
texts = st.lists(
    st.sampled_from(["It grew", " [1]", "[2]", " [3, 1]", ", but it fell", " [9]"]), min_size=1, max_size=6
)


@given(texts.map("".join), st.sampled_from(Label), st.tuples(*[probabilities] * 3), st.none() | probabilities)
def test_laws_of_findings(text, label, scores, joint):
    support = dict(zip(("p1", "p2", "p3"), scores, strict=True))
    citations = check(text, label, support, joint_support=joint)
    markers = find_markers(text, known=RESOLVER)
    mixed = [m for m in markers if RESOLVER.resolve(m) and RESOLVER.unresolved(m)]
    assert sorted([*markers, *mixed], key=lambda m: m.start) == [
        next(m for m in markers if m.start == c.start - OFFSET) for c in citations
    ]
    for citation in citations:
        assert (citation.finding is CitationFinding.FABRICATED) == (not citation.passages)
        assert citation.finding is not CitationFinding.CORRECT or label is Label.SUPPORTED
        assert citation.better is None or support[citation.better] >= 0.5
        assert citation.better not in citation.passages
        assert text[citation.start - OFFSET : citation.end - OFFSET] == citation.marker


@given(texts.map("".join), st.tuples(*[probabilities] * 3), st.integers(0, 2), probabilities)
def test_more_support_for_a_cited_passage_never_makes_its_citation_incorrect(text, scores, which, more):
    support = dict(zip(("p1", "p2", "p3"), scores, strict=True))
    raised = {**support, f"p{which + 1}": max(scores[which], more)}
    for before, after in zip(check(text, support=support), check(text, support=raised), strict=True):
        if before.finding is CitationFinding.CORRECT and f"p{which + 1}" in before.passages:
            assert CitationFinding.CORRECT is after.finding


def test_the_passages_to_be_scored_are_those_cited_once_each():
    assert cited_passages(find_markers("It grew [3][1, 3][9]."), RESOLVER) == ("p3", "p1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It grew by 5.", True), ("It grew.", False), ("3. It grew.", False), ("- 3) It grew.", False),
        ("## 2 ways", True), ("- It grew to 3.", True),
    ],
)  # fmt: skip
def test_what_states_a_number(text, expected):
    assert expected is states_number(text)


def test_a_marker_is_not_a_number_the_sentence_states():
    [citation] = check("It grew [1].", support={"p1": 0.9}, require="numbers")
    assert CitationFinding.CORRECT is citation.finding


# Clauses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Revenue grew by 5 percent.", ["Revenue grew by 5 percent."]),
        ("Revenue grew a lot, and costs fell by half.", ["Revenue grew a lot", "and costs fell by half."]),
        ("Revenue grew a lot; costs fell by half.", ["Revenue grew a lot", "costs fell by half."]),
        (
            "Revenue grew a lot because costs fell by half.",
            ["Revenue grew a lot", "because costs fell by half."],
        ),
        ("Salt, pepper and oil are in it.", ["Salt, pepper and oil are in it."]),
        (
            "It says “we grew, and costs fell a lot” there.",
            ["It says “we grew, and costs fell a lot” there."],
        ),
        ("She grew (so they say, but who knows) by 5.", ["She grew (so they say, but who knows) by 5."]),
        ("Yes, but it grew by 5.", ["Yes, but it grew by 5."]),
        (
            "They sailed in Fram [1], a ship by Archer [2].",
            ["They sailed in Fram [1]", "a ship by Archer [2]."],
        ),
        ("  It grew.  ", ["It grew."]),
        (" ", []),
    ],
)
def test_where_a_sentence_is_cut_into_clauses(text, expected):
    assert expected == [text[start:end] for start, end in clauses(text)]


@given(
    st.lists(st.sampled_from([*'ab ,;:()[]"`-–\n', " and ", " but it ", "word "]), max_size=40).map("".join)
)
def test_clauses_hold_every_word_once_in_order(text):
    spans = clauses(text)
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))
    inside = {place for start, end in spans for place in range(start, end)}
    assert all(place in inside for place, char in enumerate(text) if char.isalnum())


def test_a_marker_that_serves_several_sentences_is_counted_once_at_its_home_with_its_best_finding():
    [wrong] = check("It grew [1].", support={"p1": 0.1, "p2": 0.9})
    [right] = check("It grew [1].", support={"p1": 0.9})
    [missing] = check("It grew.", require="claims")
    assert ((missing,), (), (right,)) == settle([[missing], [right], [wrong]])
    assert Span(wrong.start, wrong.end) == Span(right.start, right.end)
