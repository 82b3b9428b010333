"""8-bit weights in the sign that the processor multiplies fastest, where that changes no bit.

    file      weights unsigned around 128: sums are exact on every processor
    signed?   the runtime multiplies the largest numbers there are, and is right ──► weights less 128
                                                                   └─ sums clamped ─► as they are

Before: `premise_graph.py` has a file to load. After: `runtime.py` loads what this gives.

Where a processor adds four 8-bit products at once, the runtime's product with signed weights takes half the
time of the one with unsigned ones. Where it does not, sums with signed weights are clamped to 16 bits in
between and come out wrong. Weights less 128 around a zero point less 128 are the same numbers, and the sums
are whole, so that what follows is the same to the last bit (docs/decisions/unsigned-weights.md).
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from streamverify.scorers.graphs import onnx_fields as onnx
from streamverify.scorers.graphs.onnx_fields import Field, count, fields, held, put, text, value
from streamverify.scorers.graphs.onnx_runtime import onnxruntime as ort

PRODUCT = "MatMulIntegerToFloat"
"""Kind of the nodes whose weights may be turned."""
_WEIGHTS, _ZERO_POINTS = 1, 5
"""Their inputs."""

_UNSIGNED, _SIGNED, _FLOAT = 2, 3, 1
_DEEPEST = 8
"""Graphs within graphs; the library's own have two."""


def turned(graph: bytes) -> bytes:
    """The graph with signed weights in its products, or as it is where that is not known to be the same.

    Args:
        graph: an ONNX file; what is none is given back.
    """
    if platform.machine().lower() not in {"x86_64", "amd64"} or not exact():
        return graph
    return signed(graph)


def signed(graph: bytes) -> bytes:
    """The graph with weights and zero points of its products less 128, as signed bytes.

    All products or none: one that is not as expected leaves the graph as it is. Length and order stay.
    """
    found = bytearray(graph)
    try:
        whole = onnx.graph_of(graph)
        wanted = set(_weights(graph, whole, _DEEPEST))
        tensors = {
            tensor.name: tensor
            for field in fields(graph, whole.start, whole.end)
            if field.number == onnx.GRAPH_HELD and (tensor := _tensor(graph, field)) is not None
        }
        for name in wanted:
            tensor = tensors[name]
            if graph[tensor.kind] != _UNSIGNED:
                return graph
            found[tensor.kind] = _SIGNED
            numbers = np.frombuffer(graph, np.uint8, tensor.end - tensor.start, tensor.start)
            found[tensor.start : tensor.end] = (numbers ^ 0x80).tobytes()
    except (ValueError, IndexError, KeyError):  # no such file: the runtime tells
        return graph
    return bytes(found)


def exact() -> bool:
    """Whether this runtime on this processor sums products of the largest signed weights as they are."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(_trial(), options, providers=["CPUExecutionProvider"])
    for rows in (1, 2, 8):  # one row has a kernel of its own
        given = np.full((rows, _INNER), 255, np.uint8)
        sums = np.asarray(session.run(None, {"x": given})[0])
        if not np.array_equal(sums, np.full((rows, _OUTER), 255.0 * 127 * _INNER)):
            return False
    return True


class _Tensor(NamedTuple):
    """Where a tensor has its type, one byte, and its numbers."""

    name: bytes
    kind: int
    start: int
    end: int


def _weights(data: bytes, graph: Field, deep: int) -> Iterator[bytes]:
    """Names of weights and zero points of the products in a graph and in its branches."""
    if not deep:
        raise ValueError(deep)
    for node in fields(data, graph.start, graph.end):
        if node.number != onnx.GRAPH_NODE:
            continue
        parts = list(fields(data, node.start, node.end))
        if any(part.number == onnx.NODE_KIND and text(data, part) == PRODUCT.encode() for part in parts):
            inputs = [text(data, part) for part in parts if part.number == onnx.NODE_INPUT]
            yield inputs[_WEIGHTS]
            yield inputs[_ZERO_POINTS]
        for attribute in parts:
            if attribute.number == onnx.NODE_ATTRIBUTE:
                for part in fields(data, attribute.start, attribute.end):
                    if part.number == onnx.ATTRIBUTE_GRAPH:
                        yield from _weights(data, part, deep - 1)


def _tensor(data: bytes, whole: Field) -> _Tensor | None:
    """None where its numbers do not stand in the file as bytes."""
    parts = {part.number: part for part in fields(data, whole.start, whole.end)}
    if not {onnx.HELD_TYPE, onnx.HELD_NAME, onnx.HELD_BYTES} <= parts.keys():
        return None
    numbers = parts[onnx.HELD_BYTES]
    return _Tensor(text(data, parts[onnx.HELD_NAME]), parts[onnx.HELD_TYPE].start, numbers.start, numbers.end)


_INNER, _OUTER = 64, 32
"""Size of the trial: as many products a sum as the runtime takes at once several times over."""


def _trial() -> bytes:
    """A graph of one product: unsigned `x` (rows, _INNER) with weights that are all 127."""
    ones = np.ones(_OUTER, np.float32)
    tensors = [
        held("weights", _SIGNED, (_INNER, _OUTER), np.full((_INNER, _OUTER), 127, np.int8).tobytes()),
        held("step", _FLOAT, (), ones[0].tobytes()),
        held("steps", _FLOAT, (_OUTER,), ones.tobytes()),
        held("zero", _UNSIGNED, (), bytes(1)),
        held("zeros", _SIGNED, (_OUTER,), bytes(_OUTER)),
    ]
    names = ("x", "weights", "step", "steps", "zero", "zeros")
    node = b"".join(put(onnx.NODE_INPUT, name.encode()) for name in names)
    node += (
        put(onnx.NODE_OUTPUT, b"y")
        + put(onnx.NODE_KIND, PRODUCT.encode())
        + put(onnx.NODE_DOMAIN, onnx.MICROSOFT)
    )
    graph = (
        put(onnx.GRAPH_NODE, node)
        + put(onnx.GRAPH_NAME, b"trial")
        + b"".join(put(onnx.GRAPH_HELD, t) for t in tensors)
    )
    graph += put(onnx.GRAPH_INPUT, value("x", _UNSIGNED, ("rows", _INNER)))
    graph += put(onnx.GRAPH_OUTPUT, value("y", _FLOAT, ("rows", _OUTER)))
    sets = put(8, put(1, b"") + count(2, 17)) + put(8, put(1, onnx.MICROSOFT) + count(2, 1))
    return count(1, 8) + put(onnx.MODEL_GRAPH, graph) + sets
