"""The questions of `questions.py` as Cypher, asked of a graph database.

Before: a graph that `replay.py` filled. After: the same rows as `Reader` gives an auditor of one tenant.

A graph database knows nothing of who may see what: whoever opens it sees all of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from streamverify.records.answers import BlamedRow, CitedRow, DependencyRow, FailureRow, ScopeRow
from streamverify.records.graph.store import GraphStore

_COUNTS = "NOT EXISTS { MATCH (:Judgment)-[:SUPERSEDES]->(j) }"

CITED = """
MATCH (c:Citation {tenant: $tenant})-[:NAMES]->(d:Document)
WITH DISTINCT d.uri AS uri, c.id AS citation, c.finding AS finding
RETURN uri, count(*) AS citations,
       count(CASE WHEN finding <> 'unverified' THEN 1 END) AS judged,
       count(CASE WHEN finding = 'correct' THEN 1 END) AS correct
ORDER BY correct DESC, citations DESC, uri LIMIT $limit
"""

SCOPES = """
MATCH (m:Message {tenant: $tenant})-[r:RETRIEVED]->(d:Document)-[:IN_SCOPE]->(s:Scope)
WHERE r.could_see IS NOT NULL
WITH s.name AS scope, m.id AS message, d.id AS document, min(CASE WHEN r.could_see THEN 1 ELSE 0 END) AS seen
RETURN scope, count(*) AS retrieved, count(CASE WHEN seen = 0 THEN 1 END) AS refused
ORDER BY refused DESC, retrieved DESC, scope LIMIT $limit
"""

SUPPORTED = """
MATCH (m:Message {tenant: $tenant})-[c:CITES]->(a:Document), (m)-[e:EVIDENCE]->(b:Document)
WHERE e.sentence = c.sentence AND e.label = 'supported' AND a.uri <> b.uri
WITH DISTINCT a.uri AS uri, b.uri AS other, m.id AS message, c.sentence AS sentence
RETURN uri, other, count(*) AS sentences
"""

TOGETHER = """
MATCH (m:Message {tenant: $tenant})-[c:CITES]->(a:Document), (m)-[e:CITES]->(b:Document)
WHERE e.sentence = c.sentence AND a.uri <> b.uri
WITH DISTINCT a.uri AS uri, b.uri AS other, m.id AS message, c.sentence AS sentence
RETURN uri, other, count(*) AS sentences
"""

FAILURES = f"""
MATCH (first:Message)-[:IN_RUN]->(r:Run {{tenant: $tenant}})
WITH r, min(first.opened_at) AS since
MATCH (m:Message)-[:IN_RUN]->(r), (m)-[:JUDGED_BY]->(j:Judgment)-[:OF]->(c:Criterion)
WHERE {_COUNTS}
RETURN r.name AS run, since, c.name AS criterion,
       count(CASE WHEN j.passed THEN 1 END) AS passed,
       count(CASE WHEN NOT j.passed THEN 1 END) AS failed,
       count(CASE WHEN j.passed IS NULL THEN 1 END) AS undecided
ORDER BY since, run, criterion
"""

CONTRADICTED = f"""
MATCH (m:Message {{tenant: $tenant}})-[e:EVIDENCE]->(d:Document),
      (m)-[:JUDGED_BY]->(j:Judgment)-[:OF]->(c:Criterion)
WHERE e.label = 'contradicted' AND j.sentence = e.sentence AND c.name = 'grounding' AND NOT j.passed
      AND {_COUNTS}
WITH DISTINCT d.uri AS uri, m.id AS message, e.sentence AS sentence
RETURN uri, count(*) AS found
"""

FABRICATED = """
MATCH (m:Message {tenant: $tenant})-[:MAKES]->(c:Citation), (m)-[e:EVIDENCE]->(d:Document)
WHERE c.finding = 'fabricated' AND c.sentence = e.sentence AND e.label IN ['supported', 'contradicted']
WITH DISTINCT d.uri AS uri, c.id AS citation
RETURN uri, count(*) AS found
"""

Key = TypeVar("Key")


class GraphQuestions:
    """`Reader.cited`, `scopes`, `dependencies`, `failures` and `blamed`, of a graph."""

    def __init__(self, graph: GraphStore, *, tenant: str = "") -> None:
        """Nothing is asked yet.

        Args:
            graph: entered, and filled by `replay`.
            tenant: whose data it is.
        """
        self._graph, self._tenant = graph, tenant

    def cited(self, *, limit: int = 50) -> list[CitedRow]:
        """As `Reader.cited`."""
        return [CitedRow(**row) for row in self._ask(CITED, limit=limit)]

    def scopes(self, *, limit: int = 50) -> list[ScopeRow]:
        """As `Reader.scopes`."""
        return [ScopeRow(**row) for row in self._ask(SCOPES, limit=limit)]

    def dependencies(self, *, limit: int = 50) -> list[DependencyRow]:
        """As `Reader.dependencies`."""
        found = _joined(
            self._ask(SUPPORTED), self._ask(TOGETHER), lambda row: (row["uri"], row["other"]), "sentences"
        )
        rows = [DependencyRow(*pair, supported, together) for pair, (supported, together) in found.items()]
        return sorted(rows, key=lambda row: (-row.supported, -row.together, row.uri, row.on))[:limit]

    def failures(self, criterion: str | None = None) -> list[FailureRow]:
        """As `Reader.failures`."""
        rows = [
            FailureRow(**{**row, "since": datetime.fromisoformat(row["since"])})
            for row in self._ask(FAILURES)
        ]
        return rows if criterion is None else [row for row in rows if row.criterion == criterion]

    def blamed(self, *, limit: int = 50) -> list[BlamedRow]:
        """As `Reader.blamed`."""
        found = _joined(self._ask(CONTRADICTED), self._ask(FABRICATED), lambda row: row["uri"], "found")
        rows = [BlamedRow(uri, against, invented) for uri, (against, invented) in found.items()]
        rows.sort(key=lambda row: (-row.contradicted - row.fabricated, -row.contradicted, row.uri))
        return rows[:limit]

    def _ask(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        return self._graph.rows(statement, {"tenant": self._tenant, **parameters})


def _joined(
    first: list[dict[str, Any]],
    second: list[dict[str, Any]],
    key: Callable[[dict[str, Any]], Key],
    value: str,
) -> dict[Key, tuple[int, int]]:
    """Two counts by one key; 0 where one has none."""
    counts: dict[Key, list[int]] = defaultdict(lambda: [0, 0])
    for place, rows in enumerate((first, second)):
        for row in rows:
            counts[key(row)][place] = row[value]
    return {name: (one, other) for name, (one, other) in counts.items()}
