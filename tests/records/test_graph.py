"""The records as a graph: read off SQL, replayed into a graph database, asked the same there."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import uuid

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import ANSWER, AUDITOR, record

from streamverify import UsageError
from streamverify.program import main
from streamverify.records import (
    BlamedRow,
    CitedRow,
    DependencyRow,
    Reader,
    Records,
    Requester,
    ScopeRow,
    erase,
    judge,
    schema,
)
from streamverify.records.graph import (
    EmbeddedGraph,
    GraphQuestions,
    Neo4jGraph,
    Replayed,
    replay,
    to_networkx,
)
from streamverify.records.graph.edges import EDGES, NODES
from streamverify.scorers.protocol import ClaimScore, NliScore, WindowScore
from streamverify.testing import ScriptedScorer

pytestmark = pytest.mark.timeout(600)

QUESTIONS = ("cited", "scopes", "dependencies", "failures", "blamed")
SENTENCES = (
    "Employees have 30 days of leave [p1].",
    "The wrong canteen opens at midnight [p2].",
    "It is said so [9].",
    "The canteen opens at noon [p2][p3].",
    "The office has four floors [p1].",
    "The wrong office has 7 floors [p3].",
    "The canteen opens at noon.",
)


TOPICS = ("leave", "canteen", "floors")
"""One for each passage."""
AGREES, DISAGREES, SILENT = NliScore(0.98, 0.01, 0.01), NliScore(0.01, 0.01, 0.98), NliScore(0.01, 0.98, 0.01)


class ByTopic(ScriptedScorer):
    """A passage speaks of what it names alone, and disagrees with what is wrong."""

    def _score(self, prepared, claim, abort):
        def said(text):
            if not any(topic in text and topic in claim.text for topic in TOPICS):
                return SILENT
            return DISAGREES if "wrong" in claim.text else AGREES

        looked_at = claim.focus if claim.only_focus else range(len(prepared.windows))
        single = [WindowScore(n, said(prepared.windows[n].text)) for n in looked_at]
        single.sort(key=lambda one: -one.score.entailment)
        return ClaimScore(single=tuple(single), tokens=(), tokens_scored=1, passes=len(single))


def contents(graph):
    """All that a graph holds, in an order of its own."""
    nodes = {
        node.label: sorted(
            repr(sorted(row["n"].items()))
            for row in graph.rows(f"MATCH (n:{node.label}) RETURN {{id: n.id{_told(node, 'n')}}} AS n")
        )
        for node in NODES
    }
    edges = {
        edge.name: sorted(
            repr(sorted((key, value) for key, value in row.items()))
            for row in graph.rows(
                f"MATCH (a)-[e:{edge.name}]->(b) RETURN a.id AS source, b.id AS target"
                + "".join(f", e.{name} AS {name}" for name in {**edge.key, **edge.properties})
            )
        )
        for edge in EDGES
    }
    return nodes, edges


def _told(node, name):
    return "".join(f", {one}: {name}.{one}" for one in node.properties)


def expected(told):
    """What `contents` must find for what SQL tells."""
    nodes = {label: sorted(repr(sorted(row.items())) for row in rows) for label, rows in told.nodes.items()}
    edges = {name: sorted({repr(sorted(row.items())) for row in rows}) for name, rows in told.edges.items()}
    return nodes, edges


def history(records, seed, streams):
    """Streams of several users and runs, some of them judged by people, one user's erased."""
    chance = random.Random(seed)
    ids = []
    for number in range(streams):
        answer = " ".join(chance.choices(SENTENCES, k=chance.randint(1, 4)))
        context = {
            "user": chance.choice(["u1", "u2", None]),
            "roles": chance.choice([["hr"], []]),
            "run": chance.choice(["r1", "r2", None]),
            "conversation": chance.choice(["c1", None]),
        }
        ids += record(records, [answer], by=ByTopic(), context=context, question=f"What of {number}?")
        if chance.random() < 0.4:
            stream = uuid.UUID(chance.choice(ids))
            opinion = chance.choice(["correct", "incorrect"])
            judge(records.database, AUDITOR, stream, 0, opinion, by="ann", severity="major")
    if chance.random() < 0.4:
        erase(records.database, user="u2", reason="asked for it")
    return ids


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 10**6), streams=st.integers(0, 4), cut=st.integers(1, 4))
def test_a_graph_answers_as_sql_does_however_often_it_was_replayed(tmp_path_factory, seed, streams, cut):
    folder = tmp_path_factory.mktemp("graph")
    with Records(folder / "r.db") as records, EmbeddedGraph(folder / "g.lbug") as graph:
        history(records, seed, cut)
        replay(records.database, graph)
        history(records, seed + 1, streams)
        replay(records.database, graph)
        reader = Reader(records.database, AUDITOR)
        assert contents(graph) == expected(reader.graph())
        for question in QUESTIONS:
            assert getattr(GraphQuestions(graph), question)() == getattr(reader, question)(), question


@pytest.fixture
def records(url):
    with Records(url) as made:
        yield made


@pytest.fixture
def graph(tmp_path):
    with EmbeddedGraph(tmp_path / "answers.graph") as made:
        yield made


def streams_of(records, *answers, **options):
    return [uuid.UUID(one) for one in record(records, answers, by=ByTopic(), **options)]


def test_the_questions_are_answered_within_what_the_requester_may_see(records):
    streams_of(
        records,
        "Employees have 30 days of leave [p1]. The canteen opens at noon [p1].",
        "The canteen opens at noon [p2]. The wrong canteen opens at noon [p2].",
        "The canteen opens at noon [9].",
        context={"user": "u1", "roles": [], "run": "r1"},
    )
    auditor = Reader(records.database, AUDITOR)
    assert auditor.cited() == [CitedRow("canteen", 2, 2, 1), CitedRow("hr/leave", 2, 2, 1)]
    assert auditor.scopes() == [ScopeRow("HR", 3, 3)]
    assert auditor.dependencies() == [DependencyRow("hr/leave", "canteen", 1, 0)]
    assert auditor.blamed() == [BlamedRow("canteen", 1, 1)]
    (row,) = auditor.failures("grounding")
    assert (row.run, row.passed, row.failed, row.undecided, row.failure_rate) == ("r1", 4, 1, 0, 0.2)
    assert [row.accuracy for row in auditor.cited()] == [0.5, 0.5]

    own = Reader(records.database, Requester(user="u1"))
    assert own.cited() == [CitedRow("canteen", 2, 2, 1)]
    assert own.scopes() == own.dependencies() == []
    assert own.blamed() == [BlamedRow("canteen", 1, 1)]
    assert own.failures() == auditor.failures()
    for other in (Requester(user="u2", roles={"hr"}), Requester(roles={"auditor"}, tenant="another")):
        asked = Reader(records.database, other)
        assert [getattr(asked, question)() for question in QUESTIONS] == [[], [], [], [], []]
        assert not any(asked.graph().nodes.values())


def test_the_graph_holds_what_its_requester_may_see(records):
    streams_of(records, ANSWER, context={"user": "u1", "roles": []})
    told = Reader(records.database, Requester(user="u1")).graph()
    assert {node["uri"] for node in told.nodes["Document"]} == {"canteen", "office"}
    assert told.nodes["Scope"] == []
    known = {node["id"] for nodes in told.nodes.values() for node in nodes}
    ends = {edge[end] for edges in told.edges.values() for edge in edges for end in ("source", "target")}
    assert ends <= known


@pytest.mark.slow
def test_a_later_judgment_changes_the_graph_and_an_erasure_takes_the_name_out(records, graph):
    first, _ = streams_of(records, ANSWER, ANSWER, context={"user": "zoe", "roles": ["hr"], "run": "r"})
    replay(records.database, graph)
    failed = "MATCH (m:Message)-[f:FAILED]->(c:Criterion) RETURN m.id AS id, f.sentence AS sentence"
    assert {row["sentence"] for row in graph.rows(failed)} == {1, 2}
    judge(records.database, AUDITOR, first, 1, "correct", by="ann")
    judge(records.database, AUDITOR, first, 2, "correct", by="ann")
    erase(records.database, user="zoe", reason="asked for it")
    replay(records.database, graph)
    assert str(first) not in {row["id"] for row in graph.rows(failed)}
    assert graph.rows("MATCH (u:User) RETURN u.name AS name") == []
    assert "zoe" not in repr(contents(graph))
    assert contents(graph) == expected(Reader(records.database, AUDITOR).graph())
    assert GraphQuestions(graph).failures() == Reader(records.database, AUDITOR).failures()


@pytest.mark.slow
def test_tenants_are_asked_about_one_by_one(records, graph):
    streams_of(records, ANSWER, context={"user": "u1", "roles": ["hr"], "tenant": "a", "run": "r"})
    streams_of(records, ANSWER * 2, context={"user": "u1", "roles": [], "tenant": "b", "run": "r"})
    replay(records.database, graph)
    for tenant in ("a", "b", ""):
        auditor = Reader(records.database, Requester(roles={"auditor"}, tenant=tenant))
        asked = GraphQuestions(graph, tenant=tenant)
        for question in QUESTIONS:
            assert getattr(asked, question)() == getattr(auditor, question)()


@pytest.mark.slow
def test_a_replay_counts_and_again_does_nothing(records, graph, tmp_path):
    streams_of(records, ANSWER, ANSWER)
    told = []
    done = replay(records.database, graph, sink="mine", portion=3, done=told.append)
    assert (done.entries, done.place, [one.place for one in told]) == (4, 4, [3, 4])
    assert done.streams == 2  # the second one's opening and end lie in different portions
    assert done.nodes > 10
    assert done.edges > 10
    assert replay(records.database, graph) == Replayed(0, 0, 0, 0, 4)
    with records.database.reading() as connection:
        assert [tuple(row) for row in connection.execute(sa.select(schema.sink_positions))] == [("mine", 4)]
    with EmbeddedGraph(tmp_path / "anew.graph") as anew:
        replay(records.database, anew)
        assert contents(anew) == contents(graph)


KILLED = """
import os, signal, sys
from streamverify.records import Database
from streamverify.records.graph import EmbeddedGraph, replay
from streamverify.records.graph import embedded

left = int(sys.argv[3])
merge = embedded._Transaction.merge_edges

def counted(self, kind, rows):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    merge(self, kind, rows)

embedded._Transaction.merge_edges = counted
with Database(sys.argv[1]) as database, EmbeddedGraph(sys.argv[2]) as graph:
    replay(database, graph, portion=1)
"""


@pytest.mark.slow
def test_a_killed_replay_goes_on_where_it_was(tmp_path):
    with Records(tmp_path / "r.db") as records:
        streams_of(records, ANSWER, ANSWER, ANSWER)
        place = 0
        for merges in (3, 30):  # in the first transaction, and in a later one
            command = [sys.executable, "-c", KILLED, tmp_path / "r.db", tmp_path / "g", str(merges)]
            assert subprocess.run(command, check=False, env=os.environ).returncode == -signal.SIGKILL
            with EmbeddedGraph(tmp_path / "g") as graph:
                (before, place) = place, _place(graph)
                told = set(contents(graph)[0]["Message"])
                assert len(told) == (place + 1) // 2
                assert place >= before
        assert 0 < place < 6
        with EmbeddedGraph(tmp_path / "g") as graph:
            assert replay(records.database, graph).entries == 6 - place
            assert contents(graph) == expected(Reader(records.database, AUDITOR).graph())


def _place(graph):
    found = graph.rows("MATCH (r:Replay) RETURN r.number AS number")
    return found[0]["number"] if found else 0


def test_a_graph_of_other_records_is_refused(tmp_path, graph):
    with Records(tmp_path / "a.db") as one, Records(tmp_path / "b.db") as other:
        streams_of(one, ANSWER)
        replay(one.database, graph)
        with pytest.raises(UsageError, match="holds other records"):
            replay(other.database, graph)
        streams_of(other, ANSWER)
        with pytest.raises(UsageError, match="holds other records"):
            replay(other.database, graph)
        graph.rows("MATCH (r:Replay) SET r.version = 0")
        with pytest.raises(UsageError, match="another version"):
            replay(one.database, graph)


def test_what_is_no_graph_is_refused(tmp_path, graph):
    (tmp_path / "text").write_text("no graph " * 1_000)
    for path in ("text", "nowhere/graph"):
        with pytest.raises(UsageError, match="cannot be used"), EmbeddedGraph(tmp_path / path):
            pass
    with pytest.raises(UsageError, match="Parser exception"):
        graph.rows("no question")
    with pytest.raises(ZeroDivisionError), graph.writing() as transaction:
        transaction.run("MERGE (:User {id: 'x'})", {})
        raise ZeroDivisionError
    assert graph.rows("MATCH (u:User) RETURN u.id") == []
    with pytest.raises(UsageError, match="names no Neo4j server"):
        Neo4jGraph("http://127.0.0.1")


def test_networkx_has_the_same_nodes_and_edges(tmp_path):
    with Records(tmp_path / "r.db") as records:
        streams_of(records, ANSWER, context={"user": "u1", "roles": ["hr"], "run": "r"})
        told = Reader(records.database, AUDITOR).graph()
    made = to_networkx(told)
    assert made.number_of_nodes() == sum(map(len, told.nodes.values()))
    assert made.number_of_edges() == sum(map(len, told.edges.values()))
    message = told.nodes["Message"][0]
    assert made.nodes[message["id"]] == {
        "kind": "Message",
        **{k: v for k, v in message.items() if k != "id"},
    }
    asked = [edge for _, _, edge in made.in_edges(message["id"], data=True) if edge["kind"] == "ASKED"]
    assert asked == [{"kind": "ASKED"}]


@pytest.mark.slow
def test_the_questions_by_command(url, records, tmp_path, capsys):
    streams_of(records, ANSWER, ANSWER, context={"user": "u1", "roles": [], "run": "r1"})

    def told(*arguments):
        assert main(["audit", *arguments, "--records", url, "--json"]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert [row["uri"] for row in told("cited")] == ["hr/leave", "canteen"]
    assert told("scopes") == [{"scope": "HR", "retrieved": 2, "refused": 2}]
    assert told("scopes", "--as", "u1") == told("depends") == []
    assert {row["failed"] for row in told("failures", "--criterion", "grounding")} == {4}
    assert told("blamed") == [{"uri": "canteen", "contradicted": 2, "fabricated": 0}]
    for told_of, entries in (("up to entry 4", 4), ("up to entry 4", 0)):
        assert main(["audit", "replay", "--records", url, "--graph", str(tmp_path / "g")]) == 0
        line = capsys.readouterr().out
        assert line.startswith(f"{entries} entries")
        assert told_of in line
    assert main(["audit", "replay", "--records", url, "--graph", "http://x"]) == 2
    assert "names no Neo4j server" in capsys.readouterr().err
