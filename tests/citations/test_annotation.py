"""Markers written into uncited sentences: where they go, how they look, and that they can be read again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Evidence, Label, Passage
from streamverify.citations import Resolver, annotate, find_markers, insertion_point, masked, suggest
from streamverify.types import SentenceKind

RESOLVER = Resolver(
    [
        Passage("p1", "t", "Leave Manual (2023)"),
        Passage("p2", "t", "Travel Rules"),
        Passage("p3", "t"),
        Passage("p4", "t", "One"),
    ]
)


def evidence(*ids, label=Label.SUPPORTED):
    return [Evidence(passage=id_, start=0, end=1, text="t", score=0.9, label=label) for id_ in ids]


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("It grew.", "It grew [1].", "It grew. [1]"),
        ("It grew. ", "It grew [1]. ", "It grew. [1] "),
        ("It grew!\n\n", "It grew [1]!\n\n", "It grew! [1]\n\n"),
        ("It grew?!", "It grew [1]?!", "It grew?! [1]"),
        ("It grew", "It grew [1]", "It grew [1]"),
        ("- It grew\n", "- It grew [1]\n", "- It grew [1]\n"),
        ("**It grew.**", "**It grew [1].**", "**It grew.** [1]"),
        ("He said “it grew.”", "He said “it grew.” [1]", "He said “it grew.” [1]"),
        ("It grew (a lot).", "It grew (a lot) [1].", "It grew (a lot). [1]"),
        ("It ends at 5 p.m.", "It ends at 5 p.m. [1]", "It ends at 5 p.m. [1]"),
        ("Use `grow()`.", "Use `grow()` [1].", "Use `grow()`. [1]"),
        ("Use `grow()`", "Use `grow()` [1]", "Use `grow()` [1]"),
        ("See https://a.org/x.", "See https://a.org/x. [1]", "See https://a.org/x. [1]"),
        ("它增长了。", "它增长了[1]。", "它增长了。[1]"),
        ("It grew …", "It grew [1] …", "It grew … [1]"),
        ("It grew:\n```\ncode\n```", None, None),
        ("```\nopen", None, None),
        ("", None, None),
        ("  \n", None, None),
    ],
)
def test_where_a_marker_goes(text, before, after):
    for place, expected in (("before", before), ("after", after)):
        shown = annotate(text, Label.SUPPORTED, evidence("p1"), RESOLVER, place=place)
        assert (text if expected is None else expected) == shown


@pytest.mark.parametrize(
    ("style", "passage", "expected"),
    [
        ("[1]", "p2", "It grew [2]."),
        ("[^1]", "p2", "It grew[^2]."),
        ("[p1]", "p2", "It grew [p2]."),
        ("(Title)", "p1", "It grew (Leave Manual, 2023)."),
        ("(Title)", "p2", "It grew (Travel Rules)."),
        ("superscript", "p2", "It grew²."),
        # Without a title, or with one that would read as prose, the number says it.
        ("(Title)", "p3", "It grew [3]."),
        ("(Title)", "p4", "It grew [4]."),
    ],
)
def test_how_a_marker_looks(style, passage, expected):
    assert expected == annotate("It grew.", Label.SUPPORTED, evidence(passage), RESOLVER, style=style)


def test_a_superscript_that_would_read_as_an_exponent_becomes_a_number():
    assert (
        annotate("It is 5 km.", Label.SUPPORTED, evidence("p1"), RESOLVER, style="superscript")
        == "It is 5 km [1]."
    )


def test_numbers_that_ids_would_take_become_ids():
    resolver = Resolver([Passage("2", "t"), Passage("x", "t")])
    assert annotate("It grew.", Label.SUPPORTED, evidence("x"), resolver) == "It grew [x]."


def test_counting_from_zero_is_kept():
    resolver = Resolver([Passage("a", "t"), Passage("b", "t")], numbering="zero")
    assert annotate("It grew.", Label.SUPPORTED, evidence("b"), resolver) == "It grew [1]."


def test_several_sources_are_cited_when_asked_for():
    text = annotate("It grew.", Label.SUPPORTED, evidence("p2", "p1", "p2"), RESOLVER, sources=2)
    assert text == "It grew [2][1]."
    text = annotate(
        "It grew.", Label.SUPPORTED, evidence("p2", "p1"), RESOLVER, sources=2, style="superscript"
    )
    assert text == "It grew²,¹."


@pytest.mark.parametrize("label", [label for label in Label if label is not Label.SUPPORTED])
def test_only_supported_sentences_get_a_marker(label):
    assert suggest("It grew.", label, evidence("p1"), RESOLVER) is None


def test_nothing_is_added_without_supporting_evidence_or_beside_a_marker():
    assert suggest("It grew.", Label.SUPPORTED, evidence("p1", label=Label.UNSUPPORTED), RESOLVER) is None
    assert suggest("It grew.", Label.SUPPORTED, evidence("elsewhere"), RESOLVER) is None
    assert suggest("It grew [2].", Label.SUPPORTED, evidence("p1"), RESOLVER) is None


@pytest.mark.parametrize("kind", [SentenceKind.HEADING, SentenceKind.CODE, SentenceKind.TABLE])
def test_headings_tables_and_code_stay_as_they_are(kind):
    assert suggest("It grew.", Label.SUPPORTED, evidence("p1"), RESOLVER, kind=kind) is None


texts = st.lists(
    st.sampled_from(["It grew", " by 5 km", ".", "!", "。", "”", ")", "**", "`x`", "```\n", " ",
    "\n", "[1]", "$x$", "p.m", "é"]),
    max_size=8,
).map("".join)  # fmt: skip
styles = st.sampled_from(["[1]", "[^1]", "[p1]", "(Title)", "superscript"])


@given(texts, styles, st.sampled_from(["before", "after"]), st.sampled_from(["p1", "p2", "p3", "p4"]))
def test_what_was_written_is_read_again_and_nothing_else_changed(text, style, place, passage):
    suggestion = suggest(text, Label.SUPPORTED, evidence(passage), RESOLVER, style=style, place=place)
    shown = annotate(text, Label.SUPPORTED, evidence(passage), RESOLVER, style=style, place=place)
    if suggestion is None:
        assert text == shown
        return
    assert text == shown[: suggestion.at] + shown[suggestion.at + len(suggestion.text) :]
    assert suggestion.at <= len(text.rstrip())
    [marker] = find_markers(shown, known=RESOLVER)
    assert (passage,) == RESOLVER.resolve(marker)


@given(texts)
def test_a_marker_never_goes_into_code_or_behind_the_closing_blanks(text):
    at = insertion_point(text)
    if at is not None:
        assert at <= len(text.rstrip())
        assert not any(start < at < end for start, end in masked(text))
