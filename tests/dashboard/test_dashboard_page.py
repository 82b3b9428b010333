"""The dashboard in a real browser: keys, arrival, widths, contrast, hostile texts."""

from __future__ import annotations

import uuid

import chromium
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from served import AUDITOR, HOSTILE, TOKEN, served

from streamverify import Passage
from streamverify.records import Reader, Records
from tests.records.streams import ANSWER, record
from tests.records.test_live import Running

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

PAGES = ("/", "/answers", "/review", "/documents", "/runs", "/alerts", "/drift")
WIDTHS = [(1440, 900), (1024, 768), (390, 844)]


def shade(pixel):
    """Relative luminance, as WCAG 2.2 has it."""
    parts = [one / 255 for one in pixel[:3]]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


class Page:
    """The dashboard in a browser."""

    def __init__(self, browser, address):
        self.browser, self.address = browser, address

    def size(self, width, height):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def open(self, path, token=""):
        self.browser.get(f"{self.address}{path}{token and f'#{token}'}")
        return self.wait("document.querySelector('#main .page') || !document.getElementById('enter').hidden")

    def js(self, expression, *arguments):
        return self.browser.execute_script(f"return {expression};", *arguments)

    def wait(self, expression):
        return chromium.until(self.browser, lambda: self.js(expression))

    def press(self, *keys):
        body = self.browser.find_element(By.TAG_NAME, "body")
        for key in keys:
            body.send_keys(key)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    with Records(tmp_path_factory.mktemp("dashboard") / "r.db") as made:
        passages = [Passage("p1", f"The canteen opens. {HOSTILE}", title=HOSTILE, metadata={"uri": HOSTILE})]
        for number in range(4):
            context = {"user": "u1", "domain": HOSTILE if number % 2 else "hr", "run": f"r{number % 2}"}
            record(made, [ANSWER], context=context, question=f"How much leave? {HOSTILE * number}")
        record(made, [f"The wrong canteen {HOSTILE} [p1]. "], passages=passages, question=HOSTILE)
        yield made


@pytest.fixture(scope="module")
def address(records):
    with served(records.database) as found:
        yield found


@pytest.fixture
def page(browser, address):
    made = Page(browser, address)
    made.size(1440, 900)
    made.open("/", TOKEN)
    yield made
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.get("about:blank")


def test_every_page_fits_its_width_and_runs_nothing_that_was_recorded(page, records):
    stream = Reader(records.database, AUDITOR).streams(limit=1)[0].id
    for size in WIDTHS:
        page.size(*size)
        for path in (*PAGES, f"/answers/{stream}"):
            page.open(path)
            page.js("document.querySelectorAll('details').forEach(one => { one.open = true; })")
            assert page.js("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), (
                path
            )
            assert page.js("window.pwned") is None
            assert page.js("document.querySelectorAll('main img, main script, main [style]').length") == 0
    told = [line for line in page.browser.get_log("browser") if line["level"] in ("SEVERE", "WARNING")]
    assert told == []


def test_the_token_leaves_the_address_and_without_one_nothing_shows(page):
    assert TOKEN not in page.js("location.href")
    page.js("localStorage.clear()")
    page.open("/answers")
    assert page.js("document.getElementById('enter').hidden") is False
    assert page.js("document.getElementById('main').childElementCount") == 0
    page.browser.find_element(By.ID, "token").send_keys(TOKEN, Keys.ENTER)
    page.wait("document.querySelector('#main .rows li')")
    page.browser.find_element(By.ID, "leave").click()
    page.wait("!document.getElementById('enter').hidden")
    assert page.js("localStorage.length") == 0


def test_links_go_on_without_loading_the_page_and_back_comes_back(page):
    page.js("window.same = true")
    page.browser.find_element(By.CSS_SELECTOR, ".feed .rows a").click()
    page.wait("document.querySelector('.said-list')")
    assert page.js("location.pathname").startswith("/answers/")
    page.browser.back()
    page.wait("document.querySelector('.tiles')")
    assert page.js("window.same") is True
    assert page.js("document.querySelector('.top [aria-current]').textContent") == "Overview"


def test_what_is_recorded_arrives_by_itself_and_leaves_the_rest_as_it_is(page, records):
    page.js("document.querySelector('select').focus()")
    page.js("document.querySelector('[data-part=documents]').mark = 1")
    before = page.js("document.querySelector('.feed .rows li').dataset.key")
    (stream,) = record(records, ["Employees have 30 days of leave."], question="What is new?")
    page.wait(f"document.querySelector('.feed .rows li').dataset.key === '{stream}'")
    assert before in page.js("[...document.querySelectorAll('.feed .rows li')].map(one => one.dataset.key)")
    page.wait("document.querySelector('.feed .rows li').classList.contains('new')")
    assert page.js("document.querySelector('[data-part=documents]').mark") == 1
    assert page.js("document.activeElement.tagName") == "SELECT"


def test_badges_come_while_the_answer_is_written_and_stay_when_it_has_ended(page, records):
    badges = "[...document.querySelectorAll('.said-list .badge')].map(one => one.classList[1])"
    running = Running(records)
    try:
        running.say(2)
        first = "document.querySelector('.now-list .badge.supported')"
        page.wait(first)
        assert page.js("document.querySelector('.now').hidden") is False
        page.open(f"/answers/{running.id}")
        page.wait(f"{badges}.join() === 'supported'")
        page.js("window.same = true")
        running.say()
        page.wait(f"{badges}.join() === 'supported,contradicted'")
        assert "midnight" in page.js("document.querySelector('.said-list').textContent")
    finally:
        running.end()
    page.wait("document.querySelectorAll('.said-list details').length >= 2")
    assert page.js("window.same") is True


def test_sentences_are_judged_by_keys_and_nothing_is_overwritten(page, records):
    page.open("/review")
    page.wait("document.querySelector('.queue [aria-current]')")
    page.press("c")
    assert "say who you are first" in page.wait("document.getElementById('problem').textContent")
    page.browser.find_element(By.ID, "by").send_keys("ann", Keys.ENTER)
    chosen = "document.querySelector('.queue [aria-current]')"
    place = f"[...document.querySelectorAll('.queue > li')].indexOf({chosen})"
    page.press("j", "j", "k")
    assert page.js(place) == 1
    stream, sentence = page.js(f"[{chosen}.dataset.stream, Number({chosen}.dataset.sentence)]")
    page.press("e")
    page.browser.switch_to.active_element.send_keys("Closed at night.", Keys.ENTER)
    page.press("n")
    page.wait("document.querySelectorAll('.queue > li')[1].dataset.opinion === 'incorrect'")
    assert page.js(place) == 2
    page.press("k", "c")
    page.wait("document.querySelectorAll('.queue > li')[1].dataset.opinion === 'correct'")
    assert page.js("document.getElementById('done').textContent").startswith("1 of ")
    kept = Reader(records.database, AUDITOR).judgments(uuid.UUID(stream), criterion="grounding")
    mine = [one for one in kept if one.sentence == sentence]
    assert [(one.source, one.by, one.label, one.current) for one in mine] == [
        ("model", None, mine[0].label, False),
        ("human", "ann", "incorrect", False),
        ("human", "ann", "correct", True),
    ]
    assert mine[1].detail == "Closed at night."
    page.press("o")
    page.wait("document.querySelector('.said-list')")


PAINT = """(() => {
  const context = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const paint = (layers) => {
    for (const colour of layers) { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const written = (node) => [...node.childNodes].some(c => c.nodeType === 3 && c.data.trim())
    && node.getClientRects().length && !node.closest('head, option, svg, .new');
  const found = [];
  for (const node of document.querySelectorAll('body *')) {
    if (!written(node)) continue;
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.unshift(getComputedStyle(at).backgroundColor);
    const behind = ['#fff', ...layers], text = getComputedStyle(node).color;
    found.push([`${node.tagName}.${node.className}`, paint([...behind, text]), paint(behind)]);
  }
  return found;
})()"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_word_can_be_read(page, records, scheme):
    """WCAG 2.2, 1.4.3, for each text against what is painted behind it."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    stream = Reader(records.database, AUDITOR).streams(limit=9)[-1].id
    for path in (*PAGES, f"/answers/{stream}"):
        page.open(path)
        page.js("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        for name, text, behind in page.js(PAINT):
            lighter, darker = sorted((shade(text), shade(behind)), reverse=True)
            assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (path, name, text, behind)
