from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from streamverify.errors import ModelContractError
from streamverify.scorers.graphs.premise_graph import PremiseGraph
from streamverify.scorers.graphs.runtime import OnnxSession
from streamverify.scorers.graphs.signed_weights import exact, signed, turned
from streamverify.scorers.model_files import embedded
from streamverify.scorers.protocol import Abort

NOTHING = np.zeros((4, 2), np.uint8)


def product(number, *, held):
    """A node whose weights are `held` by the graph under names of its own."""
    names = {part: f"{part}{number}" for part in ("weights", "steps", "zeros")}
    for name, value in zip(names.values(), held, strict=True):
        yield numpy_helper.from_array(value, name)
    yield helper.make_node(
        "MatMulIntegerToFloat",
        ["x", names["weights"], "step", names["steps"], "zero", names["zeros"]],
        [f"y{number}"],
        domain="com.microsoft",
    )


def products(main, branch, table=NOTHING, zeros=None):
    """A model of two products, one of them in a branch, and a table of bytes that no product reads."""
    inner, outer = main.shape

    def parts(weights):
        middle = np.full(outer, 128, np.uint8) if zeros is None else zeros
        return weights, np.full(outer, 0.5, np.float32), middle

    *outside, first = product(0, held=parts(main))
    *inside, second = product(1, held=parts(branch))
    out = helper.make_tensor_value_info("y1", TensorProto.FLOAT, ["rows", outer])
    graph = helper.make_graph(
        [
            first,
            helper.make_node(
                "If",
                ["more"],
                ["z"],
                then_branch=helper.make_graph([second], "then", [], [out]),
                else_branch=helper.make_graph(
                    [helper.make_node("Identity", ["y0"], ["w"])],
                    "else",
                    [],
                    [helper.make_tensor_value_info("w", TensorProto.FLOAT, ["rows", outer])],
                ),
            ),
            helper.make_node("Gather", ["table", "row"], ["found"]),
        ],
        "two",
        [
            helper.make_tensor_value_info("x", TensorProto.UINT8, ["rows", inner]),
            helper.make_tensor_value_info("more", TensorProto.BOOL, [1]),
            helper.make_tensor_value_info("row", TensorProto.INT64, [1]),
        ],
        [
            helper.make_tensor_value_info("y0", TensorProto.FLOAT, ["rows", outer]),
            helper.make_tensor_value_info("z", TensorProto.FLOAT, ["rows", outer]),
            helper.make_tensor_value_info("found", TensorProto.UINT8, [1, table.shape[1]]),
        ],
        [
            *outside,
            *inside,
            numpy_helper.from_array(table, "table"),
            numpy_helper.from_array(np.float32(0.25), "step"),
            numpy_helper.from_array(np.uint8(3), "zero"),
        ],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    content: bytes = model.SerializeToString()
    return content


@pytest.fixture(scope="module")
def sums_are_exact():
    return exact()


def weights(seed, inner=16, outer=8):
    return np.random.default_rng(seed).integers(1, 256, (inner, outer)).astype(np.uint8)


def run(content, rows, seed):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    given_rows = np.random.default_rng(seed).integers(0, 256, (rows, 16)).astype(np.uint8)
    return session.run(None, {"x": given_rows, "more": np.array([True]), "row": np.array([1])})


@given(st.integers(0, 2**31), st.integers(1, 40))
def test_signed_weights_are_the_same_numbers_and_give_the_same_bits_where_sums_are_exact(
    sums_are_exact, seed, rows
):
    before = products(weights(seed), weights(seed + 1))
    after = signed(before)
    old, new = (
        {t.name: numpy_helper.to_array(t) for t in onnx.load_from_string(c).graph.initializer}
        for c in (before, after)
    )
    for number in "01":
        weight, zeros = f"weights{number}", f"zeros{number}"
        assert new[weight].dtype == new[zeros].dtype == np.int8
        numbers = (held[weight].astype(int) - held[zeros].astype(int) for held in (old, new))
        assert np.array_equal(*numbers)
    if sums_are_exact:
        for one, other in zip(run(before, rows, seed), run(after, rows, seed), strict=True):
            assert np.array_equal(one, other)


def test_nothing_but_the_products_weights_changes_and_no_length_does():
    table = weights(5, 4, 2)
    before = products(weights(1), weights(2), table)
    after = signed(before)
    assert len(after) == len(before)
    [held] = [t for t in onnx.load_from_string(after).graph.initializer if t.name == "table"]
    assert np.array_equal(numpy_helper.to_array(held), table)
    assert signed(after) == after, "what is signed stays"


def test_a_product_that_is_not_as_expected_leaves_all_of_them_as_they_are():
    one_signed = products(weights(1), (weights(2) ^ 0x80).view(np.int8))
    assert signed(one_signed) == one_signed
    model = onnx.load_from_string(products(weights(1), weights(2)))
    [held] = [t for t in model.graph.initializer if t.name == "weights1"]
    held.ClearField("raw_data")
    held.int32_data.extend(weights(2).ravel().tolist())
    elsewhere: bytes = model.SerializeToString()
    assert signed(elsewhere) == elsewhere


@given(st.binary(max_size=200))
def test_what_is_no_graph_is_given_back(content):
    assert signed(content) == content


@given(st.integers(0, 2000), st.data())
def test_a_damaged_graph_is_given_back_or_changed_in_place(at, data):
    whole = products(weights(1), weights(2))
    cut = whole[: min(at, len(whole))]
    assert len(signed(cut)) == len(cut)
    other = bytearray(whole)
    other[at % len(whole)] = data.draw(st.integers(0, 255))
    assert len(signed(bytes(other))) == len(other)


def test_weights_are_turned_only_where_it_changes_nothing(sums_are_exact):
    before = products(weights(1), weights(2))
    x86 = platform.machine().lower() in {"x86_64", "amd64"}
    assert turned(before) == (signed(before) if x86 and sums_are_exact else before)


def test_a_session_runs_what_it_was_told_to_make_of_the_file(tmp_path):
    path = tmp_path / "two.onnx"
    path.write_bytes(products(weights(1), weights(2)))
    rows = np.full((2, 16), 7, np.uint8)
    inputs = {"x": rows, "more": np.array([True]), "row": np.array([0])}
    seen = []

    def change(content):
        seen.append(content)
        return products(weights(3), weights(4))

    plain, changed = OnnxSession(path), OnnxSession(path, change=change)
    assert seen == [path.read_bytes()]
    [one], [other] = (session.run(["z"], inputs, abort=Abort()) for session in (plain, changed))
    assert not np.array_equal(one, other)
    with pytest.raises(ModelContractError, match="cannot be loaded"):
        OnnxSession(path, change=lambda _: b"no graph")


@pytest.mark.model
def test_the_embedded_model_is_turned_and_gives_the_same_bits(sums_are_exact):
    file = embedded() / "model.int8.onnx"
    content = file.read_bytes()
    assert signed(content) != content
    if not sums_are_exact:
        pytest.skip("this processor clamps sums of signed weights, so none are used")
    session = PremiseGraph(Path(file))
    plain = OnnxSession(file)
    ids = np.random.default_rng(0).integers(1000, 20_000, 60).tolist()
    inputs = {"input_ids": np.array(ids, np.int64), "segment": np.array([0], np.int64)}
    for place in range(session.places):
        for layer in range(session.layers):
            for part in ("keys", "values"):
                shape = (session.heads, 0, session.size)
                inputs[f"past_{part}_{layer}_{place}"] = np.empty(shape, np.float32)
    names = [f"present_{part}_{layer}" for layer in range(session.layers) for part in ("keys", "values")]
    expected = plain.run(names, inputs, abort=Abort())
    found = [numbers for pair in session.encode(ids, abort=Abort()).layers for numbers in pair]
    assert all(np.array_equal(one, other) for one, other in zip(expected, found, strict=True))
