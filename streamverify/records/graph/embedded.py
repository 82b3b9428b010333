"""The graph in a file: the embedded database Ladybug, which speaks Cypher.

Before: `replay.py`, `cypher.py`. After: the package `ladybug`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from streamverify._extras import require
from streamverify.errors import UsageError
from streamverify.files.jsonl import encodable
from streamverify.records.graph.edges import EDGES, NODES
from streamverify.records.graph.kinds import EdgeKind, Kind, NodeKind, Row

_TYPES: Mapping[Kind, str] = {"text": "STRING", "whole": "INT64", "number": "DOUBLE", "flag": "BOOL"}
_POOL = 256 * 2**20
"""Bytes of pages kept in memory; the package's own default is most of the machine's."""


class EmbeddedGraph:
    """A graph in one file, open in one process at a time."""

    def __init__(self, path: str | Path) -> None:
        """Nothing is opened yet.

        Args:
            path: of the file; made where there is none.

        Raises:
            MissingExtraError: the package is not installed. Operator.
        """
        require("ladybug", extra="graph", feature="a graph in a file")
        if not encodable(str(path)):
            raise UsageError(f"the graph's name {str(path)!a} is not valid UTF-8")
        self.name = str(path)
        self._database: Any = None
        self._connection: Any = None

    def __enter__(self) -> Self:
        """Open.

        Raises:
            UsageError: the file cannot be opened, or is none of this database. Operator.
        """
        import ladybug  # noqa: PLC0415 - an extra

        with self._refusals():
            self._database = ladybug.Database(self.name, buffer_pool_size=_POOL)
        self._connection = ladybug.Connection(self._database)
        try:
            for statement in _tables():
                self.rows(statement)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_problem: object) -> None:
        """Close."""
        self._connection.close()
        self._database.close()

    @contextmanager
    def writing(self) -> Iterator[_Transaction]:
        """A transaction.

        Raises:
            UsageError: the file cannot be written. Operator.
        """
        self.rows("BEGIN TRANSACTION")
        try:
            yield _Transaction(self.rows)
            self.rows("COMMIT")
        except BaseException:
            # A failed statement has ended the transaction, and then there is nothing to undo.
            with contextlib.suppress(UsageError):
                self.rows("ROLLBACK")
            raise

    def rows(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """What a Cypher question answers.

        Raises:
            UsageError: the file cannot be used, or the question is none. Operator.
        """
        with self._refusals():
            found = self._connection.execute(statement, dict(parameters or {}))
            try:
                names = found.get_column_names()
                return [dict(zip(names, row, strict=True)) for row in found.get_all()]
            finally:
                found.close()

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:  # what the package raises for everything
            what = str(error).partition("\n")[0]
            raise UsageError(f"the graph {self.name} cannot be used: {what}") from None


class _Transaction:
    def __init__(self, run: Callable[[str, Mapping[str, Any]], object]) -> None:
        self._run = run

    def run(self, statement: str, parameters: Mapping[str, Any]) -> None:
        self._run(statement, parameters)

    def merge_nodes(self, kind: NodeKind, rows: Sequence[Row]) -> None:
        told = _set("n", kind.properties)
        self.run(f"UNWIND $rows AS row MERGE (n:{kind.label} {{id: row.id}}) {told}", {"rows": list(rows)})

    def merge_edges(self, kind: EdgeKind, rows: Sequence[Row]) -> None:
        key = ", ".join(f"{name}: {_cast(name, kind.key[name])}" for name in kind.key)
        self.run(
            "UNWIND $rows AS row "
            f"MATCH (a:{kind.source[0]} {{id: row.source}}), (b:{kind.target[0]} {{id: row.target}}) "
            f"MERGE (a)-[e:{kind.name} {{{key}}}]->(b) {_set('e', kind.properties)}",
            {"rows": list(rows)},
        )


def _set(name: str, properties: Mapping[str, Kind]) -> str:
    told = ", ".join(f"{name}.{one} = {_cast(one, kind)}" for one, kind in properties.items())
    return f"SET {told}" if told else ""


def _cast(name: str, kind: Kind) -> str:
    """A column that is null in every row is read as text."""
    return f"CAST(row.{name} AS {_TYPES[kind]})"


def _tables() -> Iterator[str]:
    yield (
        "CREATE NODE TABLE IF NOT EXISTS Replay(id STRING, number INT64, hash STRING, version INT64, "
        "PRIMARY KEY(id))"
    )
    for node in NODES:
        columns = "".join(f", {name} {_TYPES[kind]}" for name, kind in node.properties.items())
        yield f"CREATE NODE TABLE IF NOT EXISTS {node.label}(id STRING{columns}, PRIMARY KEY(id))"
    for edge in {edge.name: edge for edge in EDGES}.values():
        columns = "".join(
            f", {name} {_TYPES[kind]}" for name, kind in {**edge.key, **edge.properties}.items()
        )
        yield (
            f"CREATE REL TABLE IF NOT EXISTS {edge.name}(FROM {edge.source[0]} TO {edge.target[0]}{columns})"
        )
