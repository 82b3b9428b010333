"""The graph the library runs, written node by node: few kernels, and only those that are needed.

Inputs: `input_ids` (T,) int64; `segment` (1,) int64, 0 for a window and 1 for a claim; for each layer and
each of `PLACES` windows `past_keys_LAYER_PLACE` and `past_values_LAYER_PLACE` (heads, P, head size), where
P may be 0.
Outputs: `logits` (1, 3), `token_logits` (T,) and `embedding` (1, hidden), all empty for a window;
`present_keys_LAYER` and `present_values_LAYER` (heads, T, head size) of this run's tokens.

A run holds one window or one claim, so there is neither a batch nor padding, and no mask. What follows
the keys and values of the last layer stands in a branch that a window does not take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from training.architecture import POSITIONS, PremiseCachedEncoder, position_buckets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PLACES = 3
"""Windows a claim reads without somebody joining them first."""
RELATIVE = "relative"
"""The network's weights of relative positions, (buckets, heads), where it has them."""
JUDGEMENT = ("logits", "token_logits", "embedding")

MICROSOFT = "com.microsoft"
OPSETS = {"": 17, MICROSOFT: 1}
_ZERO = 128
"""Zero point of the products' weights: signed ones saturate on processors without 8-bit dot products."""


def past_names(layers: int, place: int) -> list[tuple[str, str]]:
    """Inputs for the keys and values of one window, layer by layer."""
    return [(f"past_keys_{i}_{place}", f"past_values_{i}_{place}") for i in range(layers)]


def present_names(layers: int) -> list[tuple[str, str]]:
    """Outputs with the keys and values of a run's own tokens, layer by layer."""
    return [(f"present_keys_{i}", f"present_values_{i}") for i in range(layers)]


def graph_of(model: PremiseCachedEncoder, *, int8: bool) -> onnx.ModelProto:
    """The network as a graph: float32, or 8-bit weights and dynamically quantised activations.

    Inputs and outputs are float32 in each, so that the library takes any of them.
    """
    return Writer(model, int8=int8).model()


def quantized(weight: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """A product's weights (in, out) around `_ZERO`, and the step of each column."""
    step = (np.abs(weight).max(0) / 127).astype(np.float32)
    step[step == 0] = 1
    return (np.rint(weight / step).clip(-127, 127) + _ZERO).astype(np.uint8), step


def quantized_rows(table: NDArray[np.float32]) -> tuple[NDArray[np.uint8], np.float32, np.uint8]:
    """Embeddings in 8 bits: one step and one zero point for the table, which hold its extremes and 0."""
    low, high = min(float(table.min()), 0.0), max(float(table.max()), 0.0)
    step = np.float32((high - low) / 255) if high > low else np.float32(1)
    zero = np.rint(-low / float(step))
    return np.clip(np.rint(table / step) + zero, 0, 255).astype(np.uint8), step, np.uint8(zero)


class Nodes:
    """Nodes in the order they run; the branch has a list of its own and sees what was computed outside."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []

    def add(self, kind: str, inputs: Sequence[str], *outputs: str, domain: str = "", **how: Any) -> str:
        """One node, named like its first output, which is returned."""
        self.nodes.append(helper.make_node(kind, inputs, outputs, name=outputs[0], domain=domain, **how))
        return outputs[0]


class Writer:
    def __init__(self, model: PremiseCachedEncoder, *, int8: bool) -> None:
        self._shape, self._int8 = model.shape, int8
        self._weights = {name: value.numpy() for name, value in model.eval().state_dict().items()}
        self._held: dict[str, onnx.TensorProto] = {}

    def model(self) -> onnx.ModelProto:
        main, shape = Nodes(), self._shape
        x = self._embedded(main)
        bias: str | None = None
        for layer in range(shape.layers - 1):
            split = self._queries_keys_values(main, layer, x, "qkv")
            keys, values = self._seen(main, layer, *split[1:])
            if layer == 0:
                bias = self._position_bias(main, keys)
            x = self._rest(main, layer, x, self._attended(main, layer, split[0], keys, values, bias))
        last = shape.layers - 1
        keys, values = self._seen(main, last, *self._queries_keys_values(main, last, x, "kv"))
        if last == 0:
            bias = self._position_bias(main, keys)
        claim = main.add("Cast", ["segment"], "is_claim", to=TensorProto.BOOL)
        judged, skipped = self._judged(x, keys, values, bias), self._skipped()
        main.add("If", [claim], *JUDGEMENT, then_branch=judged, else_branch=skipped)
        graph = helper.make_graph(
            main.nodes, "premise_cached", self._inputs(), self._outputs(), list(self._held.values())
        )
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8, producer_name="training.graph")
        onnx.checker.check_model(model)
        return model

    def _inputs(self) -> list[onnx.ValueInfoProto]:
        heads, size = self._shape.heads, self._shape.head_size
        whole = [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["tokens"]),
            helper.make_tensor_value_info("segment", TensorProto.INT64, [1]),
        ]
        for place in range(PLACES):
            for names in past_names(self._shape.layers, place):
                whole += [
                    helper.make_tensor_value_info(name, TensorProto.FLOAT, [heads, f"past_{place}", size])
                    for name in names
                ]
        return whole

    def _outputs(self) -> list[onnx.ValueInfoProto]:
        heads, size = self._shape.heads, self._shape.head_size
        present = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [heads, "tokens", size])
            for names in present_names(self._shape.layers)
            for name in names
        ]
        return [*self._judgement("claim", "marks"), *present]

    def _judgement(self, rows: str, tokens: str) -> list[onnx.ValueInfoProto]:
        shapes = ([rows, 3], [tokens], [rows, self._shape.hidden])
        return [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in zip(JUDGEMENT, shapes, strict=True)
        ]

    def _hold(self, name: str, value: NDArray[Any] | np.generic) -> str:
        if name not in self._held:
            self._held[name] = numpy_helper.from_array(np.array(value, order="C"), name)
        return name

    def _number(self, value: int) -> str:
        return self._hold(f"number_{value}", np.int64(value))

    def _numbers(self, *values: int) -> str:
        return self._hold("numbers_" + "_".join(map(str, values)), np.array(values, np.int64))

    def _feed_forward(self, to: Nodes, x: str, weights: str, place: str) -> str:
        """A linear map; MPNet's activations are quantised with a step for each token.

        A few of its tokens have numbers twenty times those of all others there, and one step for all would
        leave the others next to nothing. Where a row is divided by its largest number first, and the product
        multiplied by it again, the runtime's one step serves each. MiniLM's verdicts gain nothing by it.
        """
        if not self._int8 or not self._shape.buckets:
            return self._linear(to, x, [weights], place)[0]
        size = to.add("ReduceMax", [to.add("Abs", [x], f"{place}.sizes")], f"{place}.size", axes=[1])
        least = self._hold("least", np.float32(1e-6))
        size = to.add("Max", [size, least], f"{place}.size_above_0")
        even = to.add("Div", [x, size], f"{place}.even")
        [product] = self._linear(to, even, [weights], place, biased=False)
        bias = self._hold(f"{weights}.bias", self._weights[f"{weights}.bias"])
        return to.add("Add", [to.add("Mul", [product, size], f"{weights}.whole"), bias], f"{weights}.biased")

    def _linear(
        self, to: Nodes, x: str, weights: Sequence[str], place: str, *, biased: bool = True
    ) -> list[str]:
        """One or more linear maps of the same activations, which are quantised once."""
        quantised = [f"{place}.{part}" for part in ("quantized", "step", "zero")]
        if self._int8:
            to.add("DynamicQuantizeLinear", [x], *quantised)
        found = []
        for name in weights:
            bias = self._hold(f"{name}.bias", self._weights[f"{name}.bias"]) if biased else ""
            weight = self._weights[f"{name}.weight"].T
            if self._int8:
                whole, step = quantized(weight)
                zero = np.full(step.shape, _ZERO, np.uint8)
                parts = (("weight_quantized", whole), ("weight_scale", step), ("weight_zero_point", zero))
                number, scale, middle = (self._hold(f"{name}.{part}", value) for part, value in parts)
                inputs = [quantised[0], number, quantised[1], scale, quantised[2], middle, bias]
                found.append(to.add("MatMulIntegerToFloat", inputs, f"{name}.out", domain=MICROSOFT))
            else:
                product = to.add("MatMul", [x, self._hold(f"{name}.weight", weight)], f"{name}.product")
                found.append(to.add("Add", [product, bias], f"{name}.out"))
        return found

    def _norm(self, to: Nodes, x: str, name: str) -> str:
        parts = [self._hold(f"{name}.{part}", self._weights[f"{name}.{part}"]) for part in ("weight", "bias")]
        epsilon = self._shape.epsilon
        return to.add("LayerNormalization", [x, *parts], f"{name}.out", axis=-1, epsilon=epsilon)

    def _table(self, to: Nodes, name: str, rows: str) -> str:
        table = self._weights[f"{name}.weight"]
        if not self._int8:
            return to.add("Gather", [self._hold(f"{name}.weight", table), rows], f"{name}.out")
        whole, step, zero = quantized_rows(table)
        found = to.add("Gather", [self._hold(f"{name}.weight_quantized", whole), rows], f"{name}.rows")
        scale = self._hold(f"{name}.weight_scale", step)
        middle = self._hold(f"{name}.weight_zero_point", zero)
        return to.add("DequantizeLinear", [found, scale, middle], f"{name}.out")

    def _embedded(self, to: Nodes) -> str:
        length = to.add("Shape", ["input_ids"], "length")
        tokens = to.add("Squeeze", [length], "tokens")
        to.add("Range", [self._number(0), tokens, self._number(1)], "place")
        word, pos = self._table(to, "word", "input_ids"), self._table(to, "pos", "place")
        placed = to.add("Add", [word, pos], "word_and_place")
        return self._norm(to, to.add("Add", [placed, self._table(to, "typ", "segment")], "embedded"), "ln")

    def _queries_keys_values(self, to: Nodes, layer: int, x: str, parts: str) -> list[str]:
        """Each (heads, tokens, head size)."""
        shape = self._shape
        found = self._linear(to, x, [f"layers.{layer}.{part}" for part in parts], f"layers.{layer}.{parts}")
        names = dict(zip("kv", present_names(shape.layers)[layer], strict=True))
        split = []
        for part, flat in zip(parts, found, strict=True):
            name = f"layers.{layer}.{part}"
            apart = to.add(
                "Reshape", [flat, self._numbers(-1, shape.heads, shape.head_size)], f"{name}.apart"
            )
            split.append(to.add("Transpose", [apart], names.get(part, f"{name}.heads"), perm=[1, 0, 2]))
        return split

    def _seen(self, to: Nodes, layer: int, keys: str, values: str) -> tuple[str, str]:
        """Keys and values of the windows and, after them, of the run's own tokens."""
        past = [past_names(self._shape.layers, place)[layer] for place in range(PLACES)]
        old_keys, old_values = zip(*past, strict=True)
        return (
            to.add("Concat", [*old_keys, keys], f"layers.{layer}.keys", axis=1),
            to.add("Concat", [*old_values, values], f"layers.{layer}.values", axis=1),
        )

    def _position_bias(self, to: Nodes, keys: str) -> str | None:
        """What relative positions add to the scores (heads, tokens, keys): windows stand far before."""
        shape = self._shape
        if not shape.buckets:
            return None
        table = self._hold(RELATIVE, self._weights[RELATIVE])
        by_head = to.add("Transpose", [table], "relative_by_head", perm=[1, 0])
        rows = to.add("Unsqueeze", ["place", self._numbers(1)], "place_of_query")
        columns = to.add("Unsqueeze", ["place", self._numbers(0)], "place_of_key")
        apart = to.add("Sub", [columns, rows], "distance")
        reach = torch.arange(1 - POSITIONS, POSITIONS)
        buckets = self._hold("bucket_of_distance", position_buckets(reach, shape.buckets).numpy())
        bucket = to.add(
            "Gather", [buckets, to.add("Add", [apart, self._number(POSITIONS - 1)], "row")], "bucket"
        )
        own = to.add("Gather", [by_head, bucket], "own_bias", axis=1)
        furthest = to.add("Gather", [by_head, self._numbers(shape.buckets // 2 - 1)], "furthest", axis=1)
        far = to.add("Unsqueeze", [furthest, self._numbers(2)], "far")
        seen = to.add("Gather", [to.add("Shape", [keys], "seen"), self._numbers(1)], "seen_tokens")
        windows = to.add("Sub", [seen, "length"], "past_tokens")
        size = to.add("Concat", [self._numbers(shape.heads), "length", windows], "past_size", axis=0)
        return to.add("Concat", [to.add("Expand", [far, size], "past_bias"), own], "position_bias", axis=2)

    def _attended(self, to: Nodes, layer: int, queries: str, keys: str, values: str, bias: str | None) -> str:
        """(tokens, hidden)."""
        name, shape = f"layers.{layer}", self._shape
        how = {"domain": MICROSOFT, "transB": 1, "alpha": shape.head_size**-0.5}
        scores = to.add("FusedMatMul", [queries, keys], f"{name}.scores", **how)
        if bias is not None:
            scores = to.add("Add", [scores, bias], f"{name}.placed")
        weights = to.add("Softmax", [scores], f"{name}.weights", axis=-1)
        read = to.add("MatMul", [weights, values], f"{name}.read")
        joined = to.add("Transpose", [read], f"{name}.joined", perm=[1, 0, 2])
        return to.add("Reshape", [joined, self._numbers(-1, shape.hidden)], f"{name}.attended")

    def _rest(self, to: Nodes, layer: int, x: str, attended: str) -> str:
        # The states have two axes and not three: so the runtime leaves sum and norm as they are; what it
        # would put in their place takes three times as long.
        name = f"layers.{layer}"
        [out] = self._linear(to, attended, [f"{name}.o"], f"{name}.attended")
        x = self._norm(to, to.add("Add", [x, out], f"{name}.after_attention"), f"{name}.ln1")
        wide = self._feed_forward(to, x, f"{name}.f1", f"{name}.ln1")
        wide = to.add("Gelu", [wide], f"{name}.wide", domain=MICROSOFT)
        out = self._feed_forward(to, wide, f"{name}.f2", f"{name}.wide")
        return self._norm(to, to.add("Add", [x, out], f"{name}.after_feed_forward"), f"{name}.ln2")

    def _judged(self, x: str, keys: str, values: str, bias: str | None) -> onnx.GraphProto:
        """The last layer from its queries on, and both heads."""
        to, last = Nodes(), self._shape.layers - 1
        [queries] = self._queries_keys_values(to, last, x, "q")
        x = self._rest(to, last, x, self._attended(to, last, queries, keys, values, bias))
        mean = to.add("ReduceMean", [x], JUDGEMENT[2], axes=[0], keepdims=1)
        first = to.add("Gather", [x, self._numbers(0)], "first")
        pooled = to.add("Concat", [first, mean], "pooled", axis=1)
        [inner] = self._linear(to, pooled, ["head.0"], "pooled")
        [logits] = self._linear(to, to.add("Gelu", [inner], "inner", domain=MICROSOFT), ["head.2"], "inner")
        [marks] = self._linear(to, x, ["tok"], "read")
        to.add("Identity", [logits], JUDGEMENT[0])
        to.add("Reshape", [marks, self._numbers(-1)], JUDGEMENT[1])
        return helper.make_graph(to.nodes, "claim", [], self._judgement("one", "own"))

    def _skipped(self) -> onnx.GraphProto:
        to = Nodes()
        for name, size in zip(JUDGEMENT, ((0, 3), (0,), (0, self._shape.hidden)), strict=True):
            nothing = numpy_helper.from_array(np.zeros(size, np.float32))
            to.add("Constant", [], name, value=nothing)
        return helper.make_graph(to.nodes, "window", [], self._judgement("none", "no"))
