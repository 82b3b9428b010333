"""Streams that are recorded in tests: checked for real, by a scripted scorer."""

from __future__ import annotations

import sqlalchemy as sa

from streamverify import Label, Passage, Redact, Verifier
from streamverify.records import Database, Reader, Records, Requester
from streamverify.testing import ScriptedScorer

PASSAGES = [
    Passage(
        "p1",
        "Employees have 30 days of leave. Leave is asked for in writing.",
        title="Leave",
        metadata={
            "uri": "hr/leave", "checksum": "v1", "visibility": "restricted", "roles": ["hr"], "tags": ["HR"],
            "updated_at": "2026-10-01", "page": 3, "score": 0.9,
        },
    ),
    Passage("p2", "The canteen opens at noon.", metadata={"uri": "canteen", "visibility": "public"}),
    Passage("p3", "The office has four floors.", metadata={"uri": "office", "visibility": "internal"}),
]  # fmt: skip
ANSWER = "Employees have 30 days of leave [p1]. The wrong canteen opens at midnight [p2]. It is said so [9]."
AUDITOR = Requester(user="audrey", roles=frozenset({"auditor"}))


def scorer():
    return ScriptedScorer({"wrong": Label.CONTRADICTED, "said": Label.UNSUPPORTED})


def record(records, answers=(ANSWER,), *, policy=None, by=None, passages=None, **options):
    """Check the answers one after another; gives their streams' ids, in order."""
    ids = []
    given = {"question": "How much leave?", "context": {"user": "u1", "roles": ["hr"]}, **options}
    with Verifier(by or scorer(), policy=policy or Redact(), observers=[records]) as verifier:
        for answer in answers:

            async def read(answer=answer):
                async with verifier.stream(answer, passages or PASSAGES, **given) as stream:
                    async for _ in stream:
                        pass
                    return stream.id

            ids.append(verifier.portal.run(read))
        assert verifier.drain_observers(50)
    return ids


def raw(database: Database, statement: str) -> None:
    """What somebody does who can write the database: the guards are taken away first."""
    with database.writing() as connection:
        if connection.dialect.name == "postgresql":
            for name in sa.inspect(connection).get_table_names():
                connection.exec_driver_sql(f'ALTER TABLE "{name}" DISABLE TRIGGER USER')
        else:
            found = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").all()
            for (name,) in found:
                connection.exec_driver_sql(f"DROP TRIGGER {name}")
        connection.exec_driver_sql(statement)


__all__ = ["ANSWER", "AUDITOR", "PASSAGES", "Reader", "Records", "raw", "record", "scorer"]
