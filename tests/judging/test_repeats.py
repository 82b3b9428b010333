"""A sentence that comes round again gets what its like got, at its own place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.judging.assessor import VerifierConfig
from streamverify.judging.citations import CitationOptions
from streamverify.passages import passages_from
from streamverify.scorers.lexical import LexicalScorer
from streamverify.scorers.protocol import Abort
from streamverify.sentences.segmenter import segment
from streamverify.testing import ScriptedScorer
from streamverify.types import Label
from streamverify.verifier import Verifier

PASSAGES = passages_from(["The mill was built in 1804 and grinds barley.", "It stands in Riverton."])
SENTENCES = [
    "The mill was built in 1804 [1]. ",
    "The mill was built in 1903 [2]. ",
    "It stands there. ",
    "It was built by Anna Berg in Riverton [7]. ",
    "- It grinds 30 tons of barley.\n",
    'They call it "the old mill". ',
    "The documents do not say who built it. ",
    "Die Mühle steht seit langem an dem alten Fluss. ",
    "\n\n",
    "What else? ",
]
CITATIONS = CitationOptions(require="claims")


def assessor():
    scorer = LexicalScorer()
    return VerifierConfig(scorer, scorer.traits.calibration, CITATIONS).assessor(PASSAGES, None, Abort())


def asked(work):
    return work.claims + work.claims_from_cache


@pytest.mark.slow
@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4), st.integers(1, 3))
def test_what_is_remembered_is_what_would_be_found(round_, count):
    sentences = segment("".join(round_) * 4)
    remembering = assessor()
    for at, sentence in enumerate(sentences):
        previous = sentences[max(at - count, 0) : at]
        fresh = assessor().assess(sentence, previous, Abort())
        found = remembering.assess(sentence, previous, Abort())
        assert found.verdict == fresh.verdict
        assert found.work.tokens_generated == fresh.work.tokens_generated
        assert (
            found.work.claims + found.work.claims_from_cache
            == fresh.work.claims + fresh.work.claims_from_cache
        )


def test_an_answer_in_a_loop_is_read_once_for_each_surrounding():
    scorer = ScriptedScorer({"wrong": Label.UNSUPPORTED})
    looked_at = []
    spans_of = scorer.token_spans

    def noting(text):
        looked_at.append(text)
        return spans_of(text)

    scorer.token_spans = noting
    with Verifier(scorer) as verifier:
        report = verifier.check_sync("The wrong wheel turns slowly. " * 400, PASSAGES)
    assert report.counts[Label.UNSUPPORTED] == 400
    assert report.work.tokens_generated == 2000
    assert [s.unsupported_spans[0].start - s.start for s in report.sentences] == [4] * 400
    # Two looks at each of the sentences whose surroundings still grow, and a few that ran beside each other.
    assert len(looked_at) < 150
