from __future__ import annotations

import copy
import pickle

import pytest

import streamverify.streaming.pipe
from streamverify import errors

MADE = [
    errors.StreamVerifyError("it failed"),
    errors.UsageError("change the call"),
    errors.PassageError("no text"),
    errors.PieceError("no text"),
    errors.InputFileError("a.jsonl", "no object", line=3, field="id"),
    errors.NotEnoughLabelsError(1, 2, "test"),
    errors.MissingExtraError("onnx", "onnxruntime", "this scorer"),
    errors.StreamStateError("read twice"),
    streamverify.streaming.pipe.SecondReaderError(),
    errors.ModelError("change the model"),
    errors.ModelNotFoundError("fast", "fetch it", what="card"),
    errors.ModelChecksumError("model.onnx", "a" * 64, "b" * 64),
    errors.ModelContractError("no labels"),
    errors.ProviderError("cuda", ["cpu"]),
    errors.ScoringError("down"),
    errors.ScoringTimeoutError(10.0),
    errors.OverloadedError(1.5),
    errors.JudgeError("no answer"),
    errors.StreamInterruptedError("stop"),
]
COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{f"pickle {n}": lambda e, n=n: pickle.loads(pickle.dumps(e, n)) for n in range(6)},
}


def below(kind):
    return {kind}.union(*map(below, kind.__subclasses__()))


def test_every_error_is_made_here():
    ours = {kind for kind in below(errors.StreamVerifyError) if kind.__module__.startswith("streamverify.")}
    assert {type(error) for error in MADE} == ours


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_a_copy_of_an_error_is_of_its_type_and_says_the_same(error, way):
    made = COPIES[way](error)
    assert made is not error
    assert (type(made), str(made), made.args) == (type(error), str(error), error.args)
    assert vars(made) == vars(error)
    assert isinstance(made, type(error).__mro__[1])


def test_what_was_noted_on_an_error_is_kept():
    error = errors.ScoringTimeoutError(2.0)
    error.add_note("in sentence 3")
    made = pickle.loads(pickle.dumps(error))
    assert made.__notes__ == ["in sentence 3"]
    assert made.seconds == 2.0
