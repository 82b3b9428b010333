"""A decorated function as a route of FastAPI: `-> str` is what it returns, and the text is what is sent."""

from __future__ import annotations

import copy
import json
import pickle
import urllib.request

import pytest
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse
from hypothesis import given
from hypothesis import strategies as st
from loopback import loopback

from streamverify import CheckedAnswer, Label, Redact, Verifier, retrieved, verified
from streamverify.testing import ScriptedScorer

PASSAGES = ["The mill was built in 1804 and has two wheels."]
TEXT = "The mill is old. The wrong part. It grinds."
RELEASED = "The mill is old. ▮ It grinds."


@pytest.fixture(scope="module")
def url():
    with Verifier(ScriptedScorer({"wrong": Label.CONTRADICTED}), policy=Redact(placeholder="▮")) as verifier:
        app = FastAPI()

        @app.get("/plain")
        @verified(verifier=verifier)
        def plain() -> str:
            retrieved(PASSAGES)
            return TEXT

        @app.get("/later")
        @verified(verifier=verifier)
        async def later() -> str:
            retrieved(PASSAGES)
            return TEXT

        @app.get("/text", response_class=PlainTextResponse)
        @verified(verifier=verifier)
        async def text() -> str:
            retrieved(PASSAGES)
            return TEXT

        with loopback(app) as address:
            yield address


@pytest.mark.parametrize("path", ["plain", "later", "text"])
def test_a_route_that_returns_str_sends_the_released_text(url, path):
    with urllib.request.urlopen(f"{url}/{path}") as response:
        body = response.read().decode()
    assert (body if path == "text" else json.loads(body)) == RELEASED


@pytest.fixture(scope="module")
def report():
    with Verifier(ScriptedScorer()) as verifier:
        return verifier.check_sync("The mill is old.", PASSAGES)


@given(st.text())
def test_a_checked_answer_is_its_text(report, text):
    answer = CheckedAnswer(text, report)
    assert answer == text
    assert type(answer.text) is type(str(answer)) is str
    assert f"{answer}" == answer.text == str(answer) == text
    assert json.loads(json.dumps([answer])) == [text]
    for again in (copy.copy(answer), pickle.loads(pickle.dumps(answer))):
        assert (type(again), again, again.report) == (CheckedAnswer, text, report)
    with pytest.raises(AttributeError, match="frozen"):
        answer.report = report
