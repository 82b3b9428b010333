"""The graph for graphics processors, made of the one for CPUs: many rows a run, in 16 bits.

    file          one window or claim a run, 8-bit weights, activations quantised in the run
    device_graph  rows of windows, or of claims of any number of streams; 16-bit weights and activations

Before: `batched_graph.py` has read a file that `training/graph.py` wrote. After: the runtime loads what this
gives. Weights are the file's own numbers, step times whole number; activations are not quantised. The
products of the file have no kernel on a graphics processor, and its runs are too small for one
(docs/decisions/float16.md).

Takes: `input_ids` (rows, tokens) int64; `lengths` (rows,) int64, tokens of each row that are not filled up;
`segment` (1,) int64, 0 for windows and 1 for claims; for each layer `past_keys_LAYER` and `past_values_LAYER`
(windows, heads, width, head size), whose first `past_lengths` (windows,) int64 tokens are a window's;
`reads` (rows, places) int64, the windows that each row reads, by number.
Gives: `logits` (rows, 3) and `token_logits` (rows, tokens), for windows empty; `present_keys_LAYER` and
`present_values_LAYER` (rows, heads, tokens, head size).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from streamverify.scorers.graphs import onnx_fields as onnx
from streamverify.scorers.graphs.onnx_fields import Field, fields, text
from streamverify.scorers.graphs.onnx_writer import KINDS, Graph

Precision: TypeAlias = Literal["float16", "float32"]

MASKED = -1e4
"""Added to the scores of tokens that a row does not read: in 16 bits too nothing is left of their weight."""

_TYPES = {1: "float32", 2: "uint8", 7: "int64"}


@dataclass(frozen=True, slots=True)
class Network:
    """What a file's graph holds."""

    numbers: Mapping[str, NDArray[Any]]
    layers: int
    heads: int
    hidden: int
    epsilon: float
    """Of the layer norms."""

    @property
    def head_size(self) -> int:
        """Numbers of a key or value in one head."""
        return self.hidden // self.heads

    @classmethod
    def read(cls, file: bytes) -> Network:
        """Read the numbers of an ONNX file as `training/graph.py` writes it, in 8 bits.

        Raises:
            ValueError, IndexError, KeyError: it is no such file.
        """
        graph = onnx.graph_of(file)
        parts = list(fields(file, graph.start, graph.end))
        numbers = dict(_numbers(file, part) for part in parts if part.number == onnx.GRAPH_HELD)
        layers = 1 + max(int(name.split(".")[1]) for name in numbers if name.startswith("layers."))
        nodes = [part for part in parts if part.number == onnx.GRAPH_NODE]
        norms = [node for node in nodes if _named(file, node, onnx.NODE_KIND) == b"LayerNormalization"]
        [epsilon] = {_epsilon(file, node) for node in norms}
        [heads] = {
            _first_size(file, part)
            for part in parts
            if part.number == onnx.GRAPH_INPUT and _named(file, part, onnx.VALUE_NAME) == b"past_keys_0_0"
        }
        return cls(numbers, layers, heads, numbers["ln.weight"].shape[0], epsilon)

    def weight(self, name: str) -> NDArray[np.float32]:
        """A table's rows or a product's weights (in, out), whole number times step."""
        numbers, step = self.numbers[f"{name}_quantized"], self.numbers[f"{name}_scale"]
        found: NDArray[np.float32] = (numbers.astype(np.float32) - self.numbers[f"{name}_zero_point"]) * step
        return found


def device_graph(network: Network, precision: Precision = "float16") -> bytes:
    """The graph as an ONNX file.

    Args:
        network: what it computes.
        precision: of weights, activations, keys and values; logits are float32.

    Raises:
        KeyError: the network lacks a weight.
    """
    return _Writer(network, precision).file()


def past_names(layers: int) -> list[str]:
    """Inputs for the keys and values of windows, layer by layer."""
    return [f"past_{part}_{layer}" for layer in range(layers) for part in ("keys", "values")]


def present_names(layers: int) -> list[str]:
    """Outputs with the keys and values of the rows' own tokens, likewise."""
    return [f"present_{part}_{layer}" for layer in range(layers) for part in ("keys", "values")]


class _Writer:
    def __init__(self, network: Network, precision: Precision) -> None:
        self._network, self._precision = network, precision
        self._main = Graph("batched")

    def file(self) -> bytes:
        to, network = self._main, self._network
        self._declare()
        self._measure()
        x = self._embedded()
        self._mask()
        for layer in range(network.layers - 1):
            queries, keys, values = self._parts(to, layer, x, "qkv")
            seen = self._seen(layer, keys, values)
            x = self._rest(to, layer, x, self._attended(to, layer, queries, *seen))
        last = network.layers - 1
        seen = self._seen(last, *self._parts(to, last, x, "kv"))
        claim = to.add("Cast", ["segment"], "is_claim", to=KINDS["bool"])
        judged, skipped = self._judged(x, *seen), self._skipped()
        to.add("If", [claim], "logits", "token_logits", then_branch=judged, else_branch=skipped)
        return to.file()

    def _declare(self) -> None:
        to, network = self._main, self._network
        to.takes("input_ids", "int64", "rows", "tokens")
        to.takes("lengths", "int64", "rows")
        to.takes("segment", "int64", 1)
        to.takes("reads", "int64", "rows", "places")
        to.takes("past_lengths", "int64", "windows")
        for name in past_names(network.layers):
            to.takes(name, self._precision, "windows", network.heads, "width", network.head_size)
        to.gives("logits", "float32", "judged", 3)
        to.gives("token_logits", "float32", "judged", "marks")
        for name in present_names(network.layers):
            to.gives(name, self._precision, "rows", network.heads, "tokens", network.head_size)

    def _hold(self, name: str, numbers: NDArray[Any] | np.generic) -> str:
        if numbers.dtype == np.float32:
            numbers = numbers.astype(self._precision)
        return self._main.hold(name, numbers)

    def _number(self, value: int) -> str:
        return self._hold(f"number_{value}", np.int64(value))

    def _list(self, *values: int) -> str:
        return self._hold("list_" + "_".join(map(str, values)), np.array(values, np.int64))

    def _linear(self, to: Graph, x: str, name: str) -> str:
        weight = self._hold(f"{name}.weight", self._network.weight(f"{name}.weight"))
        bias = self._hold(f"{name}.bias", self._network.numbers[f"{name}.bias"])
        return to.add("Add", [to.add("MatMul", [x, weight], f"{name}.product"), bias], f"{name}.out")

    def _norm(self, to: Graph, x: str, name: str) -> str:
        held = [f"{name}.{part}" for part in ("weight", "bias")]
        parts = [self._hold(one, self._network.numbers[one]) for one in held]
        epsilon = self._network.epsilon
        return to.add("LayerNormalization", [x, *parts], f"{name}.out", axis=-1, epsilon=epsilon)

    def _table(self, name: str, rows: str) -> str:
        table = self._hold(f"{name}.weight", self._network.weight(f"{name}.weight"))
        return self._main.add("Gather", [table, rows], f"{name}.rows")

    def _measure(self) -> None:
        """Sizes of this run, as lists of one number, and the places of a row's tokens."""
        to = self._main
        sizes = {"input_ids": ("rows", "tokens"), "reads": ("", "places"), "past_keys_0": ("", "", "width")}
        for name, axes in sizes.items():
            shape = to.add("Shape", [name], f"{name}.sizes")
            for axis, size in enumerate(axes):
                if size:
                    to.add("Gather", [shape, self._list(axis)], size)
        to.add("Mul", ["places", "width"], "past")
        for name, size in (("place", "tokens"), ("place_in_window", "width")):
            end = to.add("Squeeze", [size], f"{size}.number")
            to.add("Range", [self._number(0), end, self._number(1)], name)

    def _embedded(self) -> str:
        to = self._main
        words = to.add("Add", [self._table("word", "input_ids"), self._table("pos", "place")], "words")
        return self._norm(to, to.add("Add", [words, self._table("typ", "segment")], "embedded"), "ln")

    def _parts(self, to: Graph, layer: int, x: str, parts: str) -> list[str]:
        """Queries, keys or values, each (rows, heads, tokens, head size)."""
        names = dict(zip("kv", present_names(self._network.layers)[2 * layer : 2 * layer + 2], strict=True))
        apart = self._list(0, 0, self._network.heads, self._network.head_size)
        found = []
        for part in parts:
            name = f"layers.{layer}.{part}"
            split = to.add("Reshape", [self._linear(to, x, name), apart], f"{name}.apart")
            found.append(to.add("Transpose", [split], names.get(part, f"{name}.heads"), perm=[0, 2, 1, 3]))
        return found

    def _seen(self, layer: int, keys: str, values: str) -> tuple[str, str]:
        """Keys and values of the windows that each row reads and, after them, of its own tokens."""
        to, network = self._main, self._network
        if layer == 0:
            inner = [self._list(network.heads), "past", self._list(network.head_size)]
            to.add("Concat", ["rows", *inner], "past_in_row", axis=0)
        found = []
        for name, own in zip(past_names(network.layers)[2 * layer :][:2], (keys, values), strict=True):
            read = to.add("Gather", [name, "reads"], f"{name}.read")  # (rows, places, heads, width, size)
            heads = to.add("Transpose", [read], f"{name}.heads", perm=[0, 2, 1, 3, 4])
            # Sizes may be 0, where rows read nothing.
            joined = to.add("Reshape", [heads, "past_in_row"], f"{name}.joined", allowzero=1)
            found.append(to.add("Concat", [joined, own], f"{name}.seen", axis=2))
        return found[0], found[1]

    def _mask(self) -> None:
        """`mask`, added to the scores: (rows, 1, 1, seen), or of a size for each head and token."""
        to = self._main
        lengths = to.add("Gather", ["past_lengths", "reads"], "read_lengths")
        ends = to.add("Unsqueeze", [lengths, self._list(2)], "read_ends")
        whole = to.add("Less", ["place_in_window", ends], "read_tokens")  # (rows, places, width)
        flat = to.add("Concat", ["rows", "past"], "read_size", axis=0)
        read = to.add("Reshape", [whole, flat], "read_tokens_in_row", allowzero=1)
        own_end = to.add("Unsqueeze", ["lengths", self._list(1)], "own_end")
        own = to.add("Less", ["place", own_end], "own_tokens")
        seen = to.add("Concat", [read, own], "seen_tokens", axis=1)
        shown, masked = (self._hold(f"added_{value:g}", np.float32(value)) for value in (0, MASKED))
        added = to.add("Where", [seen, shown, masked], "added")
        if "relative" not in self._network.numbers:
            to.add("Unsqueeze", [added, self._list(1, 2)], "mask")
            return
        everywhere = to.add("Unsqueeze", [added, self._list(1, 2)], "mask_everywhere")
        to.add("Add", [everywhere, self._placed()], "mask")

    def _placed(self) -> str:
        """What relative positions add, (heads, tokens, seen): windows stand far before a row's own tokens."""
        to, numbers = self._main, self._network.numbers
        table, buckets = numbers["relative"], numbers["bucket_of_distance"]
        by_head = self._hold("relative_by_head", np.ascontiguousarray(table.T))
        rows = to.add("Unsqueeze", ["place", self._list(1)], "place_of_query")
        columns = to.add("Unsqueeze", ["place", self._list(0)], "place_of_key")
        middle = self._number(buckets.shape[0] // 2)
        row = to.add("Add", [to.add("Sub", [columns, rows], "distance"), middle], "distance_row")
        bucket = to.add("Gather", [self._hold("bucket_of_distance", buckets), row], "bucket")
        own = to.add("Gather", [by_head, bucket], "own_places", axis=1)
        furthest = self._hold("furthest", table[buckets[0]].reshape(-1, 1, 1))
        sizes = [self._list(self._network.heads), "tokens", "past"]
        to.add("Concat", sizes, "past_places_size", axis=0)
        past = to.add("Expand", [furthest, "past_places_size"], "past_places")
        return to.add("Concat", [past, own], "places_added", axis=2)

    def _attended(self, to: Graph, layer: int, queries: str, keys: str, values: str) -> str:
        """(rows, tokens, hidden)."""
        name, network = f"layers.{layer}", self._network
        inputs, out, scale = [queries, keys], f"{name}.scores", network.head_size**-0.5
        to.add("FusedMatMul", inputs, out, microsoft=True, transB=1, alpha=scale)
        masked = to.add("Add", [out, "mask"], f"{name}.masked")
        weights = to.add("Softmax", [masked], f"{name}.weights", axis=-1)
        read = to.add("MatMul", [weights, values], f"{name}.read")
        joined = to.add("Transpose", [read], f"{name}.joined", perm=[0, 2, 1, 3])
        return to.add("Reshape", [joined, self._list(0, 0, network.hidden)], f"{name}.attended")

    def _rest(self, to: Graph, layer: int, x: str, attended: str) -> str:
        name = f"layers.{layer}"
        out = self._linear(to, attended, f"{name}.o")
        x = self._norm(to, to.add("Add", [x, out], f"{name}.after_attention"), f"{name}.ln1")
        wide = to.add("Gelu", [self._linear(to, x, f"{name}.f1")], f"{name}.wide", microsoft=True)
        out = self._linear(to, wide, f"{name}.f2")
        return self._norm(to, to.add("Add", [x, out], f"{name}.after_feed_forward"), f"{name}.ln2")

    def _judged(self, x: str, keys: str, values: str) -> Graph:
        """The last layer from its queries on, and both heads."""
        to, last = Graph("claims"), self._network.layers - 1
        [queries] = self._parts(to, last, x, "q")
        x = self._rest(to, last, x, self._attended(to, last, queries, keys, values))
        kind = KINDS[self._precision]
        own = to.add("Cast", ["own_tokens"], "own", to=kind)
        length = to.add("Cast", ["own_end"], "own_count", to=kind)
        share = to.add("Unsqueeze", [to.add("Div", [own, length], "share"), self._list(1)], "share_in_row")
        mean = to.add("Squeeze", [to.add("MatMul", [share, x], "mean_in_row"), self._list(1)], "mean")
        first = to.add("Gather", [x, self._number(0)], "first", axis=1)
        pooled = to.add("Concat", [first, mean], "pooled", axis=1)
        inner = to.add("Gelu", [self._linear(to, pooled, "head.0")], "inner", microsoft=True)
        to.add("Cast", [self._linear(to, inner, "head.2")], "claim_logits", to=KINDS["float32"])
        marks = to.add("Squeeze", [self._linear(to, x, "tok"), self._list(2)], "marks")
        to.add("Cast", [marks], "claim_token_logits", to=KINDS["float32"])
        to.gives("claim_logits", "float32", "rows", 3)
        to.gives("claim_token_logits", "float32", "rows", "tokens")
        return to

    def _skipped(self) -> Graph:
        to = Graph("windows")
        for name, wide in (("no_logits", 3), ("no_token_logits", 0)):
            to.add("Constant", [], name, value=np.zeros((0, wide), np.float32))
            to.gives(name, "float32", 0, wide)
        return to


def _numbers(file: bytes, tensor: Field) -> tuple[str, NDArray[Any]]:
    parts = list(fields(file, tensor.start, tensor.end))
    by_number = {part.number: part for part in parts}
    kind = _TYPES[onnx.number(file, by_number[onnx.HELD_TYPE])]
    sizes = [onnx.number(file, part) for part in parts if part.number == onnx.HELD_SIZE]
    content = by_number[onnx.HELD_BYTES]
    count = (content.end - content.start) // np.dtype(kind).itemsize
    flat = np.frombuffer(file, kind, count, content.start)
    return text(file, by_number[onnx.HELD_NAME]).decode(), flat.reshape(sizes)


def _named(file: bytes, message: Field, number: int) -> bytes:
    [found] = [text(file, part) for part in fields(file, message.start, message.end) if part.number == number]
    return found


def _first_size(file: bytes, given: Field) -> int:
    """The first size of an input, which is a number."""
    place = given
    for number in (onnx.VALUE_TYPE, 1, 2, 1, 1):  # its type, a tensor's, the shape, a size, a number
        place, *_ = (part for part in fields(file, place.start, place.end) if part.number == number)
    return onnx.number(file, place)


def _epsilon(file: bytes, node: Field) -> float:
    for part in fields(file, node.start, node.end):
        if part.number == onnx.NODE_ATTRIBUTE:
            about = {one.number: one for one in fields(file, part.start, part.end)}
            if text(file, about[onnx.ATTRIBUTE_NAME]) == b"epsilon":
                return float(np.frombuffer(text(file, about[onnx.ATTRIBUTE_FLOAT]), "<f4", 1)[0])
    raise KeyError("epsilon")
