"""The report page in a real browser."""

from __future__ import annotations

import pytest
from builders import BAD, GOOD, WRONG, case, verifier

from streamverify import Passage
from streamverify.evaluate import Case, compare, decide, evaluate
from streamverify.evaluate.gates import gates_from

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

XSS = '</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1">'
SHOWN = (
    "[...document.querySelectorAll('.case')].filter(one => !one.hidden)"
    ".map(one => one.querySelector('.id').textContent)"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    passages = (Passage(XSS, f"The mill was built in 1712. {XSS}"),)
    given = [
        case(1, GOOD, category="calm", question="When was it built?"),
        case(2, GOOD, BAD, category="wild"),
        case(3, WRONG, GOOD, GOOD, category="wild"),
        Case(id=XSS, question=XSS, answer=f"{GOOD} {XSS} {BAD}", passages=passages, category=XSS),
    ]
    with verifier() as one:
        run = evaluate(given, verifier=one, metrics=["faithfulness", "hallucination_rate"])
    gates = decide(run, gates_from({"gates": {"faithfulness": {"min": 0.9}}}))
    path = tmp_path_factory.mktemp("report") / "run.html"
    run.html(path, gates=gates, comparison=compare(run, run))
    return path.as_uri()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 768, 390])
def test_the_page_fits_and_the_browser_has_nothing_to_complain_about(reader, page, width, dark):
    reader.open(page, width=width, dark=dark)
    reader.js("[...document.querySelectorAll('details')].map(d => d.open = true)")
    assert reader.js("document.documentElement.scrollWidth <= innerWidth")
    assert reader.js("performance.getEntriesByType('resource').length") == 0
    assert reader.js("window.pwned") is None
    assert reader.complaints() == []
    background = reader.js("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(15, 18, 22)") is dark
    if width == 390:  # the table has become a list
        assert reader.js("getComputedStyle(document.querySelector('.figures tr')).display") == "grid"


def test_cases_are_filtered_sorted_and_opened_with_keys(reader, page):
    reader.open(page)
    assert reader.js(SHOWN) == ["case-2", "case-3", XSS, "case-1"]  # failing first
    reader.press("/", *"built?")
    reader.wait("document.querySelector('.tools output').textContent === '1 of 4 cases'")
    assert reader.js(SHOWN) == ["case-1"]

    def choose(name: str, value: str) -> None:
        reader.js(
            "(f => { f.value = arguments[1]; f.dispatchEvent(new Event('input', { bubbles: true })); })"
            "(document.querySelector('.tools').elements[arguments[0]])",
            name,
            value,
        )

    choose("find", "")
    reader.wait("document.querySelector('.tools output').textContent === '4 cases'")
    choose("label", "contradicted")
    assert reader.js(SHOWN) == ["case-3"]
    choose("label", "")
    choose("state", "passed")
    assert reader.js(SHOWN) == ["case-1"]
    choose("state", "")
    choose("order", "0")  # worst faithfulness
    assert reader.js(SHOWN)[-1] == "case-1"
    choose("order", "number")
    assert reader.js(SHOWN)[:3] == ["case-1", "case-2", "case-3"]

    reader.js("document.activeElement.blur()")
    reader.press("j", "j")
    assert reader.js("document.activeElement.closest('.case').id") == "case-1"
    reader.press("\ue007")  # Enter
    assert reader.js("document.getElementById('case-1').open")


def test_a_case_opens_to_badges_and_evidence_without_a_script(reader, page):
    reader.open(page, scripts=False)
    from selenium.webdriver.common.by import By

    found = reader.driver.find_element
    assert not found(By.CSS_SELECTOR, ".tools").is_displayed()
    opened = found(By.ID, "case-1")  # places count from 0
    opened.find_element(By.CSS_SELECTOR, "summary").click()
    badges = opened.find_elements(By.CSS_SELECTOR, ".badge")
    assert [badge.get_attribute("class") for badge in badges] == ["badge supported", "badge unsupported"]
    assert badges[1].text == "not in sources"
    assert badges[1].value_of_css_property("color") == "rgba(138, 75, 0, 1)"
    badges[0].click()
    assert "The mill was built in 1712." in opened.find_element(By.CSS_SELECTOR, ".evidence").text
    assert "Says so" in opened.find_element(By.CSS_SELECTOR, ".evidence").text
    reader.open(page)


def test_a_link_to_a_case_opens_it(reader, page):
    reader.open(f"{page}#case-2")
    assert reader.js("document.getElementById('case-2').open")
    assert reader.js("document.querySelectorAll('.case[open]').length") == 1


@pytest.mark.parametrize("scripts", [True, False])
def test_a_gate_and_a_figure_lead_to_the_cases_they_came_from(reader, page, scripts):
    """With and without the page's script: from the figure to the case, from there to its sentences."""
    reader.open(page, scripts=scripts)
    from selenium.webdriver.common.by import By

    def shown(case: str) -> bool:
        return reader.driver.find_element(By.CSS_SELECTOR, f"#{case} .answer").is_displayed()

    gate = reader.driver.find_element(By.CSS_SELECTOR, ".gates .way")  # it failed: what is to blame lies open
    links = gate.find_elements(By.CSS_SELECTOR, ".links a")
    told = [(link.text.split()[-1], link.get_attribute("href").partition("#")[2]) for link in links]
    # The case that passed is not to blame.
    assert [figure for figure, _ in told] == ["0.500", "0.500", "0.667"]
    assert told[0][1] == "in-1"
    assert not shown("case-1")
    links[0].click()
    assert shown("case-1")
    assert not shown("case-2")

    row = reader.driver.find_elements(By.CSS_SELECTOR, ".figures .way")[1]  # hallucination_rate
    assert not row.find_element(By.CSS_SELECTOR, "a").is_displayed()
    row.find_element(By.CSS_SELECTOR, "summary").click()
    worst = row.find_elements(By.CSS_SELECTOR, "a")
    assert [link.text.split()[-1] for link in worst] == ["0.500", "0.500", "0.333", "0.000"]
    worst[2].click()
    assert shown("case-2")
    reader.open(page)


def test_a_link_to_a_case_opens_one_that_a_filter_hides(reader, page):
    reader.open(page)
    reader.js(
        "(f => { f.value = 'failed'; f.dispatchEvent(new Event('input', { bubbles: true })); })"
        "(document.querySelector('.tools').elements.state)"
    )
    assert "case-1" not in reader.js(SHOWN)
    reader.js("document.querySelectorAll('.figures .way').forEach(one => one.open = true)")
    for _ in range(2):  # again after the reader has closed it: the address does not change then
        reader.js("document.querySelector('#case-0').open = false")
        reader.js("document.querySelector('.figures a[href=\"#in-0\"]').click()")
        reader.wait("document.querySelector('#case-0').open && !document.querySelector('#case-0').hidden")


def test_no_name_of_a_figure_is_squeezed_by_what_stands_beside_it(reader, tmp_path):
    """A warning or a long reason goes below, on a phone too."""
    with verifier() as one:
        names = ["faithfulness", "answer_relevance_by_embedding", "context_precision_by_sentence"]
        run = evaluate([case(1, GOOD, BAD, question="Why?")], verifier=one, metrics=names, embedder=Flat())
    run.html(tmp_path / "run.html")
    reader.open(f"{(tmp_path / 'run.html').as_uri()}#case-0", width=390)
    reader.js("document.querySelector('#case-0').open = true")
    lines = reader.js("[...document.querySelectorAll('.own dt')].map(one => one.getClientRects()[0].height)")
    assert len(lines) == 3
    assert max(lines) == min(lines)
    assert reader.js("document.documentElement.scrollWidth <= innerWidth")


class Flat:
    """Every text means the same."""

    name = "flat"

    def __call__(self, texts):
        return [[1.0, 0.0] for _ in texts]
