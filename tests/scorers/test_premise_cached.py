from __future__ import annotations

import hashlib
import json
import math
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from streamverify.errors import ModelContractError, ScoringError, UsageError
from streamverify.passages import cut
from streamverify.scorers.model_files import embedded
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort, Claim, Scorer, Window
from streamverify.scorers.windows.keys_values import KeysValues, join
from streamverify.types import Passage

pytestmark = pytest.mark.model

TOWER = "The Eiffel Tower was completed in 1889 and stands 330 metres tall."
TEA = "Green tea contains antioxidants called catechins. It also contains caffeine."
CLAIM = "The tower was finished in 1889."


@pytest.fixture(scope="module")
def scorer():
    scorer = PremiseCachedScorer(threads=2, joint_windows=3)
    yield scorer
    scorer.close()


def windows(*texts, title=""):
    return [Window(number, text, 0, len(text), title) for number, text in enumerate(texts)]


def prepare(scorer, *texts, title=""):
    return scorer.prepare(windows(*texts, title=title), abort=Abort())


def score(scorer, prepared, *claims):
    return scorer.score(
        prepared, [claim if isinstance(claim, Claim) else Claim(claim) for claim in claims], abort=Abort()
    )


def centred(score):
    """Logits, as far as probabilities tell them: up to a common shift."""
    logits = np.log([score.entailment, score.neutral, score.contradiction])
    return logits - logits.mean()


def test_it_is_a_scorer_and_says_what_it_is(scorer):
    assert isinstance(scorer, Scorer)
    fingerprint = scorer.fingerprint
    assert fingerprint.model == "sv-minilm-premise-cache 8"
    assert fingerprint.precision == "int8"
    assert fingerprint.provider == "CPUExecutionProvider"
    assert len(fingerprint.revision) == 12


def test_scores_are_those_of_the_machine_that_made_the_model(scorer):
    reference = json.loads((embedded() / "reference.json").read_text())
    prepared = prepare(scorer, *reference["windows"])
    everything = tuple(range(len(reference["windows"])))
    for expected in reference["claims"]:
        claim = Claim(expected["claim"], focus=everything, together=(everything,))
        (got,) = score(scorer, prepared, claim)
        pairs = [(entry.score, expected["single"][entry.window]) for entry in got.single]
        assert len(pairs) == len(everything)
        for found, logits in [*pairs, (got.together[0], expected["joint"])]:
            assert np.abs(centred(found) - (np.array(logits) - np.mean(logits))).max() < 0.05


def test_the_best_window_comes_first_and_probabilities_add_up(scorer):
    prepared = prepare(scorer, TEA, TOWER)
    (got,) = score(scorer, prepared, Claim(CLAIM, focus=(0, 1), together=((0, 1),)))
    assert [entry.window for entry in got.single] == [1, 0]
    for nli in (*(entry.score for entry in got.single), *got.together):
        assert math.isclose(nli.entailment + nli.neutral + nli.contradiction, 1, abs_tol=1e-3)


def test_a_claim_scores_the_same_to_the_last_bit_whatever_else_goes_on(scorer):
    claims = [CLAIM, "Tea contains caffeine.", "The tower is 450 metres tall.", "Catechins are antioxidants."]
    prepared = prepare(scorer, TEA, TOWER)
    alone = [score(scorer, prepared, claim)[0] for claim in claims]
    with ThreadPoolExecutor(4) as pool:
        rounds = list(pool.map(lambda _: score(scorer, prepare(scorer, TEA, TOWER), *claims), range(8)))
    assert all(got == alone for got in rounds)


def test_what_was_evicted_scores_the_same_when_it_is_encoded_again():
    tiny = PremiseCachedScorer(threads=1, cache_bytes=0)
    roomy = PremiseCachedScorer(threads=1)
    try:
        assert score(tiny, prepare(tiny, TEA, TOWER), CLAIM) == score(
            roomy, prepare(roomy, TEA, TOWER), CLAIM
        )
        assert tiny.statistics().entries == 0
    finally:
        tiny.close()
        roomy.close()


def test_a_window_is_encoded_once_and_found_again():
    scorer = PremiseCachedScorer(threads=2)
    first = prepare(scorer, TEA, TOWER, TEA)
    assert first.from_cache == 0
    assert scorer.statistics()[:2] == (0, 2)
    assert prepare(scorer, TOWER, "Something new.").from_cache == 1
    score(scorer, first, CLAIM, "Tea contains caffeine.")
    assert scorer.statistics().misses == 3
    scorer.close()


def test_one_claim_more_is_welcome_than_passes_run_at_once():
    """While it is read and weighed, the passes of the others keep the cores busy."""
    scorer = PremiseCachedScorer(threads=2)
    assert scorer.traits.concurrency == 3
    scorer.close()


def test_encoding_ahead_takes_half_of_the_cache_and_the_rest_is_encoded_when_a_claim_asks():
    texts = [f"Passage number {number} is about tea." for number in range(10)]
    probe = PremiseCachedScorer(threads=1)
    prepare(probe, texts[0])
    one = probe.statistics().bytes
    probe.close()
    scorer = PremiseCachedScorer(threads=1, cache_bytes=one * 6)
    prepared = prepare(scorer, *texts)
    assert scorer.statistics().misses == 3
    (got,) = score(scorer, prepared, Claim("Passage number 9 is about tea.", focus=(9,)))
    assert 9 in [entry.window for entry in got.single]
    assert scorer.statistics().bytes <= one * 6
    scorer.close()


def test_a_claim_reads_more_windows_than_the_graph_has_places_for(scorer):
    """Joined beforehand or one in each place: the same numbers."""
    graph, abort = scorer._graph, Abort()
    encoded = [
        graph.encode(scorer._encode(text).ids, abort=abort) for text in (TEA, TOWER, CLAIM, TEA, TOWER)
    ]
    claim = scorer._encode("Tea contains caffeine.").ids
    assert len(encoded) > graph.places
    apart = graph.read(claim, encoded, abort=abort)
    joined = graph.read(claim, [KeysValues(join([one.layers for one in encoded]))], abort=abort)
    assert all(np.array_equal(one, other) for one, other in zip(apart, joined, strict=True))
    turned = graph.read(claim, encoded[::-1][:2], abort=abort)
    assert not np.array_equal(turned[0], apart[0])


def test_focus_adds_windows_and_the_count_of_passes_is_right():
    scorer = PremiseCachedScorer(threads=1, single_passes=2, joint_windows=2, early_exit=False)
    prepared = prepare(scorer, TOWER, f"{CLAIM} Tea is a drink.", "Paris is in France.", "Cats sleep.")
    (plain,) = score(scorer, prepared, CLAIM)
    assert len(plain.single) == 2
    assert plain.passes == 3
    assert plain.tokens_scored == 7
    (asked,) = score(scorer, prepared, Claim(CLAIM, focus=(3,), together=((3, 0), (0,), (0, 3))))
    assert {entry.window for entry in asked.single} == {*(entry.window for entry in plain.single), 3}
    assert len(asked.together) == 3
    assert asked.together[0] == asked.together[2]
    assert asked.together[1] == next(entry.score for entry in asked.single if entry.window == 0)
    assert asked.passes == 5
    scorer.close()


def test_one_window_has_no_joint_pass(scorer):
    (got,) = score(scorer, prepare(scorer, TOWER), CLAIM)
    assert got.joint is None
    assert got.passes == 1


def test_token_risks_point_at_the_claims_words(scorer):
    (got,) = score(scorer, prepare(scorer, TOWER), "The Eiffel Tower is 450 metres tall.")
    text = "The Eiffel Tower is 450 metres tall."
    assert [text[risk.start : risk.end] for risk in got.tokens][:3] == ["The", "E", "iff"]
    worst = max(got.tokens, key=lambda risk: risk.risk)
    assert text[worst.start : worst.end] == "450"
    assert all(0 <= risk.risk <= 1 for risk in got.tokens)


def test_a_title_is_read_with_the_window_and_never_makes_it_too_long(scorer):
    text = "It was completed in 1889."
    (bare,) = score(scorer, prepare(scorer, text), CLAIM)
    (titled,) = score(scorer, prepare(scorer, text, title="The Eiffel Tower"), CLAIM)
    assert titled.single[0].score.entailment > bare.single[0].score.entailment
    traits = scorer.traits
    passage = Passage("p", "The tower was completed in 1889 by many workers. " * 40, "A title " * 30)
    cuts = cut([passage], scorer.token_spans, traits.window_tokens, title_tokens=traits.title_tokens)
    prepared = scorer.prepare(cuts, abort=Abort())
    lengths = {len(key.ids) for key in prepared.keys}
    assert max(lengths) <= 128
    assert [tuple(scorer._encode(window.text).ids) for window in cuts] != [key.ids for key in prepared.keys]
    full = Window(0, "word " * 126, 0, 630, "Title")
    assert len(scorer.prepare([full], abort=Abort()).keys[0].ids) == 128


def test_half_precision_halves_the_cache_says_so_and_changes_little(scorer):
    half = PremiseCachedScorer(threads=1, cache_precision="float16")
    (exact,) = score(scorer, prepare(scorer, TOWER), CLAIM)
    (near,) = score(half, prepare(half, TOWER), CLAIM)
    assert half.fingerprint.precision == "int8, float16 cache"
    assert half.statistics().bytes == 2 * 6 * 12 * 32 * 2 * 17
    assert abs(near.single[0].score.entailment - exact.single[0].score.entailment) < 0.1
    half.close()


def test_a_scorer_that_runs_every_pass_says_so():
    every = PremiseCachedScorer(threads=1, early_exit=False)
    assert every.fingerprint.precision == "int8, every pass"
    every.close()


def test_what_another_stream_brings_again_stays_when_one_stream_passes_by():
    scorer = PremiseCachedScorer(threads=1, cache_bytes=3_000_000)
    popular = windows("The mill was built in 1790.")
    for _ in range(2):
        scorer.prepare(popular, abort=Abort())
    for number in range(40):
        passing = prepare(scorer, f"Passage number {number} is asked about once and never again.")
        score(scorer, passing, Claim("It is asked about once."))
    assert scorer.statistics().evicted > 0
    assert scorer.prepare(popular, abort=Abort()).from_cache == 1
    scorer.close()


def test_a_claim_that_is_too_long_is_an_error_and_never_cut(scorer):
    prepared = prepare(scorer, TOWER)
    score(scorer, prepared, "word " * scorer.traits.claim_tokens)
    with pytest.raises(ScoringError, match=f"{scorer.traits.claim_tokens + 1} tokens"):
        score(scorer, prepared, "word " * (scorer.traits.claim_tokens + 1))


def test_lone_surrogates_are_scored_and_offsets_stay_right(scorer):
    claim = "The tower \ud800 was finished in 1889."
    (got,) = score(scorer, prepare(scorer, TOWER + "\udfff"), claim)
    assert claim[got.tokens[-2].start : got.tokens[-2].end] == "1889"


def test_nothing_to_prepare_is_no_error(scorer):
    assert prepare(scorer).windows == ()


def test_both_calls_end_when_they_are_called_off():
    scorer = PremiseCachedScorer(threads=2)
    prepared = prepare(scorer, TOWER)
    abort = Abort()
    abort.set()
    with pytest.raises(ScoringError, match="called off"):
        scorer.prepare(windows(TEA, "Cats sleep."), abort=abort)
    with pytest.raises(ScoringError, match="called off"):
        scorer.score(prepared, [Claim(CLAIM)], abort=abort)
    (got,) = score(scorer, prepare(scorer, TEA, TOWER), CLAIM)
    assert got.single[0].window == 1
    scorer.close()


def test_calling_one_stream_off_leaves_the_other_that_waits_for_the_same_windows():
    scorer = PremiseCachedScorer(threads=2)
    texts = windows(*(f"Passage number {number}. " * 20 for number in range(12)))
    abort = Abort()
    with ThreadPoolExecutor(2) as pool:
        doomed = pool.submit(scorer.prepare, texts, abort=abort)
        other = pool.submit(scorer.prepare, texts, abort=Abort())
        abort.set()
        assert len(other.result().windows) == 12
        assert doomed.exception() is None or isinstance(doomed.exception(), ScoringError)
    scorer.close()


def test_close_ends_the_threads_and_may_be_called_twice():
    scorer = PremiseCachedScorer(threads=2)
    prepare(scorer, TOWER, TEA)
    scorer.close()
    scorer.close()
    assert scorer.statistics().entries == 0
    encoded = scorer._encoded
    own = encoded._idle._threads | encoded._wanted._threads
    assert own
    assert not [thread for thread in threading.enumerate() if thread in own]


@pytest.mark.parametrize("option", ["threads", "single_passes", "cache_bytes", "joint_windows"])
def test_options_out_of_range_are_refused(option):
    with pytest.raises(UsageError, match=option):
        PremiseCachedScorer(**{option: -1})


CONFIG = {
    "kind": "premise-cached-nli",
    "name": "tiny",
    "version": "1",
    "precision": "none",
    "window_tokens": 128,
    "claim_tokens": 96,
}


def sums(folder):
    files = [path for path in folder.iterdir() if path.name != "sha256sums"]
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / "sha256sums").write_text("".join(lines))


def graph(folder, *, inputs=(), outputs=()):
    """A folder whose graph has the right names and shapes, except for what is replaced."""
    declared = {
        "input_ids": (TensorProto.INT64, ["t"]),
        "segment": (TensorProto.INT64, [1]),
        **{
            f"past_{part}_{layer}_{place}": (TensorProto.FLOAT, [3, f"p{place}", 4])
            for part in ("keys", "values")
            for layer in range(2)
            for place in range(2)
        },
        **dict(inputs),
    }
    given = {
        "logits": (TensorProto.FLOAT, ["c", 3]),
        "token_logits": (TensorProto.FLOAT, ["t"]),
        **{
            f"present_{part}_{layer}": (TensorProto.FLOAT, [3, "t", 4])
            for part in ("keys", "values")
            for layer in range(2)
        },
        **dict(outputs),
    }
    info = helper.make_tensor_value_info
    nodes = [
        helper.make_node(
            "RandomNormal", [], [name], shape=[size if isinstance(size, int) else 1 for size in shape]
        )
        for name, value in given.items()
        if value is not None
        for _, shape in [value]
    ]
    model = helper.make_model(
        helper.make_graph(
            nodes,
            "g",
            [info(name, *value) for name, value in declared.items() if value is not None],
            [info(name, *value) for name, value in given.items() if value is not None],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
    )
    model.ir_version = 9
    onnx.save(model, folder / "model.int8.onnx")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "calibration.json").write_text('{"weights": {"single": 1.0}}')
    (folder / "tokenizer.json").write_bytes((embedded() / "tokenizer.json").read_bytes())
    sums(folder)
    return folder


def test_the_shapes_are_read_from_the_graph(tmp_path):
    scorer = PremiseCachedScorer(graph(tmp_path))
    found = scorer._graph
    assert (found.layers, found.places, found.heads, found.size) == (2, 2, 3, 4)
    assert scorer.traits.title_tokens == 0
    scorer.close()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"inputs": {"segment": None}}, "expected inputs"),
        ({"inputs": {"extra": (TensorProto.INT64, ["b"])}}, "extra"),
        ({"outputs": {"token_logits": None}}, "token_logits"),
        ({"inputs": {"input_ids": (TensorProto.INT32, ["t"])}}, "input_ids"),
        ({"inputs": {"segment": (TensorProto.INT64, ["b", "t"])}}, "segment"),
        ({"inputs": {"past_keys_1_0": None}}, "expected inputs"),
        ({"inputs": {"past_values_1_1": (TensorProto.FLOAT, ["b", 3, "p", 4])}}, "past_values_1_1"),
        ({"inputs": {"past_keys_0_0": (TensorProto.FLOAT, ["h", "p", 4])}}, "past_keys_0_0"),
        ({"outputs": {"present_keys_1": None}}, "present_keys_1"),
        ({"outputs": {"logits": (TensorProto.FLOAT, ["b", 2])}}, "logits"),
    ],
)
def test_a_graph_of_another_kind_is_an_error_that_says_what_was_expected_and_found(tmp_path, change, said):
    with pytest.raises(ModelContractError, match=said) as caught:
        PremiseCachedScorer(graph(tmp_path, **change))
    assert "expected" in str(caught.value)
    assert "found" in str(caught.value)


def test_a_tokenizer_that_is_none_is_an_error_that_names_it(tmp_path):
    folder = graph(tmp_path)
    (folder / "tokenizer.json").write_text("{}")
    sums(folder)
    with pytest.raises(ModelContractError, match=r"tokenizer\.json"):
        PremiseCachedScorer(folder)
