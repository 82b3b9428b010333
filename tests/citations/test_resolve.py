"""What markers mean: precedence, numbering, titles, authors, footnote definitions, provider objects."""

from __future__ import annotations

from datetime import date
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Passage, Span
from streamverify.citations import (
    CitationKey,
    Marker,
    Resolver,
    combine,
    find_definitions,
    find_markers,
    native,
)

LIBRARY = (
    Passage("a", "text", "Leave Manual (2023)", {"url": "https://www.example.org/leave/"}),
    Passage("b", "text", "Probation Policy", {"year": 2024, "author": "Ada Smith"}),
    Passage("c", "text", "Travel Rules", {"authors": ["Lee, Kim", "Osei, Yaw"], "date": date(2020, 3, 1)}),
    Passage("d", "text", "Annual Report (2022)", {"file_path": "reports\\annual.pdf"}),
    Passage("e", "text", "Annual Report (2023)", {"authors": [{"family": "Lee", "given": "Bo"}]}),
    Passage("f", "text", "Undated Guide"),
)


def passages(*ids: str) -> tuple[Passage, ...]:
    return tuple(Passage(id_, "text") for id_ in ids)


def meant(text: str, resolver: Resolver) -> list[tuple[str, ...]]:
    return [resolver.resolve(marker) for marker in find_markers(text, known=resolver)]


@pytest.mark.parametrize(
    ("ids", "marker", "expected"),
    [
        (("a", "b", "c"), "[1]", ("a",)),
        (("a", "b", "c"), "[1, 3]", ("a", "c")),
        (("a", "b", "c"), "[2-3]", ("b", "c")),
        (("a", "b", "c"), "[3, 3]", ("c",)),
        (("a", "b", "c"), "[4]", ()),
        (("a", "b", "c"), "[0]", ()),
        (("a", "b", "c"), "[^2]", ("b",)),
        (("a", "b", "c"), "¹", ("a",)),
        (("a", "b", "c"), "【2†source】", ("b",)),
        (("a", "b", "c"), "【7:0†source】", ("a",)),
        (("a", "b", "c"), "[Source 2]", ("b",)),
        (("a", "b", "c"), "<cite>2</cite>", ("b",)),
        (("a", "b", "c"), "[p1]", ()),
        (("p1", "p2"), "[p2]", ("p2",)),
        (("p1", "p2"), "[P2]", ("p2",)),
        (("p1", "p2"), "[p1, p2]", ("p1", "p2")),
        (("p1", "p2"), "[p3]", ()),
        (("p1", "p2"), '<cite id="p2">', ("p2",)),
        # An id that is a number goes before the place.
        (("4711", "2", "9"), "[2]", ("2",)),
        (("4711", "4712"), "[2]", ("4712",)),
        # Ids that are the numbers themselves: nothing else counts.
        (("3", "1", "2"), "[1]", ("1",)),
        (("0", "1", "2"), "[1]", ("1",)),
        (("0", "1", "2"), "[0]", ("0",)),
        (("0", "1", "2"), "[3]", ()),
        (("1", "2", "3"), "[0]", ()),
        # Counting from 0 shows in the ids.
        (("doc-0", "doc-1"), "[1]", ("doc-1",)),
        (("doc-0", "doc-1"), "[2]", ()),
        (("doc-1", "doc-2"), "[1]", ("doc-1",)),
        (("doc-7", "doc-3"), "[1]", ("doc-7",)),
        (("doc-7", "doc-3"), "[doc-3]", ("doc-3",)),
        (("doc-7", "doc-3"), "[doc-4]", ()),
        ((), "[1]", ()),
    ],
)
def test_numbers_and_ids(ids, marker, expected):
    assert [expected] == meant(f"It grew {marker}.", Resolver(passages(*ids)))


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ("(Leave Manual, 2023)", ("a",)),
        ("[Leave Manual (2023)]", ("a",)),
        ("[leave  manual]", ("a",)),
        ("(Leave Manual, 2021)", ()),
        ("(Probation Policy, 2024)", ("b",)),
        ("(Probation Policy, 2023)", ()),
        ("(Undated Guide, 2019)", ("f",)),
        ("[Annual Report]", ("d", "e")),
        ("(Annual Report, 2022)", ("d",)),
        ("(Annual Report, 2022; Leave Manual, 2023)", ("d", "a")),
        ("[annual.pdf]", ("d",)),
        ("(Smith, 2024)", ("b",)),
        ("(Smith, 2021)", ()),
        ("(Lee et al., 2020)", ("c",)),
        ("(Lee, 2023)", ("e",)),
        ("(Lee and Osei 2020; Smith 2024)", ("c", "b")),
        ("(Jones et al., 2020)", ()),
        ("[1](https://example.org/leave#top)", ("a",)),
        ("[1](https://invented.org)", ()),
        ("[2](#)", ("b",)),
        ("[1](#ref1)", ("a",)),
        ("[9](#ref9)", ()),
        ("(annual.pdf, p. 4)", ("d",)),
        ("(Source: reports/annual.pdf)", ("d",)),
        ("(invented.pdf, p. 4)", ()),
        ("(https://example.org/leave)", ("a",)),
        ("(Source: https://invented.org)", ()),
        # The number is what a reader looks up.
        ("[2: Leave Manual]", ("b",)),
        ("[9: Leave Manual]", ()),
        ("【3:9†annual.pdf】", ("d",)),
        ("【3:1†unknown.pdf】", ("b",)),
    ],
)
def test_titles_authors_addresses_and_files(marker, expected):
    assert [expected] == meant(f"It grew {marker}.", Resolver(LIBRARY))


def test_a_linked_number_is_a_number_where_no_passage_has_an_address():
    assert meant("It grew [2](https://any.org).", Resolver(passages("a", "b"))) == [("b",)]


def test_a_zero_settles_the_numbering_for_its_sentence_and_those_after():
    resolver = Resolver(passages("a", "b", "c"))
    markers = find_markers("It grew [0][1].")
    later = resolver.after(markers)
    assert [later.resolve(marker) for marker in markers] == [("a",), ("b",)]
    assert later.numbering == "zero"
    assert resolver.numbering == "auto"
    assert later is later.after(find_markers("It grew [3]."))


def test_the_last_number_settles_that_counting_is_from_one():
    resolver = Resolver(passages("a", "b", "c")).after(find_markers("It grew [3] [0]."))
    assert meant("It grew [3] [0].", resolver) == [("c",), ()]


def test_the_numbering_can_be_set():
    assert meant("It grew [1].", Resolver(passages("a", "b"), numbering="zero")) == [("b",)]
    assert meant("It grew [1].", Resolver(passages("doc-0", "doc-1"), numbering="one")) == [("doc-0",)]


def test_what_of_a_marker_means_nothing_is_told():
    resolver = Resolver(passages("a", "b"))
    [marker] = find_markers("It grew [1, 9].")
    assert resolver.resolve(marker) == ("a",)
    assert (CitationKey("number", "9"),) == resolver.unresolved(marker)


def test_footnote_definitions_say_what_labels_mean():
    text = (
        "[^1]: Annual Report (2023), p. 4\n[^m]: see https://example.org/leave.\n[^2]: section 3\n"
        "[^x]: Invented Report, 2020\n[^5]: [^5]\n"
    )
    resolver = Resolver(LIBRARY).with_definitions(find_definitions(text))
    expected = [("e",), ("a",), ("b",), (), ("e",)]
    assert expected == meant("It grew [^1][^m][^2][^x][^5].", resolver)
    assert meant("It grew [^1].", Resolver(LIBRARY)) == [("a",)]


ids = st.lists(st.text("abp013-", min_size=1, max_size=4), max_size=6, unique=True)


@given(ids, st.integers(0, 9), st.sampled_from(["auto", "one", "zero"]))
def test_a_number_never_means_more_than_one_passage_and_only_known_ones(ids, number, numbering):
    resolver = Resolver(passages(*ids), numbering=numbering)
    found = resolver.resolve(Marker("", 0, 0, (CitationKey("number", str(number)),), "number"))
    assert len(found) <= 1
    assert set(found) <= set(ids)


@given(ids)
def test_every_id_means_its_own_passage(ids):
    resolver = Resolver(passages(*ids))
    assert [(id_,) for id_ in ids] == [resolver.resolve_key(CitationKey("id", id_)) for id_ in ids]


# Shapes of the providers' objects, as mappings and as attributes.

OPENAI_URL = {
    "type": "url_citation",
    "start_index": 8,
    "end_index": 37,
    "url": "https://example.org/leave",
    "title": "x",
}
OPENAI_CHAT = {"type": "url_citation", "url_citation": {k: v for k, v in OPENAI_URL.items() if k != "type"}}
OPENAI_FILE = {"type": "file_citation", "file_id": "f1", "filename": "annual.pdf", "index": 3}
ASSISTANTS = {
    "type": "file_citation", "text": "【4:0†annual.pdf】", "start_index": 8, "end_index": 24,
    "file_citation": {"file_id": "f1"},
}  # fmt: skip
ANTHROPIC = {
    "type": "char_location", "cited_text": "x", "document_index": 1, "document_title": "Probation Policy",
    "start_char_index": 0, "end_char_index": 31, "file_id": None,
}  # fmt: skip
ANTHROPIC_WEB = {
    "type": "web_search_result_location",
    "url": "https://example.org/leave",
    "title": "x",
    "cited_text": "x",
}
LANGCHAIN = {
    "type": "citation",
    "id": "c1",
    "url": "https://example.org/leave",
    "start_index": 0,
    "end_index": 7,
}
NON_STANDARD = {"type": "non_standard_annotation", "value": ANTHROPIC}
COHERE = {"start": 0, "end": 7, "text": "It grew", "document_ids": ["c", "a"]}


@pytest.mark.parametrize("record", [dict, lambda given: SimpleNamespace(**given)], ids=["mapping", "object"])
@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        (OPENAI_URL, ("a",)),
        (OPENAI_CHAT, ("a",)),
        (OPENAI_FILE, ("d",)),
        (ANTHROPIC, ("b",)),
        (ANTHROPIC_WEB, ("a",)),
        (LANGCHAIN, ("a",)),
        (NON_STANDARD, ("b",)),
        (COHERE, ("c",)),
    ],
)
def test_what_providers_hand_in_means_a_passage(thing, expected, record):
    [marker] = native([record(thing)], text="It grew ([example.org](https://x.org)).")
    assert marker.form == "native"
    assert expected == Resolver(LIBRARY).resolve(marker)


def test_a_providers_offsets_delimit_a_marker_or_the_words_it_covers():
    text = "It grew ([example.org](https://x.org)) again."
    link, words = native([{**OPENAI_URL, "end_index": 38}, LANGCHAIN], text=text)
    assert "([example.org](https://x.org))" == link.text == text[link.start : link.end]
    assert ("", 7, Span(0, 7)) == (words.text, words.start, words.scope)


def test_a_citation_of_a_text_block_stands_at_its_end():
    [marker] = native([ANTHROPIC], text="It rose. It fell.", block=Span(0, 8))
    assert (8, 8, Span(0, 8)) == (marker.start, marker.end, marker.scope)


def test_what_is_not_a_citation_is_passed_over():
    assert (
        native(
            [{"type": "file_path", "file_id": "f1"}, {"type": "text"}, "text", None, 3, {"type": "citation"}]
        )
        == ()
    )


def test_a_handed_marker_takes_the_place_of_the_one_it_overlaps():
    text = "It grew 【4:0†annual.pdf】 and [1]."
    [handed] = native([ASSISTANTS], text=text)
    assert [m.text for m in combine(find_markers(text), [handed])] == ["【4:0†annual.pdf】", "[1]"]
    assert Resolver([*LIBRARY[:3], Passage("d", "t", None, {"file_id": "f1"})]).resolve(handed) == ("d",)


@pytest.mark.parametrize(
    ("ids", "marker", "expected"),
    [
        (("01", "02"), "[02]", ("02",)),
        (("01", "02"), "[2]", ("02",)),
        (("01", "02", "03"), "[1-2]", ("01", "02")),
        (("003", "001"), "[001]", ("001",)),
        (("003", "001"), "[3]", ("003",)),
        (("1", "01"), "[01]", ("01",)),
        (("1", "01"), "[1]", ("1",)),
    ],
)
def test_a_number_means_the_passage_whose_id_is_that_number_zeros_or_not(ids, marker, expected):
    assert meant(f"It grew {marker}.", Resolver(passages(*ids))) == [expected]
