"""Weights on their way into a network: published checkpoints under this recipe's names, and half of one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from training.architecture import MINILM_L6, MPNET_BASE, POSITIONS, VOCABULARY, PremiseCachedEncoder, Shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

_PARTS = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "o",
    "attention.output.LayerNorm": "ln1",
    "attention.attn.q": "q",
    "attention.attn.k": "k",
    "attention.attn.v": "v",
    "attention.attn.o": "o",
    "attention.LayerNorm": "ln1",
    "intermediate.dense": "f1",
    "output.dense": "f2",
    "output.LayerNorm": "ln2",
}
_EMBEDDINGS = {
    "word_embeddings": "word",
    "position_embeddings": "pos",
    "token_type_embeddings": "typ",
    "LayerNorm": "ln",
}
_RELATIVE = "encoder.relative_attention_bias.weight"
_MPNET_SPECIAL = {0: 1, 101: 0, 102: 2, 100: 3, 103: 30_526}
"""Rows of MPNet's word matrix for BERT's [PAD], [CLS], [SEP], [UNK] and [MASK]."""
_MPNET_SHIFT = 4
"""Every other word of BERT's list stands so many rows further down in MPNet's."""
_MPNET_FIRST_POSITION = 2


def own_names(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights of a Hugging Face BERT or MPNet checkpoint under the names of `architecture.py`.

    The pooler and other parts this network has no use for are left out.  MPNet's words are put
    into BERT's order, so that one tokenizer serves both; it has no segments, which start at zero.
    """
    renamed: dict[str, Tensor] = {}
    for name, value in weights.items():
        key = name.removeprefix("0.auto_model.").removeprefix("bert.").removeprefix("mpnet.")
        if key == _RELATIVE:
            renamed["relative"] = value
        elif key.startswith("embeddings."):
            part, _, leaf = key.removeprefix("embeddings.").rpartition(".")
            if part in _EMBEDDINGS:
                renamed[f"{_EMBEDDINGS[part]}.{leaf}"] = value
        elif key.startswith("encoder.layer."):
            number, _, tail = key.removeprefix("encoder.layer.").partition(".")
            part, _, leaf = tail.rpartition(".")
            renamed[f"layers.{number}.{_PARTS[part]}.{leaf}"] = value
    if "relative" in renamed:
        rows = torch.arange(VOCABULARY) + _MPNET_SHIFT
        for bert, mpnet in _MPNET_SPECIAL.items():
            rows[bert] = mpnet
        renamed["word.weight"] = renamed["word.weight"][rows]
        positions = slice(_MPNET_FIRST_POSITION, _MPNET_FIRST_POSITION + POSITIONS)
        renamed["pos.weight"] = renamed["pos.weight"][positions]
        renamed["typ.weight"] = torch.zeros(2, renamed["word.weight"].shape[1])
    return renamed


def shape_of(weights: Mapping[str, Tensor]) -> Shape:
    """The sizes of a checkpoint under the names of `architecture.py`."""
    layers = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("layers."))
    hidden = weights["word.weight"].shape[1]
    if "relative" not in weights:
        return replace(MINILM_L6, layers=layers, hidden=hidden)
    buckets, heads = weights["relative"].shape
    return replace(MPNET_BASE, layers=layers, hidden=hidden, heads=heads, buckets=buckets)


def from_weights(
    weights: Mapping[str, Tensor],
    *,
    dropout: float = 0.0,
    form: type[PremiseCachedEncoder] = PremiseCachedEncoder,
) -> PremiseCachedEncoder:
    """A network in the checkpoint's own shape, with its weights; heads may be missing from the latter.

    Args:
        weights: under the names of `architecture.py`, or a plain BERT or MPNet checkpoint.
        dropout: of embeddings and of what the heads read.
        form: the class to build.

    Raises:
        ValueError: a weight other than the two heads is missing. Operator.
    """
    own = weights if "word.weight" in weights else own_names(weights)
    if "word.weight" not in own:
        raise ValueError("checkpoint lacks word vectors: not a BERT, MPNet or own checkpoint")
    model = form(shape_of(own), dropout=dropout)
    result = model.load_state_dict({name: value.float() for name, value in own.items()}, strict=False)
    absent = [name for name in result.missing_keys if not name.startswith(("head.", "tok."))]
    if absent:
        raise ValueError(f"checkpoint lacks {', '.join(absent[:5])}: not a BERT, MPNet or own checkpoint")
    return model
