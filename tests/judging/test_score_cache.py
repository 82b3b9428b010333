from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.judging.assessor import LONGEST_SENTENCE, VerifierConfig
from streamverify.judging.score_cache import ScoreCache, ScoreKey, digest
from streamverify.scorers.protocol import Abort, ClaimScore, Window
from streamverify.testing import ScriptedScorer
from streamverify.types import Label, Passage, Sentence, Work
from streamverify.verifier import Verifier

MILL = [Passage("p1", "The mill was built in 1804 and has two wheels.")]
SCRIPT = {"wrong": Label.CONTRADICTED, "unknown": Label.UNSUPPORTED}
SENTENCES = [
    "The mill is old. ",
    "The wrong wheel turns. ",
    "The owner is unknown. ",
    "Barley is ground [1]. ",
]


def key(text: str) -> ScoreKey:
    return ScoreKey(b"", text, (), False, (), ())


@given(st.lists(st.sampled_from("abcdef")), st.integers(1, 4))
def test_the_cache_holds_the_claims_used_last(texts, capacity):
    cache, used = ScoreCache(capacity), []
    for text in texts:
        known = cache.get(key(text))
        assert (known is not None) == (text in used[-capacity:])
        used = [other for other in used if other != text] + [text]
        if known is None:
            cache.put(key(text), ClaimScore(()))
    assert [text for text in "abcdef" if cache.get(key(text)) is not None] == sorted(used[-capacity:])


@pytest.mark.slow
@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=12))
def test_a_repeated_claim_is_scored_once_and_judged_as_if_it_were_alone(parts):
    scorer = ScriptedScorer(SCRIPT, concurrency=1)
    with Verifier(scorer) as verifier:
        report = verifier.check_sync("".join(parts), MILL)
        again = verifier.check_sync("".join(parts), MILL)
    assert len(scorer.claims) == len(set(scorer.claims)) == len(set(parts))
    assert report.work.claims == len(set(parts))
    assert report.work.claims + report.work.claims_from_cache == len(parts)
    assert (again.work.claims, again.work.claims_from_cache) == (0, len(parts))
    for part, sentence in zip(parts, report.sentences, strict=True):
        [alone] = Verifier(ScriptedScorer(SCRIPT)).check_sync(part, MILL).sentences
        assert (sentence.label, sentence.score) == (alone.label, alone.score)
        here = [
            (span.start - sentence.start, span.end - sentence.start) for span in sentence.unsupported_spans
        ]
        assert here == [tuple(span) for span in alone.unsupported_spans]


def test_other_passages_are_asked_again():
    scorer = ScriptedScorer()
    with Verifier(scorer) as verifier:
        for passages in (MILL, [Passage("p1", "Something else.")], [*MILL, Passage("p2", "More.")]):
            assert verifier.check_sync("The mill is old.", passages).work.claims == 1
        assert verifier.check_sync("The mill is old.", MILL).work.claims_from_cache == 1


def test_a_failure_is_not_remembered():
    scorer = ScriptedScorer(fail_on="owner", concurrency=1)
    with Verifier(scorer) as verifier:
        report = verifier.check_sync("The owner left. The owner left.", MILL)
    assert report.counts[Label.UNVERIFIED] == 2
    assert len(scorer.claims) == 2


windows = st.lists(
    st.builds(Window, st.integers(0, 2), st.text(), st.integers(0, 3), st.integers(3, 6), st.text())
)


@given(windows, windows)
def test_windows_are_told_apart_by_all_that_a_scorer_sees(one, other):
    assert (digest(one) == digest(other)) == (one == other)


def test_what_nobody_could_read_is_refused_before_it_is_looked_at():
    scorer = ScriptedScorer()
    assessor = VerifierConfig(scorer, scorer.traits.calibration).assessor(MILL, None, Abort())
    for text in ("word " * LONGEST_SENTENCE, "x" * 1001, "a " + "1,000" * 300):
        sentence = Sentence(index=0, text=text, start=0, end=len(text))
        assessment = assessor.assess(sentence, [], Abort())
        assert assessment.verdict.label is Label.UNVERIFIED
        assert assessment.verdict.reason == "too_long"
        assert assessment.work == Work()
    assert scorer.claims == []


def test_a_giant_answer_without_a_blank_ends_with_every_character_told():
    parts = ["x" * 4096] * 50
    with Verifier(ScriptedScorer()) as verifier:
        report = verifier.check_sync(parts, MILL)
    assert report.released == "".join(parts)
    assert report.work.claims <= 1  # of the last, short piece
    assert set(report.counts) == set(Label)
    assert report.counts[Label.UNVERIFIED] >= len(report.sentences) - 1
