"""A report as people read it."""

from __future__ import annotations

import json
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from streamverify.testing import ScriptedScorer
from streamverify.types import Label, Report
from streamverify.verifier import Verifier

MILL = ["The mill was built in 1804 and has two wheels."]
SCRIPT = {"wrong": Label.CONTRADICTED, "unknown": Label.UNSUPPORTED}


def report_on(text: str, **options) -> Report:
    with Verifier(ScriptedScorer(SCRIPT, **options)) as verifier:
        return verifier.check_sync(text, MILL)


def test_a_report_prints_as_a_line_on_the_whole_and_one_for_each_sentence():
    assert str(report_on("The mill is old. The wrong wheel\nturns. Hello there!")).splitlines() == [
        "finished: 1 supported, 1 contradicted, 1 no_claim; grounding score 0.49",
        "supported     0.96  The mill is old.",
        "contradicted  0.02  The wrong wheel turns.",
        "no_claim            Hello there!",
    ]
    assert str(report_on("")) == "finished: no sentence"


def test_failed_is_what_did_not_pass_whether_it_was_checked_or_not():
    report = report_on("The mill is old. A wrong wheel. Its owner is unknown. The yard.", fail_on="yard")
    assert [s.label for s in report.failed] == ["contradicted", "unsupported", "unverified"]
    assert report_on("The mill is old. Hello there!").failed == ()


def test_to_dict_is_what_json_holds():
    report = report_on("The mill is old. A wrong wheel.")
    assert report.to_dict() == json.loads(report.model_dump_json())
    assert Report.model_validate(report.to_dict()) == report


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = set(), set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes.update(attrs)


TAGS = ["<script>", "</td>", "<img src=x onerror=y>", "&lt;", "'", '"']
CONTROLS = ["\x1b[2J", "\u202e", "\x9b", "\n"]
hostile = st.lists(st.sampled_from([*TAGS, *CONTROLS, "word", ". "]), max_size=10).map("".join)


@given(hostile)
def test_whatever_an_answer_holds_neither_a_page_nor_a_terminal_obeys_it(text):
    report = report_on(text)
    page = Tags()
    page.feed(report._repr_html_())
    assert page.tags <= {"p", "table", "tr", "th", "td"}
    assert page.attributes <= {("style", "text-align:left")}
    assert all(char.isprintable() or char == "\n" for char in str(report))
    assert len(str(report).splitlines()) == 1 + len(report.warnings) + len(report.sentences)
