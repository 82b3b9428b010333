"""A graph written from nothing: nodes in the order they run, numbers they hold, inputs and outputs.

Before: `device_graph.py` says what is computed. After: the runtime loads the bytes, without a file.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from streamverify.scorers.graphs import onnx_fields as onnx
from streamverify.scorers.graphs.onnx_fields import count, held, put, value

FORM, OPSET, MICROSOFT_OPSET = 8, 17, 1
"""Version of the file's form, and of the kinds of nodes: ONNX's own and the runtime's."""

KINDS = {"float32": 1, "uint8": 2, "int64": 7, "bool": 9, "float16": 10}
"""Numbers of the types of elements."""
_FLOAT, _INTEGER, _TENSOR, _GRAPH, _INTEGERS = 1, 2, 4, 5, 7
"""Numbers of the types of attributes."""
_NEGATIVE = 2**64 - 1
"""Numbers below 0 are written as what they are in 64 bits."""

Size: TypeAlias = int | str | None


class Graph:
    """Collects the parts of a graph, or of a branch of one, which sees what was computed outside."""

    def __init__(self, name: str) -> None:
        """Nothing is computed yet."""
        self._parts = [put(onnx.GRAPH_NAME, name.encode())]
        self._held: set[str] = set()

    def add(
        self, kind: str, inputs: Sequence[str], *outputs: str, microsoft: bool = False, **how: Any
    ) -> str:
        """One node, named like its first output, which is returned.

        Args:
            kind: of the node, as the operator is called.
            inputs: names, an empty one for what is left out.
            outputs: names, 1 or more.
            microsoft: the kind is the runtime's own.
            how: attributes: a whole number, whole numbers, a float, an array, or a `Graph` as a branch.
        """
        parts = [put(onnx.NODE_INPUT, one.encode()) for one in inputs]
        parts += [put(onnx.NODE_OUTPUT, one.encode()) for one in outputs]
        parts += [put(onnx.NODE_NAME, outputs[0].encode()), put(onnx.NODE_KIND, kind.encode())]
        parts += [put(onnx.NODE_ATTRIBUTE, _attribute(name, one)) for name, one in how.items()]
        if microsoft:
            parts.append(put(onnx.NODE_DOMAIN, onnx.MICROSOFT))
        self._parts.append(put(onnx.GRAPH_NODE, b"".join(parts)))
        return outputs[0]

    def hold(self, name: str, numbers: NDArray[Any] | np.generic) -> str:
        """Numbers that nodes may name; held once, however often they are handed in. Returns the name."""
        if name not in self._held:
            self._held.add(name)
            self._parts.append(put(onnx.GRAPH_HELD, _tensor(name, np.asarray(numbers))))
        return name

    def takes(self, name: str, kind: str, *sizes: Size) -> str:
        """An input: its NumPy type and its sizes, a number or a name. Returns the name."""
        self._parts.append(put(onnx.GRAPH_INPUT, value(name, KINDS[kind], sizes)))
        return name

    def gives(self, name: str, kind: str, *sizes: Size) -> None:
        """An output, likewise."""
        self._parts.append(put(onnx.GRAPH_OUTPUT, value(name, KINDS[kind], sizes)))

    def content(self) -> bytes:
        """The graph as a message, for a file or a branch."""
        return b"".join(self._parts)

    def file(self) -> bytes:
        """The graph as a file's content."""
        sets = ((b"", OPSET), (onnx.MICROSOFT, MICROSOFT_OPSET))
        known = b"".join(put(8, put(1, domain) + count(2, version)) for domain, version in sets)
        return count(1, FORM) + put(onnx.MODEL_GRAPH, self.content()) + known


def _tensor(name: str, numbers: NDArray[Any]) -> bytes:
    return held(name, KINDS[numbers.dtype.name], numbers.shape, numbers.tobytes())


def _attribute(name: str, given: object) -> bytes:
    match given:
        case bool() | int():
            kind, content = _INTEGER, count(onnx.ATTRIBUTE_INTEGER, given & _NEGATIVE)
        case float():
            tag = bytes([onnx.ATTRIBUTE_FLOAT << 3 | onnx.FIXED32])
            kind, content = _FLOAT, tag + struct.pack("<f", given)
        case Graph():
            kind, content = _GRAPH, put(onnx.ATTRIBUTE_GRAPH, given.content())
        case np.ndarray():
            kind, content = _TENSOR, put(onnx.ATTRIBUTE_TENSOR, _tensor(name, given))
        case list() | tuple():
            kind, content = (
                _INTEGERS,
                b"".join(count(onnx.ATTRIBUTE_INTEGERS, one & _NEGATIVE) for one in given),
            )
        case _:
            raise AssertionError(f"no attribute of a graph: {given!r}")
    return put(onnx.ATTRIBUTE_NAME, name.encode()) + content + count(onnx.ATTRIBUTE_KIND, kind)
