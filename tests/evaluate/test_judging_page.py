"""The judging page in a real browser."""

from __future__ import annotations

import uuid

import pytest
from loopback import loopback
from starlette.applications import Starlette
from starlette.routing import Mount

from streamverify import Label, Passage, Verifier
from streamverify.records import Reader, Records, Requester
from streamverify.server.judging import judging_app
from streamverify.testing import ScriptedScorer

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

TOKEN = "t" * 24
XSS = '</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1">'
CHOSEN = "document.querySelector('[aria-current] .text').textContent"
PLACE = "document.getElementById('place').textContent"


@pytest.fixture
def opened(reader, tmp_path):
    passages = [Passage("p1", f"The canteen opens at noon. {XSS}", title=XSS, metadata={"uri": XSS})]
    with Records(tmp_path / "r.db") as records:
        with Verifier(ScriptedScorer({"wrong": Label.CONTRADICTED}), observers=[records]) as verifier:
            for question in ("first", XSS):
                answer = f"The canteen opens at noon. The wrong lift is painted {XSS}."
                verifier.check_sync(answer, passages, question=question, context={"user": XSS})
                assert verifier.drain_observers(50)
        app = Starlette(routes=[Mount("/judge", judging_app(records.database, token=TOKEN))])
        with loopback(app) as address:
            yield reader, f"{address}/judge/", Reader(records.database, Requester(roles={"auditor"}))
        reader.driver.get("about:blank")


def begin(reader, address, **how):
    reader.open(f"{address}#{TOKEN}", **how)
    reader.wait(f"document.querySelector('[aria-current]') && {PLACE}")


def test_an_afternoon_by_keys(opened):
    reader, address, records = opened
    begin(reader, address)
    first = reader.js(CHOSEN)
    reader.press("1")
    reader.wait("document.getElementById('problem').textContent.includes('who you are')")
    reader.press(*"ann", "\ue007")
    reader.press("1")
    reader.wait(f"{CHOSEN} !== {first!r}")
    reader.press("e", *"closed", "\ue007")
    reader.press("3")
    reader.wait(
        "[...document.querySelectorAll('#judgments li')].some(one => one.textContent.includes('closed'))"
    )
    reader.press("\ue014")  # the answer before
    reader.wait("document.getElementById('count').textContent.startsWith('answer 2 of 2')")
    (latest, _) = records.streams()
    assert [
        (one.sentence, one.by, one.label, one.severity, one.detail)
        for one in records.judgments(uuid.UUID(str(latest.id)))
        if one.source == "human"
    ] == [(0, "ann", "correct", None, None), (1, "ann", "incorrect", "major", "closed")]
    assert reader.js("window.pwned") is None
    assert reader.complaints() == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits(opened, width, dark):
    reader, address, _ = opened
    begin(reader, address, width=width, dark=dark)
    assert reader.js("document.documentElement.scrollWidth <= innerWidth")
    assert reader.js("document.getElementById('keys').getBoundingClientRect().bottom <= innerHeight")
    assert reader.complaints() == []


def test_without_the_token_the_page_says_what_to_open(opened):
    reader, address, _ = opened
    reader.open(address)
    reader.wait("document.getElementById('problem').textContent.includes('behind #')")
    reader.complaints()  # the refused request is logged by the browser
