"""The reader's network: its file, its words, what it gives, and that it is asked in doubt only."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Verifier
from streamverify.claims import linear, network
from streamverify.claims.network import FILE, Network, Words
from streamverify.claims.reader import read
from streamverify.claims.released import LEARNED
from streamverify.errors import ModelChecksumError, ModelContractError
from streamverify.scorers import LexicalScorer
from streamverify.scorers.model_files import ModelFiles
from streamverify.sentences.segmenter import segment
from streamverify.testing import ScriptedScorer

FOLDER = Path(network.__file__).parent


def folder_with(tmp_path: Path, content: bytes) -> Path:
    (tmp_path / FILE).write_bytes(content)
    (tmp_path / f"{FILE}.sha256").write_text(f"{hashlib.sha256(content).hexdigest()}  {FILE}\n")
    return tmp_path


def test_the_file_is_small_and_its_checksum_lies_beside_it():
    content = (FOLDER / FILE).read_bytes()
    assert len(content) < 8_000_000
    assert (FOLDER / f"{FILE}.sha256").read_text() == f"{hashlib.sha256(content).hexdigest()}  {FILE}\n"


def test_a_file_that_was_changed_is_refused_by_name(tmp_path):
    folder = folder_with(tmp_path, (FOLDER / FILE).read_bytes())
    (folder / FILE).write_bytes(b"another")
    with pytest.raises(ModelChecksumError, match=FILE):
        Network(folder, ModelFiles.open())


@pytest.mark.parametrize("content", [b"", b"no graph"])
def test_what_is_no_graph_is_refused(tmp_path, content):
    with pytest.raises(ModelContractError, match=FILE):
        Network(folder_with(tmp_path, content), ModelFiles.open())


def test_a_graph_of_another_kind_is_refused(tmp_path):
    other = ModelFiles.open().graph.read_bytes()
    with pytest.raises(ModelContractError, match="takes and gives something else"):
        Network(folder_with(tmp_path, other), ModelFiles.open())


@pytest.mark.parametrize("content", [b"", b"\x08\x08", b"no graph at all"])
def test_a_file_without_a_table_of_words_is_refused(tmp_path, content):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelContractError, match="holds no table of words"):
        Words(path)


def test_the_words_are_those_of_the_embedded_model():
    onnx = pytest.importorskip("onnx")
    files = ModelFiles.open()
    held = {one.name: one for one in onnx.load(files.graph).graph.initializer}
    table, zero, step = (
        onnx.numpy_helper.to_array(held[f"word.weight_{part}"]).astype(np.float32)
        for part in ("quantized", "zero_point", "scale")
    )
    ids = [101, 1996, 30_521, 0]
    assert np.array_equal(Words(files.graph)(ids), ((table - zero) * step)[ids])


REFERENCE = {
    "The fee is 40 euros.": 6.31,
    "Thank you for your patience.": -4.17,
    "Sorry, the elephant house reopens in March.": 5.29,
    "Let me know if you need anything else.": -6.66,
    "Here is what I found:": -5.36,
    "The contract is silent on early termination.": -3.12,
    "The contract is void on early termination.": 3.03,
}
"""Log odds as shipped. Products of whole numbers are exact on every processor; what is computed between them
in fractions is not, so that a step of an activation may fall on either side."""


@pytest.mark.parametrize("text", REFERENCE)
def test_the_log_odds_are_those_that_were_shipped(text):
    assert network.installed().log_odds(text) == pytest.approx(REFERENCE[text], abs=0.5)


@given(st.text(max_size=300))
def test_any_text_has_finite_odds_that_are_the_same_each_time(text):
    found = network.installed().log_odds(text)
    assert math.isfinite(found)
    assert network.installed().log_odds(text) == found


@given(st.text(alphabet="abc ", min_size=1100, max_size=1200), st.text(max_size=40))
def test_what_stands_far_behind_changes_nothing(text, behind):
    assert network.installed().log_odds(text + behind) == network.installed().log_odds(text)


class Asked:
    """A network that says what it is told to and remembers what it was asked."""

    def __init__(self, log_odds: float) -> None:
        self._log_odds = log_odds
        self.texts: list[str] = []

    def log_odds(self, text: str) -> float:
        self.texts.append(text)
        return self._log_odds


def told(monkeypatch, *, weighed: float, network_says: float) -> Asked:
    """The learned parts of the reader, replaced by what they say."""
    asked = Asked(network_says)

    class Sum:
        def log_odds(self, *_: object) -> float:
            return weighed

        def reason(self, *_: object) -> linear.Reason:
            return linear.REASONS[0]

    monkeypatch.setattr(linear, "installed", Sum)
    monkeypatch.setattr(network, "installed", lambda: asked)
    return asked


CLAIM, TALK = "The fee for the course is forty euros.", "Have a wonderful day, everybody!"


@pytest.mark.parametrize("weighed", [-30.0, -4.0, 4.0, 30.0])
@pytest.mark.parametrize("text", [CLAIM, TALK])
def test_beyond_doubt_the_network_is_not_asked(monkeypatch, weighed, text):
    asked = told(monkeypatch, weighed=weighed, network_says=-math.copysign(100, weighed))
    (sentence,) = segment(text)
    assert (read(sentence).claim is not None) == (weighed > 0)
    assert asked.texts == []


@pytest.mark.parametrize("weighed", [-3.9, 0.0, 3.9])
@pytest.mark.parametrize("says", [-20.0, 20.0])
@pytest.mark.parametrize("text", [CLAIM, TALK])
def test_in_doubt_the_sum_of_both_decides(monkeypatch, weighed, says, text):
    asked = told(monkeypatch, weighed=weighed, network_says=says)
    (sentence,) = segment(text)
    assert (read(sentence).claim is not None) == (says > 0)
    assert asked.texts == [text]


def test_rules_alone_ask_nobody(monkeypatch):
    asked = told(monkeypatch, weighed=0.0, network_says=-20.0)
    (sentence,) = segment(CLAIM)
    assert read(sentence, learned=False).claim is not None
    assert asked.texts == []


def test_the_fingerprint_tells_what_was_learned_whatever_scores():
    digests = [
        hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()
        for name in ("alike.npz", "claimhood.npz", FILE)
    ]
    assert hashlib.sha256("".join(digests).encode()).hexdigest()[:12] == LEARNED
    for scorer in (LexicalScorer(), ScriptedScorer([])):
        with Verifier(scorer) as verifier:
            assert verifier.fingerprint.reader == LEARNED
