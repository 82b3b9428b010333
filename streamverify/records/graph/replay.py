"""The records into a graph database, entry by entry of their chain.

Before: `audit replay`. After: a `GraphStore`.

The place reached is kept in the graph, in the transaction that wrote what came before it: whenever a replay
is killed, the next one goes on there, and running one again changes nothing. The hash of that entry is kept
beside it, so that a graph of other records is refused.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from streamverify.errors import UsageError
from streamverify.records import schema
from streamverify.records.database import Database
from streamverify.records.digests import START
from streamverify.records.graph.edges import EDGES, NODES, graph_of
from streamverify.records.graph.kinds import Graph
from streamverify.records.graph.store import GraphStore, Transaction

_VERSION = 1
"""Of the kinds of nodes and edges."""

_PLACE = (
    "MATCH (r:Replay {id: 'streamverify'}) RETURN r.number AS number, r.hash AS hash, r.version AS version"
)
_KEEP = "MERGE (r:Replay {id: 'streamverify'}) SET r.number = $number, r.hash = $hash, r.version = $version"
_OF = {
    "ASKED": "MATCH (:User)-[e:ASKED]->(m:Message)",
    "FAILED": "MATCH (m:Message)-[e:FAILED]->(:Criterion)",
    "CAUSED": "MATCH (:Document)-[e:CAUSED]->(m:Message)",
    "EXHIBITS": "MATCH (m:Message)-[e:EXHIBITS]->(:Pattern)",
}
"""How edges that may stop being true are found again."""
_FORGET = (
    *(f"{found} WHERE m.id IN $messages DELETE e" for found in _OF.values()),
    "MATCH (:Pattern)-[e:ROOTED_IN]->(:Criterion) WHERE e.message IN $messages DELETE e",
)
_LEFT = "MATCH (u:User) WHERE NOT EXISTS { MATCH (u)-[:ASKED]->(:Message) } DELETE u"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay did."""

    entries: int
    """Read from the chain, from where the last replay had ended."""
    streams: int
    """Written, or written again because something was added; each counts once."""
    nodes: int
    """Merged: those that were there count too."""
    edges: int
    """Likewise."""
    place: int
    """Number of the last entry that is in the graph."""


def replay(
    database: Database,
    graph: GraphStore,
    *,
    sink: str = "graph",
    portion: int = 200,
    done: Callable[[Replayed], None] = lambda _: None,
) -> Replayed:
    """Bring a graph up to the records; again does nothing, and after a kill it goes on.

    Args:
        database: of records.
        graph: entered.
        sink: name under which the records keep how far this graph has come, for whoever looks there.
        portion: entries in one transaction, 1 or more.
        done: told what was done so far after each transaction.

    Raises:
        UsageError: the graph holds other records, or was written by another version. Operator.
    """
    place = _place(database, graph)
    told = Replayed(0, 0, 0, 0, place)
    seen = set[bytes]()
    while True:
        with database.reading() as connection:
            entries = schema.entries
            asked = (
                sa.select(entries).where(entries.c.number > place).order_by(entries.c.number).limit(portion)
            )
            read = connection.execute(asked).mappings().all()
            if not read:
                return told
            streams = _streams(connection, read)
            found = graph_of(connection, schema.streams.c.id.in_(streams))
        last = read[-1]
        with graph.writing() as transaction:
            _write(transaction, found, [str(stream) for stream in streams])
            transaction.run(_KEEP, {"number": last["number"], "hash": last["hash"], "version": _VERSION})
        place = last["number"]
        _tell(database, sink, place)
        # Opening, end and judgments of a stream may lie in different portions.
        seen.update(stream.bytes for stream in streams)
        told = Replayed(
            told.entries + len(read),
            len(seen),
            told.nodes + sum(map(len, found.nodes.values())),
            told.edges + sum(map(len, found.edges.values())),
            place,
        )
        done(told)


def _place(database: Database, graph: GraphStore) -> int:
    """The last entry that is in the graph, which must be one of these records."""
    kept = graph.rows(_PLACE)
    if not kept:
        return 0
    number, hashed, version = (kept[0][name] for name in ("number", "hash", "version"))
    if version != _VERSION:
        raise UsageError(
            f"the graph {graph.name} was written by another version of streamverify: replay into a new one"
        )
    entries = schema.entries
    with database.reading() as connection:
        found = connection.execute(sa.select(entries.c.hash).where(entries.c.number == number)).scalar()
    if (found if number else START) != hashed:
        raise UsageError(
            f"the graph {graph.name} holds other records than {database.name}: replay into a new one"
        )
    return int(number)


def _streams(connection: sa.Connection, entries: Sequence[Any]) -> list[uuid.UUID]:
    """The streams that entries say something about."""
    by: dict[str, set[uuid.UUID]] = {}
    for entry in entries:
        by.setdefault(entry["kind"], set()).add(entry["subject"])
    streams = {one for kind in ("opening", "conclusion", "content") for one in by.get(kind, ())}
    for kind, column, owner in (
        ("judgment", schema.judgments.c.stream_id, schema.judgments.c.id),
        ("erasure", schema.erased_streams.c.stream_id, schema.erased_streams.c.erasure_id),
    ):
        if kind in by:
            streams |= set(connection.execute(sa.select(column).where(owner.in_(by[kind]))).scalars())
    return sorted(streams)


def _write(transaction: Transaction, found: Graph, messages: Sequence[str]) -> None:
    if messages:
        for statement in _FORGET:
            transaction.run(statement, {"messages": list(messages)})
    for node in NODES:
        if rows := found.nodes[node.label]:
            transaction.merge_nodes(node, rows)
    for edge in {edge.name: edge for edge in EDGES}.values():
        if edges := found.edges[edge.name]:
            transaction.merge_edges(edge, edges)
    transaction.run(_LEFT, {})


def _tell(database: Database, sink: str, place: int) -> None:
    table = schema.sink_positions
    with database.writing() as connection:
        known = sa.update(table).where(table.c.sink == sink).values(number=place)
        if connection.execute(known).rowcount == 0:
            connection.execute(sa.insert(table).values(sink=sink, number=place))
