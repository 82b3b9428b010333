from __future__ import annotations

import threading

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from onnx import TensorProto, helper, numpy_helper

from streamverify.errors import ModelContractError, ModelNotFoundError, ProviderError, ScoringError
from streamverify.scorers.graphs.runtime import OnnxSession, providers_for, sigmoid, softmax
from streamverify.scorers.protocol import Abort

CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"


def loop_model(path):
    """A graph that multiplies a matrix `rounds` times."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["more_in"], ["more_out"]),
            helper.make_node("MatMul", ["state", "weights"], ["next"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("round", TensorProto.INT64, []),
            helper.make_tensor_value_info("more_in", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state", TensorProto.FLOAT, [64, 64]),
        ],
        [
            helper.make_tensor_value_info("more_out", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [64, 64]),
        ],
    )
    graph = helper.make_graph(
        [
            helper.make_node("Loop", ["rounds", "", "start"], ["long"], body=body),
        ],
        "loop",
        [
            helper.make_tensor_value_info("rounds", TensorProto.INT64, []),
            helper.make_tensor_value_info("start", TensorProto.FLOAT, [64, 64]),
        ],
        [
            helper.make_tensor_value_info("long", TensorProto.FLOAT, [64, 64]),
        ],
        [numpy_helper.from_array(np.eye(64, dtype=np.float32), "weights")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.save(model, path)
    return path


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return OnnxSession(loop_model(tmp_path_factory.mktemp("model") / "loop.onnx"))


def inputs(rounds: int):
    return {"rounds": np.array(rounds), "start": np.ones((64, 64), np.float32)}


ENDLESS = 10**9
"""Rounds that would take hours."""


def test_providers_are_those_asked_for_or_an_error():
    assert providers_for("cpu", [CUDA, CPU]) == [CPU]
    assert providers_for("auto", [CUDA, CPU]) == [CUDA, CPU]
    assert providers_for("auto", [CPU]) == [CPU]
    assert providers_for("cuda", [CUDA, CPU]) == [CUDA, CPU]
    with pytest.raises(ProviderError, match=r"'cuda'.*only CPUExecutionProvider.*onnxruntime-gpu"):
        providers_for("cuda", [CPU])


def test_a_session_never_runs_elsewhere_than_asked(tmp_path):
    path = loop_model(tmp_path / "loop.onnx")
    assert OnnxSession(path).provider == CPU
    if CUDA in onnxruntime.get_available_providers():
        assert OnnxSession(path, provider="cuda").provider == CUDA
    else:
        with pytest.raises(ProviderError):
            OnnxSession(path, provider="cuda")


def test_a_run_ends_when_it_is_called_off(session):
    abort, started = Abort(), threading.Event()
    errors = []

    def run():
        started.set()
        try:
            session.run(["long"], inputs(ENDLESS), abort=abort)
        except ScoringError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    started.wait()
    abort.set()
    thread.join(20)
    assert not thread.is_alive()
    assert "called off" in str(errors[0])


def test_a_run_that_was_called_off_before_it_began_does_not_begin(session):
    abort = Abort()
    abort.set()
    with pytest.raises(ScoringError, match="called off"):
        session.run(["long"], inputs(ENDLESS), abort=abort)


def test_one_run_called_off_leaves_the_others_alone(session):
    abort = Abort()
    abort.set()
    with pytest.raises(ScoringError):
        session.run(["long"], inputs(ENDLESS), abort=abort)
    (long,) = session.run(["long"], inputs(3), abort=Abort())
    assert np.array_equal(long, np.ones((64, 64)))


def test_a_failing_run_is_a_scoring_error_that_says_what_the_runtime_said(session):
    with pytest.raises(ScoringError, match="start"):
        session.run(["long"], {**inputs(1), "start": np.ones((3, 3), np.float32)}, abort=Abort())


def test_what_is_no_model_is_an_error_that_names_the_file(tmp_path):
    with pytest.raises(ModelNotFoundError, match=r"missing\.onnx"):
        OnnxSession(tmp_path / "missing.onnx")
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"not a graph")
    with pytest.raises(ModelContractError, match=r"broken\.onnx"):
        OnnxSession(broken)


rows = arrays.arrays(np.float32, (3,), elements=st.floats(-1e4, 1e4, width=32))


@given(rows)
def test_softmax_sums_to_one_and_keeps_the_order(logits):
    probabilities = softmax(logits)
    assert probabilities.sum() == pytest.approx(1)
    order = np.argsort(logits, kind="stable")
    assert (np.diff(probabilities[order]) >= 0).all()


@given(rows)
def test_sigmoid_is_softmax_against_zero(logits):
    expected = [softmax(np.array([logit, 0], np.float32))[0] for logit in logits]
    assert np.allclose(sigmoid(logits), expected)
