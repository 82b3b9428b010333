"""`streamverify audit …`: an auditor's questions by command, on both databases."""

from __future__ import annotations

import json
import re
import sqlite3
import uuid
from contextlib import closing
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from streams import ANSWER, AUDITOR, raw, record

from streamverify.program import main
from streamverify.records import Database, Reader, Records, schema


@pytest.fixture
def audit(url, capsys):
    """Runs one command; gives its status, its lines and what it complained about."""

    def run(*arguments):
        status = main(["audit", *map(str, arguments), "--records", url])
        told = capsys.readouterr()
        return status, told.out.splitlines(), told.err

    return run


@pytest.fixture
def streams(url):
    with Records(url) as records:
        return record(
            records, [ANSWER] * 2, context={"user": "ann", "roles": ["hr"], "domain": "d", "run": "r"}
        )


def told(lines):
    return [json.loads(line) for line in lines]


def test_the_questions_of_an_auditor(audit, streams):
    _, lines, _ = audit(
        "list", "--json", "--user", "ann", "--domain", "d", "--run", "r", "--since", "2026-01-01"
    )
    assert {row["id"] for row in told(lines)} == set(streams)
    assert {row["requester"] for row in told(lines)} == {"ann"}
    assert audit("list", "--user", "bob") == (0, [], "streamverify: nothing found\n")
    assert audit("list", "--until", "2026-01-01")[1] == []
    _, lines, _ = audit("list", "--limit", 1)
    assert lines[0].split("\t")[:3] == ["id", "opened_at", "requester"]
    assert len(lines) == 2
    assert "these are 1, and there are more" in audit("list", "--limit", 1)[2]
    assert audit("list", "--limit", 2)[2] == ""

    _, lines, _ = audit("show", streams[0], "--json")
    assert [row.get("action") for row in told(lines)] == [None, "release", "redact", "redact"]
    assert "".join(row["text"] for row in told(lines)[1:]) == ANSWER
    _, lines, _ = audit("show", streams[0])
    assert "requester: ann" in lines
    assert any(line.startswith("opened_at: ") and "." not in line for line in lines)  # whole seconds

    _, lines, _ = audit("access", streams[0])
    assert [line.split("\t")[4:7] for line in lines[1:]] == [
        ["hr", "ann", "hr"],
        ["-", "ann", "hr"],
        ["-", "ann", "hr"],
    ]

    _, lines, _ = audit("documents", streams[0], 0, "--json")
    assert {(row["role"], row["uri"]) for row in told(lines) if row["role"] == "cited"} == {
        ("cited", "hr/leave")
    }
    _, lines, _ = audit("documents", streams[0], "--json")
    assert [row["uri"] for row in told(lines)] == ["hr/leave", "canteen", "office"]
    _, lines, _ = audit("access", streams[0], "--json")
    assert [(row["visibility"], row["roles"], row["could_see"]) for row in told(lines)] == [
        ("restricted", ["hr"], True),
        ("public", [], True),
        ("internal", [], True),
    ]
    _, lines, _ = audit("withheld", "--json")
    assert sorted(row["sentence"] for row in told(lines)) == [1, 1, 2, 2]
    _, lines, _ = audit("failed", "--criterion", "grounding", "--json")
    assert {row["label"] for row in told(lines)} == {"contradicted", "unsupported"}


def test_a_list_for_people_shows_the_beginning_of_texts(audit, url):
    with Records(url) as records:
        record(records, ["The mill is old. " * 20], question="Why? " * 50)
    _, [names, line], _ = audit("list")
    cells = dict(zip(names.split("\t"), line.split("\t"), strict=True))
    assert len(line) < 250
    assert cells["question"].endswith("…")
    assert len(cells["released"]) == 48
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00", cells["opened_at"])
    assert re.fullmatch(r"\d\.\d\d", cells["grounding_score"])
    _, [whole], _ = audit("list", "--json")
    assert json.loads(whole)["released"] == "The mill is old. " * 20
    assert "None" not in line


def test_somebody_else_sees_what_they_may(audit, streams):
    _, lines, _ = audit("documents", streams[0], "--as", "ann", "--json")
    assert [row["uri"] for row in told(lines)] == ["canteen", "office"]
    _, lines, _ = audit("documents", streams[0], "--as", "ann", "--roles", "it, hr", "--json")
    assert [row["uri"] for row in told(lines)] == ["hr/leave", "canteen", "office"]
    status, lines, complaint = audit("show", streams[0], "--as", "bob")
    assert (status, lines) == (2, [])
    assert "no stream" in complaint
    assert audit("list", "--tenant", "other")[1] == []


def test_a_judgment_an_erasure_and_a_tampered_row(audit, streams, url):
    status, (identity,), _ = audit("judge", streams[0], 1, "correct", "--by", "eve", "--note", "moved in May")
    assert status == 0
    assert uuid.UUID(identity)
    _, lines, _ = audit("failed", "--criterion", "grounding", "--json")
    assert sorted((row["stream"], row["sentence"]) for row in told(lines)) == sorted(
        [(streams[0], 2), (streams[1], 1), (streams[1], 2)]
    )
    status, (line,), _ = audit("verify")
    assert status == 0
    assert line.startswith("5 entries, 0 problems, head 5:")
    head = line.rpartition(" ")[2]
    assert audit("erase", "--user", "ann", "--reason", "request 17", "--by", "ops")[1] == [
        "2 streams lost their texts"
    ]
    assert audit("erase", "--before", datetime.now(UTC).isoformat(), "--reason", "90 days")[1] == [
        "0 streams lost their texts"
    ]
    # Who judged asked nothing: their name is in the judgment alone.
    assert audit("erase", "--user", "eve", "--reason", "request 18") == (
        0,
        ["0 streams lost their texts", "1 judgments lost the name of who made them"],
        "",
    )
    assert audit("verify", "--head", head)[0] == 0
    with Database(url) as database:
        raw(database, "UPDATE judgments SET score = 0.99 WHERE label = 'contradicted'")
    status, lines, complaint = audit("verify")
    assert status == 1
    assert "2 problems" in lines[0]
    assert "the conclusion was changed after it was written" in complaint


def test_tables_are_set_up_by_command_and_only_once(url, capsys):
    database = Database(url)
    for before in ("none", database.head):
        assert main(["audit", "upgrade", "--records", url]) == 0
        assert capsys.readouterr().out.endswith(f"schema {before} -> {database.head}\n")
    database.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list"], "there are no records at"),
        (["verify", "--head", "x"], "there are no records at"),
    ],
)
def test_a_question_makes_no_database(tmp_path, capsys, arguments, message):
    assert main(["audit", *arguments, "--records", str(tmp_path / "none.db")]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["verify", "list", "failed", "runs"])
def test_a_question_to_a_file_without_records_is_refused_and_changes_nothing(tmp_path, capsys, command):
    (tmp_path / "empty.db").touch()
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE streams (id)")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for name in before:
        assert main(["audit", command, "--records", str(tmp_path / name)]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.count("\n") == 1
        assert f"{name} holds no records: nothing was recorded there yet" in told.err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_question_to_a_database_without_records_is_refused_until_it_is_set_up(url, capsys):
    database = Database(url)
    if database.exists:
        assert main(["audit", "verify", "--records", url]) == 2
        assert "holds no records" in capsys.readouterr().err
        assert database.revision is None
        database.close()
    assert main(["audit", "upgrade", "--records", url]) == 0
    assert main(["audit", "verify", "--records", url]) == 0
    assert "0 entries, 0 problems" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "x"], "'x' is no id"),
        (["list", "--since", "soon"], "'soon' is no day"),
        (["list", "--roles", "hr"], "--as"),
        (["verify", "--head", "12:ab"], "is no head"),
        (["erase", "--reason", "x"], "whose texts"),
        (["erase", "--before", "2999-01-01", "--reason", "x"], "still to come"),
    ],
)
def test_a_wrong_question_is_one_line(tmp_path, capsys, arguments, message):
    with Database(tmp_path / "r.db"):
        assert main(["audit", *arguments, "--records", str(tmp_path / "r.db")]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert message in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize("damage", ["opened_at = 'garbage'", "requester = CAST(X'ff80' AS TEXT)"])
def test_a_damaged_value_is_one_line_that_says_how_to_find_it(tmp_path, capsys, damage):
    path = tmp_path / "r.db"
    with Records(path) as records:
        record(records, [ANSWER])
    with closing(sqlite3.connect(path)) as connection, connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(f"UPDATE streams SET {damage}")
    assert main(["audit", "list", "--records", str(path)]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert "a value that cannot be read" in told.err
    assert "streamverify audit verify says which" in told.err


def test_a_file_that_is_no_database_is_one_line(tmp_path, capsys):
    (tmp_path / "r.db").write_text("not a database, but long enough to be looked at " * 10)
    assert main(["audit", "list", "--records", str(tmp_path / "r.db")]) == 2
    assert "cannot be used: file is not a database" in capsys.readouterr().err


def test_what_was_said_cannot_reach_into_the_terminal(audit, url):
    with Records(url) as records:
        (stream,) = record(records, ["It is \x1b[31mred\tand \n blue."], question="\x1b]0;title\x07")
    _, lines, _ = audit("show", stream)
    assert not any("\x1b" in line or "\x07" in line for line in lines)
    assert len(lines[-1].split("\t")) == 7
    with Database(url) as database, database.reading() as connection:
        assert "\x1b" in connection.execute(sa.select(schema.conclusions.c.answer)).scalar()
        assert Reader(database, AUDITOR).streams()
