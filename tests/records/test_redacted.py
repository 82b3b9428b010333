"""Records that keep texts without personal data: nothing of it is stored, and everything is still guarded."""

from __future__ import annotations

import re
import uuid

import pytest
import sqlalchemy as sa
from streams import AUDITOR, record
from test_records_chain import problems_after

from streamverify import Passage
from streamverify.pii import PiiItem, Recognisers
from streamverify.records import Reader, Records, erase, judge, schema, verify
from streamverify.records.chain import content_digest
from streamverify.records.digests import digest

ITEMS = ("ann@example.org", "4111 1111 1111 1111", "457-55-5462", "DE89 3704 0044 0532 0130 00")
ANSWER = f"Write to {ITEMS[0]} at once. The wrong card is {ITEMS[1]} today."
APART = "He is at the office. Date of birth:\n1980-03-04\nHe is tall."
PASSAGES = [
    Passage("p1", f"The mail is {ITEMS[0]} and the account {ITEMS[3]}.", metadata={"uri": "staff"}),
    Passage("p2", "The canteen opens at noon.", metadata={"uri": "canteen"}),
]


def filled(url, **options):
    records = Records(url, keep="redacted", **options)
    question = f"Whose number is {ITEMS[2]}?"
    (stream,) = record(records, [ANSWER], question=question, passages=PASSAGES)
    return records, uuid.UUID(stream)


def stored(database):
    """Every value of every row, as text."""
    with database.reading() as connection:
        return "\n".join(
            str(value)
            for table in schema.metadata.sorted_tables
            for row in connection.execute(sa.select(table)).all()
            for value in row
        )


def test_nothing_personal_is_stored_and_everything_else_is(url):
    records, stream = filled(url)
    with records:
        judge(records.database, AUDITOR, stream, 1, "incorrect", by="eve", note=f"ask {ITEMS[0]}")
        said = stored(records.database)
        assert not any(item in said for item in ITEMS)
        assert "Write to [email" in said
        assert "Whose number is [nat" in said or "Whose number is █" in said
        assert "The canteen opens at noon." in said
        sentences = Reader(records.database, AUDITOR).sentences(stream)
        assert [len(one.text) for one in sentences] == [34, 44]
        assert verify(records.database).problems == ()


def test_an_item_whose_label_stands_in_the_sentence_before_is_not_stored(url):
    with Records(url, keep="redacted") as records:
        record(records, [APART], passages=PASSAGES)
        # A digest or a time may hold these digits by chance.
        assert re.search(r"(?<![\w.])1980(?!\w)", stored(records.database)) is None
        assert verify(records.database).problems == ()


def test_the_digests_are_those_of_the_originals(url):
    records, _ = filled(url)
    with records, records.database.reading() as connection:
        row = connection.execute(sa.select(schema.streams)).mappings().one()
        ended = connection.execute(sa.select(schema.conclusions)).mappings().one()
        chunks = connection.execute(sa.select(schema.chunks)).mappings().all()
    assert row["question_digest"] == digest(f"Whose number is {ITEMS[2]}?", row["salt"])
    assert ended["answer_digest"] == digest(ANSWER, row["salt"])
    assert {chunk["digest"] for chunk in chunks} == {digest(passage.text) for passage in PASSAGES}


def test_a_change_of_any_stored_text_is_found(url):
    records, stream = filled(url)
    with records:
        judge(records.database, AUDITOR, stream, 1, "incorrect", by="eve", note="so")
        tried = 0
        for name, columns in schema.ERASABLE.items():
            table = schema.metadata.tables[name]
            for column in (*columns, *(["kept_digest"] if "kept_digest" in table.c else [])):
                with records.database.reading() as connection:
                    rows = connection.execute(sa.select(table)).mappings().all()
                for row in (row for row in rows if row[column] is not None):
                    this = sa.and_(*(key == row[key.name] for key in table.primary_key))
                    # A part of a document may be kept without its text.
                    others = (
                        "x" * len(row[column]),
                        *([None] if name != "chunks" or column != "text" else []),
                    )
                    for other in others:
                        change = sa.update(table).where(this).values({column: other})
                        assert problems_after(records.database, change) != [], (name, column, other)
                        tried += 1
        assert tried > 20


def test_texts_can_still_go(url):
    records, _ = filled(url)
    with records:
        assert erase(records.database, user="u1", reason="asked for it") == 1
        assert "Write to" not in stored(records.database)
        assert verify(records.database).problems == ()


def test_a_detector_of_ones_own_says_what_is_personal(url):
    class Canteens:
        name = "canteens"

        def __call__(self, text):
            at = text.find("canteen")
            return (PiiItem("place", at, at + 7),) if at >= 0 else ()

    records, _ = filled(url, detector=Canteens())
    with records:
        said = stored(records.database)
        assert "The [place] opens" in said
        assert ITEMS[0] in said


def test_both_ways_of_keeping_go_into_one_database(url):
    records, _ = filled(url)
    with records, Records(url) as plain:
        record(plain, [ANSWER], passages=PASSAGES)
        assert ITEMS[0] in stored(plain.database)
        assert verify(plain.database).problems == ()


def test_rows_from_before_there_were_redacted_texts_keep_their_digest():
    row = {"id": uuid.uuid4(), "policy": "flag"}
    assert content_digest({"streams": [row | {"kept_digest": None}]}) == content_digest({"streams": [row]})
    assert content_digest({"streams": [row | {"kept_digest": "ab"}]}) != content_digest({"streams": [row]})


@pytest.mark.parametrize("item", ITEMS)
def test_the_items_of_these_tests_are_found(item):
    assert len(Recognisers()(item)) == 1
