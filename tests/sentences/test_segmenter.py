"""The segmenter keeps its laws for every text and every cut, and cuts where a reader would."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from segment_cases import BLOCKS, KINDS, KNOWN_LIMITS, PROSE

from streamverify.errors import PieceError, StreamStateError, UsageError
from streamverify.sentences import blocks, stops, trailing
from streamverify.sentences.segmenter import SentenceSegmenter, segment

CASES = [
    pytest.param(case, id=f"{family}-{number}")
    for families in (PROSE, BLOCKS)
    for family, cases in families.items()
    for number, case in enumerate(cases)
]

# What markdown, citations and stops are made of, whole and in halves.
ATOMS = [
    *".!?…:;,\"'()[]{}<>`~|#-*_>=+•/\\ \n\r\t",
    *"。！？．「」『』“”„«»（）【】、।؟۔と東A5x¹²🙂👩👍🏽🇫🇷\u200d\ufe0f\u20e3\u0301\u200b\u0000",
    *[
        "\r\n",
        "\n\n",
        "\n \n",
        "  \n",
        "```",
        "````",
        "```py\n",
        "~~~",
        "---",
        "===",
        "\n- ",
        "\n  - ",
        "\n1. ",
        "\n2) ",
    ],
    *[
        "\n# ",
        "\n> ",
        "\n>",
        "\n| a ",
        "|---|",
        "\n**",
        "**Cost:** ",
        "**Cost**\n",
        "\n[1] The",
        "\n[^1]: ",
        "\n(a) ",
        "1️⃣ ",
    ],
    *[
        "Dr. ",
        "e.g. ",
        "U.S. ",
        "p.m. ",
        "9 a.m. Lon",
        "don time ",
        "etc. ",
        "et al. ",
        "No. ",
        "J. K. ",
        "3.14",
        "v2.",
        "1.0 ",
        "a.py",
        "http://a.b/?c=d. ",
    ],
    *[
        "The ",
        "It grew. ",
        "word ",
        "grew.[",
        "2]",
        "][",
        "[2",
        ". [1] ",
        ".【4†",
        "source】",
        "(Smith, 2021) ",
        "[a](b) ",
    ],
    *[
        "<cite id=1>",
        "<cite>",
        "</cite>",
        "<sup>2</sup>",
        "\n— ",
        "\n→ ",
        "\n① ",
        "\na. ",
        "\n1: ",
        "\n1 - ",
        "\n1.1 ",
        "\n2.1. ",
        "\nPrice: ",
        "price: 5",
        "</p>",
        "<br>",
        "<li>",
        "</ul> ",
        "a.m. ",
        "\\cite",
        "{p1}",
        "<https://a.b>",
        "iPhone",
        "東京は",
        "です。」",
        "है। ",
        "“It is. ",
        ".” — ",
    ],
]
texts = st.lists(st.sampled_from(ATOMS), max_size=50).map("".join) | st.text(max_size=60)
cuts = st.lists(st.integers(0, 400), max_size=6)
limits = st.sampled_from([16, 17, 40, 200, 2000])

CONSTRUCTS = [
    *(blocks._OPENING, blocks._NESTED, blocks._DELIMITER_ROW, blocks.LABEL, stops._TAG, trailing.BLOCK_END),
    *trailing._MARKS.values(),
]


def pieces(text: str, places: list[int]) -> list[str]:
    edges = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


@settings(max_examples=300)
@given(texts, cuts, limits)
@example("It grew.\r\n\r\nIt fell.", [9, 11], 2000)
@example("It grew.[2] Next", [8, 9, 10], 2000)
@example("``` py\nx\n```\nIt", [1, 8, 10, 12], 2000)
def test_sentences_do_not_depend_on_how_the_stream_was_cut(text: str, places: list[int], limit: int):
    whole = segment(text, max_chars=limit)
    assert whole == segment(pieces(text, places), max_chars=limit)
    assert whole == segment(list(text), max_chars=limit)


@pytest.mark.parametrize("unit", ["1. ", "- ", "(1) ", "> - ", "a) 1. ", "- - - `", "> 1. ```"])
@pytest.mark.parametrize("size", [1, 4, 7])
def test_markers_without_end_are_cut_alike_in_pieces(unit: str, size: int):
    text = f"It is so:\n{unit * 700}end.\n{unit}It is."
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert segment(pieces, max_chars=900) == segment(text, max_chars=900)


@given(texts, limits)
@example(" \n ", 2000)
@example("", 2000)
def test_every_character_stands_in_exactly_one_sentence(text: str, limit: int):
    sentences = segment(text, max_chars=limit)
    assert text == "".join(sentence.text for sentence in sentences)
    assert list(range(len(sentences))) == [sentence.index for sentence in sentences]
    assert [text[sentence.start : sentence.end] for sentence in sentences] == [s.text for s in sentences]
    assert all(0 < len(sentence.text) <= limit for sentence in sentences)


@given(texts, st.integers(0, 400))
def test_what_was_closed_never_changes_when_more_text_comes(text: str, place: int):
    early = SentenceSegmenter().feed(text[:place])
    assert early == segment(text)[: len(early)]


@given(texts)
def test_only_the_last_sentences_wait_for_the_end(text: str):
    segmenter, closed = SentenceSegmenter(max_chars=16), 0
    long = text * (2000 // max(len(text), 1))
    for char in long:
        closed += sum(len(sentence.text) for sentence in segmenter.feed(char))
    # What is open: a sentence, and what its end may still need to be seen.
    assert closed >= len(long) - (16 + 1000 + 1)
    assert len(segmenter._text) <= 16 + 1000 + 1


@pytest.mark.parametrize("unit", ["word ", "x", "| ", "\n", "- ", "a. b ", "`"])
def test_an_endless_sentence_is_handed_over_as_it_grows(unit: str):
    segmenter, longest = SentenceSegmenter(max_chars=100), 0
    for piece in [unit] * 2000:
        segmenter.feed(piece)
        longest = max(longest, len(segmenter._text))
    assert longest <= 100 + 1000 + len(unit)


@given(texts)
def test_no_language_breaks_the_laws(text: str):
    for language in ("de", "ja", "hi", "ar", "zz", ""):
        sentences = segment(text, language=language)
        assert sentences == segment(list(text), language=language)
        assert text == "".join(sentence.text for sentence in sentences)


@pytest.mark.parametrize("construct", CONSTRUCTS)
@given(atoms=st.lists(st.sampled_from(ATOMS), max_size=14), data=st.data())
def test_a_construct_is_only_read_once_no_text_can_change_it(construct, atoms: list[str], data):
    text = data.draw(
        st.sampled_from(
            ["", "[", "(", "<", "\\cite", "<https:", "</", "1.1", "1 -", "A b", "**", "- ", "1", "| ", "```"]
        )
    ) + "".join(atoms)
    end = data.draw(st.integers(0, len(text)))
    if not construct.part.fullmatch(text, 0, end):
        early, late = construct.whole.match(text, 0, end), construct.whole.match(text)
        assert (early and early.span()) == (late and late.span())


@pytest.mark.parametrize("case", CASES)
def test_sentences_are_cut_as_by_hand(case: str):
    expected = case.split("¦")
    text = "".join(expected)
    assert expected == [sentence.text for sentence in segment(text)]
    assert expected == [sentence.text for sentence in segment(list(text))]


@pytest.mark.parametrize(("text", "kinds"), KINDS)
def test_sentences_know_their_block(text: str, kinds: list[str]):
    assert kinds == [sentence.kind for sentence in segment(text)]


@pytest.mark.parametrize("case", KNOWN_LIMITS.values(), ids=KNOWN_LIMITS)
def test_known_limits_are_as_described(case: str):
    assert case.split("¦") == [sentence.text for sentence in segment(case.replace("¦", ""))]


@pytest.mark.parametrize(
    ("proof", "closed"),
    [
        ("It grew. T", "It grew. "),
        ("It grew.[2] T", "It grew.[2] "),
        ("It grew. [2] T", "It grew. [2] "),
        ("It grew. [2] r", "It grew. "),
        ("He lives in the U.S. His ", "He lives in the U.S. "),
        ("It grew.\n\nt", "It grew.\n\n"),
        ("# Title\nT", "# Title\n"),
        ("- one\n- T", "- one\n"),
        ("Text\n\n*", "Text\n\n"),
        ("増えた。減", "増えた。"),
        ("यह है। व", "यह है। "),
        ("It grew\n```py\n", "It grew\n"),
        ("It (grew.\nT", "It (grew.\n"),
        ("| a |\n|---|\n|", "| a |\n|---|\n"),
    ],
)
def test_a_sentence_closes_with_the_character_that_proves_it(proof: str, closed: str):
    segmenter = SentenceSegmenter()
    assert segmenter.feed(proof[:-1]) == []
    assert [closed] == [sentence.text for sentence in segmenter.feed(proof[-1])]


@pytest.mark.parametrize(
    "waiting",
    [
        "It grew by 3.",
        "Use v2.",
        "See Dr.",
        "It grew.",
        "It grew. ",
        "It grew.[",
        "It grew.[2",
        "It grew.[2]",
        "It grew. [2] ",
        "It grew.【4†so",
        "It grew. (Annual Rep",
        "It grew.\r",
        "It grew in the U.S. Th",
        "He said “It grew. T",
        "It grew\n``",
        "It grew\n-",
        "増えた。",
        "「増えた。」",
    ],
)
def test_nothing_closes_before_the_text_proves_it(waiting: str):
    assert SentenceSegmenter().feed(waiting) == []


def test_one_piece_may_close_many_sentences():
    assert len(SentenceSegmenter().feed("One. Two. Three. Four")) == 3


def test_streams_share_nothing():
    first, second = SentenceSegmenter(), SentenceSegmenter()
    first.feed("Mine is ")
    second.feed("Yours is ")
    first.feed("one.")
    second.feed("two.")
    assert [sentence.text for sentence in first.flush()] == ["Mine is one."]
    assert [sentence.text for sentence in second.flush()] == ["Yours is two."]


def test_a_flushed_segmenter_is_finished():
    segmenter = SentenceSegmenter()
    assert segmenter.flush() == []
    with pytest.raises(StreamStateError):
        segmenter.feed("more")
    with pytest.raises(StreamStateError):
        segmenter.flush()


@pytest.mark.parametrize("piece", [None, b"bytes", 3])
def test_a_piece_that_is_not_text_is_refused(piece):
    with pytest.raises(PieceError, match=type(piece).__name__):
        SentenceSegmenter().feed(piece)


def test_half_a_surrogate_pair_is_refused_before_it_can_harm():
    segmenter = SentenceSegmenter()
    segmenter.feed("It grew ")
    with pytest.raises(PieceError, match="surrogate"):
        segmenter.feed("by \ud83d")
    assert [sentence.text for sentence in segmenter.flush()] == ["It grew "]


def test_a_limit_without_room_for_a_sentence_is_refused():
    with pytest.raises(UsageError, match="16"):
        SentenceSegmenter(max_chars=15)


@pytest.mark.parametrize(
    "unit", ["word and ", "x", "東京", "a, b (c ", '"a ', "[", "`", "\n", " ", "- ", "Dr. ", ". "]
)
def test_an_answer_without_a_stop_is_cut_at_the_limit(unit: str):
    text = unit * (100_000 // len(unit))
    sentences = segment(pieces(text, list(range(0, len(text), 997))))
    assert text == "".join(sentence.text for sentence in sentences)
    assert all(len(sentence.text) <= 2000 for sentence in sentences)
    assert len(sentences) <= 110


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("five short words stand here now", ["five short words ", "stand here now"]),
        ("one averyveryverylongword that", ["one averyveryverylon", "gword that"]),
        ("this one fills up. T next", ["this one fills up. ", "T next"]),
        ("this one is far. " + " " * 9 + "Next", ["this one is far. " + " " * 3, " " * 6 + "Next"]),
        ("this one is just 20.\n\n# T", ["this one is just 20.", "\n\n# T"]),
        ("this one is just 9.\r\n\r\n# T", ["this one is just 9.", "\r\n\r\n# T"]),
    ],
)
def test_a_long_sentence_is_cut_at_the_last_blank_in_its_second_half(text: str, expected: list[str]):
    assert expected == [sentence.text for sentence in segment(text, max_chars=20)]


@pytest.mark.parametrize(
    "joined", ["e\u0301", "👩\u200d👩\u200d👧", "👍🏽", "❤\ufe0f", "1\ufe0f\u20e3", "🇫🇷", "नि", "\r\n"]
)
def test_a_forced_cut_leaves_what_a_reader_sees_as_one_character_whole(joined: str):
    for before in range(12, 20):
        text = "x" * before + joined + "y" * 20
        edges = {sentence.end for sentence in segment(text, max_chars=20)}
        assert edges.isdisjoint(range(before + 1, before + len(joined)))


def test_long_code_is_cut_at_line_breaks():
    text = "```\n" + "x = compute(a, b)\n" * 40 + "```\nText."
    *code, prose = segment(text, max_chars=100)
    assert all(sentence.text.endswith("\n") and sentence.kind == "code" for sentence in code)
    assert prose.text == "Text."
