"""The worked examples of retrieval, answers and the d2d profile, each a row; and the packs."""

from __future__ import annotations

import math

import pytest
from builders import BAD, GOOD, case, cases, verifier
from hypothesis import given, settings
from hypothesis import strategies as st

from streamverify import Passage, Verifier
from streamverify.errors import UsageError
from streamverify.evaluate import CATALOGUE, Case, NotComputed, Tools, evaluate
from streamverify.evaluate.checked import Checked, failing, stages
from streamverify.evaluate.gates import decide, gates_from
from streamverify.evaluate.metrics.answers import answer_correctness, context_recall, information_integration
from streamverify.evaluate.metrics.d2d import on_scale, profile_score
from streamverify.evaluate.metrics.retrieval import entropy
from streamverify.evaluate.pack import MetricStage, Pack
from streamverify.evaluate.packs import adjusted, pack_named

ABCDE = ("a", "b", "c", "d", "e")


def figure(name, one):
    return CATALOGUE[name](one, None, Tools()).figure


def ranked(*retrieved, relevant):
    return Case(id="q", retrieved=retrieved, relevant=relevant)


def run_of(given_, **options):
    with verifier() as one:
        return evaluate(given_, verifier=one, **options)


def test_three_relevant_of_five():
    one = ranked(*ABCDE, relevant=dict.fromkeys("ace", 1.0))
    assert figure("precision@5", one) == pytest.approx(0.6)
    assert figure("recall@5", one) == 1.0
    assert figure("f1@5", one) == pytest.approx(2 * 0.6 / 1.6)
    assert figure("hit_rate@1", one) == 1.0


def test_precision_divides_by_k():
    assert figure("precision@5", ranked("a", "b", relevant={"a": 1.0, "b": 1.0})) == pytest.approx(0.4)


def test_mean_reciprocal_rank_of_2_1_5():
    queries = [ranked(*ABCDE, relevant={"b": 1.0}), ranked(*ABCDE, relevant={"a": 1.0})]
    queries.append(ranked(*ABCDE, relevant={"e": 1.0}))
    assert math.fsum(figure("mrr", one) for one in queries) / 3 == pytest.approx(0.567, abs=5e-4)


def test_graded_gains():
    one = ranked(*ABCDE, relevant=dict(zip(ABCDE, (3.0, 2.0, 3.0, 0.0, 1.0), strict=True)))
    assert figure("ndcg@5", one) == pytest.approx(6.149 / 6.324, abs=1e-3)
    assert figure("ndcg@5", ranked("a", relevant={"a": 0.5})) == NotComputed(
        "graded relevance must be whole numbers"
    )
    assert figure("precision@1", ranked("a", relevant={"a": 0.5})) == 1.0


def test_gaps_are_told_and_a_real_failure_is_a_zero():
    names = ["mrr", "retrieval_score", "precision@5"]
    run = run_of([ranked(relevant={"a": 1.0}), Case(id="r", retrieved=("a",), relevant={})], metrics=names)
    assert [run.cases[0][name] for name in names] == [0.0, 0.0, 0.0]
    assert [run.cases[1][name] for name in names] == [NotComputed("no relevant document labelled")] * 3


def test_ranks_count_and_not_ids():
    """pytrec_eval would break equal scores by document id."""
    assert figure("mrr", ranked("a", "z", relevant={"a": 1.0})) == 1.0
    assert figure("mrr", ranked("z", "a", relevant={"z": 1.0})) == 1.0


def test_the_composite():
    one = ranked(*ABCDE, relevant={"b": 1.0, "x": 1.0})
    assert figure("retrieval_score", one) == pytest.approx(0.3 * 0.5 + 0.2 * 0.2 + 0.3 * 0.5 + 0.2 * 1)


@settings(max_examples=30)
@given(st.permutations(list("abcdefgh")), st.sets(st.sampled_from("abcdefghxyz"), min_size=1))
def test_measures_equal_a_slow_reading_of_their_definition(order, relevant):
    one = ranked(*order, relevant=dict.fromkeys(relevant, 1.0))
    hits = [document in relevant for document in order]
    for k in (1, 3, 5):
        assert figure(f"precision@{k}", one) == pytest.approx(sum(hits[:k]) / k)
        assert figure(f"recall@{k}", one) == pytest.approx(sum(hits[:k]) / len(relevant))
        assert figure(f"hit_rate@{k}", one) == float(any(hits[:k]))
    assert figure("mrr", one) == pytest.approx(1 / (hits.index(True) + 1) if any(hits) else 0.0)
    at = [sum(hits[: i + 1]) / (i + 1) for i, hit in enumerate(hits) if hit]
    assert figure("map", one) == pytest.approx(math.fsum(at) / len(relevant))
    assert figure("context_precision", one) == pytest.approx(math.fsum(at) / len(at) if at else 0.0)


def test_micro_pools_the_counts():
    given_ = [
        Case(id="1", retrieved=("a",), relevant={"a": 1.0}),
        Case(id="2", retrieved=("a",), relevant=dict.fromkeys("bcd", 1.0)),
    ]
    run = run_of(given_, metrics=["recall@5", "micro_recall@5"])
    assert run["recall@5"].figure == pytest.approx(0.5)
    assert run["micro_recall@5"].figure == pytest.approx(0.25)


def test_smaller_formulas():
    assert context_recall(3, 4) == 0.75  # photosynthesis
    assert isinstance(context_recall(0, 0), NotComputed)
    assert entropy((1.0, 1.0, 1.0, 1.0)) == pytest.approx(2.0)
    assert entropy((5.0,)) == 0.0
    assert entropy((1e308, 1e308)) == pytest.approx(1.0)
    assert isinstance(entropy((0.0,)), NotComputed)
    assert information_integration(3, 4, 2) == pytest.approx(0.6 * 0.75 + 0.4 * 2 / 3)
    assert isinstance(information_integration(0, 0, 0), NotComputed)
    assert answer_correctness(0.5, 1.0) == pytest.approx(0.7)
    assert answer_correctness(NotComputed("no judge"), 1.0) == NotComputed("no judge")


def test_term_overlap_reads_titles_and_tags():
    passages = (Passage("a", "x", "Holiday rules", {"tags": ["leave"]}), Passage("b", "y"))
    one = Case(id="1", question="holiday leave days", passages=passages)
    assert figure("retrieval_term_overlap@5", one) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("answer", "expected", "figure_"),
    [
        ("I cannot answer that from the documents.", "refuse", 1.0),
        ("The passages do not say when.", "refuse", 1.0),
        ("That lies after my knowledge cutoff.", "answer", 0.0),
        (GOOD, "answer", 1.0),
        (GOOD, "refuse", 0.0),
    ],
)
def test_rejections(answer, expected, figure_):
    run = run_of([case(0, answer, expected=expected)], metrics=["rejection_calibration"])
    assert run.cases[0]["rejection_calibration"] == figure_


def test_latencies_are_those_recorded():
    run = run_of(
        [case(0, GOOD, latency_ms={"retrieval": 12.0})],
        metrics=["latency_retrieval_ms", "latency_generation_ms"],
    )
    assert run.cases[0]["latency_retrieval_ms"] == 12.0
    assert isinstance(run.cases[0]["latency_generation_ms"], NotComputed)


def test_d2d_case_study():
    """Two of three chunks used, every fact covered: precision 3.7, faithfulness and recall 5."""
    warm, dry = "The summer is warm in Paris.", "The desert stays dry until autumn."
    passages = (Passage("p1", warm), Passage("p2", dry), Passage("p3", "Ships carry grain."))
    names = ["d2d_precision", "d2d_faithfulness", "d2d_recall"]
    with Verifier("lexical") as one:
        [result] = evaluate([case(0, warm, dry, passages=passages)], metrics=names, verifier=one).cases
    assert (result["d2d_faithfulness"], result["d2d_recall"]) == (5.0, 5.0)
    assert result["d2d_precision"] == on_scale(2 / 3) == pytest.approx(3.667, abs=1e-3)
    parts = {"faithfulness": 5.0, "precision": on_scale(2 / 3), "recall": 5.0, "correctness": 4.0}
    assert profile_score(parts) == pytest.approx(0.4 * 5 + 0.2 * 3.6667 + 0.2 * 5 + 0.2 * 4, abs=1e-3)
    assert isinstance(profile_score({**parts, "correctness": NotComputed("no judge was given")}), NotComputed)


def test_d2d_without_passages_is_full_marks_with_a_warning():
    names = ["d2d_precision", "d2d_faithfulness", "d2d_recall"]
    [result] = run_of([case(0, GOOD, passages=())], metrics=names).cases
    assert result["d2d_precision"] == NotComputed("there is no passage")
    assert (result["d2d_faithfulness"], result["d2d_recall"]) == (5.0, 5.0)
    assert result.figures["d2d_faithfulness"].warning


def stages_of(run):
    return [{stage.name: stage.status for stage in one.stages} for one in run.cases]


def test_the_rag_pack_has_eight_stages_and_what_needs_an_embedder_is_not_computed():
    run = run_of([case(0, GOOD, question="How old?", expected="answer")], pack="rag")
    [found] = stages_of(run)
    assert len(found) == 8
    assert found["faithfulness"] == found["policy_compliance"] == found["rejection_calibration"] == "passed"
    assert found["context_relevance"] == found["retrieval"] == "not computed"
    assert isinstance(run.cases[0]["pack_passed"], NotComputed)
    assert run.cases[0].passed is None
    assert all(stage.duration_ms is not None for stage in run.cases[0].stages)
    assert "duration" not in run.text()


@pytest.mark.parametrize(
    ("answer", "expected", "passed", "score"),
    [
        ("The passages do not say where the moon is.", "refuse", True, 1.0),
        ("The passages do not say where the moon is.", "answer", False, None),
        (f"{GOOD} {BAD}", "refuse", False, None),
    ],
)
def test_a_case_that_was_refused_as_it_should_be_passes_the_rag_pack(answer, expected, passed, score):
    """Without a claim, a citation and an embedder: only that it should be refused is left to judge."""
    run = run_of([case(0, answer, question="Where is the moon?", expected=expected)], pack="rag")
    assert (run.cases[0].passed or False) is passed
    if passed:
        [found] = stages_of(run)
        assert (found["faithfulness"], found["rejection_calibration"]) == ("not computed", "passed")
        assert (run["pack_passed"].figure, run["pack_score"].figure) == (1.0, score)
        assert run.cases[0]["stage.retrieval"] == NotComputed("the case was refused, as it should be")
        assert "stage faithfulness: 1 left out" in stages(run)
        assert not any("not computed" in line for line in stages(run))
    else:
        assert isinstance(run.cases[0]["pack_score"], NotComputed)


def test_a_stage_that_was_left_out_is_no_reason_for_a_failure():
    run = run_of(
        [case(0, "I cannot answer that.", question="Where is the moon?", expected="answer")], pack="rag"
    )
    gates = decide(run, gates_from({"gates": {"pack_passed": {"min": 1}}}))
    [why] = failing(Checked(run, gates)).values()
    assert any(reason.startswith("stage rejection_calibration failed") for reason in why)
    assert not any("faithfulness" in reason for reason in why)


def test_a_gate_that_is_not_passed_skips_the_rest_and_skipped_is_not_passed():
    secret = "The key is sk-abcdefghijklmnopqrstuvwxyz."
    run = run_of([case(0, GOOD, secret, expected="answer")], pack="rag")
    [found] = stages_of(run)
    assert (found["policy_compliance"], found["rejection_calibration"]) == ("failed", "skipped")
    assert run.cases[0]["pack_passed"] == 0.0
    assert run.cases[0]["stage.rejection_calibration"] == NotComputed(
        "skipped: gate policy_compliance was not passed"
    )


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ('It says "The mill was built in 1712." [mill]', "passed"),
        ("The mill was built in 1712 [mill].", "failed"),
    ],
)
def test_quote_only_sources_may_only_be_quoted(answer, status):
    passages = (Passage("mill", "The mill was built in 1712.", metadata={"quote_only": True}),)
    [found] = stages_of(run_of([case(0, answer, passages=passages)], pack="rag"))
    assert found["source_policy"] == status


def test_weights_and_thresholds_can_be_set():
    pack = Pack("mine", (MetricStage(name="a", parts={"faithfulness": 1.0}, threshold=0.9),))
    assert [one["pack_passed"] for one in run_of([case(0, GOOD, BAD)], pack=pack).cases] == [0.0]
    lax = adjusted(pack, {}, {"a": 0.5})
    assert [one["pack_passed"] for one in run_of([case(0, GOOD, BAD)], pack=lax).cases] == [1.0]
    weightless = adjusted(pack, {"a": 0.0}, {})
    assert isinstance(run_of([case(0, GOOD)], pack=weightless).cases[0]["pack_score"], NotComputed)
    assert lax.digest != pack.digest != weightless.digest
    with pytest.raises(UsageError, match="no stage 'b'"):
        adjusted(pack, {"b": 1.0}, {})
    with pytest.raises(UsageError, match="0 or more"):
        adjusted(pack, {"a": -1.0}, {})
    with pytest.raises(UsageError, match="did you mean 'legal'"):
        pack_named("legall")
    with pytest.raises(UsageError, match="needs stages"):
        Pack("none", ())


def test_a_run_with_a_pack_is_read_as_it_was_written(tmp_path):
    from streamverify.evaluate import Run

    run = run_of(cases(4), pack="legal", out=tmp_path / "j.jsonl")
    run.write(tmp_path / "r.json")
    assert Run.read(tmp_path / "r.json").text() == run.text() == Run.read(tmp_path / "j.jsonl").text()


@pytest.mark.parametrize("gain", [7.0, 1e4, 2147483653.0, 1e12, 1e300])
def test_a_gain_is_relevant_whatever_its_size(gain):
    one = ranked("t", "u", relevant={"t": gain})
    assert (figure("precision@1", one), figure("recall@5", one), figure("mrr", one)) == (1.0, 1.0, 1.0)
    graded = figure("ndcg@5", one)
    assert graded == (1.0 if gain <= 1000 else NotComputed("graded relevance must not be above 1,000"))


def test_ids_are_told_apart_behind_a_null():
    assert figure("recall@5", ranked("a\0b", relevant={"a\0c": 1.0})) == 0.0
    assert figure("recall@5", ranked("a\0b", "a\0c", relevant={"a\0c": 1.0})) == 1.0
