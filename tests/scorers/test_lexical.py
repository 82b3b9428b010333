from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.errors import ScoringError
from streamverify.scorers.lexical import LexicalScorer
from streamverify.scorers.protocol import Abort, Claim, Scorer, Window

TOWER = "The Eiffel Tower was completed in 1889 and stands 330 metres tall."
TEA = "Green tea contains caffeine."
prose = st.lists(
    st.sampled_from(
        ["tower", "Paris", "1889", "3.5", "tall", "the", "of", ".", "completed", "Tour Eiffel", "é"]
    ),
    max_size=12,
).map(" ".join)


def score(premises, claim, **options):
    scorer = LexicalScorer(**options)
    windows = [Window(number, text, 0, len(text)) for number, text in enumerate(premises)]
    asked = claim if isinstance(claim, Claim) else Claim(claim)
    return scorer.score(scorer.prepare(windows, abort=Abort()), [asked], abort=Abort())[0]


def support(premise, claim):
    return score([premise], claim).single[0].score.entailment


def test_it_is_a_scorer_that_says_it_has_no_model_and_knows_no_contradiction():
    scorer = LexicalScorer()
    assert isinstance(scorer, Scorer)
    assert "no model" in scorer.fingerprint.model
    assert not scorer.traits.contradiction


def test_it_runs_without_numpy_onnxruntime_and_tokenizers():
    code = (
        "import sys\n"
        "for name in ('numpy', 'onnxruntime', 'tokenizers'): sys.modules[name] = None\n"
        "from streamverify.scorers.lexical import LexicalScorer\n"
        "from streamverify.scorers.protocol import Abort, Claim, Window\n"
        "s = LexicalScorer(); p = s.prepare([Window(0, 'Tea is hot.', 0, 11)], abort=Abort())\n"
        "print(s.score(p, [Claim('Tea is hot.')], abort=Abort())[0].single[0].score.entailment)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1.0"


@given(st.lists(prose, min_size=1, max_size=5), prose)
def test_scores_are_probabilities_best_first(premises, claim):
    got = score(premises, claim)
    for entry in got.single:
        assert 0 <= entry.score.entailment <= 1
        assert entry.score.contradiction == 0
        assert entry.score.entailment + entry.score.neutral == pytest.approx(1)
    entailments = [entry.score.entailment for entry in got.single]
    assert entailments == sorted(entailments, reverse=True)
    assert [claim[risk.start : risk.end].strip() for risk in got.tokens] == [
        claim[risk.start : risk.end] for risk in got.tokens
    ]


@given(prose, prose)
def test_more_text_never_lowers_the_support_of_a_claim_about_one_window(premise, more):
    claim = "Tour Eiffel was completed in 1889"
    assert support(f"{premise} {more}", claim) >= support(premise, claim) - 1e-12


@given(st.lists(prose, min_size=2, max_size=4), prose)
def test_windows_together_support_at_least_what_each_does(premises, claim):
    got = score(premises, Claim(claim, together=(tuple(range(len(premises))),)))
    assert got.together[0].entailment >= got.single[0].score.entailment - 1e-12
    assert got.joint == got.together[0]


def test_a_number_that_is_not_there_weighs_more_than_a_word_that_is_not():
    right = support(TOWER, "The Eiffel Tower stands 330 metres tall.")
    assert right == 1
    wrong_number = support(TOWER, "The Eiffel Tower stands 450 metres tall.")
    wrong_word = support(TOWER, "The Eiffel Tower stands 330 metres broad.")
    assert wrong_number < wrong_word < right


def test_a_name_that_is_not_there_weighs_more_than_a_word_that_is_not():
    assert support(TOWER, "The tower in Berlin stands tall.") < support(
        TOWER, "The tower in winter stands tall."
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("studies", "study"),
        ("completed", "completes"),
        ("cities", "city"),
        ("towers", "tower's"),
        ("1,889", "1889"),
    ],
)
def test_forms_of_a_word_are_one_word(one, other):
    assert support(f"about {one}", f"about {other}") == 1


def test_risks_mark_the_words_that_the_best_window_lacks():
    claim = "The Eiffel Tower is 450 metres tall."
    got = score([TEA, TOWER], claim)
    assert [claim[risk.start : risk.end] for risk in got.tokens if risk.risk > 0.5] == ["450"]


def test_a_claim_without_content_is_not_supported():
    assert support(TOWER, "It was so.") == 0


def test_cited_windows_are_reported_beside_the_best():
    got = score([TEA, TOWER, "Cats sleep."], Claim("The tower is tall.", focus=(2,)), single_passes=1)
    assert [entry.window for entry in got.single] == [1, 2]


def test_a_title_counts_as_text_of_its_windows():
    scorer = LexicalScorer()
    window = Window(0, "It is 330 metres tall.", 0, 22, "Eiffel Tower")
    prepared = scorer.prepare([window], abort=Abort())
    (got,) = scorer.score(prepared, [Claim("The Eiffel Tower is 330 metres tall.")], abort=Abort())
    assert got.single[0].score.entailment == 1


def test_calls_that_were_called_off_end():
    scorer, abort = LexicalScorer(), Abort()
    windows = [Window(0, TEA, 0, len(TEA))]
    prepared = scorer.prepare(windows, abort=abort)
    abort.set()
    with pytest.raises(ScoringError, match="called off"):
        scorer.prepare(windows, abort=abort)
    with pytest.raises(ScoringError, match="called off"):
        scorer.score(prepared, [Claim("Tea.")], abort=abort)
    scorer.close()
