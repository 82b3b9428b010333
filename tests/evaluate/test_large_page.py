"""The report page of ten thousand cases, in a real browser: it stays a page that one can use and mail."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from builders import cases, verifier

from streamverify.evaluate import evaluate
from streamverify.evaluate.report import page as report_page
from streamverify.evaluate.report.view import LISTED, state_of

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(600)]

COUNT = 10_000
MOST_BYTES = 40_000_000
SHOWN = "[...document.querySelectorAll('.case')].filter(one => !one.hidden).length"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """As many cases as twelve make when each is taken again and again under another name."""
    with verifier() as one:
        run = evaluate(cases(12), verifier=one, metrics=["faithfulness", "hallucination_rate"])
        taken = tuple(
            replace(run.cases[n % 12], number=n, id=f"case-{n}", category=f"part {n % 7}")
            for n in range(COUNT)
        )
        many = replace(run, header=run.header.model_copy(update={"cases": COUNT}), cases=taken)
        path = tmp_path_factory.mktemp("large") / "run.html"
        many.html(path)
    return path, many


def choose(reader, name: str, value: str) -> None:
    reader.js(
        "(f => { f.value = arguments[1]; f.dispatchEvent(new Event('input', { bubbles: true })); })"
        "(document.querySelector('.tools').elements[arguments[0]])",
        name,
        value,
    )


def test_every_case_that_did_not_pass_can_be_found_sorted_and_opened(reader, page):
    path, run = page
    failed = sum(state_of(one) != "passed" for one in run.cases)
    listed = max(failed, LISTED)
    assert path.stat().st_size < MOST_BYTES
    reader.open(path.as_uri())
    assert reader.js(SHOWN) == listed
    told = reader.js("document.querySelector('.tools output').textContent")
    assert told == f"{listed:,} cases"
    choose(reader, "find", "case-9997")
    reader.wait("document.querySelector('.tools output').textContent.startsWith('1 of ')")
    reader.js("document.querySelector('.case:not([hidden])').open = true")
    choose(reader, "find", "")
    reader.wait(f"document.querySelector('.tools output').textContent === '{listed:,} cases'")
    choose(reader, "order", "0")  # worst faithfulness first
    first = reader.js("document.querySelector('.list .case').dataset.keys.split(' ')[0]")
    assert float(first) == 0
    choose(reader, "category", reader.js("document.querySelector('[name=category]').options[1].value"))
    assert 0 < reader.js(SHOWN) < listed
    assert reader.complaints() == []
    # The worst ones open to their sentences; the note above the list says which do not.
    reader.js("document.querySelector('.list .case').open = true")
    opened = reader.js("document.querySelectorAll('.case .answer').length")
    assert opened == report_page.OPENED
    notes = reader.js("[...document.querySelectorAll('.note')].map(one => one.textContent).join(' ')")
    assert f"{listed:,} of {COUNT:,} cases are listed" in notes
    assert f"The first {report_page.OPENED:,} and those that gates and figures name open" in notes


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_it_fits_and_reads_without_a_script(reader, page, width, dark):
    path, _ = page
    reader.open(path.as_uri(), width=width, dark=dark, scripts=False)
    from selenium.webdriver.common.by import By

    found = reader.driver.find_elements(By.CSS_SELECTOR, ".list .case")
    assert len(found) >= LISTED
    assert not reader.driver.find_element(By.CSS_SELECTOR, ".tools").is_displayed()
    reader.open(path.as_uri(), width=width, dark=dark)
    assert reader.js("document.documentElement.scrollWidth <= innerWidth")


def test_it_prints(reader, page):
    path, _ = page
    reader.open(path.as_uri())
    printed = reader.driver.execute_cdp_cmd("Page.printToPDF", {"pageRanges": "1-3"})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
