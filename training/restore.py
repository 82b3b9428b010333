"""Weights of a released int8 graph, for training on from a release whose checkpoint is gone.

`python -m training.restore MODEL.int8.onnx --words START --out WEIGHTS.safetensors`

Each weight is off by up to half a quantization step.  The word vectors, which training leaves
alone, come from the checkpoint that the release's training started from.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from safetensors.torch import load_file, save_file

from training.checkpoints import from_weights, own_names
from training.graph import RELATIVE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray
    from torch import Tensor

_QUANTIZED = "_quantized"
_TABLES = ("word.weight", "pos.weight", "typ.weight")
_LINEAR = re.compile(r"^/(?P<part>joined|o|f1|f2|tok)(?:[._](?P<layer>\d+))?/MatMul_quant$")
"""Name of a product in the graph: the first layer's `o`, `f1` and `f2` have no number."""


def restore(graph: onnx.ModelProto, words: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """All weights of the network.

    Args:
        graph: what `export.write_int8` wrote.
        words: a checkpoint with the word vectors, under the recipe's names or as it was published.

    Raises:
        RuntimeError: the graph lacks a weight, or has one of another shape. Operator.
    """
    held = {i.name: numpy_helper.to_array(i) for i in graph.graph.initializer}
    found = _traced(graph, held) if any("joined" in name for name in held) else _named(held)
    found["word.weight"] = (words if "word.weight" in words else own_names(words))["word.weight"]
    state = from_weights(found).state_dict()
    return {name: value.contiguous().clone() for name, value in state.items()}


def _named(held: Mapping[str, NDArray[np.generic]]) -> dict[str, Tensor]:
    """Weights of a graph that `graph.py` wrote, under the network's names."""
    found: dict[str, Tensor] = {}
    for name, value in held.items():
        if name.endswith(_QUANTIZED):
            whole = name.removesuffix(_QUANTIZED)
            weight = dequantized(held, whole)
            # Products keep their weights as (in, out), tables as (rows, hidden).
            found[whole] = weight if whole in _TABLES else weight.T
        elif name.endswith((".bias", ".weight", RELATIVE)) and value.dtype == np.float32:
            found[name] = torch.from_numpy(np.array(value))
    return found


def _traced(graph: onnx.ModelProto, held: Mapping[str, NDArray[np.generic]]) -> dict[str, Tensor]:
    """Weights of a graph as version 5 and earlier were traced and quantised."""
    found: dict[str, Tensor] = {}
    for name, value in held.items():
        if name.startswith("model.") and value.dtype == np.float32 and not name.endswith("_scale"):
            found[name.removeprefix("model.")] = torch.from_numpy(value.copy())
        elif name.startswith("model.") and name.endswith(_QUANTIZED):
            whole = name.removesuffix(_QUANTIZED)
            weight = dequantized(held, whole)
            # The export keeps linear layers' weights as (in, out) where it names them.
            found[whole.removeprefix("model.")] = weight.T if whole.startswith("model.head") else weight
    for node in graph.graph.node:
        product = _LINEAR.match(node.name)
        if product is None:
            continue
        weight = dequantized(held, node.input[1].removesuffix(_QUANTIZED)).T
        layer = product["layer"] or "0"
        if product["part"] == "tok":
            found["tok.weight"] = weight
        elif product["part"] == "joined":
            bias = torch.from_numpy(held[f"joined.{layer}.bias"].copy())
            thirds = (whole.chunk(3) for whole in (weight, bias))
            for part, w, b in zip("qkv", *thirds, strict=True):
                found[f"layers.{layer}.{part}.weight"], found[f"layers.{layer}.{part}.bias"] = w, b
        else:
            found[f"layers.{layer}.{product['part']}.weight"] = weight
    return found


def dequantized(held: Mapping[str, NDArray[np.generic]], name: str) -> Tensor:
    """What the whole numbers of a graph stand for: a table's rows, or a product's weights (in, out)."""
    quantized = held[name + _QUANTIZED].astype(np.float32)
    step = np.asarray(held[name + "_scale"], dtype=np.float32)
    zero = np.asarray(held[name + "_zero_point"], dtype=np.float32)
    return torch.from_numpy((quantized - zero) * step)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graph", type=Path, help="model.int8.onnx of a release")
    parser.add_argument("--words", type=Path, required=True, help="safetensors with the word vectors")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    save_file(restore(onnx.load(options.graph), load_file(options.words)), options.out)


if __name__ == "__main__":
    main()
