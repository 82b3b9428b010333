"""The demo page and the badge element in a real browser: layout, Markdown, hostile text, one's own answer."""

from __future__ import annotations

import itertools
import json

import pytest
from demo_reader import Page
from loopback import loopback
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from test_badges import SENTENCES_SHOWN, luminance

from streamverify.server import ServeSettings, create_app
from streamverify.testing import ScriptedScorer
from streamverify.types import Label
from streamverify.verifier import Verifier

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

WIDTHS = [(1280, 800), (768, 1024), (390, 844)]
CASES = ["docs", "finance", "support", "conflict"]
SCRIPT = {
    "wrong": Label.CONTRADICTED,
    "after 30 days": Label.CONTRADICTED,
    "e-mail": Label.UNSUPPORTED,
}
HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script><svg onload="window.pwned=1">'


@pytest.fixture(scope="module")
def address():
    verifier = Verifier(ScriptedScorer(SCRIPT))
    with loopback(create_app(ServeSettings(demo=True), verifier)) as found:
        yield found


@pytest.fixture(params=WIDTHS, ids=["desktop", "tablet", "phone"])
def page(request, browser, address):
    yield Page(browser, address, *request.param)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.get("about:blank")


@pytest.fixture
def desktop(browser, address):
    yield Page(browser, address)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.get("about:blank")


def apart(one, other):
    return (
        one["bottom"] <= other["top"] + 0.5
        or other["bottom"] <= one["top"] + 0.5
        or one["right"] <= other["left"] + 0.5
        or other["right"] <= one["left"] + 0.5
    )


@pytest.mark.parametrize("case", CASES)
def test_the_page_fits_its_width_and_shows_the_summary_at_once(page, case):
    page.play(case)
    assert page.no_scroll_bar_across()
    summary = page.rectangle(".summary")
    assert summary["top"] >= 0
    assert summary["bottom"] <= page.js("innerHeight")
    shown = page.js("root.querySelector('.summary').innerText")
    assert "grounding" in shown
    assert "overhead" in shown
    assert "supported" in shown


def test_names_of_cases_and_policies_are_not_cut(page):
    page.play("docs")
    for name in ("case", "policy"):
        words = """(select => {
          const context = document.createElement('canvas').getContext('2d');
          context.font = getComputedStyle(select).font;
          return Math.max(...[...select.options].map(o => context.measureText(o.text).width));
        })"""
        widest = page.js(f"{words}(document.getElementById('{name}'))")
        assert widest + 30 <= page.rectangle(f"#{name}", outside=True)["width"], name


def test_the_controls_stand_on_one_line(desktop):
    desktop.play("docs")
    found = desktop.rectangles(
        "#controls select, #controls button, #controls input[type=range], .switch", outside=True
    )
    assert len(found) == 5
    assert max(one["top"] for one in found) < min(one["bottom"] for one in found)


@pytest.mark.parametrize("case", CASES)
def test_the_evidence_never_stands_over_its_sentence(page, case):
    page.play(case)
    count = page.js("root.querySelectorAll('.badge:not([hidden])').length")
    assert count > 0
    for number in range(count):
        page.js("root.querySelectorAll('.badge:not([hidden])')[arguments[0]].click()", number)
        panel = page.rectangle(".panel")
        parts = page.rectangles(".chosen, .badge[aria-expanded=true]")
        assert parts
        for part in parts:
            assert apart(panel, part), number
        badge = page.rectangle(".badge[aria-expanded=true]")
        assert badge["top"] >= 0
        assert badge["bottom"] <= page.js("innerHeight")
        assert panel["right"] <= page.js("document.documentElement.clientWidth")
        assert page.no_scroll_bar_across()
        inner = """[...root.querySelectorAll('.panel *')].filter(n => n.scrollHeight > n.clientHeight + 1
          && /auto|scroll/.test(getComputedStyle(n).overflowY)).length"""
        assert page.js(inner) == 0
        page.js("root.querySelector('.close').click()")


@pytest.mark.parametrize("case", CASES)
def test_badges_touch_neither_each_other_nor_the_lines_beside_them(page, case):
    page.play(case)
    found = page.rectangles(".badge:not([hidden])")
    for one, other in itertools.combinations(found, 2):
        assert apart(one, other)
    line = page.js("parseFloat(getComputedStyle(root.querySelector('.answer')).lineHeight)")
    assert max(one["height"] for one in found) <= line - 6
    # A line with a badge is as high as one without.
    heights = page.js("[...root.querySelectorAll('.answer p')].map(p => p.getBoundingClientRect().height)")
    assert all(abs(height / line - round(height / line)) < 0.08 for height in heights)


@pytest.mark.parametrize("case", ["finance", "docs"])
def test_no_line_begins_with_a_badge(page, case):
    page.play(case, "redact")
    pairs = page.js(
        """[...root.querySelectorAll('.keep:has(.badge:not([hidden]))')].map(k => {
          const range = document.createRange();
          range.selectNodeContents(k.firstChild);
          return [k.querySelector('.badge'), range].map(one => one.getBoundingClientRect().toJSON());
        })"""
    )
    assert pairs
    for badge, word in pairs:
        assert badge["top"] < word["bottom"]
        assert word["top"] < badge["bottom"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("policy", ["flag", "redact"])
def test_every_word_can_be_read(desktop, scheme, policy):
    """WCAG 2.2, 1.4.3, for each text against what is painted behind it, and in the end stays there."""
    still = {"name": "prefers-reduced-motion", "value": "reduce"}
    features = [{"name": "prefers-color-scheme", "value": scheme}, still]
    desktop.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    desktop.play("docs", policy)
    desktop.js("root.querySelector('.badge.contradicted').click()")
    script = """(() => {
      const context = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
      const paint = (layers) => {
        for (const colour of layers) { context.fillStyle = colour; context.fillRect(0, 0, 1, 1); }
        return [...context.getImageData(0, 0, 1, 1).data];
      };
      const written = (node) => [...node.childNodes].some(c => c.nodeType === 3 && c.data.trim())
        && node.getClientRects().length && !node.closest('head, option');
      const up = (node) => node.assignedSlot || node.parentNode?.host || node.parentElement;
      const found = [];
      for (const scope of [document, root]) for (const node of scope.querySelectorAll('*')) {
        if (!written(node)) continue;
        const layers = [];
        for (let at = node; at; at = up(at)) layers.unshift(getComputedStyle(at).backgroundColor);
        const behind = ['#fff', ...layers], text = getComputedStyle(node).color;
        found.push([node.className || node.tagName, paint([...behind, text]), paint(behind)]);
      }
      return found;
    })()"""
    seen = desktop.js(script)
    assert len(seen) > 30
    for name, text, behind in seen:
        lighter, darker = sorted((shade(text), shade(behind)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, (name, text, behind)
    desktop.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def shade(pixel):
    red, green, blue, _ = pixel
    return luminance(f"rgb({red}, {green}, {blue})")


def test_everything_that_answers_a_click_answers_the_keyboard(page):
    page.play("docs")
    page.js("document.getElementById('play').focus()")
    reached = []
    for _ in range(40):
        page.browser.switch_to.active_element.send_keys(Keys.TAB)
        label = page.js("root.activeElement && (root.activeElement.ariaLabel || root.activeElement.tagName)")
        if label is None:
            break
        reached.append(label)
    badges = page.js("[...root.querySelectorAll('.badge:not([hidden]), .cite')].map(b => b.ariaLabel)")
    assert set(badges) <= set(reached)
    assert sum(label == "SUMMARY" for label in reached) == 4
    page.js("root.querySelector('.cite').focus()")
    for key in (Keys.ENTER, Keys.SPACE):
        page.js("root.activeElement").send_keys(key)
        assert page.js("root.querySelector('.panel').hidden") is False
        page.js("root.activeElement").send_keys(Keys.ESCAPE)
        assert page.js("root.querySelector('.panel').hidden") is True
        assert page.js("root.activeElement.className").startswith("cite")


def test_nothing_moves_for_readers_who_asked_for_that(desktop):
    features = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    desktop.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    desktop.play("docs")
    desktop.js("root.querySelector('.badge').click()")
    assert desktop.js("root.getAnimations().length") == 0
    assert desktop.js(
        "[...root.querySelectorAll('*')].every(n => getComputedStyle(n).transitionDuration == '0s')"
    )
    desktop.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


MARKDOWN = """## A heading

The mill **was built** in the [town](https://example.org/town) and `grinds` barley [1].

| Part | What it does |
|---|---|
| Wheel | The wrong wheel turns *fast* [1]. |
| Yard | It grinds barley [1]. |

1. It grinds **barley** [1].
   - It grinds oats, too.

```python
print("mill")
```

> The mill was built in the town."""


def test_markdown_is_rendered_with_its_badges_in_place(page):
    page.check(passages="The mill was built in the town. It grinds barley.", answer=MARKDOWN).ended()
    assert page.js("root.querySelector('.answer h4').innerText") == "A heading"
    assert page.js("root.querySelector('.answer strong').textContent") == "was built"
    assert page.js("root.querySelector('.answer table th:last-child').textContent") == "What it does"
    assert page.js(
        "root.querySelector('.answer td .badge.contradicted').closest('tr').textContent"
    ).startswith("Wheel")
    assert page.js("root.querySelector('.answer ol ul li').textContent").startswith("It grinds oats")
    assert page.js("root.querySelector('pre').textContent") == 'print("mill")\n'
    assert page.js("root.querySelector('.answer blockquote .badge') !== null")
    link = page.js("(a => [a.href, a.rel, a.target])(root.querySelector('.answer a'))")
    assert link == ["https://example.org/town", "noopener noreferrer nofollow", "_blank"]
    text = page.js("root.querySelector('.answer').innerText")
    assert not set("*`|#>") & set(text)
    assert page.no_scroll_bar_across()


ATTACKS = [
    HOSTILE,
    f"[a](javascript:window.pwned=1) ![b](x{HOSTILE}) <javascript:window.pwned=1> [c](data:text/html,x)",
    f"| {HOSTILE} | b |\n|---|---|\n| c | {HOSTILE} |",
    f"```{HOSTILE}\n{HOSTILE}\n```",
    f"The mill was built [{HOSTILE}]. The wrong wheel {HOSTILE} turns [1].",
    f'[x](https://a.b/"onmouseover="window.pwned=1) <a href="javascript:1">y</a> {HOSTILE}',
]


KNOWN = set(
    "a article aside b blockquote br button code details div em h3 h4 h5 h6 header li mark ol p path pre "
    "section span strong summary svg table tbody td th thead tr ul".split()
)
"""Elements that an answer and its evidence may bring forth."""


@pytest.mark.parametrize("answer", ATTACKS)
@pytest.mark.parametrize("policy", ["flag", "redact"])
def test_hostile_text_stays_text(desktop, answer, policy):
    """In passages, titles, ids, the question and the answer alike."""
    passage = {"id": HOSTILE, "title": HOSTILE, "text": f"The mill was built in the town. {HOSTILE}"}
    desktop.check(passages=json.dumps(passage), answer=answer, question=HOSTILE)
    desktop.browser.get_log("browser")
    desktop.js(f"document.getElementById('policy').value = '{policy}'")
    desktop.browser.find_element(By.CSS_SELECTOR, "#own [type=submit]").click()
    desktop.ended()
    for number in range(desktop.js("root.querySelectorAll('.badge, .cite').length")):
        desktop.js("root.querySelectorAll('.badge, .cite')[arguments[0]].click()", number)
    assert set(desktop.js("[...root.querySelectorAll('*')].map(n => n.localName)")) <= KNOWN
    names = desktop.js("[...root.querySelectorAll('*')].flatMap(n => n.getAttributeNames())")
    assert not [name for name in names if name.startswith("on")]
    assert all(
        href.startswith("https://") for href in desktop.js("[...root.querySelectorAll('a')].map(a => a.href)")
    )
    assert desktop.js("document.querySelectorAll('body img, body script, body svg').length") == 0
    assert desktop.js("window.pwned") is None
    assert desktop.browser.get_log("browser") == []


@pytest.mark.parametrize(
    ("fields", "at", "said"),
    [
        ({"passages": "", "answer": "x"}, "passages", "at least one source"),
        ({"passages": "x", "answer": " "}, "answer", "Paste the answer"),
        ({"passages": '{"text": "a"}\n{"no": 1}', "answer": "x"}, "passages", "line 2 must be an object"),
        ({"passages": "x", "answer": "word " * 30_000}, "answer", "at most"),
    ],
)
def test_an_error_stands_at_the_field_it_is_about(page, fields, at, said):
    page.check(**fields)
    page.wait(f"document.getElementById('own-{at}-error').textContent")
    assert said in page.js(f"document.getElementById('own-{at}-error').textContent")
    assert page.js("document.activeElement.id") == f"own-{at}"
    assert page.js("document.activeElement.getAttribute('aria-invalid')") == "true"
    assert page.js("document.getElementById('card').hidden") is True
    page.fill("passages", "The mill was built in the town.")
    page.fill("answer", "The mill was built in the town.")
    page.browser.find_element(By.CSS_SELECTOR, "#own [type=submit]").click()
    page.ended()
    assert page.js("[...document.querySelectorAll('.error')].map(e => e.textContent).join('')") == ""


def test_a_revised_verdict_takes_the_place_of_the_first(desktop):
    desktop.check(
        passages="The mill was built in the town.", answer="The mill was built. The wrong wheel turns."
    ).ended()
    first, second = desktop.js("[...root.querySelectorAll('.badge')].map(b => b.className)")
    assert (first, second) == ("badge supported", "badge contradicted")
    desktop.js("root.querySelectorAll('.badge')[0].click()")
    desktop.js(
        """document.querySelector('grounded-stream').feed({kind: 'sentence_revised', seq: 999,
          index: 0, label: 'contradicted', score: 0.04, evidence: [], citations: [],
          findings: [], unsupported_spans: []})"""
    )
    assert (
        desktop.js("[...root.querySelectorAll('.badge')].map(b => b.className)") == ["badge contradicted"] * 2
    )
    assert (
        desktop.js("root.querySelector('.badge').ariaLabel")
        == "Sentence 1: contradicted (revised), 4 % likely supported"
    )
    assert "Revised" in desktop.js("root.querySelector('.panel').innerText")
    assert "2 contradicted" in desktop.js("root.querySelector('.counts').innerText")
    assert "(revised)" in desktop.js("root.querySelector('[role=status]').textContent")


def test_only_evidence_that_decided_is_shown(desktop):
    desktop.check(
        passages="The mill was built in the town.", answer="The mill was built. The wrong wheel turns."
    ).ended()
    verdict = """{kind: 'sentence_revised', seq: 900, index: 0, label: 'supported', score: 0.9,
      citations: [], findings: [], unsupported_spans: [],
      evidence: [
        {passage: 'p1', start: 0, end: 8, text: 'The mill', score: 0.9, label: 'supported'},
        {passage: 'p2', start: 0, end: 5, text: 'Lunch is at noon.', score: 0.87, label: 'contradicted'},
        {passage: 'p3', start: 0, end: 5, text: 'Cats sleep.', score: 0.89, label: 'supported'},
        {passage: 'p4', start: 0, end: 5, text: 'That mill was built.', score: 0.88, label: 'supported'}]}"""
    desktop.js(f"document.querySelector('grounded-stream').feed({verdict})")
    desktop.js("root.querySelector('.badge').click()")
    shown = desktop.js("[...root.querySelectorAll('.panel mark')].map(m => m.textContent)")
    assert shown == ["The mill", "That mill was built."]
    desktop.js(
        f"document.querySelector('grounded-stream').feed({{...{verdict}, seq: 901, label: 'unsupported'}})"
    )
    assert desktop.js("[...root.querySelectorAll('.panel .relation')].map(m => m.textContent)") == [
        "Nearest text"
    ]


@pytest.mark.model
def test_ones_own_answer_is_checked_by_the_model_on_any_screen(page):
    with loopback(create_app(ServeSettings(demo=True))) as real:
        page.address = real
        page.check(
            passages="The Aldgrove lighthouse was built between 1871 and 1874. Its tower is 34 metres high.",
            answer="The tower is **34 metres** high [1].\n\nThe tower is **52 metres** high [1].",
            question="How high is it?",
        ).ended()
        right, wrong = page.js("[...root.querySelectorAll('.badge')].map(b => b.className.split(' ')[1])")
        assert right == "supported"
        assert wrong in ("contradicted", "unsupported")
        assert page.js(SENTENCES_SHOWN) == [
            "The tower is 34 metres high [1].",
            "The tower is 52 metres high [1].",
        ]
        assert page.js("document.getElementById('question').textContent") == "How high is it?"
        assert "on this machine" in page.js("document.getElementById('model').textContent")
        summary = page.rectangle(".summary")
        assert 0 <= summary["top"] < summary["bottom"] <= page.js("innerHeight")
        page.js("root.querySelectorAll('.badge')[1].click()")
        assert "34 metres" in page.js("root.querySelector('.panel mark').textContent")
        page.browser.get("about:blank")
