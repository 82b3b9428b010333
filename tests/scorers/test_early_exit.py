from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.scorers.early_exit import beside, enough, first_round
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort, Claim, NliScore, Window

probabilities = st.floats(0, 1)


def scored(entailment: float) -> NliScore:
    return NliScore(entailment, 1 - entailment, 0.0)


@given(st.lists(st.floats(0, 2), min_size=1))
def test_the_first_round_is_the_beginning_of_the_ranking_and_never_empty(weights):
    ranked = list(enumerate(sorted(weights, reverse=True)))
    chosen = first_round(ranked)
    assert chosen == list(range(len(chosen)))
    assert chosen


def test_windows_that_share_as_much_are_all_looked_at():
    assert first_round([(4, 1.0), (2, 1.0), (7, 0.71), (1, 0.69)]) == [4, 2, 7]
    assert first_round([(0, 0.0), (1, 0.0)]) == [0, 1]
    assert first_round([]) == []


windows = st.lists(st.integers(0, 9), unique=True)


@given(windows, st.integers(1, 4), windows)
def test_cited_windows_take_places_of_the_best_but_never_the_first(ranked, count, cited):
    chosen = beside(ranked, count, cited)
    assert chosen == ranked[: len(chosen)]
    assert chosen[:1] == ranked[:1]
    most = max(count, len({*cited, *ranked[:1]}))
    assert len({*chosen, *cited}) <= most
    assert {*ranked[:count]} <= {*chosen, *cited} or len({*chosen, *cited}) == most


@given(st.lists(probabilities, min_size=1), probabilities)
def test_more_entailment_never_makes_a_decided_support_undecided(entailments, more):
    singles = [scored(value) for value in entailments]
    if max(entailments) >= 0.5:
        assert enough(singles, None)
        assert enough([*singles, scored(more)], scored(more))


@given(st.lists(probabilities, min_size=1))
def test_without_a_joint_pass_only_entailment_is_enough(entailments):
    assert enough([scored(value) for value in entailments], None) == (max(entailments) >= 0.5)


def test_what_neither_a_window_nor_all_together_come_near_is_enough():
    assert enough([scored(0.05)], scored(0.1))
    assert not enough([scored(0.05)], scored(0.2))
    assert not enough([scored(0.2)], scored(0.05))


TEXTS = (
    "The Eiffel Tower was completed in 1889 and stands 330 metres tall.",
    "Green tea contains antioxidants called catechins. It also contains caffeine.",
    "Cats sleep for most of the day.",
)


@pytest.mark.model
def test_passes_are_left_out_where_the_first_decide_and_scores_of_the_others_stay():
    abort = Abort()
    texts = (TEXTS[0], "The Eiffel Tower stands in Paris and was painted again in 2021.", TEXTS[1])
    windows = [Window(number, text, 0, len(text)) for number, text in enumerate(texts)]
    short, full = PremiseCachedScorer(threads=1), PremiseCachedScorer(threads=1, early_exit=False)
    claims = [Claim(TEXTS[0]), Claim("The tower was finished in 1889 and tea contains caffeine.")]
    few = short.score(short.prepare(windows, abort=abort), claims, abort=abort)
    all_ = full.score(full.prepare(windows, abort=abort), claims, abort=abort)
    assert [score.passes for score in all_] == [3, 4]
    assert few[0].passes == 2
    for one, other in zip(few, all_, strict=True):
        assert one.joint == other.joint
        assert set(one.single) <= set(other.single)
        assert one.single[0] == other.single[0]
        assert one.tokens == other.tokens
    short.close()
    full.close()


@pytest.mark.model
def test_a_passage_that_says_otherwise_about_the_same_thing_is_looked_at():
    texts = ("The bridge was opened in 1890.", "The bridge was opened in 1901.", TEXTS[2])
    windows = [Window(number, text, 0, len(text)) for number, text in enumerate(texts)]
    scorer = PremiseCachedScorer(threads=1)
    [score] = scorer.score(
        scorer.prepare(windows, abort=Abort()), [Claim("The bridge was opened in 1890.")], abort=Abort()
    )
    assert {entry.window for entry in score.single} >= {0, 1}
    assert 2 not in {entry.window for entry in score.single}
    scorer.close()


@pytest.mark.model
def test_a_window_that_has_nothing_to_do_with_the_claim_changes_nothing():
    scorer, abort, claim = PremiseCachedScorer(threads=1), Abort(), Claim("The tower was finished in 1889.")
    found = []
    for texts in (TEXTS[:1], TEXTS):
        windows = [Window(number, text, 0, len(text)) for number, text in enumerate(texts)]
        found += scorer.score(scorer.prepare(windows, abort=abort), [claim], abort=abort)
    assert found[0] == found[1]
    assert (found[1].joint, found[1].passes) == (None, 1)
    scorer.close()


@pytest.mark.model
def test_what_the_question_asks_about_has_to_do_with_the_claim_however_few_windows_there_are():
    texts = ("The fee is 40 crowns.", "Members of the rowing club pay nothing.")
    windows = [Window(number, text, 0, len(text)) for number, text in enumerate(texts)]
    scorer, abort = PremiseCachedScorer(threads=1, early_exit=False), Abort()
    prepared = scorer.prepare(windows, abort=abort)
    said = "The fee is 40 crowns."
    [alone, asked] = scorer.score(
        prepared, [Claim(said), Claim(said, hints=("What do members of the rowing club pay?",))], abort=abort
    )
    assert [len(alone.single), len(asked.single)] == [1, 2]
    scorer.close()
