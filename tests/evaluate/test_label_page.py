"""The labelling page in a real browser."""

from __future__ import annotations

import json

import pytest
from builders import BAD, GOOD, NONE, PASSAGES, WRONG, case
from loopback import loopback

from streamverify import Passage
from streamverify.evaluate.labels import LabelFile, tasks
from streamverify.server.labelling import labelling_app

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

TOKEN = "t" * 24
XSS = '</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1">'
WORK = tasks(
    [
        case(
            1, GOOD, BAD, question=f"When was it built? {XSS}", passages=(*PASSAGES, Passage(XSS, XSS, XSS))
        ),
        case(2, WRONG, NONE, XSS),
    ]
)
COUNT = "document.getElementById('count').textContent"
CHOSEN = "document.querySelector('[aria-current] .text').textContent"


@pytest.fixture
def opened(reader, tmp_path):
    path = tmp_path / "labels.jsonl"
    labels = LabelFile(path, "ann", WORK)
    with loopback(labelling_app(WORK, labels, annotator="ann", token=TOKEN)) as address:
        yield reader, f"{address}/#{TOKEN}", path
    reader.driver.get("about:blank")
    labels.close()


def begin(reader, address, **how):
    reader.open(address, **how)
    reader.wait("!document.querySelector('main').hidden")


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_an_afternoon_by_keys(opened):
    reader, address, path = opened
    begin(reader, address)
    assert reader.js(COUNT) == "0 of 5 sentences"
    assert reader.js(CHOSEN) == GOOD
    reader.press("1")
    reader.wait(f"{CHOSEN} === {json.dumps(BAD)}")
    assert [one["label"] for one in lines(path)] == ["supported"]
    reader.press("3")  # the last of this answer: the next one opens
    reader.wait(f"{CHOSEN} === {json.dumps(WRONG)}")
    reader.press("u")
    reader.wait(f"{CHOSEN} === {json.dumps(BAD)}")
    assert [one["label"] for one in lines(path)] == ["supported", "unsupported", None]
    reader.press("e", *"who?", "\ue007")
    reader.wait("document.activeElement === document.body")
    reader.press("3")
    reader.wait(f"{COUNT} === '2 of 5 sentences'")
    assert lines(path)[-1]["note"] == "who?"
    reader.press("2", "4", "4")
    reader.wait(f"{COUNT} === '5 of 5 sentences, all done'")
    begin(reader, address)  # everything is there again
    assert reader.js(COUNT) == "5 of 5 sentences, all done"
    reader.press("\ue013", "\ue015")  # arrows
    assert reader.js("window.pwned") is None
    assert reader.complaints() == []


def test_passages_are_searched_and_chosen_as_evidence(opened):
    reader, address, path = opened
    begin(reader, address)
    reader.press("/", *"river", "\ue00c")
    assert reader.js("[...document.querySelectorAll('article')].filter(a => !a.hidden).length") == 1
    assert reader.js("document.querySelector('article:not([hidden]) mark').textContent").lower() == "river"
    reader.js("document.querySelector('article:not([hidden]) input').click()")
    reader.wait("document.querySelector('article.evidence')")
    reader.js("document.activeElement.blur()")
    reader.press("1")
    reader.wait(f"{COUNT} === '1 of 5 sentences'")
    assert lines(path)[0]["evidence"] == ["river"]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 768, 390])
def test_the_page_fits(opened, width, dark):
    reader, address, _ = opened
    begin(reader, address, width=width, dark=dark)
    assert reader.js("document.documentElement.scrollWidth <= innerWidth")
    assert reader.js("document.getElementById('keys').getBoundingClientRect().bottom <= innerHeight")
    assert reader.complaints() == []


def test_without_the_token_the_page_says_what_to_open(opened):
    reader, address, _ = opened
    reader.open(address.partition("#")[0])
    reader.wait("document.getElementById('problem').textContent.includes('behind #')")
    reader.complaints()  # the refused request is logged by the browser
