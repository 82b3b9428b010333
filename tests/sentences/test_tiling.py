"""Whatever a segmenter does, each character of the answer stands in one sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import StreamStateError, UsageError
from streamverify.sentences.segmenter import SentenceSegmenter
from streamverify.sentences.tiling import TilingSegmenter
from streamverify.types import Sentence

PIECES = st.lists(st.text("ab. \nÄ", min_size=1, max_size=12), max_size=12)


def cut(segmenter, pieces):
    return [s for piece in pieces for s in segmenter.feed(piece)] + segmenter.flush()


@given(PIECES)
def test_a_segmenter_that_keeps_the_laws_is_left_as_it_is(pieces):
    assert cut(TilingSegmenter(SentenceSegmenter()), pieces) == cut(SentenceSegmenter(), pieces)


class Own:
    """Gives a sentence a piece, one of them made wrong."""

    def __init__(self, wrong, at):
        self._wrong, self._at = wrong, at
        self._number = self._end = 0

    def feed(self, text):
        start, number = self._end, self._number
        self._end, self._number = start + len(text), number + 1
        sentence = Sentence(index=number, text=text, start=start, end=self._end)
        return [self._wrong(sentence)] if number == self._at else [sentence]

    def flush(self):
        return []


def _raises(sentence):
    raise LookupError


def _changed(**changes):
    return lambda sentence: sentence.model_copy(
        update={name: change(sentence) for name, change in changes.items()}
    )


WRONG = {
    "raises": _raises,
    "skips a number": _changed(index=lambda s: s.index + 1),
    "leaves a blank out": _changed(start=lambda s: s.start + 1),
    "ends early": _changed(end=lambda s: s.end - 1, text=lambda s: s.text[:-1]),
    "is empty": _changed(end=lambda s: s.start, text=lambda s: ""),
    "has other text": _changed(text=lambda s: "#" * len(s.text)),
    "is longer than what was fed": _changed(end=lambda s: s.end + 1, text=lambda s: s.text + " "),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=list(WRONG))
@given(PIECES.filter(bool), st.data())
def test_what_a_wrong_segmenter_leaves_becomes_one_sentence(wrong, pieces, data):
    at = data.draw(st.integers(0, len(pieces) - 1))
    segmenter, found, failed = TilingSegmenter(Own(wrong, at)), [], 0
    for step in [*(lambda piece=piece: segmenter.feed(piece) for piece in pieces), segmenter.flush]:
        try:
            found += step()
        except (UsageError, LookupError):
            failed += 1
    found += segmenter.flush()
    assert failed == 1
    assert "".join(s.text for s in found) == "".join(pieces)
    assert [s.index for s in found] == list(range(len(found)))
    assert all(s.text == "".join(pieces)[s.start : s.end] for s in found)
    assert segmenter.flush() == []


def test_what_is_fed_behind_the_end_is_refused_as_the_segmenter_refuses_it():
    segmenter = TilingSegmenter(SentenceSegmenter())
    segmenter.feed("The gate was painted.")
    assert len(segmenter.flush()) == 1
    assert segmenter.flush() == []
    with pytest.raises(StreamStateError):
        segmenter.feed("More.")


def test_the_error_names_what_was_left_out():
    class Silent(Own):
        def feed(self, text):
            return []

    segmenter = TilingSegmenter(Silent(None, 0))
    segmenter.feed("The gate was painted.")
    with pytest.raises(UsageError, match="left the last 21 characters"):
        segmenter.flush()
    assert [s.text for s in segmenter.flush()] == ["The gate was painted."]
