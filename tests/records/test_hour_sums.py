"""The sums of hours are those of the rows, in whatever order and portions they were added."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import ANSWER, AUDITOR, record

from streamverify.records import Database, Reader, Records, Requester, add_up, erase, histograms, hours, judge
from streamverify.records.scoring import add_scores
from tests.monitor.recorded import START, write


def held(database, table):
    key = [column.name for column in table.primary_key]
    with database.reading() as connection:
        found = [dict(row) for row in connection.execute(sa.select(table)).mappings()]
    return {tuple(row.pop(name) for name in key): row for row in found if any(row.values())}


def from_rows(database, table):
    """The same, from the rows of all streams."""
    made, own = {
        hours.hours: (hours.of_streams, False),
        hours.document_hours: (hours.of_documents, False),
        hours.own_hours: (hours.of_streams, True),
        hours.own_document_hours: (hours.of_documents, True),
    }[table]
    asked = made(own=own)
    key = [column.name for column in table.primary_key]
    with database.reading() as connection:
        found = [dict(row) for row in connection.execute(asked).mappings()]
    return {tuple(row.pop(name) for name in key): row for row in found}


def assert_equal(database, *, erased=False):
    for table in (hours.hours, hours.own_hours, hours.own_document_hours, hours.document_hours):
        kept = held(database, table)
        assert kept == from_rows(database, table)
    counted, whole = values(database), Counter()
    with database.reading() as connection:
        now = histograms.values_of(connection, HOURLY)
    # Of an erased text nobody can tell the language any more; it stays counted.
    assert {key: count for key, count in counted.items() if not (erased and "language" in key)} == {
        key: count for key, count in now.items() if not (erased and "language" in key)
    }
    assert now <= counted
    for (tenant, hour, _, _, *told), count in counted.items():
        whole[tenant, hour, *told] += count
    assert whole == values(database, whole=True)
    return kept


S = hours.schema.streams.c
HOURLY = [S.tenant, hours.hour_of_stream, hours._key(S.domain), hours._key(S.run)]


def values(database, *, whole=False):
    """The histograms: of each domain and run, or of all."""
    found = Counter()
    with database.reading() as connection:
        for *key, count in connection.execute(sa.select(histograms.hour_values)):
            tenant, hour, domain, run, *told = key
            assert (domain == histograms.ALL) == (run == histograms.ALL)
            if whole == (domain == histograms.ALL):
                found[tuple([tenant, hour, *told] if whole else key)] += count
    return found


STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("streams"), st.integers(1, 3), st.integers(0, 3), st.sampled_from([None, "", "hr"])
        ),
        st.tuples(st.just("cited"), st.integers(1, 2), st.sampled_from([None, "r1"])),
        st.tuples(st.just("judge"), st.integers(0, 99), st.integers(0, 2), st.booleans()),
        st.tuples(st.just("score"), st.integers(0, 99)),
        st.tuples(st.just("erase")),
        st.tuples(st.just("add up"), st.integers(1, 5)),
    ),
    min_size=2,
    max_size=7,
)


def carry_out(url, steps):
    for number, (what, *rest) in enumerate(steps):
        if what == "streams":
            count, late, domain = rest
            since = START + timedelta(minutes=45 * late)
            write(url, count, since=since, hours=2, seed=number, domain=domain, failing=0.3)
        elif what == "cited":
            with Records(url) as records:
                record(records, [ANSWER] * rest[0], context={"user": "u1", "roles": ["hr"], "run": rest[1]})
        else:
            with Database(url) as database:
                streams = Reader(database, AUDITOR).streams(limit=100)
                if what == "judge" and streams:
                    stream, (_, sentence, right) = streams[rest[0] % len(streams)], rest
                    if sentence < len(Reader(database, AUDITOR).sentences(stream.id)):
                        opinion = "correct" if right else "incorrect"
                        judge(database, AUDITOR, stream.id, sentence, opinion, by="ann")
                elif what == "score" and streams:
                    add_scores(database, streams[rest[0] % len(streams)].id, {"grounding": 0.5}, by="judge")
                elif what == "erase":
                    erase(database, user="u1", reason="asked for")
                elif what == "add up":
                    with database.writing() as connection:
                        hours._add(connection, rest[0])


@pytest.mark.slow
@settings(max_examples=6)
@given(STEPS)
def test_the_sums_are_those_of_the_rows_whatever_was_added_when(tmp_path_factory, steps):
    url = str(tmp_path_factory.mktemp("hours") / "r.db")
    with Database(url):
        carry_out(url, steps)
    with Database(url) as database:
        erased = ("erase",) in steps
        add_up(database, portion=3)
        assert_equal(database, erased=erased)
        assert add_up(database) == 0
        hours.forget(database)
        assert values(database) == Counter()
        add_up(database)
        assert_equal(database)


def test_every_step_once_on_either_database(url):
    with Database(url) as database:
        steps = [
            ("streams", 3, 0, "hr"), ("add up", 2), ("cited", 2, "r1"), ("add up", 100),
            ("judge", 0, 1, True), ("judge", 1, 1, False), ("score", 0),
            ("streams", 2, 1, ""), ("erase",), ("add up", 3),
        ]  # fmt: skip
        carry_out(url, steps)
        assert add_up(database) > 0
        documents = assert_equal(database, erased=True)
        blame = {uri: (row["contradicted"], row["fabricated"]) for (_, _, uri), row in documents.items()}
        # One of the two contradictions was found to be none by a person.
        assert blame["canteen"][0] == 1
        rows = Reader(database, AUDITOR).blamed()
        assert {row.uri: (row.contradicted, row.fabricated) for row in rows} == {
            uri: both for uri, both in blame.items() if any(both)
        }
        cited = Counter()
        for (_, _, uri), row in documents.items():
            cited[uri] += row["cited"]
        assert +cited == {row.uri: row.citations for row in Reader(database, AUDITOR).cited()}


def test_who_was_erased_is_in_no_sum_and_others_stay(url):
    with Records(url) as records:
        for user in ("u1", "u1", "u2"):
            record(records, context={"user": user, "roles": ["hr"]})
        add_up(records.database)
        for table in (hours.own_hours, hours.own_document_hours):
            assert {who for _, who, *_ in held(records.database, table)} == {"u1", "u2"}
        first = Reader(records.database, AUDITOR).streams(limit=3)[-1]
        # One of the two streams of u1: the other one stays in their sums.
        assert erase(records.database, before=first.opened_at + timedelta(microseconds=1), reason="old") == 1
        assert {key[1]: row["streams"] for key, row in held(records.database, hours.own_hours).items()} == {
            "u1": 1,
            "u2": 1,
        }
        assert erase(records.database, user="u1", reason="asked for") == 1
        for table in (hours.own_hours, hours.own_document_hours):
            assert {who for _, who, *_ in held(records.database, table)} == {"u2"}
        assert_equal(records.database, erased=True)


def test_names_come_back_as_they_went_in():
    for name in (None, "", "hr", "=", "x" * 200):
        assert hours.name_of(hours.key_of(name)) == name
    assert hours.moment_of(hours.hour_of(START + timedelta(minutes=59))) == START


def test_sums_of_one_tenant_are_not_in_anothers(tmp_path):
    url = str(tmp_path / "r.db")
    with Records(url) as records:
        for tenant in ("a", "b"):
            record(records, context={"user": "u1", "tenant": tenant})
        add_up(records.database)
        kept = held(records.database, hours.hours)
        assert Counter(tenant for tenant, *_ in kept) == {"a": 1, "b": 1}
        assert Reader(records.database, Requester(roles=AUDITOR.roles, tenant="b")).streams()
