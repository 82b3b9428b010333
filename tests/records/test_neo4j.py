"""Neo4j's own driver against a server of ours that speaks its protocol and keeps what is committed."""

from __future__ import annotations

import pytest
from bolt_double import BoltDouble
from streams import ANSWER, record

from streamverify import UsageError
from streamverify.records import Records
from streamverify.records.graph import Neo4jGraph, Replayed, replay
from streamverify.records.graph.edges import NODES

pytestmark = pytest.mark.timeout(600)


@pytest.mark.slow
def test_neo4j_s_driver_is_given_whole_transactions(tmp_path):
    with Records(tmp_path / "r.db") as records, BoltDouble(password="secret") as server:
        record(records, [ANSWER, ANSWER])
        with Neo4jGraph(server.url, password="secret") as graph:
            assert replay(records.database, graph, portion=2).entries == 4
            assert replay(records.database, graph) == Replayed(0, 0, 0, 0, 4)
        told = [statement for statement, _ in server.committed]
        assert sum(statement.startswith("CREATE CONSTRAINT") for statement in told) == len(NODES) + 1
        merged = next(given for one, given in server.committed if "MERGE (n:Document" in one)
        assert {row["uri"] for row in merged["rows"]} == {"hr/leave", "canteen", "office"}
        (edge,) = {one for one in told if ":RETRIEVED " in one}
        assert edge == (
            "UNWIND $rows AS row MATCH (a:Message {id: row.source}), (b:Document {id: row.target}) "
            "MERGE (a)-[e:RETRIEVED {number: row.number, rank: row.rank}]->(b) "
            "SET e.score = row.score, e.could_see = row.could_see"
        )


@pytest.mark.slow
def test_a_neo4j_server_that_fails_leaves_whole_transactions_behind(tmp_path):
    with Records(tmp_path / "r.db") as records, BoltDouble() as server:
        record(records, [ANSWER, ANSWER])
        with Neo4jGraph(server.url, seconds=5) as graph:
            replay(records.database, graph, portion=2)
            record(records)
            before = list(server.committed)
            server.hang_up_at = 9
            with pytest.raises(UsageError, match="cannot be used"):
                replay(records.database, graph)
            server.fail_commit = {"code": "Neo.DatabaseError.General.UnknownError", "message": "no room"}
            with pytest.raises(UsageError, match="no room"):
                replay(records.database, graph)
            kept = [one for one in server.committed if "MERGE" in one[0]]
            assert kept == [one for one in before if "MERGE" in one[0]]
            assert replay(records.database, graph).entries == 2


@pytest.mark.slow
def test_a_neo4j_server_that_cannot_be_used_is_named(tmp_path):
    with BoltDouble(password="secret") as server:
        gone = server.url
        with pytest.raises(UsageError, match="wrong password"), Neo4jGraph(gone, password="guess", seconds=5):
            pass
    with pytest.raises(UsageError, match=gone), Neo4jGraph(gone, seconds=5):
        pass
