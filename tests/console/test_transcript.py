from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from streamverify.console.summary import plain_line
from streamverify.console.transcript import CITATIONS, LABELS, Style, Transcript, one_line, safe, wrapped
from streamverify.events import Event, SentenceClosed, SentenceJudged, TextReleased
from streamverify.types import Action, Citation, CitationFinding, Label, Sentence, Span

WORDS = st.text(st.sampled_from("ab .,[]1é語🎉\n\t\x1b\u202e\u3000"), min_size=1, max_size=30)
LABEL = st.sampled_from(list(Label))


def judged(index: int, label: Label = Label.SUPPORTED, **more: object) -> SentenceJudged:
    return SentenceJudged(seq=0, at_ms=0, index=index, label=label, latency_ms=1, **more)


def released(text: str, start: int, action: Action = Action.RELEASE, end: int | None = None) -> TextReleased:
    span = Span(start, start + len(text) if end is None else end)
    return TextReleased(seq=0, at_ms=0, text=text, span=span, action=action)


def closed(index: int, text: str, start: int) -> SentenceClosed:
    sentence = Sentence(index=index, text=text, start=start, end=start + len(text))
    return SentenceClosed(seq=0, at_ms=0, sentence=sentence)


def flowing(sentences: list[tuple[str, Label]], size: int, lead: int) -> Iterator[Event]:
    """Events of an answer that flows in pieces of `size`, with verdicts `lead` sentences behind."""
    answer, at, start, closings = "".join(text for text, _ in sentences), 0, 0, []
    for index, (text, _) in enumerate(sentences):
        closings.append((start + len(text), closed(index, text, start)))
        start += len(text)
    told = 0
    while at < len(answer):
        piece = answer[at : at + size]
        yield released(piece, at)
        at += len(piece)
        while closings and closings[0][0] <= at:
            closing = closings.pop(0)[1]
            yield closing
            if closing.sentence.index >= lead:
                yield judged(told, sentences[told][1])
                told += 1
    for index in range(told, len(sentences)):
        yield judged(index, sentences[index][1])


def lines_of(events: Iterator[Event], width: int) -> list[str]:
    transcript, lines = Transcript(), []
    for event in events:
        transcript.apply(event)
        lines += transcript.take(width)
    return [line.plain for line in (*lines, *wrapped(transcript.rest(), width))]


@given(st.lists(st.tuples(WORDS, LABEL), min_size=1, max_size=6), st.integers(1, 9), st.integers(0, 3))
def test_the_screen_does_not_depend_on_pieces_or_on_when_verdicts_came(
    sentences: list[tuple[str, Label]], size: int, lead: int
) -> None:
    whole = lines_of(flowing(sentences, 10_000, 0), 24)
    assert whole == lines_of(flowing(sentences, size, lead), 24)


@given(st.lists(st.tuples(WORDS, LABEL), min_size=1, max_size=6), st.integers(4, 40))
def test_no_line_is_wider_than_the_screen_and_none_can_steer_it(
    sentences: list[tuple[str, Label]], width: int
) -> None:
    for line in lines_of(flowing(sentences, 5, 1), width):
        assert cell_len(line) <= max(width, 2)
        assert not [char for char in line if unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs")]


@given(st.lists(st.tuples(WORDS, LABEL), min_size=1, max_size=6), st.integers(1, 9))
def test_every_word_of_the_answer_is_on_the_screen_before_and_after_its_verdict(
    sentences: list[tuple[str, Label]], size: int
) -> None:
    expected = "".join(safe("".join(text for text, _ in sentences)).split())
    unjudged = (e for e in flowing(sentences, size, 0) if not isinstance(e, SentenceJudged))
    shown = "".join("".join(lines_of(unjudged, 30)).replace("…", "").split())
    assert shown == expected
    transcript = Transcript()
    for event in flowing(sentences, size, 1):
        transcript.apply(event)
    settled = transcript.take_sentences()
    assert [text for text, _ in sentences] == [sentence.text for sentence in settled]
    assert transcript.judged == len(sentences)


@given(st.text(st.characters()))
def test_safe_text_is_as_long_as_before_and_holds_no_control_character(text: str) -> None:
    clean = safe(text)
    assert len(clean) == len(text)
    assert not [char for char in clean if unicodedata.category(char) in ("Cc", "Cs") and char != "\n"]
    assert safe(clean) == clean
    assert "\n" not in one_line(text)


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[2J", "␛[2J"),
        ("\x9b31m", "�31m"),
        ("a\x07\x00\x7f", "a␇␀␡"),
        ("ab\u202ecd\u2066", "ab�cd�"),
        ("one\r\ntwo\tthree\u2028", "one \ntwo three "),
        ("\ue000", "�"),
        ("👩‍🚀 naïve ✓", "👩‍🚀 naïve ✓"),
    ],
)
def test_what_could_steer_a_terminal_is_shown_as_a_picture(hostile: str, shown: str) -> None:
    assert safe(hostile) == shown


def settled(*events: Event, style: Style | None = None) -> Text:
    transcript = Transcript(style or Style())
    for event in events:
        transcript.apply(event)
    return transcript.rest()


def styled(text: Text, style: str) -> list[str]:
    return [text.plain[span.start : span.end] for span in text.spans if str(span.style) == style]


def test_a_badge_follows_its_sentence_by_shape_and_word() -> None:
    for label, look in LABELS.items():
        text = settled(released("It grew. ", 0), closed(0, "It grew. ", 0), judged(0, label))
        assert wrapped(text, 80)[0].plain == f"It grew. {look.symbol} {look.word}"
        assert styled(text, look.style)[0] == "It grew."
        plain = settled(
            released("It grew. ", 0),
            closed(0, "It grew. ", 0),
            judged(0, label),
            style=Style(unicode=False),
        )
        assert wrapped(plain, 80)[0].plain.isascii()


def test_a_badge_is_never_broken_and_starts_a_line_where_it_must() -> None:
    text = settled(
        released("Twelve chars. ", 0), closed(0, "Twelve chars. ", 0), judged(0, Label.CONTRADICTED)
    )
    assert [line.plain for line in wrapped(text, 18)] == ["Twelve chars.", "✗ contradicted"]


def test_a_sentence_that_waits_says_so() -> None:
    text = settled(released("It grew. And", 0), closed(0, "It grew. ", 0))
    assert wrapped(text, 80)[0].plain == "It grew. … And"


def test_unsupported_parts_are_underlined_and_only_they() -> None:
    text = settled(
        released("It grew", 0),
        released(" by 9 % in May. ", 7),
        closed(0, "It grew by 9 % in May. ", 0),
        judged(0, Label.CONTRADICTED, unsupported_spans=(Span(11, 14), Span(18, 21))),
    )
    assert styled(text, "underline") == ["9 %", "May"]


@pytest.mark.parametrize("finding", list(CitationFinding))
def test_a_citation_finding_stands_behind_its_marker(finding: CitationFinding) -> None:
    citation = Citation(marker="[3]", start=8, end=11, finding=finding)
    text = settled(
        released("It grew [3]. ", 0), closed(0, "It grew [3]. ", 0), judged(0, citations=(citation,))
    )
    look = CITATIONS[finding]
    mark = f"{look.symbol} {look.word}".strip()
    expected = (
        f"It grew [3]. {mark} ✓ supported"
        if finding is CitationFinding.MISSING
        else f"It grew [3]{mark}. ✓ supported"
    )
    assert wrapped(text, 80)[0].plain == expected


def test_a_better_passage_is_named_and_its_id_cannot_steer_the_terminal() -> None:
    citation = Citation(marker="[3]", start=3, end=6, finding=CitationFinding.WRONG_PASSAGE, better="\x1bp")
    text = settled(released("It [3]", 0), closed(0, "It [3]", 0), judged(0, citations=(citation,)))
    assert wrapped(text, 80)[0].plain == "It [3]✗ wrong passage → ␛p ✓ supported"


def test_two_markers_side_by_side_keep_their_own_findings() -> None:
    citations = (
        Citation(marker="[1]", start=3, end=6, finding=CitationFinding.CORRECT),
        Citation(marker="[9]", start=6, end=9, finding=CitationFinding.FABRICATED),
    )
    text = settled(released("It [1][9].", 0), closed(0, "It [1][9].", 0), judged(0, citations=citations))
    assert wrapped(text, 80)[0].plain == "It [1]✓[9]✗ fabricated. ✓ supported"


def test_a_placeholder_is_shown_in_place_of_the_sentence() -> None:
    events = (
        closed(0, "- It fell. ", 0),
        judged(0, Label.CONTRADICTED, unsupported_spans=(Span(2, 5),)),
        released("- ", 0),
        released("[removed]", 2, Action.REDACT, end=10),
        released(" ", 10),
    )
    text = settled(*events)
    assert wrapped(text, 80)[0].plain == "- [removed] ✗ contradicted, redacted"
    assert styled(text, "reverse") == ["[removed]"]
    assert "fell" not in text.plain


def test_a_placeholder_for_several_sentences_says_so() -> None:
    events = (
        closed(0, "It fell. ", 0),
        closed(1, "It rose. ", 9),
        closed(2, "Sold.", 18),
        judged(0, Label.CONTRADICTED),
        judged(1, Label.UNSUPPORTED),
        judged(2),
        released("[removed]", 0, Action.REDACT, end=8),
        released(" ", 8),
        released("", 9, Action.REDACT, end=18),
        released("Sold.", 18),
    )
    transcript = Transcript()
    for event in events:
        transcript.apply(event)
    [line] = wrapped(transcript.rest(), 120)
    told = (
        "[removed] ✗ contradicted, redacted and the next sentence: ? unsupported, redacted Sold. ✓ supported"
    )
    assert line.plain == told
    plain = [plain_line(one, Style()) for one in transcript.take_sentences()]
    assert plain[1].endswith("(redacted with the one before)")


def test_what_is_held_is_not_shown() -> None:
    assert settled(closed(0, "It fell. ", 0), judged(0, Label.CONTRADICTED)).plain == ""


def test_markup_in_the_answer_stays_text() -> None:
    answer = "[bold red]Hi[/] :smile: "
    text = settled(released(answer, 0), closed(0, answer, 0), judged(0))
    assert wrapped(text, 80)[0].plain == "[bold red]Hi[/] :smile: ✓ supported"


def test_a_long_answer_is_handed_out_line_by_line_and_forgotten() -> None:
    transcript = Transcript()
    sentence = "A sentence of six words stands here. "
    for number in range(200):
        start = number * len(sentence)
        transcript.apply(released(sentence, start))
        transcript.apply(closed(number, sentence, start))
        transcript.apply(judged(number))
        transcript.take(60)
        # A full line and the blank that closes it.
        assert len(transcript.rest()) <= 61
