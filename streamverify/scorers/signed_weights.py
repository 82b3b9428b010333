"""8-bit weights in the sign that the processor multiplies fastest, where that changes no bit.

    file      weights unsigned around 128: sums are exact on every processor
    signed?   the runtime multiplies the largest numbers there are, and is right ──► weights less 128
                                                                   └─ sums clamped ─► as they are

Before: `premise_graph.py` has a file to load. After: `runtime.py` loads what this gives.

Where a processor adds four 8-bit products at once, the runtime's product with signed weights takes half the
time of the one with unsigned ones. Where it does not, sums with signed weights are clamped to 16 bits in
between and come out wrong. Weights less 128 around a zero point less 128 are the same numbers, and the sums
are whole, so that what follows is the same to the last bit (docs/decisions/unsigned-weights.md).

The few fields of ONNX that are read and written here are those of its protocol buffers (onnx.proto).
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from streamverify.scorers.onnx_runtime import onnxruntime as ort

PRODUCT = "MatMulIntegerToFloat"
"""Kind of the nodes whose weights may be turned."""
_WEIGHTS, _ZERO_POINTS = 1, 5
"""Their inputs."""

_MODEL_GRAPH, _GRAPH_NODE, _GRAPH_HELD = 7, 1, 5
_NODE_INPUT, _NODE_KIND, _NODE_ATTRIBUTE, _ATTRIBUTE_GRAPH = 1, 4, 5, 6
_HELD_TYPE, _HELD_NAME, _HELD_BYTES = 2, 8, 9
_UNSIGNED, _SIGNED, _FLOAT = 2, 3, 1
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
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
        [whole] = [field for field in _fields(graph, 0, len(graph)) if field.number == _MODEL_GRAPH]
        wanted = set(_weights(graph, whole, _DEEPEST))
        held = {
            tensor.name: tensor
            for field in _fields(graph, whole.start, whole.end)
            if field.number == _GRAPH_HELD and (tensor := _tensor(graph, field)) is not None
        }
        for name in wanted:
            tensor = held[name]
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


class _Field(NamedTuple):
    """One field of a message: its number and where its content stands."""

    number: int
    kind: int
    start: int
    end: int


class _Tensor(NamedTuple):
    """Where a tensor has its type, one byte, and its numbers."""

    name: bytes
    kind: int
    start: int
    end: int


def _fields(data: bytes, start: int, end: int) -> Iterator[_Field]:
    """The fields of a message.

    Raises:
        ValueError, IndexError: it is none.
    """
    while start < end:
        tag, start = _read(data, start)
        kind = tag & 7
        if kind == _VARINT:
            _, after = _read(data, start)
        elif kind == _BYTES:
            length, start = _read(data, start)
            after = start + length
        elif kind in {_FIXED64, _FIXED32}:
            after = start + (8 if kind == _FIXED64 else 4)
        else:
            raise ValueError(kind)
        if after > end:
            raise ValueError(after)
        yield _Field(tag >> 3, kind, start, after)
        start = after


def _read(data: bytes, start: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[start]
        start += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, start
        if shift > 63:
            raise ValueError(start)


def _weights(data: bytes, graph: _Field, deep: int) -> Iterator[bytes]:
    """Names of weights and zero points of the products in a graph and in its branches."""
    if not deep:
        raise ValueError(deep)
    for node in _fields(data, graph.start, graph.end):
        if node.number != _GRAPH_NODE:
            continue
        parts = list(_fields(data, node.start, node.end))
        if any(part.number == _NODE_KIND and _text(data, part) == PRODUCT.encode() for part in parts):
            inputs = [_text(data, part) for part in parts if part.number == _NODE_INPUT]
            yield inputs[_WEIGHTS]
            yield inputs[_ZERO_POINTS]
        for attribute in parts:
            if attribute.number == _NODE_ATTRIBUTE:
                for part in _fields(data, attribute.start, attribute.end):
                    if part.number == _ATTRIBUTE_GRAPH:
                        yield from _weights(data, part, deep - 1)


def _tensor(data: bytes, held: _Field) -> _Tensor | None:
    """None where its numbers do not stand in the file as bytes."""
    parts = {part.number: part for part in _fields(data, held.start, held.end)}
    if not {_HELD_TYPE, _HELD_NAME, _HELD_BYTES} <= parts.keys():
        return None
    numbers = parts[_HELD_BYTES]
    return _Tensor(_text(data, parts[_HELD_NAME]), parts[_HELD_TYPE].start, numbers.start, numbers.end)


def _text(data: bytes, field: _Field) -> bytes:
    return data[field.start : field.end]


_INNER, _OUTER = 64, 32
"""Size of the trial: as many products a sum as the runtime takes at once several times over."""


def _trial() -> bytes:
    """A graph of one product: unsigned `x` (rows, _INNER) with weights that are all 127."""
    ones = np.ones(_OUTER, np.float32)
    held = [
        _constant("weights", _SIGNED, np.full((_INNER, _OUTER), 127, np.int8)),
        _constant("step", _FLOAT, ones[0]),
        _constant("steps", _FLOAT, ones),
        _constant("zero", _UNSIGNED, np.uint8(0)),
        _constant("zeros", _SIGNED, np.zeros(_OUTER, np.int8)),
    ]
    names = ("x", "weights", "step", "steps", "zero", "zeros")
    node = b"".join(_put(_NODE_INPUT, name.encode()) for name in names)
    node += _put(2, b"y") + _put(_NODE_KIND, PRODUCT.encode()) + _put(7, _MICROSOFT)
    graph = _put(_GRAPH_NODE, node) + _put(2, b"trial") + b"".join(_put(_GRAPH_HELD, one) for one in held)
    graph += _put(11, _value("x", _UNSIGNED, _INNER)) + _put(12, _value("y", _FLOAT, _OUTER))
    sets = _put(8, _put(1, b"") + _count(2, 17)) + _put(8, _put(1, _MICROSOFT) + _count(2, 1))
    return _count(1, 8) + _put(_MODEL_GRAPH, graph) + sets


_MICROSOFT = b"com.microsoft"


def _constant(
    name: str, kind: int, value: np.ndarray[tuple[int, ...], np.dtype[np.generic]] | np.generic
) -> bytes:
    sizes = b"".join(_count(1, size) for size in value.shape)
    return (
        sizes
        + _count(_HELD_TYPE, kind)
        + _put(_HELD_NAME, name.encode())
        + _put(_HELD_BYTES, value.tobytes())
    )


def _value(name: str, kind: int, columns: int) -> bytes:
    shape = _put(1, _put(2, b"rows")) + _put(1, _count(1, columns))
    return _put(1, name.encode()) + _put(2, _put(1, _count(1, kind) + _put(2, shape)))


def _put(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _count(number: int, value: int) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(value)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
