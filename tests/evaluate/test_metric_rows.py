"""Rows of the metrics' definitions that have numbers of their own, computed from cases and not by formula."""

from __future__ import annotations

import math

import pytest
from builders import BAD, GOOD, PASSAGES, WRONG, case, verifier
from hypothesis import given, settings
from hypothesis import strategies as st
from judges import judging, ruled

from streamverify import Passage, Verifier
from streamverify.errors import UsageError
from streamverify.evaluate import CATALOGUE, Case, NotComputed, Tools, evaluate, plan
from streamverify.evaluate.judge.questions import Grade
from streamverify.evaluate.metrics.by_model import answer_correctness_weighted
from streamverify.evaluate.metrics.d2d import on_scale
from streamverify.evaluate.metrics.grounding import cosine
from streamverify.testing import ScriptedScorer
from streamverify.types import Label

WARM, DRY, GRAIN = "The summer is warm in Paris.", "The desert stays dry until autumn.", "Ships carry grain."


class Letters:
    """Counts letters: like texts have like vectors."""

    name = "letters 1"

    def __call__(self, texts):
        return [[float(text.lower().count(one)) for one in "abcdefghijklmnopqrstuvwxyz"] for text in texts]


def alike(one, two):
    return cosine(*Letters()([one, two]))


def measured(one, *names, scorer=None, **options):
    with Verifier(scorer) if scorer is not None else verifier() as made:
        [result] = evaluate([one], metrics=names, verifier=made, **options).cases
    return result


# Grounding.


def test_faithfulness_of_one_answer_tells_both_intervals_of_its_share():
    answer = " ".join([GOOD] * 45 + [BAD] * 5)
    told = measured(case(0, answer), "faithfulness").details("faithfulness")["intervals"]
    assert told["wilson"] == pytest.approx([0.786, 0.957], abs=5e-4)
    assert told["normal"] == pytest.approx([0.817, 0.983], abs=5e-4)
    told = measured(case(0, GOOD), "faithfulness").details("faithfulness")["intervals"]
    assert told["normal"].startswith("the normal approximation has no width")


def test_a_statement_that_takes_two_passages_is_read_with_each_pair_of_them():
    def both(claim, passages):
        text = " ".join(passages) if not isinstance(passages, str) else passages
        return 0.95 if "1712" in text and "wheels" in text else 0.3

    from streamverify.scorers.function import FunctionScorer

    held = (Passage("a", "It was built in 1712."), Passage("b", "It has two wheels."), Passage("c", GRAIN))
    one = case(0, "The mill of 1712 has two wheels.", passages=held)
    found = measured(one, "multi_doc_grounding_by_pairs", "grounding_score", scorer=FunctionScorer(both))
    assert found["multi_doc_grounding_by_pairs"] >= found["grounding_score"]
    many = case(0, GOOD, passages=[Passage(str(n), f"Text {n}.") for n in range(11)])
    assert measured(many, "multi_doc_grounding_by_pairs")["multi_doc_grounding_by_pairs"] == NotComputed(
        "more than 10 passages"
    )


def test_pairs_change_nothing_where_one_passage_carries_every_statement():
    names = ("multi_doc_grounding_by_pairs", "multi_doc_grounding")
    found = measured(case(0, GOOD), *names)
    assert found[names[0]] == found[names[1]]


def test_contradicted_contexts_of_two_passages():
    script = ScriptedScorer({"never": Label.CONTRADICTED})
    found = measured(case(0, WRONG, passages=PASSAGES[:1]), "contradicted_contexts", scorer=script)
    assert found["contradicted_contexts"] == 1.0
    assert measured(case(0, GOOD), "contradicted_contexts")["contradicted_contexts"] == 0.0
    empty = measured(case(0, GOOD, passages=()), "contradicted_contexts")["contradicted_contexts"]
    assert isinstance(empty, NotComputed)


def test_labelled_conflicts_that_were_found():
    held = (Passage("a", "The mill was built in 1712."), Passage("b", "The mill was built in 1999."))
    one = case(0, "The mill was built in 1712.", passages=held, conflicts=(("a", "b"),))
    found = measured(one, "source_conflict_recall", "source_conflicts", scorer="lexical")
    assert found["source_conflict_recall"] == min(found["source_conflicts"], 1.0)


# Citations.


def test_citation_figures_of_one_answer():
    """One right, one that means no passage."""
    one = case(0, "The mill was built in 1712 [1].", "The mill was built in 1712 [9].", passages=PASSAGES[:1])
    names = ("citation_existence", "citation_fabricated", "citation_accuracy", "citation_precision")
    more = ("citation_completeness", "citation_coverage", "citation_missing", "citation_quality")
    found = measured(one, *names, *more, "grounding_score")
    assert [found[name] for name in names] == [0.5, 1.0, 0.5, 0.5]
    assert [found[name] for name in more[:3]] == [0.5, 1.0, 0.0]
    assert found["citation_quality"] == pytest.approx(0.4 * 0.5 + 0.3 * 0.5 + 0.3 * found["grounding_score"])


# Retrieval.


def ranked(*retrieved, **more):
    return Case(id="q", retrieved=retrieved, **more)


def figure(name, one):
    return CATALOGUE[name](one, None, Tools()).figure


def test_the_composite_passes_from_one_half():
    lone = ranked("a", "b", "c", "d", "e", relevant={"b": 1.0, "x": 1.0})
    with verifier() as made:
        run = evaluate([lone], pack="rag", verifier=made)
    assert run.cases[0]["retrieval_score"] == pytest.approx(0.54)
    assert {s.name: s.status for s in run.cases[0].stages}["retrieval"] == "passed"


def test_micro_f1_pools_the_counts():
    queries = [ranked("a", relevant={"a": 1.0}), ranked("a", relevant=dict.fromkeys("bcd", 1.0))]
    parts = [CATALOGUE["micro_f1@5"](one, None, Tools()).parts for one in queries]
    assert parts == [(2, 6), (0, 8)]
    assert figure("micro_f1@5", queries[0]) == figure("f1@5", queries[0])


def test_term_overlap_goes_by_rank_and_not_by_the_order_of_the_texts():
    held = (Passage("far", "x", "Holiday leave days"), Passage("near", "y", "Travel"))
    one = ranked("near", "far", passages=held, question="holiday leave days")
    assert figure("retrieval_term_overlap@1", one) == 0.0
    assert figure("retrieval_term_overlap@3", one) == 1.0
    gone = ranked("near", "gone", passages=held, question="holiday leave days")
    assert figure("retrieval_term_overlap@3", gone) == NotComputed("the texts of the passages are not known")


def test_context_relevance_is_the_mean_cosine_and_0_where_nothing_was_retrieved():
    held = [Passage("a", WARM), Passage("b", DRY)]
    one = case(0, GOOD, question=WARM, passages=held)
    found = measured(one, "context_relevance", embedder=Letters())
    assert found["context_relevance"] == pytest.approx((1 + alike(WARM, DRY)) / 2)
    none = measured(case(0, GOOD, question=WARM, passages=()), "context_relevance", embedder=Letters())
    assert none["context_relevance"] == 0.0
    assert none.figures["context_relevance"].warning == "nothing was retrieved"


def test_photosynthesis_recalls_three_statements_of_four():
    reference = "Plants take in light. They take in water. They make sugar. They sing at night."
    one = case(0, GOOD, reference=reference)
    script = ScriptedScorer({"sing": Label.UNSUPPORTED})
    assert measured(one, "context_recall", scorer=script)["context_recall"] == 0.75


def test_relevant_sentences_by_the_scorer_are_those_that_support_the_reference():
    one = case(0, GOOD, reference=WARM, passages=[Passage("a", f"{WARM} {GRAIN}"), Passage("b", DRY)])
    found = measured(one, "context_precision_by_sentence", scorer="lexical")
    assert found["context_precision_by_sentence"] == pytest.approx(1 / 3)
    details = found.details("context_precision_by_sentence")
    assert (details["by"], details["relevant"]) == ("the scorer", [1])


def test_relevant_sentences_by_the_judge_go_before_the_scorer():
    one = case(0, GOOD, question="When?", reference=WARM)
    with judging() as (judge, server):
        found = measured(one, "context_precision_by_sentence", judge=judge)
        assert found["context_precision_by_sentence"] == pytest.approx(1 / 3)
        assert found.details("context_precision_by_sentence")["by"] == judge.name
        assert plan([one], metrics=["context_precision_by_sentence"], judge=judge).judge_calls == 1
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({}, "neither a judge with a question nor a reference was given"),
        ({"passages": ()}, "there is no passage"),
        ({"passages": [Passage("a", f"{GRAIN} " * 201)]}, "the passages have more than 200 sentences"),
        ({"reference": "Thank you for asking!"}, "no claim in the reference"),
    ],
)
def test_relevant_sentences_are_not_made_up(more, reason):
    found = measured(case(0, GOOD, **more), "context_precision_by_sentence")
    assert found["context_precision_by_sentence"] == NotComputed(reason)


# Answers.


def test_relevance_by_questions_that_a_judge_writes_for_the_answer():
    name = "answer_relevance_by_questions"
    with judging() as (judge, server):
        found = measured(case(0, GOOD, question=WARM), name, judge=judge, embedder=Letters())
        assert found[name] == pytest.approx(alike(WARM, GOOD))
        assert found.figures[name].warning == ""
        assert found.details(name)["compared"] == [GOOD] * 3
        assert len(server.requests) == 1
        refused = case(0, "I cannot answer that.", question=WARM)
        assert measured(refused, name, judge=judge, embedder=Letters())[name] == 0.0
        assert measured(refused, name, judge=judge)[name] == NotComputed("no embedder was given")


def test_relevance_without_a_judge_says_what_stood_in_for_its_questions():
    name = "answer_relevance_by_questions"
    found = measured(case(0, GOOD, BAD, question=WARM), name, embedder=Letters())
    assert found[name] == pytest.approx((alike(WARM, GOOD) + alike(WARM, BAD)) / 2)
    assert found.figures[name].warning == "no judge: statements of the answer in place of questions"
    refused = measured(case(0, "I cannot answer that.", question=WARM), name, embedder=Letters())
    assert refused[name] == 0.0
    nothing = measured(case(0, "Thank you!", question=WARM), name, embedder=Letters())
    assert nothing[name] == NotComputed("no claim in the answer")


def test_the_weights_of_correctness_can_be_set_and_change_its_version():
    one = case(0, GOOD, BAD, reference=GOOD)
    mine = answer_correctness_weighted(1, 3)
    with verifier() as made:
        [found] = evaluate([one], metrics=[mine], verifier=made, embedder=Letters()).cases
    likeness = alike(one.answer, GOOD)
    assert found["answer_correctness"] == pytest.approx((0.5 + 3 * likeness) / 4)
    assert mine.version != CATALOGUE["answer_correctness"].version == "1"
    for wrong in ((0, 0), (-1, 2)):
        with pytest.raises(UsageError, match="0 or more"):
            answer_correctness_weighted(*wrong)
    gap = measured(case(0, "Thank you!", reference=GOOD), "answer_correctness", embedder=Letters())
    assert gap["answer_correctness"] == NotComputed("no claim in the answer")


def test_evidence_quality_weighs_its_four_parts():
    about = {"recency": 0.5, "authority": 0.25}
    held = (Passage("mill", "The mill was built in 1712.", metadata=about),)
    found = measured(case(0, GOOD, passages=held), "evidence_quality", "grounding_score")
    expected = 0.4 * found["grounding_score"] + 0.3 * 0 + 0.2 * 0.5 + 0.1 * 0.25
    assert found["evidence_quality"] == pytest.approx(expected)
    bare = measured(case(0, GOOD), "evidence_quality")["evidence_quality"]
    assert bare == NotComputed("a passage's metadata has no recency between 0 and 1")


def test_integration_counts_facts_that_come_from_several_passages():
    held = (Passage("a", WARM), Passage("b", DRY))
    one = case(0, f"{WARM} {DRY}", passages=held, reference=f"{WARM} {DRY}")
    found = measured(one, "information_integration", scorer="lexical")
    assert found["information_integration"] == pytest.approx(1.0)
    lone = case(0, f"{WARM} {DRY}", passages=[Passage("a", f"{WARM} {DRY}")], reference=f"{WARM} {DRY}")
    found = measured(lone, "information_integration", scorer="lexical")
    assert found["information_integration"] == pytest.approx(0.6)


def test_latencies_of_checking_and_of_the_whole_are_those_that_were_measured():
    names = ("latency_verification_ms", "latency_total_ms", "latency_generation_ms")
    found = measured(case(0, GOOD, latency_ms={"verification": 7.0, "total": 90.0}), *names)
    assert (found[names[0]], found[names[1]]) == (7.0, 90.0)
    assert found[names[2]] == NotComputed("the case records no latency of generation")


# The d2d profile.


def study(**more):
    """Two of three chunks used, every fact covered: precision 3.7, faithfulness and recall 5."""
    held = (Passage("p1", WARM), Passage("p2", DRY), Passage("p3", GRAIN))
    return case(0, WARM, DRY, passages=held, question="How is the weather?", **more)


D2D = ("d2d_faithfulness", "d2d_precision", "d2d_recall", "d2d_correctness")


def test_the_score_of_the_case_study_with_a_judge():
    with judging() as (judge, _):
        one = study(reference=f"{WARM} {DRY}")
        found = measured(one, "d2d", *D2D, "relevance_1_5", scorer="lexical", judge=judge)
    assert [found[name] for name in D2D] == [5.0, pytest.approx(3.7, abs=0.04), 5.0, 4.0]
    assert found["relevance_1_5"] == 4.0
    assert found["d2d"] == pytest.approx(0.4 * 5 + 0.2 * on_scale(2 / 3) + 0.2 * 5 + 0.2 * 4)
    assert found.figures["d2d"].warning == ""


def test_without_a_judge_the_scorer_grades_by_the_reference_and_says_so():
    found = measured(study(reference=f"{WARM} {GRAIN}"), "d2d", *D2D, scorer="lexical")
    # One of two statements is in the reference, and one of its two in the answer.
    assert found["d2d_correctness"] == pytest.approx(3.0)
    assert found["d2d"] == pytest.approx(0.4 * 5 + 0.2 * on_scale(2 / 3) + 0.2 * 5 + 0.2 * 3)
    said = "by the scorer in place of a judge: no judge was given"
    assert found.figures["d2d_correctness"].warning == said
    assert said in found.figures["d2d"].warning


def test_the_score_is_not_computed_where_a_part_that_weighs_is_not():
    assert measured(study(), "d2d", scorer="lexical")["d2d"] == NotComputed(
        "correctness: the case has no reference answer"
    )
    blind = case(0, GOOD, passages=(), reference=GOOD)
    found = measured(blind, "d2d")
    assert found["d2d"] == NotComputed("precision: there is no passage")
    assert "full marks without anything having been checked" in found.figures["d2d"].warning


def test_the_pack_is_the_score_on_the_scale_from_0_to_1():
    with Verifier("lexical") as made:
        run = evaluate([study(reference=f"{WARM} {GRAIN}")], pack="d2d", metrics=["d2d"], verifier=made)
    [found] = run.cases
    assert found["d2d"] == pytest.approx(1 + 4 * found["pack_score"])
    assert {stage.name: stage.status for stage in found.stages} == {
        "faithfulness": "passed",
        "precision": "failed",
        "recall": "passed",
        "correctness": "failed",
    }
    assert found["relevance_1_5"] == NotComputed("no judge was given")
    assert math.isclose(found["stage.precision"], 2 / 3)


# All of them.


class Ruling:
    """Answers any question of a judge by rule, the extremes included."""

    name = "rule 1"

    def __init__(self, high):
        self.high = high

    def ask(self, question, data):
        found = ruled(question.instructions, data)
        if "score" in found:
            low, high = (1, 5) if question.reply is Grade else (0.0, 1.0)
            found["score"] = high if self.high else low
        return question.reply.model_validate(found)


class Signs:
    """Vectors of any length, nothing and all pointing away included."""

    name = "signs 1"

    def __call__(self, texts):
        return [[float(len(text) % 3 - 1), float(text.count("m") - 1)] for text in texts]


words = st.sampled_from([GOOD, BAD, WRONG, "Hello!", "It cost [9].", "I cannot answer that.", "", " "])
texts = st.lists(words, max_size=3).map(" ".join)
ids = st.lists(st.sampled_from(["mill", "river", "gone"]), max_size=4)
unknown = st.fixed_dictionaries(
    {"answer": st.none() | texts},
    optional={
        "question": texts,
        "reference": texts,
        "passages": st.sampled_from([None, (), PASSAGES]),
        "retrieved": ids.map(tuple),
        "relevant": st.dictionaries(st.sampled_from(["mill", "gone"]), st.sampled_from([0.0, 0.5, 1.0, 3.0])),
        "expected": st.sampled_from(["answer", "refuse"]),
        "conflicts": st.sampled_from([(), (("mill", "river"),)]),
        "claims": st.sampled_from([(), ((GOOD, "mill"),)]),
        "latency_ms": st.dictionaries(st.sampled_from(["total", "retrieval"]), st.floats(0, 1e9)),
        "metadata": st.sampled_from([{}, {"samples": [GOOD, BAD]}, {"samples": [" ", "Hello!"]}]),
    },
)


@pytest.mark.slow
@settings(max_examples=10)
@given(unknown, st.booleans(), st.booleans())
def test_whatever_is_known_of_a_case_no_figure_is_made_up(known, high, asked):
    one = case(0, **{"passages": None, **known})
    judge = Ruling(high) if asked else None
    found = measured(one, *CATALOGUE, judge=judge, embedder=Signs() if high else None)
    assert found.error == ""
    for name, told in found.figures.items():
        low, most = CATALOGUE[name].range
        if isinstance(told.figure, NotComputed):
            assert told.figure.reason
        else:
            assert low <= told.figure <= (math.inf if most is None else most)
