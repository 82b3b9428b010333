"""Networks with numbers of our own."""

import torch

from training.architecture import MINILM_L6, Shape

SHAPES = (MINILM_L6, Shape(layers=4, hidden=96, epsilon=1e-5, buckets=32))
"""The small network's, and one with relative positions."""


def network(form, shape):
    model = form(shape).eval()
    if shape.buckets:
        torch.nn.init.normal_(model.relative)
    return model


def mpnet_checkpoint(layers=4, hidden=24):
    """The names and sizes of a Hugging Face MPNet checkpoint, with numbers of our own."""
    names = {
        "embeddings.word_embeddings.weight": (30_527, hidden),
        "embeddings.position_embeddings.weight": (514, hidden),
        "embeddings.LayerNorm.weight": (hidden,),
        "embeddings.LayerNorm.bias": (hidden,),
        "encoder.relative_attention_bias.weight": (32, 12),
        "pooler.dense.weight": (hidden, hidden),
    }
    for n in range(layers):
        sizes = {f"attention.attn.{part}": (hidden, hidden) for part in "qkvo"}
        sizes |= {"intermediate.dense": (4 * hidden, hidden), "output.dense": (hidden, 4 * hidden)}
        sizes |= {"attention.LayerNorm": (hidden,), "output.LayerNorm": (hidden,)}
        for name, size in sizes.items():
            names[f"encoder.layer.{n}.{name}.weight"] = size
            names[f"encoder.layer.{n}.{name}.bias"] = size[:1]
    return {name: torch.randn(*size) for name, size in names.items()}
