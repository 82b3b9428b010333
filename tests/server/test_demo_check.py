"""What a person pastes into the demo page: read, refused with the field's name, or streamed."""

from __future__ import annotations

import json

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import loopback
from serving import frames

from streamverify.server import ServeSettings, create_app
from streamverify.server.pasted import (
    MAX_ANSWER,
    MAX_BODY,
    MAX_PASSAGES,
    FieldRefusal,
    passages_of,
    read_pasted,
)
from streamverify.testing import ScriptedScorer
from streamverify.types import Label
from streamverify.verifier import Verifier

GOOD = {
    "passages": "The mill was built in the town.\n\nIt grinds barley.",
    "answer": "The mill was built in the town.",
}


@pytest.fixture(scope="module")
def address():
    verifier = Verifier(ScriptedScorer({"wrong": Label.CONTRADICTED}))
    with loopback(create_app(ServeSettings(demo=True), verifier)) as found:
        yield found


def post(address, body, **headers):
    return httpx2.post(f"{address}/demo/check", json=body, headers=headers, timeout=60)


def told(response):
    return [json.loads(frame.data) for frame in frames(response.content)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("one\n\ntwo\nlines\n \t\n\nthree", ["one", "two\nlines", "three"]),
        ("one\r\n\r\ntwo", ["one", "two"]),
        ("  \n\n ", []),
        (
            '{"text": "a"}\n\n{"id": "x", "text": "b", "title": "B"}',
            [{"id": "p1", "text": "a"}, {"id": "x", "text": "b", "title": "B"}],
        ),
    ],
)
def test_a_text_of_passages_is_blocks_or_json_lines(text, found):
    assert passages_of(text) == found


@given(st.lists(st.text("ab [1]\t", min_size=1).map(str.strip).filter(bool)))
def test_blocks_that_are_joined_by_blank_lines_come_back(blocks):
    assert passages_of("\n\n".join(blocks)) == blocks


@given(st.text())
def test_no_text_of_passages_fails_otherwise_than_by_naming_the_field(text):
    passages, field = (), None
    try:
        _, passages = read_pasted(json.dumps({**GOOD, "passages": text}).encode())
    except FieldRefusal as refused:
        field = refused.field
    assert bool(passages) is (field is None)
    assert field in (None, "passages")


@pytest.mark.parametrize(
    ("changed", "field", "said"),
    [
        ({"passages": " \n "}, "passages", "at least one passage"),
        ({"passages": []}, "passages", "at least one passage"),
        ({"passages": '{"text": "a"}\n{"id": 1'}, "passages", "line 2 is not JSON"),
        ({"passages": '{"id": "a"}'}, "passages", 'line 1 must be an object with "text"'),
        (
            {"passages": '{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}'},
            "passages",
            "two different texts",
        ),
        ({"passages": ["x"] * (MAX_PASSAGES + 1)}, "passages", "more than 500"),
        ({"answer": "  "}, "answer", "paste the answer"),
        ({"answer": 7}, "answer", "string"),
        ({"answer": "a" * (MAX_ANSWER + 1)}, "answer", "at most"),
        ({"policy": "burn"}, "policy", "choose flag"),
        ({"policy": {"name": "burn"}}, "policy", ""),
        ({"speed": 0}, "speed", "greater than or equal to 1"),
        ({"speed": 1e9}, "speed", "less than or equal"),
        ({"surprise": 1}, "surprise", "not permitted"),
    ],
)
def test_a_wrong_field_is_refused_by_name(address, changed, field, said):
    response = post(address, {**GOOD, **changed})
    error = response.json()["error"]
    assert (response.status_code, error["param"]) == (400, field)
    assert said in error["message"]


def test_what_was_pasted_is_streamed_with_verdicts(address):
    events = told(
        post(
            address,
            {
                **GOOD,
                "answer": "The mill was built in the town [1]. The wrong wheel turns.",
                "speed": 10_000,
                "question": "What is there?",
            },
        )
    )
    assert [one["label"] for one in events if one["kind"] == "sentence_judged"] == [
        "supported",
        "contradicted",
    ]
    assert [one["text"] for one in events[0]["passages"]] == GOOD["passages"].split("\n\n")
    assert events[-1]["kind"] == "stream_finished"


def test_the_policy_that_was_chosen_holds(address):
    body = {
        **GOOD,
        "answer": "The mill was built in the town. The wrong wheel turns.",
        "speed": 10_000,
        "policy": "redact",
    }
    shown = "".join(one["text"] for one in told(post(address, body)) if one["kind"] == "text_released")
    assert shown == "The mill was built in the town. [statement removed]"


def test_the_guard_stands_before_it():
    with loopback(
        create_app(ServeSettings(demo=True, token="t" * 20), Verifier(ScriptedScorer()))
    ) as address:
        assert post(address, GOOD).status_code == 401
        assert post(address, GOOD, **{"x-streamverify-token": "t" * 20}).status_code == 200
    with loopback(create_app(ServeSettings(demo=True), Verifier(ScriptedScorer()))) as address:
        assert post(address, GOOD, host="evil.example").status_code == 421
        url = f"{address}/demo/check"
        assert (
            httpx2.post(
                url, content=json.dumps(GOOD), headers={"content-type": "text/plain"}, timeout=60
            ).status_code
            == 415
        )
        assert httpx2.get(url, timeout=60).status_code == 405
        assert post(address, {**GOOD, "answer": "a" * MAX_BODY}).status_code == 413
        for bad in (b"", b"[]", b"{", b"[" * 100_000):
            answered = httpx2.post(url, content=bad, headers={"content-type": "application/json"}, timeout=60)
            assert answered.status_code == 400
