"""No number that is none gets past a scorer: the sentence is unverified, with the reason."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from streamverify.events import StreamFinished, read_event
from streamverify.scorers.protocol import ClaimScore, NliScore, TokenRisk, WindowScore
from streamverify.testing import ScriptedScorer
from streamverify.types import Label, Passage, Timings
from streamverify.verifier import Verifier

PASSAGES = [Passage("p1", "The mill was built in 1804."), Passage("p2", "It grinds barley.")]
TEXT = "The mill was built in 1804 [1]. It grinds barley."

number = st.floats() | st.sampled_from([0.0, 1.0, 0.5, -0.1, 1.1, math.nan, math.inf, -math.inf])
nli = st.builds(NliScore, number, number, number)
claim_score = st.builds(
    ClaimScore,
    single=st.lists(st.builds(WindowScore, st.integers(-2, 3), nli), max_size=3).map(tuple),
    joint=st.none() | nli,
    tokens=st.lists(st.builds(TokenRisk, st.just(0), st.just(3), number), max_size=3).map(tuple),
)


class Hostile(ScriptedScorer):
    """Gives the same answer to everything."""

    def __init__(self, scores):
        super().__init__()
        self._scores = scores

    def score(self, prepared, claims, *, abort):
        return self._scores


def numbers(score):
    passes = [entry.score for entry in score.single] + ([score.joint] if score.joint is not None else [])
    given_ = [value for one in passes for value in (one.entailment, one.neutral, one.contradiction)]
    return given_ + [token.risk for token in score.tokens]


def no_constant(name):
    raise AssertionError(name)


@given(st.lists(claim_score, max_size=2))
def test_a_report_holds_no_number_that_is_none(scores):
    with Verifier(Hostile(scores)) as verifier:
        report = verifier.check_sync(TEXT, PASSAGES, policy="redact")
    line = StreamFinished(seq=0, at_ms=0.0, report=report).model_dump_json()
    json.loads(line, parse_constant=no_constant)
    assert read_event(line).report == report
    sound = (
        len(scores) == 1
        and scores[0].single
        and all(0 <= entry.window < 2 for entry in scores[0].single)
        and all(-1e-3 <= value <= 1 + 1e-3 for value in numbers(scores[0]))
    )
    for sentence in report.sentences:
        assert (sentence.label is Label.UNVERIFIED) == (not sound)
        assert sentence.score is None or 0 <= sentence.score <= 1
        if not sound:
            assert sentence.why.startswith("scorer_failed: the scorer ")
            assert sentence.score is None


@pytest.mark.parametrize("result", [math.nan, math.inf, -0.5, 1.5])
def test_a_function_that_returns_no_probability_makes_the_sentence_unverified(result):
    with Verifier(lambda claim, passages: result) as verifier:
        [first, _] = verifier.check_sync(TEXT, PASSAGES).sentences
    assert (first.label, first.score) == (Label.UNVERIFIED, None)
    assert "no probability" in first.reason_text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_value_on_the_wire_takes_such_a_number_nor_reads_one(value):
    with pytest.raises(ValidationError, match="finite"):
        Timings(total_ms=value)
    smuggled = Timings.model_construct(total_ms=value).model_dump_json()
    json.loads(smuggled, parse_constant=no_constant)
    with pytest.raises(ValidationError):
        Timings.model_validate_json(smuggled)
