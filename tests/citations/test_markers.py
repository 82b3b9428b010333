"""Markers in text: laws over random text, and the cases of `marker_cases.py`."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marker_cases import PLAIN, WITH_PASSAGES

from streamverify import Passage
from streamverify.citations import Marker, Resolver, find_definitions, find_markers, markup
from streamverify.citations.forms import MAX_CONTENT
from streamverify.sentences.segmenter import SentenceSegmenter, segment

if TYPE_CHECKING:
    import itertools
from collections.abc import Sequence

PASSAGES = (
    Passage("p1", "text", "Leave Manual (2023)", {"url": "https://www.example.org/leave/"}),
    Passage("p2", "text", "Probation Policy", {"year": 2024, "author": "Ada Smith"}),
    Passage(
        "kb-7",
        "text",
        "Travel",
        {"authors": ["Lee, Kim", "Osei, Yaw"], "date": "2020-03-01", "file": "a/travel.pdf"},
    ),
    Passage("p4", "text", "Annual Report (2022)", {"author": "Kim"}),
    Passage("p5", "It lies beside Document 4.", "Annual Report (2023)"),
)
KNOWN = Resolver(PASSAGES)


def shown(markers: Sequence[Marker]) -> str:
    keys = [",".join(f"{k.value}/{k.year}" if k.year else _arabic(k.value) for k in m.keys) for m in markers]
    return " ; ".join(f"{marker.text}={key}" for marker, key in zip(markers, keys, strict=True))


def _arabic(value: str) -> str:
    return str(int(value)) if value.isdigit() else value


@pytest.mark.parametrize(("text", "expected"), PLAIN)
def test_what_is_a_marker_and_what_is_not(text, expected):
    assert expected == shown(find_markers(text))


@pytest.mark.parametrize(("text", "expected"), WITH_PASSAGES)
def test_what_the_passages_make_a_marker(text, expected):
    assert expected == shown(find_markers(text, known=KNOWN))


def test_the_table_is_long_enough():
    assert len({text for text, _ in PLAIN + WITH_PASSAGES}) >= 150


marker_texts = st.sampled_from(
    ["[1]", "[1, 3]", "[1-3]", "[^2]", "[p1]", "[kb-7]", "(Leave Manual, 2023)", "(Smith et al., 2021)",
     "【4†source】", "¹", "[2](https://a.org)", "[web:2]", r"\cite{p1}", "[2: Probation Policy]",
     "(Source: travel.pdf)", "<https://example.org/leave>", '<cite id="p1">', "<sup>3</sup>",
     "[Source 2]", r"\[2\]"]
)  # fmt: skip
noise = st.text(alphabet="ab .,([])【】<>`$\\^¹²-–:;/\n012'\"†=x", max_size=40)
prose = st.text(alphabet="abcdefghij klm.,é中 ", max_size=20)
wrapped = st.sampled_from(["</cite>", "[the manual](https://example.org/leave)", "<co: 1>", "</co: 1>"])
mixed = st.lists(st.one_of(noise, prose, marker_texts, wrapped), max_size=8).map("".join)
known = st.sampled_from([None, KNOWN])


@given(mixed, known)
def test_spans_point_at_their_text_in_order_without_overlap(text, known):
    markers = find_markers(text, known=known)
    assert all(text[m.start : m.end] == m.text for m in markers)
    assert all(m.text and m.keys for m in markers)
    assert all(a.end <= b.start for a, b in itertools.pairwise(markers))
    assert all(0 <= m.scope.start <= m.scope.end <= len(text) for m in markers if m.scope)
    taken = markup(markers)
    assert all(a.end <= b.start for a, b in itertools.pairwise(taken))


@given(prose, marker_texts, prose)
def test_a_marker_in_plain_prose_is_found_whatever_surrounds_it(before, marker, after):
    [found] = find_markers(f"{before}word {marker} {after}", known=KNOWN)
    assert marker == found.text


@given(mixed, st.sampled_from(["Then it rained. ", "他说。", "Nothing else "]), known)
def test_plain_text_before_only_moves_the_markers(text, before, known):
    # A line's start means something (fences, definitions, check boxes): keep it one.
    moved = find_markers(f"{before}\n{text}", known=known)
    assert tuple(marker.moved(len(before) + 1) for marker in find_markers(f"\n{text}", known=known)) == tuple(
        marker.moved(1) for marker in moved
    )


@given(st.lists(marker_texts, min_size=1, max_size=5).map(" a ".join), known)
def test_nothing_is_found_in_code(text, known):
    assert not find_markers(f"Use ``` {text} ``` here", known=known)
    assert not find_markers(f"```\n{text}\n```", known=known)
    assert not find_markers(f"<code>{text}</code>", known=known)


@given(
    st.lists(st.one_of(prose, marker_texts), max_size=8).map(" ".join),
    st.lists(st.integers(1, 7), max_size=30),
)
def test_markers_do_not_depend_on_how_the_stream_was_cut(text, lengths):
    segmenter, rest, cut = SentenceSegmenter(), text, []
    for length in lengths:
        cut += segmenter.feed(rest[:length])
        rest = rest[length:]
    cut += [*segmenter.feed(rest), *segmenter.flush()]
    whole = segment(text)
    found = [[m.moved(s.start) for m in find_markers(s.text, known=KNOWN)] for s in cut]
    assert found == [[m.moved(s.start) for m in find_markers(s.text, known=KNOWN)] for s in whole]
    assert all(text[m.start : m.end] == m.text for markers in found for m in markers)


@given(st.lists(st.sampled_from(["[1]", "[^2]", "[1, 3]", "[p1]"]), min_size=1, max_size=4).map("".join))
def test_markers_behind_the_stop_stay_with_their_sentence(markers):
    first, *_ = segment(f"Revenue grew by a fifth. {markers} Costs fell as well.")
    assert markers == "".join(m.text for m in find_markers(first.text))


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "piece",
    ["[", "]", "(", "[1", "[1]", "[[1]", "(a", "(a(b)", "【", "【1†", "`", "`a``", "<cite", "<cite id=1>",
     "<code>", "$a", "\\[", "\\(", "¹", "¹⁻", "[a](", "[a](b(", "[1](x", "https://a", "Smith et al. (2021",
     "(A, ", "(A and B, 2020; ", "\n[1]: x", "```\n", "~~~", "[1, ", "[Doc 1, ", "x[1][", "([1, 2]", "A b-",
     "[p1, kb-7, ", r"\cite", r"\cite[", r"\cite{a", "[Source 1, ", "(a.", "<https://", "Source 1 ",
     "Sources: ", "1, 2 and "],
)  # fmt: skip
def test_hostile_text_is_read_in_one_pass(piece):
    find_markers(piece * (30_000 // len(piece)), known=KNOWN)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("bracket", ["[", "(", "【", "<", "`"])
def test_a_hundred_thousand_brackets_are_read_in_one_pass(bracket):
    assert not find_markers(bracket * 100_000, known=KNOWN)


@pytest.mark.parametrize(("length", "found"), [(MAX_CONTENT, 1), (MAX_CONTENT + 1, 0)])
@pytest.mark.parametrize("within", ["", " (a1)", " (a1)" * 40])
def test_brackets_within_round_brackets_count_for_the_longest_content(within, length, found):
    title = f"Manual {'x' * (length - len(within) - 7)}{within}"
    known = Resolver([Passage("p", "It.", title)])
    assert len(find_markers(f"It is so ({title}).", known=known)) == found


def test_a_list_or_range_names_a_bounded_number_of_passages():
    assert max(len(m.keys) for m in find_markers("[1-99] [" + "1," * 140 + "2]")) <= 100
    assert not find_markers("[1-99, 200-299]")


def test_the_words_a_marker_covers_are_told():
    text = 'Well, <cite id="p1">it grew</cite> and [the manual](https://example.org/leave) says so.'
    cite, link = find_markers(text, known=KNOWN)
    assert text[cite.scope.start : cite.scope.end] == "it grew"
    assert text[link.scope.start : link.scope.end] == "the manual"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It grew [1].", "It grew ."),
        ('<cite id="p1">It grew</cite>.', "It grew."),
        ("<co: 0>It grew</co: 0>.", "It grew."),
        ('<cite id="p1">It grew [2]</CITE >.', "It grew ."),
        ("It grew <cite>1</cite>.", "It grew ."),
        ("See [the manual](https://example.org/leave).", "See the manual."),
        ("Smith et al. (2021) say so.", "Smith et al.  say so."),
        ("Per Document 2: It grew.", " It grew."),
        ("According to Source 1, it grew.", "According to , it grew."),
    ],
)
def test_without_a_markers_markup_the_prose_is_left(text, expected):
    for start, end in reversed(markup(find_markers(text, known=KNOWN))):
        text = text[:start] + text[end:]
    assert expected == text


def test_definitions_are_read_with_label_and_target():
    text = "It grew [^1].\n\n[^1]: Annual Report, p. 4\n[2]: https://a.org\n`[^3]: code`\n"
    assert [(d.label, d.target) for d in find_definitions(text)] == [
        ("1", "Annual Report, p. 4"),
        ("2", "https://a.org"),
    ]
    assert all(text[d.start : d.end].endswith(d.target) for d in find_definitions(text))


def test_a_number_that_no_decimal_digits_make_is_a_name():
    passages = [Passage("p1", "Text."), Passage("²", "Text.")]
    (found,) = find_markers("It grew \\cite{p1,²}.", known=Resolver(passages))
    assert [(key.kind, key.value) for key in found.keys] == [("id", "p1"), ("id", "²")]


@pytest.mark.parametrize("marker", ["[1, 2, and 3]", "[1, 2 and 3]", "[1, 2, & 3]", "[Sources 1, 2, and 3]"])
def test_the_last_of_several_may_have_a_comma_and_a_word_before_it(marker):
    (found,) = find_markers(f"It grew {marker}.")
    assert [key.value.removeprefix("Sources ") for key in found.keys] == ["1", "2", "3"]
