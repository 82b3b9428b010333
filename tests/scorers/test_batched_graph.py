"""The graph for graphics processors, on the CPU's provider: what the file says, row by row, in 16 bits."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from math import erf

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seen import Seen
from tower_and_tea import CLAIMS, TEXTS

from streamverify.errors import ModelContractError, ProviderError, ScoringError
from streamverify.scorers import premise_cached
from streamverify.scorers.graphs.batched_graph import ROWS, BatchedGraph
from streamverify.scorers.graphs.device_graph import Network, device_graph, past_names, present_names
from streamverify.scorers.graphs.premise_graph import PremiseGraph
from streamverify.scorers.model_files import embedded
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort, Claim, Window
from streamverify.scorers.windows.keys_values import KeysValues

pytestmark = pytest.mark.model
GRAPH = embedded() / "model.int8.onnx"
SECONDS = 60


@pytest.fixture(scope="module")
def network():
    return Network.read(GRAPH.read_bytes())


@pytest.fixture(scope="module")
def whole():
    """In 32 bits, where sums differ by their order alone."""
    return BatchedGraph(GRAPH, provider="cpu", precision="float32")


@pytest.fixture(scope="module")
def halves():
    return BatchedGraph(GRAPH, provider="cpu")


def windows_of(graph, lengths=(128, 40, 9, 2)):
    rng = np.random.default_rng(3)
    return [graph.encode(rng.integers(1000, 20_000, n).tolist(), abort=Abort()) for n in lengths]


def halved(window):
    pairs = ((keys.astype(np.float16), values.astype(np.float16)) for keys, values in window.layers)
    return KeysValues(tuple(pairs))


@pytest.fixture(scope="module")
def encoded(whole):
    return windows_of(whole)


def reference(network, ids, segment, past=()):
    """The network in NumPy, one row, in double precision: logits, token logits, keys and values."""

    def held(name):
        return np.asarray(network.numbers[name], np.float64)

    def linear(x, name):
        return x @ network.weight(f"{name}.weight").astype(np.float64) + held(f"{name}.bias")

    def norm(x, name):
        apart = x - x.mean(-1, keepdims=True)
        apart /= np.sqrt((apart**2).mean(-1, keepdims=True) + network.epsilon)
        return apart * held(f"{name}.weight") + held(f"{name}.bias")

    def gelu(x):
        return 0.5 * x * (1 + np.vectorize(erf)(x / 2**0.5))

    def heads(x):
        return x.reshape(len(ids), network.heads, -1).transpose(1, 0, 2)

    table = [network.weight(f"{name}.weight").astype(np.float64) for name in ("word", "pos", "typ")]
    x = norm(table[0][ids] + table[1][: len(ids)] + table[2][segment], "ln")
    kept = []
    for layer in range(network.layers):
        at = f"layers.{layer}"
        queries, keys, values = (heads(linear(x, f"{at}.{part}")) for part in "qkv")
        kept.append((keys, values))
        seen_keys = np.concatenate([*(window[layer][0] for window in past), keys], 1)
        seen_values = np.concatenate([*(window[layer][1] for window in past), values], 1)
        scores = queries @ seen_keys.transpose(0, 2, 1) / network.head_size**0.5
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        read = (weights / weights.sum(-1, keepdims=True)) @ seen_values
        joined = read.transpose(1, 0, 2).reshape(len(ids), -1)
        x = norm(x + linear(joined, f"{at}.o"), f"{at}.ln1")
        x = norm(x + linear(gelu(linear(x, f"{at}.f1")), f"{at}.f2"), f"{at}.ln2")
    pooled = np.concatenate([x[0], x.mean(0)])
    return linear(gelu(linear(pooled, "head.0")), "head.2"), linear(x, "tok")[:, 0], kept


def test_the_graph_is_one_that_onnx_knows_and_holds_16_bits(network):
    model = onnx.load_from_string(device_graph(network))
    onnx.checker.check_model(model)
    kinds = {tensor.data_type for tensor in model.graph.initializer}
    assert kinds == {onnx.TensorProto.FLOAT16, onnx.TensorProto.INT64}
    assert [one.name for one in model.graph.input][-2:] == past_names(network.layers)[-2:]
    assert [one.name for one in model.graph.output] == [
        "logits",
        "token_logits",
        *present_names(network.layers),
    ]
    halves = {
        one.name for one in model.graph.input if one.type.tensor_type.elem_type == onnx.TensorProto.FLOAT16
    }
    assert halves == set(past_names(network.layers))


def test_it_computes_what_the_files_numbers_say(network, whole, encoded):
    rng = np.random.default_rng(3)
    ids = [rng.integers(1000, 20_000, n).tolist() for n in (128, 40, 9, 2)]
    kept = [reference(network, row, 0)[2] for row in ids]
    for window, expected in zip(encoded, kept, strict=True):
        for (keys, values), (other_keys, other_values) in zip(window.layers, expected, strict=True):
            assert np.abs(keys - other_keys).max() < 1e-3
            assert np.abs(values - other_values).max() < 1e-3
    claim = rng.integers(1000, 20_000, 30).tolist()
    groups = [[0], [1, 2], [3, 0, 1], []]
    found = whole.read_several(claim, [[encoded[one] for one in group] for group in groups], abort=Abort())
    for (logits, marks), group in zip(found, groups, strict=True):
        expected, expected_marks, _ = reference(network, claim, 1, [kept[one] for one in group])
        assert np.abs(logits - expected).max() < 1e-3
        assert np.abs(marks - expected_marks).max() < 1e-3


words = st.lists(st.integers(999, 20_000), min_size=2, max_size=40)
groups_of = st.lists(st.lists(st.integers(0, 3), max_size=4, unique=True), min_size=1, max_size=5)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(words, groups_of), min_size=1, max_size=4))
def test_a_row_says_what_it_says_alone_whoever_stands_beside_it(whole, encoded, claims):
    asked = [(ids, [[encoded[one] for one in group] for group in groups]) for ids, groups in claims]
    alone = [whole.read_several(ids, [group], abort=Abort())[0] for ids, groups in asked for group in groups]
    start = threading.Barrier(len(asked))

    def ask(one):
        start.wait(SECONDS)
        return whole.read_several(*one, abort=Abort())

    with ThreadPoolExecutor(len(asked)) as pool:
        together = [row for rows in pool.map(ask, asked) for row in rows]
    assert len(together) == len(alone)
    for (logits, marks), (other, other_marks) in zip(together, alone, strict=True):
        assert np.abs(logits - other).max() < 2e-4
        assert marks.shape == other_marks.shape
        assert np.abs(marks - other_marks).max() < 2e-4


@settings(max_examples=15, deadline=None)
@given(words, groups_of)
def test_16_bits_say_nearly_the_same(whole, encoded, halves, ids, groups):
    own = [halved(window) for window in encoded]
    found = halves.read_several(ids, [[own[one] for one in group] for group in groups], abort=Abort())
    expected = whole.read_several(ids, [[encoded[one] for one in group] for group in groups], abort=Abort())
    for (logits, _), (other, _) in zip(found, expected, strict=True):
        assert np.abs(logits - other).max() < 0.05


def test_windows_asked_for_at_once_share_runs_and_none_keeps_what_its_row_was_filled_with(whole):
    rng = np.random.default_rng(5)
    ids = [rng.integers(1000, 20_000, n).tolist() for n in (3, 128, 60, 17)]
    runs = []
    encode = whole._windows._run
    gate = threading.Event()

    def counted(windows, abort):
        runs.append(len(windows))
        assert gate.wait(SECONDS)
        return encode(windows, abort)

    whole._windows._run = counted
    try:
        with ThreadPoolExecutor(4) as pool:
            aborts = [Seen() for _ in ids]
            asked = []
            for row, abort in zip(ids, aborts, strict=True):
                asked.append(pool.submit(whole.encode, row, abort=abort))
                assert abort.attached.wait(SECONDS)
            gate.set()
            found = [one.result(SECONDS) for one in asked]
    finally:
        whole._windows._run = encode
    assert runs == [1, 3]
    for window, row in zip(found, ids, strict=True):
        assert {keys.shape for keys, _ in window.layers} == {(whole.heads, len(row), whole.size)}
        alone = whole.encode(row, abort=Abort())
        for (keys, values), (other_keys, other_values) in zip(window.layers, alone.layers, strict=True):
            assert np.abs(keys - other_keys).max() < 1e-3
            assert np.abs(values - other_values).max() < 1e-3
    assert halved(found[1]).nbytes * 2 == found[1].nbytes == whole.bytes_of(128, "float32")


def test_a_claim_of_more_passes_than_a_run_has_rows_is_read_whole(whole, encoded):
    found = whole.read_several([5, 6, 7], [[encoded[2]]] * (ROWS + 3), abort=Abort())
    assert len(found) == ROWS + 3
    assert all(np.abs(logits - found[0][0]).max() < 1e-5 for logits, _ in found)


def test_windows_are_encoded_in_16_bits_nearly_as_in_32(halves, encoded):
    for window, other in zip(windows_of(halves), encoded, strict=True):
        assert window.nbytes * 2 == other.nbytes
        for pair, expected in zip(window.layers, other.layers, strict=True):
            assert all(np.abs(one - two).max() < 0.1 for one, two in zip(pair, expected, strict=True))


def test_what_is_not_finite_is_an_error_and_no_score(whole, encoded):
    layers = [[numbers.copy() for numbers in pair] for pair in encoded[2].layers]
    layers[0][1][0, 0, 0] = np.nan
    bad = KeysValues(tuple(map(tuple, layers)))
    with pytest.raises(ScoringError, match="logits that do not fit float32"):
        whole.read_several([5, 6], [[bad]], abort=Abort())
    assert np.isfinite(whole.read_several([5, 6], [[encoded[2]]], abort=Abort())[0][0]).all()


@pytest.mark.parametrize("content", [b"", b"no graph", GRAPH.read_bytes()[:1_000_000]])
def test_a_file_of_another_kind_is_an_error_that_says_what_to_change(tmp_path, content):
    path = tmp_path / "other.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelContractError, match="batched=False"):
        BatchedGraph(path, provider="cpu")


@given(st.integers(0, 50_000), st.integers(0, 255))
def test_a_damaged_file_is_told_and_breaks_nothing(content, at, byte):
    damaged = bytearray(content)
    damaged[at] = byte
    try:
        found = Network.read(bytes(damaged))
    except (ValueError, IndexError, KeyError):
        return
    assert found.layers >= 1


@pytest.fixture(scope="module")
def content():
    return GRAPH.read_bytes()


def scored(scorer, claims=CLAIMS, texts=TEXTS):
    windows = [Window(number, text, 0, len(text)) for number, text in enumerate(texts)]
    prepared = scorer.prepare(windows, abort=Abort())
    return scorer.score(prepared, [Claim(text) for text in claims], abort=Abort())


def test_a_batched_scorer_says_what_it_is_and_scores_nearly_as_the_other():
    plain = PremiseCachedScorer(early_exit=False)
    batched = PremiseCachedScorer(batched=True, early_exit=False)
    try:
        assert batched.fingerprint.precision == "float16, batched, every pass"
        assert batched.fingerprint.revision == plain.fingerprint.revision
        assert batched.traits.concurrency > plain.traits.concurrency
        for one, other in zip(scored(batched), scored(plain), strict=True):
            assert one.passes == other.passes
            assert one.tokens_scored == other.tokens_scored
            assert {entry.window for entry in one.single} == {entry.window for entry in other.single}
            expected = {entry.window: entry.score.entailment for entry in other.single}
            # The other quantises activations: that is what the tenth is for.
            assert all(abs(entry.score.entailment - expected[entry.window]) < 0.1 for entry in one.single)
            assert abs(one.joint.entailment - other.joint.entailment) < 0.1
        statistics = batched.statistics()
        assert statistics.entries == plain.statistics().entries == len(TEXTS)
        assert statistics.bytes * 2 == plain.statistics().bytes
    finally:
        plain.close()
        batched.close()


def test_many_streams_share_runs_and_each_has_its_own_scores():
    scorer = PremiseCachedScorer(batched=True)
    runs = []
    read = scorer._graph._claims._run

    def counted(claims, abort):
        runs.append(len(claims))
        return read(claims, abort)

    scorer._graph._claims._run = counted
    try:
        alone = [scored(scorer, [text])[0] for text in CLAIMS]
        runs.clear()
        with ThreadPoolExecutor(16) as pool:
            together = list(pool.map(lambda number: scored(scorer, [CLAIMS[number % 4]])[0], range(64)))
        for number, one in enumerate(together):
            expected = alone[number % 4]
            assert [entry.window for entry in one.single] == [entry.window for entry in expected.single]
            assert abs(one.single[0].score.entailment - expected.single[0].score.entailment) < 0.01
        assert max(runs) > 1, "claims of several streams stood in one run"
    finally:
        scorer.close()


def test_a_call_ends_when_it_is_called_off():
    scorer, abort = PremiseCachedScorer(batched=True), Abort()
    try:
        windows = [Window(0, TEXTS[0], 0, len(TEXTS[0]))]
        prepared = scorer.prepare(windows, abort=Abort())
        abort.set()
        with pytest.raises(ScoringError, match="called off"):
            scorer.score(prepared, [Claim(CLAIMS[0])], abort=abort)
        with pytest.raises(ScoringError, match="called off"):
            scorer.prepare([Window(0, "Something new.", 0, 14)], abort=abort)
        assert scorer.score(prepared, [Claim(CLAIMS[0])], abort=Abort())
    finally:
        scorer.close()


def test_the_form_is_that_of_the_provider_in_use(monkeypatch):
    """Batched on a graphics processor, else not; where CUDA does not start, `auto` is a CPU."""
    assert type(premise_cached._graph(GRAPH, "cpu", batched=None, packed_passes=False)) is PremiseGraph
    assert type(premise_cached._graph(GRAPH, "cpu", batched=True, packed_passes=False)) is BatchedGraph
    monkeypatch.setattr("streamverify.scorers.premise_cached.on_cpu", lambda _: False)
    found = premise_cached._graph(GRAPH, "auto", batched=None, packed_passes=True)
    assert type(found) is PremiseGraph
    assert found._several is not None, "and it is the graph of a CPU in every respect"
    with pytest.raises(ProviderError):
        premise_cached._graph(GRAPH, "cuda", batched=None, packed_passes=True)
