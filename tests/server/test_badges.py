"""The badge element in a real browser: what a reader sees while an answer streams."""

from __future__ import annotations

import contextlib
import json
import re
import threading

import anyio
import anyio.lowlevel
import chromium
import pytest
from loopback import loopback
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from streamverify.policy import Flag, Halt, Redact
from streamverify.server import Runs, ServeSettings, create_app, sse_response
from streamverify.server.demo_page import demo_routes
from streamverify.server.sse import resumed
from streamverify.testing import ScriptedScorer, pieces
from streamverify.types import Label, Passage
from streamverify.verifier import Verifier

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

SCRIPT = {"wrong": Label.CONTRADICTED, "unknown": Label.UNSUPPORTED}
XSS = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'
PASSAGES = [
    Passage("p1", f"𝒜🌾 The mill was built in the town {XSS}. It grinds barley 🛞 well.", f"Mill {XSS}"),
    Passage("p2", "Der Hof ist gepflastert."),
]
SENTENCES = [
    "The 🌾 mill 𝟛 was built in the town [1]. ",
    "The wrong 🛞 wheel turns [9].\n\n",
    f"The yard {XSS} has an unknown owner. ",
    "Hello! ",
    "Barley is ground 🧑‍🌾 here.",
]
TEXT = "".join(SENTENCES)
SENTENCES_SHOWN = """(() => {
  const texts = [];
  for (const part of root.querySelectorAll('.s')) {
    const copy = part.cloneNode(true);
    for (const tag of copy.querySelectorAll('.tag')) tag.remove();
    texts[part.dataset.of] = (texts[part.dataset.of] || '') + copy.textContent;
  }
  return [...texts].map(t => t || '');
})()"""


class Page:
    """A page with one element, before an application that answers as the test tells it to."""

    def __init__(self, browser, *, policy=None, text=TEXT, break_after=None):
        self.browser, self.policy, self.text, self.break_after = browser, policy or Flag(), text, break_after
        self.gate = threading.Event()
        self.gate.set()
        self.pause_after = None
        self.asked: list[str | None] = []
        self.runs = Runs()
        self.verifier = Verifier(ScriptedScorer(SCRIPT))

    @property
    def app(self):
        static = next(r for r in demo_routes(self.verifier, self.runs, 0.0) if r.path.startswith("/static"))
        page = '<!doctype html><meta charset=utf-8><title>t</title><link rel="icon" href="data:,"><body>'
        page += (
            '<script type=module src="/static/grounded-stream.js"></script><grounded-stream src="/answer">'
        )
        routes = [static, Route("/", lambda _: HTMLResponse(page)), Route("/answer", self.answer)]
        return Starlette(routes=routes, lifespan=self.lifespan)

    @contextlib.asynccontextmanager
    async def lifespan(self, _app):
        async with self.runs:
            yield

    async def answer(self, request):
        self.asked.append(request.headers.get("last-event-id"))
        if (rest := resumed(request.headers, self.runs)) is not None:
            return rest
        stream = self.verifier.stream(self._source(), PASSAGES, policy=self.policy)
        response = sse_response(stream, passages=PASSAGES, runs=self.runs)
        return response if self.break_after is None else _Breaking(response, self.break_after)

    async def _source(self):
        seen = ""
        for piece in pieces(self.text, 4):
            await anyio.lowlevel.checkpoint()
            yield piece
            seen += piece
            if self.pause_after is not None and self.pause_after in seen:
                await anyio.to_thread.run_sync(self.gate.wait, abandon_on_cancel=True)

    def js(self, expression, *arguments):
        script = f"const root = document.querySelector('grounded-stream').shadowRoot; return {expression};"
        return self.browser.execute_script(script, *arguments)

    def wait(self, expression):
        return chromium.until(self.browser, lambda: self.js(expression))

    def ended(self):
        self.wait("root.querySelector('.answer').ariaBusy == 'false'")

    def badges(self):
        return self.js("[...root.querySelectorAll('.badge:not([hidden])')].map(b => b.textContent)")

    def sentences(self):
        """What is shown of each sentence, its badge left out; blanks collapse as on the page."""
        texts = self.js(SENTENCES_SHOWN)
        return [" ".join(text.split()) for text in texts]

    def shows(self):
        return self.js("!root.querySelector('.panel').hidden")

    def press(self, key):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).send_keys(key).perform()

    def focused(self):
        return self.js("root.activeElement && (root.activeElement.ariaLabel || root.activeElement.className)")


class _Breaking(Response):
    """A response whose connection breaks after some bytes, as a network does."""

    def __init__(self, response, after):
        super().__init__()
        self.response, self.left = response, after

    async def __call__(self, scope, receive, send):
        class BrokenError(Exception):
            pass

        async def broken(message):
            self.left -= len(message.get("body", b""))
            if self.left < 0:
                raise BrokenError
            await send(message)

        try:
            await self.response(scope, receive, broken)
        except BrokenError:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


@pytest.fixture
def shown(browser, request):
    options = dict(getattr(request, "param", {}))
    page = Page(browser, **{k: v for k, v in options.items() if k != "pause_after"})
    if "pause_after" in options:
        page.pause_after = options["pause_after"]
        page.gate.clear()
    with loopback(page.app) as address:
        browser.get(address)
        yield page
        page.gate.set()
        browser.get("about:blank")


@pytest.mark.parametrize("shown", [{"pause_after": "unknown owner"}], indirect=True)
def test_badges_appear_while_the_answer_is_still_streaming(shown):
    shown.wait(
        "root.querySelectorAll('.supported.badge').length == 1 && root.querySelector('.contradicted.badge')"
    )
    # A verdict shows its badge at once; what is counted of all follows with the next drawing.
    shown.wait("/1 supported/.test(root.querySelector('.counts').textContent)")
    assert shown.js("root.querySelector('.figures').textContent") == ""
    assert shown.js("root.querySelector('.answer').ariaBusy") == "true"
    shown.gate.set()
    shown.ended()
    assert shown.badges() == ["supported", "contradicted", "not in sources", "supported"]
    assert shown.js("root.querySelector('.answer').ariaBusy") == "false"
    counts = shown.js("root.querySelector('.counts').textContent")
    assert "2 supported" in counts
    assert "1 contradicted" in counts
    assert "grounding" in shown.js("root.querySelector('.figures').textContent")
    assert "1 not in sources" in shown.js("root.querySelector('[role=status]').textContent")


BEHIND_THE_CARET = """(() => {
  const caret = root.querySelector('.caret'), rest = document.createRange();
  if (!caret) return null;
  rest.selectNodeContents(root.querySelector('.answer'));
  rest.setStartAfter(caret);
  return rest.toString().trim();
})()"""
UNFINISHED = {
    "prose": "The mill is old. It grinds",
    "list": "Told:\n\n- The mill is old.\n- It grinds",
    "code": "The mill is old.\n\n- It grinds `with",
}


@pytest.mark.parametrize(
    "shown",
    [{"text": f"{text} as ever it did.", "pause_after": text} for text in UNFINISHED.values()],
    ids=UNFINISHED,
    indirect=True,
)
def test_the_caret_stands_behind_the_last_text_until_the_end(shown):
    shown.wait("root.querySelector('.supported.badge')")
    shown.wait("/It grinds/.test(root.querySelector('.answer').textContent)")
    assert shown.js(BEHIND_THE_CARET) == ""
    shown.gate.set()
    shown.ended()
    assert shown.js("root.querySelector('.caret')") is None


def test_every_sentence_is_cut_where_the_server_cut_it(shown):
    """Characters outside the basic plane count once on the wire and twice in JavaScript."""
    shown.ended()
    assert shown.sentences() == [text.strip() for text in SENTENCES]
    assert shown.js("root.querySelector('.cite.correct, .cite.unverified, .cite').textContent") == "[1]"


def test_hostile_answers_and_passages_stay_text(shown):
    shown.ended()
    shown.js("root.querySelector('.badge').click()")
    assert XSS in shown.js("root.querySelector('.panel').textContent")
    assert XSS in shown.js("root.querySelector('.answer').textContent")
    assert shown.js("root.querySelectorAll('img, script, iframe, a').length") == 0
    assert shown.js("window.pwned") is None


def test_evidence_opens_with_the_supporting_words_highlighted(shown):
    shown.ended()
    shown.js("root.querySelector('.badge').click()")
    passage = PASSAGES[0].text
    assert shown.js("root.querySelector('.panel blockquote').textContent") == passage
    mark = shown.js("root.querySelector('mark').textContent")
    assert mark in passage
    assert mark.strip().startswith(("𝒜", "It grinds"))


def test_a_citation_opens_what_it_cites(shown):
    shown.ended()
    shown.js("[...root.querySelectorAll('.cite')].at(-1).click()")
    assert shown.js("root.querySelector('.panel h3').textContent") == "[9] there is no such source"


def test_the_keyboard_alone_opens_and_closes_the_evidence(shown):
    from selenium.webdriver.common.keys import Keys

    shown.ended()
    shown.press(Keys.TAB)
    assert shown.focused().startswith("Citation [1]")
    shown.press(Keys.TAB)
    badge = shown.focused()
    assert badge == "Sentence 1: supported, 96 % likely supported"
    shown.press(Keys.ENTER)
    assert shown.shows()
    assert shown.focused() == "Sentence 1: supported"
    assert shown.js("root.querySelector('.badge').ariaExpanded") == "true"
    shown.press(Keys.ESCAPE)
    assert not shown.shows()
    assert shown.js("root.querySelector('.badge').ariaExpanded") == "false"
    assert shown.focused() == badge


def test_every_badge_has_a_shape_and_words_of_its_own(shown):
    shown.ended()
    paths = shown.js("[...root.querySelectorAll('.badge:not([hidden]) path')].map(p => p.getAttribute('d'))")
    assert len(set(paths)) == 3
    assert all(paths)
    assert all(shown.badges())


@pytest.mark.parametrize("shown", [{"policy": Redact()}], indirect=True)
def test_what_was_removed_is_shown_as_removed_and_is_nowhere_in_the_page(shown):
    shown.ended()
    assert (
        shown.js("[...root.querySelectorAll('.redact')].map(r => r.ariaLabel.split(': ')[1])")
        == ["[statement removed]"] * 2
    )
    assert shown.js("root.querySelector('.redact').ariaLabel").startswith("Removed")
    shown.js("root.querySelectorAll('.badge')[1].click()")
    assert "wrong" not in shown.js("root.textContent")


@pytest.mark.parametrize("shown", [{"policy": Halt()}], indirect=True)
def test_a_halted_answer_says_why(shown):
    shown.ended()
    assert shown.js("root.querySelector('.note').textContent").startswith("Stopped: sentence ")


@pytest.mark.parametrize(
    "shown", [{"break_after": 2500}, {"break_after": 4000, "policy": Redact()}], indirect=True
)
def test_a_broken_connection_is_taken_up_where_it_broke(shown):
    shown.ended()
    assert shown.asked[0] is None
    assert len(shown.asked) == 2
    assert shown.asked[1].rpartition(":")[2].isdecimal()
    texts = shown.sentences()
    assert len(texts) == len(SENTENCES)
    assert texts[0] == SENTENCES[0].strip()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_badges_can_be_read_in_light_and_dark(shown, scheme):
    """WCAG 2.2, 1.4.3: small text needs a contrast of 4.5."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    shown.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    shown.ended()
    parts = ".badge, .counts span, .figures, .cite, .source .name, .source .excerpt, .panel, .quiet"
    colours = shown.js(f"[...root.querySelectorAll('{parts}')].map(b => getComputedStyle(b).color)")
    assert len(colours) > 10
    behind = 1.0 if scheme == "light" else luminance("rgb(24, 28, 34)")
    for colour in colours:
        lighter, darker = sorted((luminance(colour), behind), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, colour
    shown.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def luminance(colour: str) -> float:
    channels = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_the_demo_page_plays_a_case_without_a_word_on_the_console(browser):
    with loopback(create_app(ServeSettings(demo=True), Verifier(ScriptedScorer()))) as address:
        browser.get_log("browser")
        browser.get(f"{address}/?case=docs&speed=200&policy=flag")
        page = Page(browser)
        page.ended()
        assert page.js("root.querySelectorAll('.source').length") > 0
        assert json.dumps(browser.get_log("browser")) == "[]"
        browser.get("about:blank")


def test_the_element_is_small_and_stands_alone():
    from importlib import resources

    folder = resources.files("streamverify") / "static"
    sources = {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in folder.iterdir()
        if entry.name.endswith(".js")
    }
    element = {
        name: source for name, source in sources.items() if name not in {"demo.js", "judge.js"}
    }  # pages
    assert sum(len(source.encode()) for source in element.values()) < 70_000
    for name, source in sources.items():
        assert not re.search(
            "innerHTML|outerHTML|insertAdjacentHTML|document\\.write|eval\\(|Function\\(", source
        ), name
        assert set(re.findall(r"from '([^']+)'", source)) <= {f"./{other}" for other in element}, name
