"""The documentation's site builds without a warning, and its pages load nothing from another host."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NEEDED = ("docs", "streamverify", "integrations", "mkdocs.yml", "CHANGELOG.md", "SECURITY.md")
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href")}

pytestmark = [pytest.mark.site, pytest.mark.timeout(600)]


class Loads(HTMLParser):
    """The addresses that a browser fetches to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if (tag, name) in LOADED and value]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    copy = tmp_path_factory.mktemp("tree")
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("*.onnx", "__pycache__"))
        else:
            shutil.copy(source, copy / name)
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return copy / "build" / "site"


def test_every_page_is_built(site):
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if not (site / page).is_file()} == set()


def test_no_page_loads_anything_from_another_host(site):
    for page in site.rglob("*.html"):
        loads = Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        assert [address for address in loads.found if re.match(r"(https?:)?//", address)] == [], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import )[\"']?(https?:)?//", sheet.read_text(encoding="utf-8")), sheet


def test_the_reference_shows_what_docstrings_say(site):
    page = (site / "reference" / "python.html").read_text(encoding="utf-8")
    assert "Checks answers and streams against passages." in page
    assert "seconds that one check may take" in page
