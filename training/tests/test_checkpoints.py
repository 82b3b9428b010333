"""Published weights under our names, and kept as what a run changed."""

import torch

from training.architecture import Shape
from training.checkpoints import from_weights
from training.delta import pack, unpack
from training.tests.toys import mpnet_checkpoint


def test_an_mpnet_checkpoint_loads_with_its_words_in_berts_order():
    checkpoint = mpnet_checkpoint()
    model = from_weights(checkpoint)
    words = checkpoint["embeddings.word_embeddings.weight"]
    for bert, mpnet in {0: 1, 100: 3, 101: 0, 102: 2, 103: 30_526, 1996: 2000}.items():
        assert torch.equal(model.word.weight[bert], words[mpnet])
    assert torch.equal(model.pos.weight[0], checkpoint["embeddings.position_embeddings.weight"][2])
    assert model.shape == Shape(layers=4, hidden=24, epsilon=1e-5, buckets=32)
    again = from_weights(model.state_dict())
    assert again.shape == model.shape
    assert torch.equal(again.relative, model.relative)


def test_what_a_run_changed_is_kept_small_and_had_again():
    base = mpnet_checkpoint()
    weights = {name: value.clone() for name, value in from_weights(base).state_dict().items()}
    weights["layers.1.f1.weight"] += 0.01 * torch.randn_like(weights["layers.1.f1.weight"])
    weights["layers.1.f1.bias"] += 0.01
    kept = pack(base, weights)
    assert {name.removesuffix(".scale") for name in kept} == {
        "layers.1.f1.weight", "layers.1.f1.bias", *(n for n in weights if n.startswith(("head.", "tok."))),
    }  # fmt: skip
    again = unpack(base, kept)
    assert again.keys() == weights.keys()
    for name, value in again.items():
        assert torch.allclose(value, weights[name], atol=3e-4), name
