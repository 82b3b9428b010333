"""The reader's network: its graph computes what it computes, and padding changes nothing."""

import random

import numpy as np
import onnxruntime as ort
import pytest
import torch

from streamverify.types import SentenceKind
from training.architecture import Shape
from training.claimhood import Sentence
from training.claimhood_network import ClaimNetwork, Row, graph_of, log_odds, tune

SHAPE = Shape(layers=2, hidden=96)


def row(ids, *, claims=True):
    return Row(ids, Sentence("", SentenceKind.PROSE, "", claims, "fact" if claims else "talk", "w", "s", 1.0))


@pytest.mark.parametrize(("int8", "near"), [(False, 1e-4), (True, 0.1)])
def test_the_graph_gives_the_log_odds_of_the_network(int8, near):
    torch.manual_seed(1)
    model = ClaimNetwork(SHAPE, 2, words=200).eval()
    session = ort.InferenceSession(graph_of(model, int8=int8).SerializeToString())
    for length in (2, 3, 17, 98):
        ids = [101, *range(3, length + 1), 102]
        words = model.word.weight[ids].detach().numpy()
        [found] = session.run(["log_odds"], {"words": words})
        assert found == pytest.approx(log_odds(model, [row(ids)]), abs=near)


def test_a_sentence_has_the_same_odds_in_any_batch():
    torch.manual_seed(2)
    model = ClaimNetwork(SHAPE, 2, words=200)
    rows = [row([101, *range(1, length), 102]) for length in (1, 2, 5, 30)]
    alone = [log_odds(model, [one])[0] for one in rows]
    assert log_odds(model, rows) == pytest.approx(np.array(alone), abs=1e-5)


def test_it_learns_a_word_and_leaves_its_words_as_they_are():
    torch.manual_seed(3)
    random.seed(3)
    model = ClaimNetwork(SHAPE, 2, words=200)
    words = model.word.weight.clone()
    rows = [row([101, 10 + i % 7, 50 if i % 2 else 60, 102], claims=i % 2 == 1) for i in range(128)]
    tune(model, rows, ["fact", "talk"], passes=15)
    assert torch.equal(model.word.weight, words)
    assert ((log_odds(model, rows) > 0) == np.array([one.sentence.claims for one in rows])).mean() > 0.95
