"""The few fields of an ONNX file that the library reads and writes itself: protocol buffers (onnx.proto).

Before: `signed_weights.py` and `packed_passes.py` change graphs, `claims/network.py` looks for a table in
one. What is read are places in a file's bytes; what is written are short messages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from mmap import mmap
from typing import NamedTuple, TypeAlias

MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_NAME, GRAPH_HELD, GRAPH_INPUT, GRAPH_OUTPUT = 1, 2, 5, 11, 12
NODE_INPUT, NODE_OUTPUT, NODE_NAME, NODE_KIND, NODE_ATTRIBUTE, NODE_DOMAIN = 1, 2, 3, 4, 5, 7
ATTRIBUTE_NAME, ATTRIBUTE_FLOAT, ATTRIBUTE_INTEGER, ATTRIBUTE_TENSOR, ATTRIBUTE_GRAPH = 1, 2, 3, 5, 6
ATTRIBUTE_INTEGERS, ATTRIBUTE_KIND = 8, 20
HELD_SIZE, HELD_TYPE, HELD_NAME, HELD_BYTES = 1, 2, 8, 9
VALUE_NAME, VALUE_TYPE = 1, 2

MICROSOFT = b"com.microsoft"
"""Domain of the runtime's own kinds of nodes."""

_VARINT, _FIXED64, _BYTES, FIXED32 = 0, 1, 2, 5

Data: TypeAlias = bytes | mmap
"""A file's content, in memory or mapped."""


class Field(NamedTuple):
    """One field of a message: its number and where its content stands."""

    number: int
    kind: int
    start: int
    end: int


def fields(data: Data, start: int, end: int) -> Iterator[Field]:
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
        elif kind in {_FIXED64, FIXED32}:
            after = start + (8 if kind == _FIXED64 else 4)
        else:
            raise ValueError(kind)
        if after > end:
            raise ValueError(after)
        yield Field(tag >> 3, kind, start, after)
        start = after


def graph_of(data: Data) -> Field:
    """The graph of a file.

    Raises:
        ValueError, IndexError: the file is not an ONNX file of one graph.
    """
    [graph] = [field for field in fields(data, 0, len(data)) if field.number == MODEL_GRAPH]
    return graph


def text(data: Data, field: Field) -> bytes:
    """What a field holds: a name, or a message as it stands."""
    return data[field.start : field.end]


def number(data: Data, field: Field) -> int:
    """What a field of a whole number holds.

    Raises:
        ValueError, IndexError: it holds none.
    """
    if field.kind != _VARINT:
        raise ValueError(field.kind)
    return _read(data, field.start)[0]


class Numbers(NamedTuple):
    """Where a tensor's numbers stand in a file, and its sizes."""

    start: int
    end: int
    sizes: tuple[int, ...]


def held_numbers(data: Data, names: Collection[str]) -> dict[str, Numbers]:
    """Tensors that a file's graph holds as bytes, by name; those that are not there are left out.

    Raises:
        ValueError, IndexError: it is no such file.
    """
    found = {}
    [graph] = [field for field in fields(data, 0, len(data)) if field.number == MODEL_GRAPH]
    for tensor in fields(data, graph.start, graph.end):
        if tensor.number != GRAPH_HELD:
            continue
        parts = [*fields(data, tensor.start, tensor.end)]
        by_number = {part.number: part for part in parts}
        if not {HELD_NAME, HELD_BYTES} <= by_number.keys():
            continue
        name, content = text(data, by_number[HELD_NAME]).decode(), by_number[HELD_BYTES]
        if name in names:
            sizes = tuple(number(data, part) for part in parts if part.number == HELD_SIZE)
            found[name] = Numbers(content.start, content.end, sizes)
    return found


def put(field: int, content: bytes) -> bytes:
    """A field that holds a name or a message."""
    return _varint(field << 3 | _BYTES) + _varint(len(content)) + content


def count(field: int, value: int) -> bytes:
    """A field that holds a whole number."""
    return _varint(field << 3 | _VARINT) + _varint(value)


def value(name: str, kind: int, sizes: Sequence[int | str | None]) -> bytes:
    """An input or output: its type of element, and its sizes: a number, a name, or None for any size."""
    shape = b"".join(put(1, _size(size)) for size in sizes)
    return put(VALUE_NAME, name.encode()) + put(VALUE_TYPE, put(1, count(1, kind) + put(2, shape)))


def held(name: str, kind: int, sizes: Sequence[int], content: bytes) -> bytes:
    """A tensor with its numbers."""
    shape = b"".join(count(HELD_SIZE, size) for size in sizes)
    return shape + count(HELD_TYPE, kind) + put(HELD_NAME, name.encode()) + put(HELD_BYTES, content)


def _size(size: int | str | None) -> bytes:
    if size is None:
        return b""
    return put(2, size.encode()) if isinstance(size, str) else count(1, size)


def _read(data: Data, start: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        byte = data[start]
        start += 1
        found |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return found, start
        if shift > 63:
            raise ValueError(start)


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
