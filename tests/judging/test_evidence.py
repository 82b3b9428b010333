from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.judging.evidence import SHOWN, WindowFinder, WindowWords, stems
from streamverify.passages import cut, passages_from
from streamverify.scorers.protocol import NliScore, Window, WindowScore
from streamverify.types import Label, Passage, Span

TEXT = "  The mill was built in 1804.\n\nIt grinds barley for the village.  The dam came later. "


def tokens(text):
    return [Span(at, at + 1) for at, char in enumerate(text) if not char.isspace()]


def test_the_sentence_that_shares_most_is_pinned_with_its_exact_offsets():
    window = Window(0, TEXT, 100, 100 + len(TEXT))
    start, end = WindowWords(window).pin(stems("Barley is ground for the village"))
    assert TEXT[start - 100 : end - 100] == "It grinds barley for the village."


@given(st.text(alphabet="ab. \n\t\u00a0。Ä", max_size=60), st.integers(0, 50))
def test_a_pinned_span_lies_in_its_window_and_starts_and_ends_with_text(text, offset):
    start, end = WindowWords(Window(0, text, offset, offset + len(text))).pin(frozenset({"a"}))
    assert offset <= start <= end <= offset + len(text)
    if text.strip():
        assert text[start - offset : end - offset] == text[start - offset : end - offset].strip() != ""


LATE = "When the last attempt fails, the job is moved to a queue for dead jobs."
DELETED = "Dead jobs are deleted after 14 days."
POLICY = f"{LATE} Cats sleep for 14 days. {DELETED}"


@pytest.mark.parametrize(
    ("value", "shown"), [((0, 0), LATE), ((2, 0), DELETED), ((1, 0), LATE), ((2, 1), LATE)]
)
def test_the_sentence_that_has_another_value_is_pinned_where_it_is_about_the_claim(value, shown):
    """Not one that shares no more than the unit, and not one of another passage."""
    sentence, passage = value
    claim = stems("Once the last attempt has failed, the job is moved to a queue and deleted after 30 days.")
    start = POLICY.find("14 days", POLICY.find(DELETED) if sentence == 2 else 0) if sentence else 0
    against = [(passage, start, start + 7)]
    found = WindowWords(Window(0, POLICY, 0, len(POLICY))).pin(claim, against)
    assert POLICY[found.start : found.end] == shown


@given(st.lists(st.sampled_from([LATE, DELETED, "Cats sleep."]), min_size=1, max_size=4), st.data())
def test_what_is_pinned_for_a_value_shares_more_with_the_claim_than_it_or_is_what_shares_most(parts, data):
    text, claim = " ".join(parts), stems("The job is deleted after 30 days.")
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    words = WindowWords(Window(0, text, 9, 9 + len(text)))
    most, pinned = words.pin(claim), words.pin(claim, [(0, 9 + start, 9 + end)])
    assert pinned == most or (pinned.start <= 9 + start and 9 + end <= pinned.end)
    assert (
        pinned == most
        or claim & stems(text[pinned.start - 9 : pinned.end - 9]) > stems(text[start:end]) & claim
    )


def scored(*triples):
    return tuple(WindowScore(index, NliScore(*triple)) for index, triple in enumerate(triples))


def test_what_decided_leads_and_each_piece_says_what_it_says_by_itself():
    passages = [
        Passage("a", "The mill is old."),
        Passage("b", "The mill is new."),
        Passage("c", "Cats sleep."),
    ]
    windows = [Window(n, p.text, 0, len(p.text)) for n, p in enumerate(passages)]
    scores = scored((0.8, 0.1, 0.1), (0.1, 0.1, 0.8), (0.05, 0.9, 0.05))
    for label, order, meanings in (
        (Label.SUPPORTED, "abc", ["supported", "contradicted", "unsupported"]),
        (Label.CONTRADICTED, "bac", ["contradicted", "supported", "unsupported"]),
        (Label.UNSUPPORTED, "abc", ["supported", "contradicted", "unsupported"]),
    ):
        pieces = WindowFinder(windows, passages).evidence("The mill is ancient.", label, scores)
        assert [piece.passage for piece in pieces] == list(order)
        assert [str(piece.label) for piece in pieces] == meanings
        for piece in pieces:
            by_id = {p.id: p.text for p in passages}
            assert by_id[piece.passage][piece.start : piece.end] == piece.text


@given(st.sampled_from([Label.SUPPORTED, Label.UNSUPPORTED]), st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_a_window_about_something_else_never_leads_by_its_reading(label, readings):
    """What a reader says of a window that shares no word with the claim is noise."""
    passages = [Passage("cats", "Cats sleep."), Passage("mill", "The mill was built in 1804.")]
    windows = [Window(n, p.text, 0, len(p.text)) for n, p in enumerate(passages)]
    scores = scored(*[(entailment, 0.0, 1 - entailment) for entailment in readings])
    first, *_ = WindowFinder(windows, passages).evidence("They built the mill in 1806.", label, scores)
    assert first.passage == "mill"


@pytest.mark.parametrize(
    ("label", "first"), [(Label.CONTRADICTED, "p2"), (Label.UNSUPPORTED, "p2"), (Label.SUPPORTED, "p1")]
)
def test_what_has_another_value_is_shown_before_what_shares_more(label, first):
    closing = "All offices close at 4 p.m. on the last days of a month."
    last = "The last appointment of the day is at 11.30 a.m."
    passages = [Passage("p1", closing), Passage("p2", last), Passage("p3", "Cats sleep at 11.30 a.m.")]
    windows = [Window(number, one.text, 0, len(one.text)) for number, one in enumerate(passages)]
    scored = [WindowScore(number, NliScore(0.3, 0.4, 0.3)) for number in range(3)]
    place = last.index("11.30")
    against = [(1, place, place + 10), (2, 14, 24)]
    shown = WindowFinder(windows, passages).evidence(
        "The last appointments are when all offices close, at 4 p.m.", label, scored, against
    )
    assert shown[0].passage == first
    assert shown[-1].passage == "p3"


def test_a_sentence_is_shown_once_and_no_more_than_a_few_are():
    passages = [Passage(f"p{n}", f"Fact number {n} is true.") for n in range(6)]
    windows = [Window(n, p.text, 0, len(p.text)) for n, p in enumerate(passages)]
    doubled = [*windows, windows[0]]
    scores = scored(*[(0.9, 0.05, 0.05)] * 7)
    pieces = WindowFinder(doubled, passages).evidence("Fact number 0 is true.", Label.SUPPORTED, scores)
    assert len(pieces) == SHOWN
    assert len({(piece.passage, piece.start) for piece in pieces}) == SHOWN


def test_evidence_points_into_the_text_a_framework_gave():
    class Node:
        node_id = "n1"

        def get_content(self, **_):
            return "Source 2:\nThe mill  was built\nin 1804. It grinds.\n"

    class WithScore:
        node = Node()
        score = 0.5

    [passage] = passages_from([WithScore()])
    [window] = cut([passage], tokens, 500)
    finder = WindowFinder([window], [passage])
    [piece] = finder.evidence("The mill was built in 1804", Label.SUPPORTED, scored((0.9, 0.1, 0)))
    assert passage.text[piece.start : piece.end] == piece.text
    assert piece.text.startswith("The mill")


def test_the_likeliest_window_of_a_cited_passage_is_found():
    passages = [Passage("a", "Cats sleep. " * 30 + "The mill was built in 1804."), Passage("b", "")]
    windows = cut(passages, tokens, 60)
    finder = WindowFinder(windows, passages)
    [best] = finder.likeliest(["a", "b", "nobody"], "The mill is of 1804.")
    assert "1804" in windows[best].text
    assert list(finder.of("a")) == list(range(len(windows)))
