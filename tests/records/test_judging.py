"""The judging page: who may ask, what it shows, and that a judgment supersedes and overwrites nothing."""

from __future__ import annotations

import uuid

import httpx2
import pytest
from loopback import loopback
from starlette.applications import Starlette
from starlette.routing import Mount
from streams import AUDITOR, record

from streamverify.records import Reader, Records, verify
from streamverify.server.judging import judging_app

pytestmark = pytest.mark.slow

TOKEN = "t" * 24
SHOWN = {"x-streamverify-token": TOKEN}


@pytest.fixture
def records(url):
    with Records(url) as made:
        yield made


@pytest.fixture
def client(records):
    app = Starlette(routes=[Mount("/judge", judging_app(records.database, token=TOKEN))])
    with loopback(app) as address, httpx2.Client(base_url=f"{address}/judge", timeout=60) as made:
        yield made


def told(stream, **more):
    return {"stream": stream, "sentence": 1, "opinion": "correct", "by": "ann", **more}


def test_a_judgment_counts_and_what_was_said_before_stays(records, client):
    (stream,) = record(records)
    listed = client.get("/api/streams", headers=SHOWN).json()
    assert ([one["id"] for one in listed["streams"]], listed["whole"]) == ([stream], True)
    before = client.get(f"/api/stream/{stream}", headers=SHOWN).json()
    assert [one["label"] for one in before["sentences"]] == ["supported", "contradicted", "unsupported"]
    assert before["sentences"][1]["text"].startswith("The wrong canteen")  # an auditor's page
    assert {one["uri"] for one in before["documents"]} == {"hr/leave", "canteen", "office"}

    client.post("/api/judgment", headers=SHOWN, json=told(stream)).raise_for_status()
    worse = told(stream, opinion="incorrect", by="ben", severity="major", note="<b>closed</b> at midnight")
    after = client.post("/api/judgment", headers=SHOWN, json=worse).json()
    assert [
        (one["source"], one["by"], one["label"], one["severity"], one["current"])
        for one in after["sentences"][1]["judgments"]
    ] == [
        ("model", None, "contradicted", None, False),
        ("human", "ann", "correct", None, False),
        ("human", "ben", "incorrect", "major", True),
    ]
    kept = Reader(records.database, AUDITOR).judgments(uuid.UUID(stream), criterion="grounding")
    mine = [one for one in kept if one.sentence == 1]
    assert [one.supersedes for one in mine] == [None, mine[0].id, mine[1].id]
    assert mine[2].detail == "<b>closed</b> at midnight"
    assert verify(records.database).passed


def test_older_answers_are_listed_further_on(records, client):
    record(records, ["So."] * 51)
    first = client.get("/api/streams", headers=SHOWN).json()
    assert (len(first["streams"]), first["whole"]) == (50, False)
    asked = {"before": first["streams"][-1]["opened_at"]}
    rest = client.get("/api/streams", headers=SHOWN, params=asked).json()
    assert (len(rest["streams"]), rest["whole"]) == (1, True)


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"x-streamverify-token": ""}, 401),
        ({"x-streamverify-token": "u" * 24}, 401),
        ({"origin": "http://evil.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"content-type": "text/plain"}, 415),
    ],
)
def test_whoever_may_not_ask_is_refused(records, client, more, status):
    (stream,) = record(records)
    answer = client.post("/api/judgment", headers={**SHOWN, **more}, json=told(stream))
    assert answer.status_code == status
    kept = Reader(records.database, AUDITOR).judgments(uuid.UUID(stream), criterion="grounding")
    assert {one.source for one in kept} == {"model"}


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"sentence": 9}, "no sentence 9"),
        ({"sentence": -1}, "sentence"),
        ({"opinion": "fine"}, "opinion"),
        ({"severity": "bad"}, "severity"),
        ({"by": ""}, "by"),
        ({"by": " "}, "say who judges"),
        ({"stream": str(uuid.uuid4())}, "no sentence 1"),
        ({"more": 1}, "more"),
        ({"note": "n" * 10_001}, "note"),
    ],
)
def test_a_judgment_that_cannot_stand_is_refused(records, client, more, problem):
    (stream,) = record(records)
    answer = client.post("/api/judgment", headers=SHOWN, json={**told(stream), **more})
    assert answer.status_code == 400
    assert problem in answer.json()["error"]["message"]
    for path in ("/api/streams?before=soon", "/api/streams?before=2026-01-01", f"/api/stream/{uuid.uuid4()}"):
        assert client.get(path, headers=SHOWN).status_code == 400


@pytest.mark.parametrize(
    ("moment", "status"),
    [
        ("0001-01-01T00:00:00+14:00", 400),
        ("9999-12-31T23:59:59-14:00", 400),
        ("0001-01-01T00:00:00+00:00", 200),
        ("9999-12-31T23:59:59+14:00", 200),
    ],
)
def test_a_moment_before_the_first_year_or_after_the_last_is_none(records, client, moment, status):
    record(records)
    answer = client.get("/api/streams", headers=SHOWN, params={"before": moment})
    assert answer.status_code == status


def test_the_page_loads_nothing_from_elsewhere(client):
    for path, kind in {
        "/": "text/html",
        "/static/judge.js": "text/javascript",
        "/static/make.js": "text/javascript",
        "/static/label.css": "text/css",
    }.items():
        answer = client.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert client.get("/static/label.html").status_code == 404


@pytest.mark.postgres
def test_while_the_database_is_gone_the_page_says_so(server):
    with Records(server.new_database()) as records:
        (stream,) = record(records)
        app = Starlette(routes=[Mount("/judge", judging_app(records.database, token=TOKEN))])
        with loopback(app) as address, httpx2.Client(base_url=f"{address}/judge", timeout=60) as client:
            server.stop()
            try:
                gone = client.post("/api/judgment", headers=SHOWN, json=told(stream))
            finally:
                server.start()
            assert (gone.status_code, gone.json()["error"]["type"]) == (503, "records_unavailable")
            assert client.post("/api/judgment", headers=SHOWN, json=told(stream)).status_code == 200
