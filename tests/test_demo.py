from __future__ import annotations

import re

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.demo import Case, case_ids, load_case, replay, tokens
from streamverify.errors import UsageError
from streamverify.types import CitationFinding, Label

CASES = [load_case(name) for name in case_ids()]
EVERY_CASE = pytest.mark.parametrize("case", CASES, ids=case_ids())


# --- cases ---------------------------------------------------------------------------------------


def test_there_are_at_least_eight_cases_and_the_first_is_a_good_first_one() -> None:
    assert len(CASES) >= 8
    assert case_ids()[0] == "docs"
    assert len({case.domain for case in CASES}) == len(CASES)


@EVERY_CASE
def test_a_case_is_of_a_size_that_can_be_read(case: Case) -> None:
    assert 3 <= len(case.passages) <= 5
    assert 5 <= len(case.sentences) <= 9
    assert len({passage.id for passage in case.passages}) == len(case.passages)
    for passage in case.passages:
        assert 60 <= len(passage.text.split()) <= 150, passage.id


@EVERY_CASE
def test_the_labelled_sentences_hold_every_word_of_the_answer_in_order(case: Case) -> None:
    at = 0
    for span in (*case.spans(), (len(case.answer), len(case.answer))):
        # Between sentences stand only blanks and the marks of lists, headings and bold print.
        assert re.fullmatch(r"[\s#*\d.-]*", case.answer[at : span[0]])
        at = span[1]


@EVERY_CASE
def test_a_case_mixes_true_false_and_empty_sentences(case: Case) -> None:
    labels = {sentence.label for sentence in case.sentences}
    assert {Label.SUPPORTED, Label.CONTRADICTED, Label.UNSUPPORTED, Label.NO_CLAIM} == labels


@EVERY_CASE
def test_every_marker_of_a_sentence_is_labelled_and_resolves_as_the_label_says(case: Case) -> None:
    ids = [passage.id for passage in case.passages]
    for sentence in case.sentences:
        written = [citation.marker for citation in sentence.citations if citation.marker]
        assert re.findall(r"\[\w+\]", sentence.text) == written
        for citation in sentence.citations:
            name = citation.marker.strip("[]")
            known = name in ids or (name.isdigit() and 1 <= int(name) <= len(ids))
            assert known == (citation.finding not in (CitationFinding.FABRICATED, CitationFinding.MISSING))
            assert citation.better is None or citation.better in ids


def test_the_cases_show_every_kind_of_citation() -> None:
    shown = {c.finding for case in CASES for sentence in case.sentences for c in sentence.citations}
    assert shown == set(CitationFinding) - {CitationFinding.UNVERIFIED}


@EVERY_CASE
def test_a_label_is_found_by_position(case: Case) -> None:
    for sentence, span in zip(case.sentences, case.spans(), strict=True):
        assert case.by_hand(span.start, span.end) is sentence
        assert case.by_hand(max(span.start - 3, 0), span.end + 1) is sentence
    assert case.by_hand(len(case.answer), len(case.answer) + 5) is None


def test_an_unknown_case_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UsageError, match="no demo case 'nope'; choose one of docs, "):
        load_case("nope")
    with pytest.raises(UsageError):
        load_case("../cases/docs")


# --- replay --------------------------------------------------------------------------------------


@given(st.text())
def test_tokens_joined_give_the_text_back_and_none_is_empty(text: str) -> None:
    pieces = tokens(text)
    assert "".join(pieces) == text
    assert all(pieces)


def test_tokens_are_about_four_characters_long() -> None:
    text = "".join(case.answer for case in CASES)
    assert 3.5 <= len(text) / len(tokens(text)) <= 4.5


@pytest.mark.anyio
async def test_a_replay_yields_the_same_pieces_every_time() -> None:
    answer = CASES[0].answer
    first = [piece async for piece in replay(answer, float("inf"))]
    assert first == [piece async for piece in replay(answer, float("inf"))] == list(tokens(answer))


@pytest.mark.anyio
async def test_a_replay_keeps_its_schedule() -> None:
    begin = anyio.current_time()
    times = [anyio.current_time() - begin async for _ in replay("one two three", 100, first_token_after=0.02)]
    # Never early; how late depends on the machine.
    assert all(time >= 0.02 + position / 100 - 1e-3 for position, time in enumerate(times))


@pytest.mark.anyio
@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan")])
async def test_a_speed_that_is_no_speed_is_refused(speed: float) -> None:
    with pytest.raises(UsageError, match="the speed must be above 0"):
        await anext(replay("text", speed))
