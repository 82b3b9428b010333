from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.calibration import Calibration, logit
from streamverify.checks import Signals
from streamverify.errors import ModelContractError
from streamverify.judging.verdict import (
    MODEL_FEATURES,
    SIGNAL_FEATURES,
    check_calibration,
    conflict,
    features,
    label_for,
    placed,
    unsupported_spans,
)
from streamverify.scorers.model_files import ModelFiles
from streamverify.scorers.protocol import Claim, ClaimScore, NliScore, TokenRisk, Window, WindowScore
from streamverify.testing import ScriptedScorer
from streamverify.types import Finding, FindingKind, Label, Span

SHIPPED = ModelFiles.open(None).calibration
share = st.floats(0, 1)
signals = st.builds(Signals, **dict.fromkeys(SIGNAL_FEATURES, share))
nli = st.tuples(share, share, share).map(lambda p: NliScore(*(v / (sum(p) or 1) for v in p)))
scores = st.lists(nli, min_size=1, max_size=4).map(
    lambda found: ClaimScore(
        single=tuple(
            sorted((WindowScore(n, s) for n, s in enumerate(found)), key=lambda w: -w.score.entailment)
        ),
        tokens=(TokenRisk(0, 1, 0.3),),
    )
)


@given(scores, signals)
def test_every_feature_is_a_finite_number_and_every_calibration_name_is_known(score, found):
    measured = features(score, found, [1.0] * len(score.single))
    assert set(measured) == {*MODEL_FEATURES, *SIGNAL_FEATURES}
    assert all(abs(value) < 100 for value in measured.values())
    assert 0 <= SHIPPED.probability(measured) <= 1


@given(scores, signals, share, share)
def test_more_entailment_never_lowers_the_probability(score, found, one, other):
    measured = features(score, found, [1.0] * len(score.single))
    low, high = sorted((one, other))
    assert SHIPPED.probability({**measured, "single": logit(low)}) <= SHIPPED.probability(
        {**measured, "single": logit(high)}
    )


@given(scores, signals, st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_raising_the_threshold_never_adds_a_supported_claim(score, found, one, other):
    low, high = sorted((one, other))
    measured = features(score, found, [1.0] * len(score.single))
    loose = label_for(SHIPPED.model_copy(update={"threshold": low}), measured, contradiction=True)[0]
    strict = label_for(SHIPPED.model_copy(update={"threshold": high}), measured, contradiction=True)[0]
    assert strict is not Label.SUPPORTED or loose is Label.SUPPORTED


@given(scores, signals)
def test_checks_never_turn_what_the_model_supports_into_a_contradiction(score, found):
    alone = label_for(SHIPPED, features(score, Signals(), [1.0] * len(score.single)), contradiction=True)[0]
    checked = label_for(SHIPPED, features(score, found, [1.0] * len(score.single)), contradiction=True)[0]
    assert not (alone is Label.SUPPORTED and checked is Label.CONTRADICTED)


@given(scores, signals)
def test_a_scorer_that_cannot_tell_contradiction_never_says_it(score, found):
    assert (
        label_for(SHIPPED, features(score, found, [1.0] * len(score.single)), contradiction=False)[0]
        is not Label.CONTRADICTED
    )


def test_a_calibration_of_unknown_features_or_of_a_missing_pass_is_refused():
    traits = ScriptedScorer().traits
    check_calibration(SHIPPED, traits)
    with pytest.raises(ModelContractError, match="moonlight"):
        check_calibration(Calibration(weights={"moonlight": 1.0}), traits)
    no_joint = type(traits)(10, 10, 1, Calibration(), joint=False)
    with pytest.raises(ModelContractError, match="joint"):
        check_calibration(Calibration(weights={"joint": 1.0}), no_joint)


CLAIM = Claim("Ada runs to 450 km", (-1, -1, -1, -1, *range(100, 114)))


def test_a_borrowed_character_has_no_place_in_the_answer():
    assert placed(CLAIM, 0, 3) is None
    assert placed(CLAIM, 0, 8) == Span(100, 104)


def test_unsupported_spans_join_neighbours_and_stay_inside_the_sentence():
    tokens = (TokenRisk(0, 3, 0.99), TokenRisk(12, 15, 0.9), TokenRisk(16, 18, 0.8), TokenRisk(4, 8, 0.1))
    body = Span(100, 114)
    assert unsupported_spans(CLAIM, tokens, 0.5, (), body) == (Span(108, 114),)
    assert unsupported_spans(CLAIM, (), 0.5, (), body) == (body,)
    finding = Finding(kind=FindingKind.NUMBER_MISMATCH, start=108, end=111, detail="")
    assert unsupported_spans(CLAIM, (), 0.5, (finding,), body) == (Span(108, 111),)


def test_two_passages_that_disagree_are_a_conflict_and_one_that_wavers_is_not():
    def passes(*parts):
        return [WindowScore(n, NliScore(*p)) for n, p in enumerate(parts)]

    windows = [Window(0, "a", 0, 1), Window(1, "b", 0, 1), Window(0, "c", 1, 2)]
    yes, no = (0.9, 0.05, 0.05), (0.05, 0.05, 0.9)
    found = conflict(CLAIM, passes(yes, no), windows, ["p", "q"])
    assert (found.kind, found.detail) == (
        FindingKind.SOURCE_CONFLICT,
        "passage p says so, passage q says otherwise",
    )
    assert conflict(CLAIM, passes(yes, yes, no), windows, ["p", "q"]) is None


@pytest.mark.parametrize(
    ("claim", "title", "text", "conflicts"),
    [
        ("The Basic plan costs $10 a month.", "", "The Pro plan costs $20 a month.", False),
        ("In 2022 revenue was $10 million.", "", "In 2023 revenue was $12 million.", False),
        ("The Berlin office opens at 8:00.", "", "The Munich office opens at 9:00.", False),
        ("The Berlin office opens at 8:00.", "Munich", "The office opens at 9:00.", False),
        ("The Basic plan costs $10 a month.", "", "The Basic plan costs $20 a month.", True),
        ("The Berlin office opens at 8:00.", "Berlin", "The office opens at 9:00. It is large.", True),
        ("In 2022 revenue was $10 million.", "Report 2022", "Revenue was $12 million.", True),
        ("Otto Falk designed the bridge.", "", "Anna Bergmann designed the bridge in 1924.", True),
        ("The bridge opened in 1924.", "", "The bridge opened in 1926.", True),
    ],
)
def test_passages_on_two_things_are_no_conflict(claim, title, text, conflicts):
    windows = [Window(0, claim, 0, len(claim)), Window(1, text, 0, len(text), title)]
    passes = [WindowScore(0, NliScore(0.9, 0.05, 0.05)), WindowScore(1, NliScore(0.05, 0.05, 0.9))]
    found = conflict(Claim(claim, tuple(range(len(claim)))), passes, windows, ["p", "q"])
    assert (found is not None) is conflicts


@given(scores, signals, st.data())
def test_what_speaks_of_something_else_never_contradicts(score, found, data):
    bar = SHIPPED.contradiction_about
    about = data.draw(
        st.lists(st.floats(0, bar - 0.01), min_size=len(score.single), max_size=len(score.single))
    )
    assert label_for(SHIPPED, features(score, found, about), contradiction=True)[0] is not Label.CONTRADICTED


@given(scores, signals, nli, st.data())
def test_a_window_about_something_else_turns_no_label_into_contradicted(score, found, other, data):
    about = data.draw(st.lists(share, min_size=len(score.single), max_size=len(score.single)))
    more = ClaimScore(single=(*score.single, WindowScore(len(about), other)), tokens=score.tokens)
    before = label_for(SHIPPED, features(score, found, about), contradiction=True)[0]
    after = label_for(SHIPPED, features(more, found, [*about, 0.0]), contradiction=True)[0]
    assert before is Label.CONTRADICTED or after is not Label.CONTRADICTED
