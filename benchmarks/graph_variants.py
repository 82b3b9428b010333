"""Other ways to write the same graph, for `ablation.py`: what each would change alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import helper, numpy_helper

_MICROSOFT = "com.microsoft"


def one_product(content: bytes) -> bytes:
    """Queries, keys and values of a layer as one product whose result is split."""
    model = onnx.load_from_string(content)
    held = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}

    def change(graph: onnx.GraphProto) -> None:
        named = {node.output[0]: node for node in graph.node}
        for layer in range(_layers(held)):
            parts = [named[name] for part in "qkv" if (name := f"layers.{layer}.{part}.out") in named]
            if len(parts) < 2:
                continue
            inputs = list(parts[0].input)
            for place in (1, 3, 5, 6):  # weights, steps, zero points, biases
                whole = np.concatenate([held[node.input[place]] for node in parts], axis=-1)
                inputs[place] = f"layers.{layer}.whole.{place}"
                model.graph.initializer.append(numpy_helper.from_array(whole, inputs[place]))
            sizes, result = f"layers.{layer}.sizes", f"layers.{layer}.whole.out"
            each = np.array([held[node.input[1]].shape[1] for node in parts], np.int64)
            model.graph.initializer.append(numpy_helper.from_array(each, sizes))
            at = list(graph.node).index(parts[0])
            names = [node.output[0] for node in parts]
            for node in parts:
                graph.node.remove(node)
            graph.node.insert(at, helper.make_node("Split", [result, sizes], names, axis=-1))
            product = helper.make_node("MatMulIntegerToFloat", inputs, [result], domain=_MICROSOFT)
            graph.node.insert(at, product)

    _each(model.graph, change)
    whole: bytes = model.SerializeToString()
    return whole


def one_attention(content: bytes) -> bytes:
    """Scores, softmax and reading of a layer as the runtime's own MultiHeadAttention."""
    model = onnx.load_from_string(content)
    held = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    model.graph.initializer.append(numpy_helper.from_array(np.array([0], np.int64), "first_axis"))
    heads = model.graph.input[2].type.tensor_type.shape.dim[0].dim_value

    def change(graph: onnx.GraphProto) -> None:
        named = {node.output[0]: node for node in graph.node}
        for layer in range(_layers(held)):
            of = f"layers.{layer}"
            if f"{of}.scores" not in named:
                continue
            at = list(graph.node).index(named[f"{of}.attended"])
            inputs = [f"{of}.q.out", f"{of}.keys", f"{of}.values"]
            nodes = [
                helper.make_node("Unsqueeze", [name, "first_axis"], [f"{name}.batch"]) for name in inputs
            ]
            batch = [f"{name}.batch" for name in inputs]
            whole = f"{of}.whole"
            how = {"domain": _MICROSOFT, "num_heads": heads}
            nodes.append(helper.make_node("MultiHeadAttention", batch, [whole], **how))
            nodes.append(helper.make_node("Squeeze", [whole, "first_axis"], [f"{of}.attended"]))
            for place, node in enumerate(nodes):
                graph.node.insert(at + 1 + place, node)
            for part in ("scores", "weights", "read", "joined", "attended", "q.heads", "q.apart"):
                graph.node.remove(named[f"{of}.{part}"])

    _each(model.graph, change)
    whole: bytes = model.SerializeToString()
    return whole


def _layers(held: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]) -> int:
    return sum(name.endswith(".k.weight_quantized") for name in held)


def _each(graph: onnx.GraphProto, change: Callable[[onnx.GraphProto], None]) -> None:
    """Change a graph and its branches."""
    for node in list(graph.node):
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _each(attribute.g, change)
    change(graph)
