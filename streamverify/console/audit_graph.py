"""`streamverify audit cited`, `scopes`, `depends`, `failures`, `blamed`, `replay`: over many streams.

Before: `program.py` registers the commands. After: `asking.py`, `records/questions.py`, `records/graph/`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from streamverify.console.asking import (
    LimitOption,
    RecordsOption,
    SinceOption,
    UntilOption,
    asks,
    moment,
    opened,
)
from streamverify.console.shell import complain, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamverify.records import Reader
    from streamverify.records.graph.replay import Replayed
    from streamverify.records.graph.store import GraphStore

_FROM = "STREAMVERIFY_GRAPH_PASSWORD"


@asks
def cited(
    reader: Reader, *, since: SinceOption = None, until: UntilOption = None, limit: LimitOption = 50
) -> Sequence[object]:
    """Documents by how often they are cited correctly."""
    return reader.cited(limit=limit, since=moment(since), until=moment(until))


@asks
def scopes(
    reader: Reader, *, since: SinceOption = None, until: UntilOption = None, limit: LimitOption = 50
) -> Sequence[object]:
    """Scopes (tags) by how often their documents were retrieved for somebody who may not see them."""
    return reader.scopes(limit=limit, since=moment(since), until=moment(until))


@asks
def depends(
    reader: Reader, *, since: SinceOption = None, until: UntilOption = None, limit: LimitOption = 50
) -> Sequence[object]:
    """Pairs of documents: sentences that cite the one and are supported by the other, or that cite both."""
    return reader.dependencies(limit=limit, since=moment(since), until=moment(until))


@asks
def failures(
    reader: Reader,
    *,
    since: SinceOption = None,
    until: UntilOption = None,
    criterion: Annotated[str | None, typer.Option("--criterion", help="This one alone.")] = None,
) -> Sequence[object]:
    """How each criterion went in each run, the earliest run first."""
    return reader.failures(criterion, since=moment(since), until=moment(until))


@asks
def blamed(
    reader: Reader, *, since: SinceOption = None, until: UntilOption = None, limit: LimitOption = 50
) -> Sequence[object]:
    """Documents behind most contradicted sentences and fabricated citations."""
    return reader.blamed(limit=limit, since=moment(since), until=moment(until))


def replay(
    *,
    records: RecordsOption,
    graph: Annotated[str, typer.Option("--graph", help="File of an embedded graph, or neo4j://host:7687.")],
    user: Annotated[str, typer.Option("--graph-user", help="Who writes to Neo4j.")] = "neo4j",
) -> None:
    """Bring a graph database up to the records; goes on where the last replay ended.

    Neo4j's password is read from STREAMVERIFY_GRAPH_PASSWORD.
    """
    from streamverify.records.graph.replay import replay as run  # noqa: PLC0415 - an extra

    def told(done: Replayed) -> None:
        complain(f"entry {done.place}")

    with opened(records) as database, _store(graph, user) as store:
        done = run(database, store, sink=store.name, done=told)
    write(
        f"{done.entries} entries, {done.streams} streams, {done.nodes} nodes and {done.edges} edges merged, "
        f"up to entry {done.place}"
    )


def _store(graph: str, user: str) -> GraphStore:
    if "://" in graph:
        from streamverify.records.graph.neo4j import Neo4jGraph  # noqa: PLC0415 - an extra

        return Neo4jGraph(graph, user=user, password=os.environ.get(_FROM) or None)
    from streamverify.records.graph.embedded import EmbeddedGraph  # noqa: PLC0415 - an extra

    return EmbeddedGraph(graph)
