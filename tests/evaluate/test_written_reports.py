"""The forms of a report: what they say, that they say it alike each time, and that no text becomes markup."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest
from builders import BAD, GOOD, NONE, PASSAGES, WRONG, case, cases, verifier
from hypothesis import example, given, settings
from hypothesis import strategies as st

import streamverify
from streamverify import Passage
from streamverify.errors import UsageError
from streamverify.evaluate import Case, NotComputed, Run, compare, decide, evaluate, metric
from streamverify.evaluate.gates import GateResult, gates_from
from streamverify.evaluate.report import charts, junit, markdown, page, sentences, view
from streamverify.evaluate.report.sentences import parts
from streamverify.text.styled import STYLES
from streamverify.types import Report

METRICS = ["faithfulness", "hallucination_rate", "citation_fabricated"]
GATES = gates_from({"gates": {"faithfulness": {"min": 0.9}, "citation_fabricated": {"max": 0}}})
HOSTILE = (
    "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>&lt;{{ 7*7 }}{% raw %}]]>--><style>"
)
ANYTHING = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).filter(str.strip)
STATIC = Path(streamverify.__file__).parent / "static"


def run_of(given, **options) -> Run:
    with verifier() as one:
        return evaluate(given, verifier=one, metrics=METRICS, **options)


@pytest.fixture(scope="module")
def run() -> Run:
    return run_of(cases(12))


def html(run: Run, **more) -> str:
    return page.render(run, **more).decode()


class Read(HTMLParser):
    """Tags and attributes of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.inside: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside.append(tag)

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


def test_the_page_says_what_the_run_says(run):
    text = Read(html(run, gates=decide(run, GATES))).text
    assert "2 of 2 gates not passed" not in text
    assert "1 of 2 gates not passed" in text
    assert "10 of 12, 2 not computed: no claim in the answer" in text
    assert run.header.fingerprint.model in text
    assert GOOD in text
    assert PASSAGES[0].text.split(".")[0] in text  # evidence
    for one in run.cases:
        assert one.id in text


def test_the_page_is_one_file_that_asks_nobody(run):
    text = html(run)
    tags = Read(text).tags
    policy = next(a["content"] for t, a in tags if t == "meta" and a.get("http-equiv"))
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag, source in (("style", "style-src"), ("script", "script-src")):
        (inner,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert f"{source} 'sha256-{digest}'" in policy
    for tag, attributes in tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert not {"src", "srcset", "style", "action"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert all(value.startswith("#") for name, value in attributes.items() if name == "href")
    assert "url(" not in text
    assert "@import" not in text


def test_equal_runs_give_equal_bytes(run, tmp_path):
    again = run_of(cases(12), workers=1)
    for form in (page, markdown, junit):
        assert form.render(run) == form.render(again)
    run.html(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_bytes() == page.render(again)


def hostile_run(text: str) -> Run:
    passages = (Passage(text, f"The mill was built in 1712. {text}", title=text),)
    given = Case(
        id=text,
        question=text,
        answer=f"{GOOD} {text} {BAD} [{text}] {WRONG}",
        passages=passages,
        category=text,
    )
    return run_of([given, case(1, GOOD)])


@pytest.mark.slow
@settings(max_examples=20)
@given(ANYTHING)
@example(HOSTILE)
@example("\x00\x1b[31m\x7f")
def test_no_text_becomes_markup_in_any_form(text):

    def gated(run: Run, category: str) -> tuple[GateResult, ...]:
        return decide(run, gates_from({"gates": {f"category={category}": {"faithfulness": {"min": 1}}}}))

    run, same = hostile_run(text), hostile_run("plain")
    results = gated(run, text)
    plain, read = Read(html(same, gates=gated(same, "plain"))), Read(html(run, gates=results))
    assert {tag for tag, _ in read.tags} - {*STYLES} == {tag for tag, _ in plain.tags} - {*STYLES}
    assert not any(attributes for tag, attributes in read.tags if tag in {*STYLES} - {"code"})
    assert {name for _, a in read.tags for name in a} == {name for _, a in plain.tags for name in a}
    scripts = [tag for tag, _ in read.tags if tag in ("script", "style")]
    assert scripts == ["style", "script"]

    root = ET.fromstring(junit.render(run, gates=results).encode())
    assert {node.tag for node in root.iter()} <= {"testsuites", "testsuite", "testcase", "failure", "error"}

    for line in markdown.render(run, gates=results).splitlines():
        outside = re.sub(r"</?(code|details( open)?|summary)>|<!-- -->", "", line)
        assert "<" not in outside
        assert not re.search(r"[\x00-\x1f\x7f]", outside)
        assert "](" not in outside
        assert "://" not in outside


@pytest.mark.parametrize(
    "text", ["@somebody", "http://evil.example", "www.evil.example", "#12", "a | b", "`x`", "[a](b)"]
)
def test_no_text_becomes_a_mention_or_a_link_in_a_note(text):
    assert text not in markdown.render(hostile_run(text))


def test_what_xml_cannot_hold_is_shown():
    assert "a\\x00b\\uffffc" in junit.render(hostile_run("a\x00b\uffffc"))


def test_test_results_are_counted_and_complete(run):
    results = decide(run, GATES)
    root = ET.fromstring(junit.render(run, gates=results, comparison=compare(run, run)).encode())
    suites = {suite.get("name"): suite for suite in root}
    assert list(suites) == ["gates", "baseline", "cases"]
    for node in [root, *suites.values()]:
        tests = list(node.iter("testcase"))
        assert int(node.get("tests")) == len(tests)
        assert int(node.get("failures")) == sum(test.find("failure") is not None for test in tests)
    assert [test.get("name") for test in suites["cases"]] == [one.id for one in run.cases]
    assert [test.find("failure").get("type") for test in suites["gates"] if len(test)] == ["failed"]
    unknown = decide(run, gates_from({"gates": {"nonsense": {"min": 0.9}}}))
    assert 'type="not computed"' in junit.render(run, gates=unknown)


def worse(run: Run) -> Run:
    """The run as it would have been had every case been fine."""
    fine = (
        dataclasses.replace(
            one,
            counts={"supported": 1},
            figures={**one.figures, "faithfulness": run.cases[0].figures["faithfulness"]},
        )
        for one in run.cases
    )
    return dataclasses.replace(run, cases=tuple(fine))


def test_a_baseline_is_set_beside_and_newly_failing_cases_come_first(run):
    compared = compare(worse(run), run)
    assert compared.newly_failing
    text = html(run, comparison=compared)
    assert "worse than the baseline" in Read(text).text
    order = re.findall(r'<details class="case \w+" id="case-(\d+)"', text)
    new = {str(one.number) for one in run.cases if one.id in compared.newly_failing}
    assert set(order[: len(new)]) == new
    note = markdown.render(run, comparison=compared)
    assert f"{len(new)} cases fail that passed" in note
    assert "❌" in note.splitlines()[0]


def test_without_its_journal_a_run_shows_figures_and_says_where_the_answers_are(run, tmp_path):
    run.write(tmp_path / "run.json")
    text = Read(html(Run.read(tmp_path / "run.json"))).text
    assert "The answer stands in the journal" in text
    assert GOOD not in text


def test_a_journal_read_again_gives_the_same_page_with_questions(tmp_path):
    given = [case(1, GOOD, BAD, question="Who owns the mill?"), case(2, NONE, question="Why?")]
    first = run_of(given, out=tmp_path / "j.jsonl")
    assert html(Run.read(tmp_path / "j.jsonl")) == html(first)
    assert "Who owns the mill?" in html(first)


def test_a_question_that_is_no_text_for_a_file_is_shown_by_its_escape():
    assert "Who \\ud800?" in Read(html(run_of([case(1, GOOD, question="Who \ud800?")]))).text


@pytest.mark.slow
def test_many_cases_all_that_failed_are_listed_and_the_rest_is_a_sample_that_is_told():
    run = run_of(cases(6))
    good, bad = run.cases[0], run.cases[1]
    many = tuple(dataclasses.replace(good if n % 10 else bad, number=n, id=f"n{n}") for n in range(10_000))
    large = dataclasses.replace(run, cases=many, header=run.header.model_copy(update={"cases": len(many)}))
    text = html(large)
    shown = re.findall(r'id="case-(\d+)"', text)
    assert len(shown) == len(set(shown)) == view.LISTED
    assert {str(n) for n in range(0, 10_000, 10)} <= set(shown)
    assert "2,000 of 10,000 cases are listed" in Read(text).text
    assert html(large) == text
    all_bad = dataclasses.replace(
        large, cases=tuple(dataclasses.replace(bad, number=n, id=f"n{n}") for n in range(10_000))
    )
    text = html(all_bad)
    assert len(re.findall(r'id="case-\d+"', text)) == 10_000
    assert text.count('<div class="answer"') == page.OPENED  # only so many answers
    assert len(text) < 40_000_000


def test_markdown_of_an_answer_is_shown_as_what_it_means():
    run = run_of([case(1, "- **The mill was built in 1712.**", "It is *<i>tall</i>*, they say [2].")])
    text = html(run)
    assert "• <strong>The mill was built in 1712.</strong>" in text
    assert "<em>&lt;i&gt;tall&lt;/i&gt;</em>" in text
    assert "**" not in Read(text).text


@given(st.lists(st.tuples(st.integers(-3, 60), st.integers(-3, 60)), max_size=4))
def test_the_parts_of_a_sentence_are_its_text(spans):
    report = run_of([case(1, GOOD, BAD)]).cases[0].report
    assert isinstance(report, Report)
    for sentence in report.sentences:
        marked = sentence.model_copy(update={"unsupported_spans": tuple(spans)})
        assert "".join(part.text for part in parts(marked)) == sentence.text.rstrip()


def test_words_signs_and_colours_are_those_of_the_live_element():
    made = (STATIC / "make.js").read_text(encoding="utf-8")
    for label, word in sentences.WORDS.items():
        assert f"{label}: '{word}'" in made
    for label, shape in sentences.SHAPES.items():
        assert f"{label}: '{shape}'" in made
    panel = (STATIC / "evidence-panel.js").read_text(encoding="utf-8")
    for table in (sentences.MEANS, sentences.RELATION):
        assert all(f"{name}: '{words}'" in panel for name, words in table.items())
    answer = (STATIC / "answer-view.js").read_text(encoding="utf-8")
    assert all(
        f"{name}: '{words}'" in answer for name, words in sentences.FINDINGS.items() if name != "missing"
    )
    rules = page.live_rules()
    for one in ("--good:", "--bad:", "--doubt:", ".badge{", ".risk{", ".cite{", "mark{", ".supported{"):
        assert one in rules


@given(
    st.lists(st.integers(0, 10**6), min_size=1, max_size=12),
    st.floats(-1e6, 1e6),
    st.floats(0, 1e6),
    st.floats(-1e6, 1e6),
)
def test_charts_are_well_formed_and_stay_within_their_bounds(counts, start, width, value):
    for text in (
        charts.histogram(counts, start, start + width, told='"<&'),
        charts.interval_bar(value, (value, value + width), (start, start + width), told='"<&', before=start),
        charts.strip(dict(zip("abcdefghijkl", counts, strict=False)), told='"<&'),
    ):
        root = ET.fromstring(text)
        assert root.get("aria-label") == '"<&'
        for node in root.iter():
            for name in ("x", "cx", "x1", "width"):
                if (held := node.get(name, "")).endswith("%"):
                    assert 0 <= float(held[:-1]) <= 100
    assert "nan" not in charts.histogram(counts, start, start + width, told="")


@pytest.mark.parametrize("counts", [{}, {"a": 0}, {"a": 1, "b": -1}, {"a": -1}, {"a": 3, "b": -5}])
def test_a_strip_of_counts_that_a_damaged_journal_tells_has_parts_of_a_whole(counts):
    widths = [float(node.get("width")[:-1]) for node in ET.fromstring(charts.strip(counts, told=""))]
    assert widths == ([100] if max(counts.values(), default=0) > 0 else [])


def test_a_page_that_cannot_be_written_is_an_error(run, tmp_path):
    with pytest.raises(UsageError, match="cannot be written"):
        run.html(tmp_path / "nowhere" / "a.html")


def test_a_case_that_went_wrong_stands_first_with_its_reason(run):
    broken = dataclasses.replace(run.cases[3], error="ScoringError: the model was away")
    run = dataclasses.replace(run, cases=(*run.cases[:3], broken, *run.cases[4:]))
    assert re.findall(r'class="case (\w+)"', html(run))[0] == "error"
    assert "the model was away" in Read(html(run)).text
    assert "the model was away" in junit.render(run)
    assert "the model was away" in markdown.render(run)
    assert json.loads(json.dumps(run.rows()))  # plain values still


def test_a_reason_is_told_in_words():
    (sentence, *_) = run_of([case(1, GOOD)]).cases[0].report.sentences
    told = sentences.details(sentence.model_copy(update={"reason": "too_long", "reason_text": "412 tokens"}))
    assert told[0] == "412 tokens"
    assert (
        sentences.details(sentence.model_copy(update={"reason": "too_long", "reason_text": ""}))[0]
        == "too_long"
    )


def test_the_cases_beside_a_figure_are_those_it_lacks_and_the_worst(run):
    seen = view.View.of(run, decide(run, GATES), None)
    rows = {row.name: row for row in seen.figures}
    way = seen.behind_figure(rows["faithfulness"])
    assert [(one.id, told) for one, told in way.cases][:3] == [
        ("case-4", "0.000"),
        ("case-10", "0.000"),
        ("case-2", "0.333"),
    ]
    assert len(way.cases) == view.NAMED
    assert len(way.cases) + way.more == run["faithfulness"].computed
    failed = seen.behind_gate(seen.gates[0])
    assert {one.id for one, _ in failed.cases} == {
        one.id for one in run.cases if isinstance(one["faithfulness"], float) and one["faithfulness"] < 0.9
    }
    unknown = decide(run, gates_from({"gates": {"category=none": {"faithfulness": {"min": 1}}}}))
    assert seen.behind_gate(unknown[0]).cases == ()


def test_a_gap_stands_before_the_worst_and_is_told():

    @metric(needs={"answer"}, range=(0, 1))
    def lucky(case, report):
        return NotComputed("no luck") if case.id == "case-3" else 0.5

    with verifier() as one:
        run = evaluate([case(n, GOOD) for n in range(5)], verifier=one, metrics=[lucky])
    seen = view.View.of(run, (), None)
    way = seen.behind_figure(seen.figures[0])
    told = [(one.id, told) for one, told in way.cases]
    assert told[:2] == [("case-3", "not computed"), ("case-0", "0.500")]
    assert len(way.cases) == 5


@pytest.mark.parametrize("count", [3, 4, 5, 30])
def test_a_head_line_stays_a_line(run, count):
    names = [f"metric {n}" for n in range(count)]
    told = view._few(names)
    assert told.count("metric") == (count if count < 5 else 3)
    assert told.endswith(f"metric {count - 1}" if count < 5 else f"{count - 3} more")
