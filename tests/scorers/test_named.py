"""What `Verifier(scorer=…)` accepts, and a plain function as the scorer."""

from __future__ import annotations

import threading

import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.errors import ModelNotFoundError, ProviderError, UsageError
from streamverify.scorers.function import FunctionScorer
from streamverify.scorers.lexical import LexicalScorer
from streamverify.scorers.named import Share, scorer_from
from streamverify.scorers.protocol import Abort, Claim, Scorer, Window
from streamverify.testing import ScriptedScorer
from streamverify.types import CitationFinding, Label, Passage
from streamverify.verifier import Verifier

MILL = [
    Passage("p1", "The mill was built in 1804 and has two wheels."),
    Passage("p2", "Barley is ground there."),
]


def shares_words(claim: str, passages: list[str]) -> float:
    """The share of the claim's longer words that the passages hold."""
    words = [word.strip(".").lower() for word in claim.split() if len(word) > 3]
    return sum(any(word in text.lower() for text in passages) for word in words) / max(len(words), 1)


def test_a_scorer_stays_the_callers_and_what_makes_one_becomes_the_verifiers():
    mine = ScriptedScorer()
    assert (scorer_from(mine)[0](), scorer_from(mine)[1]) == (mine, False)
    for given_ in ("lexical", LexicalScorer, lambda: LexicalScorer(single_passes=3), shares_words):
        make, owned = scorer_from(given_)
        assert isinstance(make(), Scorer)
        assert owned


def test_words_are_taken_with_and_without_the_parameters_name():
    for verifier in (Verifier("lexical", policy="redact"), Verifier(scorer="lexical", policy="redact")):
        with verifier:
            report = verifier.check_sync("The mill was built in 1804. It flew to Mars in a rocket.", MILL)
        assert report.released == "The mill was built in 1804. [statement removed]"


@pytest.mark.parametrize(
    ("given_", "error", "told"),
    [
        ("lexcal", ModelNotFoundError, "or give cascade, lexical or a model's folder"),
        (7, UsageError, "no scorer"),
        (object(), UsageError, "no scorer"),
        (lambda claim: 0.5, UsageError, r"\(claim, passages\)"),
        (ScriptedScorer.score, UsageError, r"\(claim, passages\)"),
    ],
)
def test_what_is_no_scorer_is_refused_when_the_verifier_is_made(given_, error, told):
    with pytest.raises(error, match=told):
        Verifier(given_)


@pytest.mark.parametrize("made", [0.5, None, "lexical"])
def test_a_function_that_should_make_a_scorer_and_makes_none_is_told_what_one_is(made):
    with (
        pytest.raises(UsageError, match="a function without parameters makes a scorer"),
        Verifier(lambda *_: made) as verifier,
    ):
        verifier.check_sync("The mill is old.", ["The mill is old."])


def test_an_async_function_is_refused():
    async def score(claim, passages): ...

    with pytest.raises(UsageError, match="not async"):
        Verifier(score).open()


def test_a_function_is_asked_with_the_claim_and_whole_passages():
    asked = []

    def score(claim, passages):
        asked.append((claim, list(passages)))
        return shares_words(claim, passages)

    with Verifier(score) as verifier:
        report = verifier.check_sync("The mill was built in 1804. A rocket flew to Mars.", MILL)
    assert [s.label for s in report.sentences] == [Label.SUPPORTED, Label.UNSUPPORTED]
    assert ("The mill was built in 1804.", [p.text for p in MILL]) in asked
    assert report.sentences[0].score == pytest.approx(1.0, abs=1e-4)
    assert report.sentences[0].evidence[0].passage == "p1"


def test_citations_are_checked_with_a_function_too():
    with Verifier(shares_words) as verifier:
        report = verifier.check_sync("The mill was built in 1804 [1]. Barley is ground there [1].", MILL)
    right, wrong = (sentence.citations[0] for sentence in report.sentences)
    assert right.finding is CitationFinding.CORRECT
    assert (wrong.finding, wrong.better) == (CitationFinding.WRONG_PASSAGE, "p2")


def test_a_function_that_waits_is_asked_about_several_sentences_at_once():
    together = threading.Barrier(8)

    def waits(claim: str, passages: list[str]) -> float:
        if len(passages) == len(MILL):
            together.wait(60)  # passes only because eight calls do run at once
        return 0.9

    answer = " ".join(f"The mill number {n} was built in 18{n:02}." for n in range(8))
    with Verifier(waits, verdict_timeout=120) as verifier:
        report = verifier.check_sync(answer, MILL)
    assert [sentence.label for sentence in report.sentences] == [Label.SUPPORTED] * 8


def test_a_function_that_only_one_may_be_in_is_called_by_one_thread_at_a_time():
    busy = threading.Lock()

    def alone(claim: str, passages: list[str]) -> float:
        assert busy.acquire(blocking=False), "somebody else is in here"
        try:
            return 0.9
        finally:
            busy.release()

    answer = " ".join(f"The mill number {n} was built in 18{n:02}." for n in range(8))
    with Verifier(FunctionScorer(alone, concurrency=1)) as verifier:
        report = verifier.check_sync(answer, MILL)
    assert [sentence.label for sentence in report.sentences] == [Label.SUPPORTED] * 8


@pytest.mark.parametrize("result", [None, "0.9", True, object()])
def test_what_a_function_must_not_return_makes_the_sentence_unverified(result):
    with Verifier(lambda claim, passages: result) as verifier:
        [sentence] = verifier.check_sync("The mill was built in 1804.", MILL).sentences
    assert sentence.label is Label.UNVERIFIED
    assert "not a number from 0 to 1" in sentence.reason_text


@given(
    st.lists(st.sampled_from(["mill wheel", "barley", "rocket", "1804"]), min_size=1, max_size=6),
    st.sampled_from(["The mill.", "barley wheel", "1804 rocket", "nothing"]),
    st.sets(st.integers(0, 5)),
)
def test_the_label_is_decided_by_all_passages_and_every_cited_one_is_asked_alone(texts, claim, cited):
    focus = tuple(sorted(window for window in cited if window < len(texts)))
    scorer = FunctionScorer(shares_words)
    prepared = scorer.prepare([Window(i, t, 0, len(t)) for i, t in enumerate(texts)], abort=Abort())
    [score] = scorer.score(prepared, [Claim(claim, focus=focus)], abort=Abort())
    assert score.joint.entailment == shares_words(claim, texts)
    assert {entry.window for entry in score.single} >= set(focus)
    assert score.single
    for entry in score.single:
        assert entry.score.entailment == shares_words(claim, [texts[entry.window]])


@pytest.mark.model
def test_a_model_by_name_runs_where_its_share_says_or_says_that_it_cannot():
    plain = scorer_from("fast", share=Share(provider="cpu"))[0]()
    assert plain.fingerprint.provider == "CPUExecutionProvider"
    plain.close()
    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        with pytest.raises(ProviderError, match="'cuda' is not available"):
            scorer_from("fast", share=Share(provider="cuda"))[0]()
        with pytest.raises(ProviderError), Verifier(model="fast", share=Share(provider="cuda")):
            pass
    with pytest.raises(UsageError, match="cpu or cuda or auto, not 'gpu'"):
        Share(provider="gpu")
