"""What a kind of node or edge is, and how the nodes and edges of some streams are read.

Before: nothing of the graph. After: `edges.py` lists the kinds, `Reader.graph` and `replay.py` read them.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import sqlalchemy as sa

from streamverify.records.digests import identity

Kind = Literal["text", "whole", "number", "flag"]
"""Of a property: any graph database knows these four. Moments are texts, ISO 8601 in UTC."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NodeKind:
    """One kind of node."""

    label: str
    key: tuple[str, ...]
    """Columns of `rows` that tell one from another: one id, or words."""
    properties: Mapping[str, Kind]
    """Columns of `rows` beside the id."""
    rows: sa.Select[Any]
    """Joined to `streams`, so that conditions on streams can be added."""
    of_documents: bool = False
    """Whether `documents` is joined too."""


@dataclass(frozen=True, slots=True)
class EdgeKind:
    """One kind of edge."""

    name: str
    source: tuple[str, ...]
    """A node's label, and the columns of `rows` that are its key."""
    target: tuple[str, ...]
    rows: sa.Select[Any]
    key: Mapping[str, Kind] = field(default_factory=dict)
    """Properties that tell two edges between the same nodes apart; never null."""
    properties: Mapping[str, Kind] = field(default_factory=dict)
    of_documents: bool = False
    passing: bool = False
    """Whether one that was true may stop being so: when a judgment is superseded, or a name erased."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and edges as plain values."""

    nodes: Mapping[str, Sequence[Row]]
    """Label to nodes; each with `id` and its properties."""
    edges: Mapping[str, Sequence[Row]]
    """Name to edges; each with the ids `source` and `target`, and its properties."""


def read(
    connection: sa.Connection,
    nodes_of: Sequence[NodeKind],
    edges_of: Sequence[EdgeKind],
    streams: sa.ColumnElement[bool],
    documents: sa.ColumnElement[bool] | None = None,
) -> Graph:
    """The nodes and edges of some streams.

    Args:
        connection: one transaction, so that edges meet their nodes.
        nodes_of: kinds of nodes.
        edges_of: kinds of edges; two may have one name.
        streams: which, as a condition on `streams`.
        documents: which of their documents, as a condition on `documents`; all by default.
    """

    def told(kind: NodeKind | EdgeKind) -> sa.Result[Any]:
        limits = [streams] if documents is None or not kind.of_documents else [streams, documents]
        return connection.execute(kind.rows.where(*limits))

    nodes = {}
    for node in nodes_of:
        found = {}
        for row in told(node).mappings():
            name = _id(node.label, [row[column] for column in node.key])
            found[name] = {"id": name, **_plain(row, node.properties)}
        nodes[node.label] = list(found.values())
    edges: dict[str, list[Row]] = {edge.name: [] for edge in edges_of}
    for edge in edges_of:
        (source, *source_key), (target, *target_key) = edge.source, edge.target
        for row in told(edge).mappings():
            ends = {
                "source": _id(source, [row[column] for column in source_key]),
                "target": _id(target, [row[column] for column in target_key]),
            }
            edges[edge.name].append(ends | _plain(row, {**edge.key, **edge.properties}))
    return Graph(nodes, edges)


def _id(label: str, key: Sequence[Any]) -> str:
    """An id of the records as it is; what has none there gets one that says what it stands for."""
    return str(key[0]) if len(key) == 1 else identity(label, *key).hex


def _plain(row: Mapping[Any, Any], kinds: Mapping[str, Kind]) -> Row:
    def value(found: Any, kind: Kind) -> Any:
        match found:
            case None:
                return None
            case datetime():
                return found.astimezone(UTC).isoformat(timespec="microseconds")
            case uuid.UUID():
                return str(found)
            case _:
                return bool(found) if kind == "flag" else found

    return {name: value(row[name], kind) for name, kind in kinds.items()}
