from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from tower_and_tea import CLAIMS, TEXTS

from streamverify.errors import ScoringError
from streamverify.scorers.graphs import packed_passes
from streamverify.scorers.graphs.packed_passes import SIZES, choice, of_pass, packed
from streamverify.scorers.graphs.premise_graph import PremiseGraph, parted
from streamverify.scorers.lanes import Lanes
from streamverify.scorers.model_files import embedded
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort, Claim, Window

SIZE, WORDS = 4, 50


def node(kind, inputs, *outputs, **how):
    domain = "com.microsoft" if kind == "MatMulIntegerToFloat" else ""
    return helper.make_node(kind, inputs, outputs, name=outputs[0], domain=domain, **how)


def tensor(name, *sizes, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, list(sizes))


def small(*, inside=(), product="MatMulIntegerToFloat"):
    """A graph of the model's form: one layer, one place, a head of four numbers."""
    rng = np.random.default_rng(0)
    held = {
        "table": rng.normal(size=(WORDS, SIZE)).astype(np.float32),
        "weights": rng.integers(0, 256, (SIZE, 3)).astype(np.uint8),
        "steps": np.full(3, 0.01, np.float32),
        "zeros": np.full(3, 128, np.uint8),
        "bias": np.ones(3, np.float32),
        "flat": np.array([-1, SIZE], np.int64),
        "list": np.array([-1], np.int64),
        "heads": np.array([1, -1, SIZE], np.int64),
        "first": np.array([0], np.int64),
    }
    judged = [
        *inside,
        node("ReduceMean", ["y"], "logits", axes=[0], keepdims=1),
        node("Gather", ["y", "first"], "column", axis=1),
        node("Reshape", ["column", "list"], "token_logits"),
    ]
    skipped = [
        node("Constant", [], name, value=numpy_helper.from_array(np.zeros(sizes, np.float32)))
        for name, sizes in (("logits", (0, 3)), ("token_logits", (0,)))
    ]
    outs = [tensor("logits", None, 3), tensor("token_logits", None)]
    graph = helper.make_graph(
        [
            node("Gather", ["table", "input_ids"], "words"),
            node("Reshape", ["words", "heads"], "present_keys_0"),
            node("Identity", ["present_keys_0"], "present_values_0"),
            node("Concat", ["past_keys_0_0", "present_keys_0"], "keys", axis=1),
            node("Concat", ["past_values_0_0", "present_values_0"], "values", axis=1),
            node("Add", ["keys", "values"], "both"),
            node("ReduceMean", ["both"], "read", axes=[1], keepdims=1),
            node("Reshape", ["read", "flat"], "row"),
            node("Add", ["words", "row"], "x"),
            node("DynamicQuantizeLinear", ["x"], "quantized", "step", "zero"),
            node(product, ["quantized", "weights", "step", "steps", "zero", "zeros", "bias"], "y"),
            node("Cast", ["segment"], "is_claim", to=TensorProto.BOOL),
            node(
                "If",
                ["is_claim"],
                "logits",
                "token_logits",
                then_branch=helper.make_graph(judged, "claim", [], outs),
                else_branch=helper.make_graph(skipped, "window", [], outs),
            ),
        ],
        "small",
        [
            tensor("input_ids", "tokens", kind=TensorProto.INT64),
            tensor("segment", 1, kind=TensorProto.INT64),
            tensor("past_keys_0_0", 1, "past_0", SIZE),
            tensor("past_values_0_0", 1, "past_0", SIZE),
        ],
        [
            *outs,
            tensor("present_keys_0", 1, "tokens", SIZE),
            tensor("present_values_0", 1, "tokens", SIZE),
        ],
        [numpy_helper.from_array(value, name) for name, value in held.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    content: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    return content


def alike(found, expected):
    return len(found) == len(expected) and all(
        np.array_equal(one, other)
        for pair, wanted in zip(found, expected, strict=True)
        for one, other in zip(pair, wanted, strict=True)
    )


def separate(graph, ids, groups):
    return [graph.read(ids, group, abort=Abort()) for group in groups]


@pytest.fixture(scope="module")
def small_graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("graph") / "small.onnx"
    path.write_bytes(small())
    graph = PremiseGraph(path)
    assert graph._several is not None
    return graph


tokens = st.lists(st.integers(0, WORDS - 1), min_size=1, max_size=12)


@given(tokens, st.lists(st.lists(tokens, max_size=3), min_size=1, max_size=9))
def test_passes_together_give_the_bits_of_each_alone(small_graph, claim, groups):
    groups = [[small_graph.encode(ids, abort=Abort()) for ids in group] for group in groups]
    found = small_graph.read_several(claim, groups, abort=Abort())
    assert alike(found, separate(small_graph, claim, groups))


def test_the_same_node_of_all_passes_stands_side_by_side_and_what_needs_no_window_once():
    model = onnx.load_from_string(packed(small(), 1, SIZE))
    onnx.checker.check_model(model)
    once = [one.name for one in model.graph.node]
    assert once == ["words", "present_keys_0", "present_values_0", *map(choice, SIZES)]
    for size, chosen in zip(SIZES, model.graph.node[-len(SIZES) :], strict=True):
        [branch] = [one.g for one in chosen.attribute if one.name == "then_branch"]
        names = [one.name for one in branch.node]
        plain = [name.partition("#")[0] for name in names[::size] if "#" in name]
        assert names[: len(plain) * size] == [of_pass(one, n) for one in plain for n in range(size)]
        assert plain[-1] == "token_logits"


def test_a_graph_of_another_form_is_run_one_pass_at_a_time(tmp_path, monkeypatch):
    table = numpy_helper.from_array(np.zeros(1, np.float32), "more")
    choice_within = node(
        "If",
        ["is_claim"],
        "again",
        then_branch=helper.make_graph([node("Identity", ["y"], "a")], "then", [], [tensor("a", None, 3)]),
        else_branch=helper.make_graph([node("Identity", ["y"], "b")], "else", [], [tensor("b", None, 3)]),
    )
    used = node("Identity", ["again"], "unread")
    assert packed(small(inside=[choice_within, used]), 1, SIZE) is None
    assert packed(small(product="Product"), 1, SIZE) is None, "there is no 8-bit product"
    renamed = onnx.load_from_string(small())
    renamed.graph.initializer.append(table)
    assert packed(renamed.SerializeToString(), 1, SIZE) is not None
    monkeypatch.setattr(packed_passes, "NEAR", 3 * SIZE - 1)
    assert packed(small(), 1, SIZE) is None, "weights that do not stay near are fetched anew anyway"
    path = tmp_path / "small.onnx"
    path.write_bytes(small())
    graph = PremiseGraph(path)
    groups = [[graph.encode([1, 2], abort=Abort())], []]
    assert alike(graph.read_several([3], groups, abort=Abort()), separate(graph, [3], groups))


@given(st.binary(max_size=200))
def test_what_is_no_graph_is_not_packed(content):
    assert packed(content, 1, SIZE) is None


@given(st.integers(0, 4000))
@example(2513)  # behind the graph, among the versions of its operators
def test_of_a_graph_that_is_cut_off_only_a_whole_one_is_packed(at):
    whole = small()
    cut = whole[: at % len(whole)]
    assert (
        packed(cut, 1, SIZE) is None or onnx.load_from_string(cut).graph == onnx.load_from_string(whole).graph
    )


@given(st.integers(0, 4000), st.integers(0, 255))
def test_a_damaged_graph_is_packed_or_not_and_nothing_is_raised(at, byte):
    damaged = bytearray(small())
    damaged[at % len(damaged)] = byte
    packed(bytes(damaged), 1, SIZE)


@given(st.lists(st.integers()), st.integers(-1, 12))
def test_parts_are_the_whole_in_order_and_of_nearly_one_length(whole, parts):
    found = parted(whole, parts)
    assert [one for part in found for one in part] == whole
    lengths = [len(part) for part in found]
    assert max(lengths) - min(lengths) <= 1
    assert len(found) == max(1, min(parts, len(whole)))
    assert all(lengths) or not whole


@given(st.integers(1, 64), st.integers(1, 70))
def test_claims_share_the_threads_and_each_has_one_at_least(threads, claims):
    lanes = Lanes(threads)
    assert lanes.free == threads

    def take(more):
        with lanes.claim():
            assert lanes.free == max(1, threads // (claims - more))
            if more:
                take(more - 1)

    take(claims - 1)
    assert lanes.free == threads


@pytest.fixture(scope="module")
def graph():
    return PremiseGraph(embedded() / "model.int8.onnx")


@pytest.fixture(scope="module")
def encoded(graph):
    rng = np.random.default_rng(2)
    lengths = (2, 9, 40, 128)
    return [graph.encode(rng.integers(1000, 20_000, n).tolist(), abort=Abort()) for n in lengths]


words = st.lists(st.integers(999, 20_000), min_size=2, max_size=40)
some_windows = st.lists(st.integers(0, 3), max_size=4, unique=True)


@pytest.mark.model
@given(words, st.lists(some_windows, min_size=2, max_size=6))
def test_the_embedded_model_gives_the_same_bits_alone_and_together(graph, encoded, ids, chosen):
    groups = [[encoded[window] for window in group] for group in chosen]
    found = graph.read_several(ids, groups, abort=Abort())
    assert alike(found, separate(graph, ids, groups))
    turned = graph.read_several(ids, groups[::-1], abort=Abort())
    assert alike(turned[::-1], found), "a pass does not see which passes stand beside it"


def scored(scorer, claims):
    windows = [Window(number, text, 0, len(text)) for number, text in enumerate(TEXTS)]
    prepared = scorer.prepare(windows, abort=Abort())
    return scorer.score(prepared, claims, abort=Abort())


@pytest.mark.model
@pytest.mark.parametrize(
    ("threads", "how"), [(1, {}), (2, {"early_exit": False}), (5, {"cache_precision": "float16"})]
)
def test_claims_score_the_same_whether_their_passes_are_packed_or_not(threads, how):
    claims = [Claim(text) for text in CLAIMS]
    claims += [Claim(text, focus=(0, 4), together=((0, 1), (1, 2, 3, 4))) for text in CLAIMS]
    claims += [Claim(text, hurried=True) for text in CLAIMS]
    plain = PremiseCachedScorer(threads=threads, packed_passes=False, **how)
    together = PremiseCachedScorer(threads=threads, **how)
    try:
        assert plain._graph._several is None
        assert together._graph._several is not None
        assert plain.fingerprint == together.fingerprint
        expected = scored(plain, claims)
        assert scored(together, claims) == expected
        with ThreadPoolExecutor(4) as pool:
            assert all(found == expected for found in pool.map(lambda _: scored(together, claims), range(3)))
    finally:
        plain.close()
        together.close()


@pytest.mark.model
def test_passes_together_end_soon_when_they_are_called_off(graph, encoded):
    abort, ids = Abort(), list(range(1000, 1090))
    abort.set()
    with pytest.raises(ScoringError, match="called off"):
        graph.read_several(ids, [[encoded[3]]] * 4, abort=abort)
    later = Abort()
    runs = threading.Event()

    def until_it_is_called_off():
        runs.set()
        while True:
            graph.read_several(ids, [[encoded[3]]] * 4, abort=later)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(until_it_is_called_off)
        assert runs.wait(60)
        later.set()
        with pytest.raises(ScoringError, match="called off"):
            running.result(timeout=60)
