"""The graph in Neo4j, by its driver.

Before: `replay.py`, `cypher.py`. After: the package `neo4j`, and a server that somebody else runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from streamverify._extras import require
from streamverify.errors import UsageError
from streamverify.records.graph.edges import NODES
from streamverify.records.graph.kinds import EdgeKind, NodeKind, Row

SCHEMES = ("neo4j://", "neo4j+s://", "neo4j+ssc://", "bolt://", "bolt+s://", "bolt+ssc://")


class Neo4jGraph:
    """A database of a Neo4j server."""

    def __init__(
        self,
        url: str,
        *,
        user: str = "neo4j",
        password: str | None = None,
        database: str | None = None,
        seconds: float = 15.0,
    ) -> None:
        """Nothing is connected yet.

        Args:
            url: of the server, e.g. `neo4j://127.0.0.1:7687`.
            user: who writes.
            password: theirs; None for a server that asks for none.
            database: its name; None for the server's own default.
            seconds: to reach the server, and to wait for a transaction that can be tried again.

        Raises:
            UsageError: the URL is none of a Neo4j server. Caller.
            MissingExtraError: the driver is not installed. Operator.
        """
        if not url.startswith(SCHEMES):
            raise UsageError(f"{url!r} names no Neo4j server; write neo4j://host:7687")
        require("neo4j", extra="neo4j", feature="a graph in Neo4j")
        self.name = url
        self._auth = None if password is None else (user, password)
        self._database, self._seconds = database, seconds
        self._driver: Any = None

    def __enter__(self) -> Self:
        """Connect, and make ids unique.

        Raises:
            UsageError: the server cannot be reached, or refuses this user. Operator.
        """
        from neo4j import GraphDatabase  # noqa: PLC0415 - an extra

        driver = GraphDatabase.driver(
            self.name,
            auth=self._auth,
            connection_timeout=self._seconds,
            max_transaction_retry_time=self._seconds,
        )
        try:
            with self._refusals():
                driver.verify_connectivity()
                for label in ("Replay", *(node.label for node in NODES)):
                    driver.execute_query(
                        f"CREATE CONSTRAINT streamverify_{label.lower()} IF NOT EXISTS "
                        f"FOR (n:{label}) REQUIRE n.id IS UNIQUE",
                        database_=self._database,
                    )
        except BaseException:
            driver.close()
            raise
        self._driver = driver
        return self

    def __exit__(self, *_problem: object) -> None:
        """Close."""
        self._driver.close()

    @contextmanager
    def writing(self) -> Iterator[_Transaction]:
        """A transaction.

        Raises:
            UsageError: the server went away, or refused something. Operator.
        """
        with (
            self._refusals(),
            self._driver.session(database=self._database) as session,
            session.begin_transaction() as transaction,
        ):
            yield _Transaction(transaction)
            transaction.commit()

    def rows(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """What a Cypher question answers.

        Raises:
            UsageError: the server cannot be reached, or refuses the question. Operator.
        """
        with self._refusals():
            found = self._driver.execute_query(statement, dict(parameters or {}), database_=self._database)
        return [record.data() for record in found.records]

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        from neo4j.exceptions import DriverError, Neo4jError  # noqa: PLC0415 - an extra

        try:
            yield
        except (DriverError, Neo4jError) as error:
            raise UsageError(f"the graph {self.name} cannot be used: {error}") from None


class _Transaction:
    def __init__(self, transaction: Any) -> None:
        self._transaction = transaction

    def run(self, statement: str, parameters: Mapping[str, Any]) -> None:
        self._transaction.run(statement, dict(parameters)).consume()

    def merge_nodes(self, kind: NodeKind, rows: Sequence[Row]) -> None:
        self.run(
            f"UNWIND $rows AS row MERGE (n:{kind.label} {{id: row.id}}) SET n += row", {"rows": list(rows)}
        )

    def merge_edges(self, kind: EdgeKind, rows: Sequence[Row]) -> None:
        key = ", ".join(f"{name}: row.{name}" for name in kind.key)
        told = ", ".join(f"e.{name} = row.{name}" for name in kind.properties)
        self.run(
            "UNWIND $rows AS row "
            f"MATCH (a:{kind.source[0]} {{id: row.source}}), (b:{kind.target[0]} {{id: row.target}}) "
            f"MERGE (a)-[e:{kind.name} {{{key}}}]->(b)" + (f" SET {told}" if told else ""),
            {"rows": list(rows)},
        )
