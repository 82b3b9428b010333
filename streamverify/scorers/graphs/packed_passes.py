"""Several passes of one claim in one run of the graph, each of them as it is alone, to the last bit.

    file      claim, windows ──► nodes, one after the other ──► logits
    packed    what needs no window once; then each node for pass 0, pass 1, …; then the node after it

Before: `premise_graph.py` has loaded a file. After: it loads this beside it, for claims of several passes.

A product of a claim's few rows waits for its weights: they are ten times what the processor's nearest cache
holds, so that each pass fetches all of them anew. Side by side the first pass fetches a node's weights, and
the others find them. The rows stay apart, with a product of its own for each pass: 8-bit activations take one
scale from all rows of a product, so that joined rows would change each other's scores
(docs/decisions/packed-passes.md).

The runtime must keep the order in which nodes are written (`runtime.OnnxSession`, `as_written`). There is a
branch for each number of passes, and a run takes one of them. Inputs of passes and places that a run does not
use have a default, a window without tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from streamverify.scorers.graphs import onnx_fields as onnx
from streamverify.scorers.graphs.onnx_fields import Field, count, fields, held, put, text, value
from streamverify.scorers.graphs.signed_weights import PRODUCT

SIZES = (2, 3, 4)
"""Passes of a run: three windows and all of them together are what a claim has at most, but for citations."""
NEAR = 2**20
"""Bytes of the largest product's weights: more do not stay in the nearest cache from one pass to the next."""
JUDGEMENT = ("logits", "token_logits")

_OF_CLAIM = (b"input_ids", b"segment")
_FLOAT, _BOOL = 1, 9
_A_NUMBER, _A_TENSOR, _A_GRAPH = 2, 4, 5


def of_pass(name: str, number: int) -> str:
    """The input `name` of one of the passes, from 0."""
    return f"{name}#{number}"


def choice(size: int) -> str:
    """Input (1,) bool, false unless given: that the run has so many passes."""
    return f"passes_{size}"


def results(size: int) -> list[str]:
    """Outputs of a run of so many passes: logits (passes, 3), and token logits one pass after the other."""
    return [f"{name}_{size}" for name in JUDGEMENT]


def packed(graph: bytes, heads: int, head_size: int) -> bytes | None:
    """The graph of several passes, or None where it would not be quicker, or is not known to be the same.

    Args:
        graph: an ONNX file as `training/graph.py` writes it.
        heads: of the keys and values of windows, and
        head_size: theirs.
    """
    try:
        return _packed(graph, onnx.graph_of(graph), heads, head_size)
    except (ValueError, IndexError, KeyError):  # a graph of another form: one pass a run
        return None


class _Node(NamedTuple):
    kind: bytes
    inputs: tuple[bytes, ...]
    outputs: tuple[bytes, ...]
    rest: bytes
    """Domain and attributes, as they stand."""

    def written(self, name: bytes) -> bytes:
        parts = [put(onnx.NODE_INPUT, one) for one in self.inputs]
        parts += [put(onnx.NODE_OUTPUT, one) for one in self.outputs]
        return b"".join([*parts, put(onnx.NODE_NAME, name), put(onnx.NODE_KIND, self.kind), self.rest])


def _packed(data: bytes, graph: Field, heads: int, head_size: int) -> bytes | None:
    parts = list(fields(data, graph.start, graph.end))
    tensors = {_named(data, part, onnx.HELD_NAME): part for part in parts if part.number == onnx.GRAPH_HELD}
    inputs = [_named(data, part, onnx.VALUE_NAME) for part in parts if part.number == onnx.GRAPH_INPUT]
    nodes = _needed(list(_flat(data, parts)), {name.encode() for name in JUDGEMENT})
    weights = [node.inputs[1] for node in nodes if node.kind == PRODUCT.encode()]
    if not weights or max(_bytes(data, tensors[name]) for name in weights) > NEAR:
        return None
    known = {*tensors, *_OF_CLAIM, b""}
    once, each = _split(nodes, known)
    pasts = [name for name in inputs if name not in known]
    used = {name for node in nodes for name in node.inputs}
    content = [put(onnx.GRAPH_NODE, node.written(node.outputs[0])) for node in once]
    content += [put(onnx.GRAPH_NODE, _if(size, _branch(each, known, size))) for size in SIZES]
    content.append(put(onnx.GRAPH_NAME, b"packed"))
    for name, part in tensors.items():
        if name in used:
            content.append(put(onnx.GRAPH_HELD, text(data, part)))
    for part in parts:
        if part.number == onnx.GRAPH_INPUT and _named(data, part, onnx.VALUE_NAME) in _OF_CLAIM:
            content.append(put(onnx.GRAPH_INPUT, text(data, part)))
    for number in range(max(SIZES)):
        for past in (of_pass(name.decode(), number) for name in pasts):
            content.append(put(onnx.GRAPH_INPUT, value(past, _FLOAT, (heads, None, head_size))))
            content.append(put(onnx.GRAPH_HELD, held(past, _FLOAT, (heads, 0, head_size), b"")))
    for size in SIZES:
        content.append(put(onnx.GRAPH_INPUT, value(choice(size), _BOOL, (1,))))
        content.append(put(onnx.GRAPH_HELD, held(choice(size), _BOOL, (1,), bytes(1))))
        content += [put(onnx.GRAPH_OUTPUT, one) for one in _outputs(results(size))]
    before = max((field.end for field in fields(data, 0, len(data)) if field.end < graph.start), default=0)
    return b"".join([data[:before], put(onnx.MODEL_GRAPH, b"".join(content)), data[graph.end :]])


def _flat(data: bytes, parts: Iterable[Field]) -> Iterator[_Node]:
    """The nodes a claim runs: in place of a choice between claim and window, the claim's branch.

    Raises:
        ValueError, KeyError: there is a branch of another kind.
    """
    for part in parts:
        if part.number != onnx.GRAPH_NODE:
            continue
        node = _node(data, part)
        if node.kind != b"If":
            yield node
            continue
        branch = _then(data, part)
        inside = list(fields(data, branch.start, branch.end))
        names = [_named(data, one, onnx.VALUE_NAME) for one in inside if one.number == onnx.GRAPH_OUTPUT]
        within = [_node(data, one) for one in inside if one.number == onnx.GRAPH_NODE]
        if any(one.number == onnx.GRAPH_HELD for one in inside) or any(one.kind == b"If" for one in within):
            raise ValueError(node.outputs)
        outside = dict(zip(names, node.outputs, strict=True))
        yield from (_renamed(one, outside) for one in within)


def _then(data: bytes, node: Field) -> Field:
    """The branch that is taken where the condition holds."""
    for part in fields(data, node.start, node.end):
        if part.number == onnx.NODE_ATTRIBUTE:
            about = {one.number: one for one in fields(data, part.start, part.end)}
            if text(data, about[onnx.ATTRIBUTE_NAME]) == b"then_branch":
                return about[onnx.ATTRIBUTE_GRAPH]
    raise KeyError("then_branch")


def _node(data: bytes, node: Field) -> _Node:
    parts = list(fields(data, node.start, node.end))

    def of(number: int) -> list[bytes]:
        return [text(data, part) for part in parts if part.number == number]

    [kind] = of(onnx.NODE_KIND)
    rest = [
        put(part.number, text(data, part))
        for part in parts
        if part.number in (onnx.NODE_ATTRIBUTE, onnx.NODE_DOMAIN)
    ]
    return _Node(kind, tuple(of(onnx.NODE_INPUT)), tuple(of(onnx.NODE_OUTPUT)), b"".join(rest))


def _needed(nodes: Sequence[_Node], wanted: set[bytes]) -> list[_Node]:
    """The nodes that the wanted outputs need, in order.

    Raises:
        ValueError: an output comes from no node.
    """
    missing, found = set(wanted), []
    for node in reversed(nodes):
        if wanted.intersection(node.outputs):
            found.append(node)
            wanted.update(node.inputs)
            missing.difference_update(node.outputs)
    if missing:
        raise ValueError(missing)
    return found[::-1]


def _split(nodes: Iterable[_Node], known: set[bytes]) -> tuple[list[_Node], list[_Node]]:
    """Nodes that need the claim only, whose outputs enter `known`, and those that need a window."""
    once, each = [], []
    for node in nodes:
        if known.issuperset(node.inputs):
            once.append(node)
            known.update(node.outputs)
        else:
            each.append(node)
    return once, each


def _renamed(node: _Node, names: dict[bytes, bytes]) -> _Node:
    inputs = tuple(names.get(name, name) for name in node.inputs)
    return node._replace(inputs=inputs, outputs=tuple(names.get(name, name) for name in node.outputs))


def _branch(nodes: Iterable[_Node], known: set[bytes], size: int) -> bytes:
    """The nodes of so many passes, node by node, and what they found joined."""
    content = []
    for node in nodes:
        names = [name for name in (*node.inputs, *node.outputs) if name not in known]
        for number in range(size):
            own = _renamed(node, {name: of_pass(name.decode(), number).encode() for name in names})
            content.append(put(onnx.GRAPH_NODE, own.written(own.outputs[0])))
    joined = [f"{name}.all" for name in JUDGEMENT]
    axis = _attribute(b"axis", count(onnx.ATTRIBUTE_INTEGER, 0), _A_NUMBER)
    for name, whole in zip(JUDGEMENT, joined, strict=True):
        found = tuple(of_pass(name, number).encode() for number in range(size))
        node = _Node(b"Concat", found, (whole.encode(),), put(onnx.NODE_ATTRIBUTE, axis))
        content.append(put(onnx.GRAPH_NODE, node.written(whole.encode())))
    content.append(put(onnx.GRAPH_NAME, choice(size).encode()))
    content += [put(onnx.GRAPH_OUTPUT, one) for one in _outputs(joined)]
    return b"".join(content)


def _if(size: int, branch: bytes) -> bytes:
    """The node that runs the branch where it is chosen, and gives nothing elsewhere."""
    nothing, skipped = [], [f"{name}.none" for name in JUDGEMENT]
    for name, sizes in zip(skipped, ((0, 3), (0,)), strict=True):
        tensor = put(onnx.ATTRIBUTE_TENSOR, held(name, _FLOAT, sizes, b""))
        constant = put(onnx.NODE_ATTRIBUTE, _attribute(b"value", tensor, _A_TENSOR))
        node = _Node(b"Constant", (), (name.encode(),), constant)
        nothing.append(put(onnx.GRAPH_NODE, node.written(name.encode())))
    nothing.append(put(onnx.GRAPH_NAME, b"skipped"))
    nothing += [put(onnx.GRAPH_OUTPUT, one) for one in _outputs(skipped)]
    ways = ((b"then_branch", branch), (b"else_branch", b"".join(nothing)))
    attributes = b"".join(
        put(onnx.NODE_ATTRIBUTE, _attribute(name, put(onnx.ATTRIBUTE_GRAPH, way), _A_GRAPH))
        for name, way in ways
    )
    outputs = tuple(name.encode() for name in results(size))
    return _Node(b"If", (choice(size).encode(),), outputs, attributes).written(choice(size).encode())


def _attribute(name: bytes, content: bytes, kind: int) -> bytes:
    return put(onnx.ATTRIBUTE_NAME, name) + content + count(onnx.ATTRIBUTE_KIND, kind)


def _outputs(names: Sequence[str]) -> list[bytes]:
    return [value(name, _FLOAT, sizes) for name, sizes in zip(names, ((None, 3), (None,)), strict=True)]


def _named(data: bytes, message: Field, number: int) -> bytes:
    [name] = [text(data, part) for part in fields(data, message.start, message.end) if part.number == number]
    return name


def _bytes(data: bytes, tensor: Field) -> int:
    [numbers] = [one for one in fields(data, tensor.start, tensor.end) if one.number == onnx.HELD_BYTES]
    return numbers.end - numbers.start
