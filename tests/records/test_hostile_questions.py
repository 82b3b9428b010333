"""What somebody may hand to `audit`, and what records without texts hold of an answer."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from streams import ANSWER, AUDITOR, record

from streamverify import Label, Passage, Repair, Verifier
from streamverify.domains import check_answer, company_expert
from streamverify.program import main
from streamverify.records import Reader, Records, add_content, erase, judge, schema, verify
from streamverify.testing import ScriptedScorer

SAID = "zebrafish"
NOBODY = "0" * 32


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    made = tmp_path_factory.mktemp("hostile") / "r.db"
    with Records(made) as records:
        record(records, [ANSWER])
    return str(made)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:secret@127.0.0.1:abc/x",
        "postgresql://u:secret@[::1/x",
        "mysql://u:secret@host/x",
        "sqlite://",
        "sqlite:////nowhere/at/all.db",
        "\0",
        "",
        __file__,
    ],
)
def test_a_url_that_names_no_records_is_refused_in_one_line(url, capsys):
    assert main(["audit", "list", "--records", url]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "secret" not in told


@pytest.mark.parametrize(
    "asked",
    [
        ["list", "--limit", "9" * 30],
        ["list", "--since", "0001-01-01T00:00+23:00"],
        ["cited", "--until", "9999-12-31T23:59:59-23:59"],
        ["list", "--as", "\ud800"],
        ["list", "--as", " "],
        ["list", "--roles", "nobody"],
        ["documents", NOBODY, "9" * 30],
        ["judge", NOBODY, "9" * 30, "correct", "--by", "eve"],
        ["judge", NOBODY, "-1", "correct", "--by", "eve"],
        ["erase", "--reason", "so", "--before", "0001-01-01T00:00+23:00"],
        ["erase", "--reason", "so", "--user", "\ud800"],
    ],
)
def test_what_cannot_be_meant_is_refused(path, asked, capsys):
    assert main(["audit", *asked, "--records", path]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("word", ["x' OR '1'='1", "'; DROP TABLE streams; --", "%", "_", "a\0b", '"', "\\"])
def test_a_name_is_a_name_and_no_sql(path, word, capsys):
    for asked in (["list", "--as", word], ["list", "--user", word], ["list", "--tenant", word],
                  ["failed", "--criterion", word], ["failures", "--criterion", word],
                  ["cited", "--as", "eve", "--roles", word], ["cited", "--tenant", word]):  # fmt: skip
        assert main(["audit", *asked, "--records", path]) == 0
        assert capsys.readouterr().out == ""
    assert main(["audit", "verify", "--records", path]) == 0


def everything(database):
    with database.reading() as connection:
        return "\n".join(
            str(value)
            for table in schema.metadata.sorted_tables
            for row in connection.execute(sa.select(table)).all()
            for value in row
        )


def filled(records):
    """An answer with the word in every place that a text can have."""

    async def repaired(request):
        return f"A better {SAID}."

    passages = [
        Passage("p1", f"Employees have 30 {SAID} days.", metadata={"uri": "hr/leave", "tags": ["hr"]})
    ]
    output = {"answer": f"30 {SAID} days.", "citations": [{"document": "hr/leave"}], "policy_scope": ["hr"],
              "confidentiality": "restricted"}  # fmt: skip
    scorer = ScriptedScorer({"wrong": Label.CONTRADICTED})
    told = f'It says "the {SAID} was in all of the old houses" [p1]. '
    told += f"Employees have 31 {SAID} days [^{SAID}]. The wrong {SAID}."
    with Verifier(scorer, policy=Repair(repaired), observers=[records]) as verifier:
        verifier.check_sync(told, passages, question=f"Which {SAID}?", context={"user": "ann"})

        async def broken():
            yield f"Some {SAID}. "
            raise RuntimeError(f"lost the {SAID}")

        async def read():
            async with verifier.stream(broken(), passages, context={"user": "ann"}) as stream:
                async for _ in stream:
                    pass

        with pytest.raises(RuntimeError):
            verifier.portal.run(read)
        result = check_answer(
            company_expert(),
            verifier,
            f"Employees have 30 {SAID} days [p1].\n\n{json.dumps(output)}",
            passages,
            context={"user": "ann"},
            now=datetime.now(UTC),
        )
        assert verifier.drain_observers(60)
    streams: list[uuid.UUID] = [row.id for row in Reader(records.database, AUDITOR).streams()]
    add_content(records.database, streams[0], result)
    for stream in streams:
        judge(records.database, AUDITOR, stream, 0, "incorrect", by="eve", note=f"not a {SAID}")


def test_records_of_hashes_hold_no_text_anywhere(url):
    with Records(url, keep="hashes") as records:
        filled(records)
        held = everything(records.database)
        assert "hr/leave" in held
        assert SAID not in held
        assert verify(records.database).passed


def test_what_was_erased_is_nowhere_and_the_chain_holds(url):
    with Records(url) as records:
        filled(records)
        assert SAID in everything(records.database)
        assert erase(records.database, before=datetime.now(UTC), reason="old") == 3
        assert SAID not in everything(records.database)
        assert verify(records.database).passed
