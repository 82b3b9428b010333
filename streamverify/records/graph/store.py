"""What a graph database must do to hold the records.

Before: `replay.py` writes to it, `cypher.py` asks it. After: `embedded.py`, `neo4j.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, Self

from streamverify.records.graph.kinds import EdgeKind, NodeKind, Row


class Transaction(Protocol):
    """Writes that take place together or not at all."""

    def run(self, statement: str, parameters: Mapping[str, Any]) -> None:
        """One Cypher statement."""

    def merge_nodes(self, kind: NodeKind, rows: Sequence[Row]) -> None:
        """Add nodes, or set the properties of those that are there."""

    def merge_edges(self, kind: EdgeKind, rows: Sequence[Row]) -> None:
        """Add edges between nodes that are there, or set the properties of those that are there."""


class GraphStore(Protocol):
    """A graph database; a context manager that connects and closes."""

    name: str
    """For messages; without a password."""

    def __enter__(self) -> Self:
        """Connect, and set up what merging needs."""

    def __exit__(self, *problem: object) -> None:
        """Close."""

    def writing(self) -> AbstractContextManager[Transaction]:
        """A transaction: committed at the end, undone where something is raised."""

    def rows(self, statement: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """What a Cypher question answers."""
