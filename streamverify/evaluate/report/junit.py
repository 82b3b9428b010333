"""Test results for a build server: a test case for each gate, each metric compared, each case.

Before: `view.py`. After: whatever reads JUnit's XML.

Characters that XML cannot hold are shown by their escapes. There are no times: a run does not know them, and
equal runs give equal bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from streamverify.evaluate.comparison import Comparison
from streamverify.evaluate.gates import GateResult
from streamverify.evaluate.report.sentences import WORDS
from streamverify.evaluate.report.view import State, View, number, state_of
from streamverify.evaluate.result import CaseResult
from streamverify.evaluate.run import Run

_ILLEGAL = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_KINDS: dict[State, str] = {"error": "error", "failed": "failed", "unclear": "not checked"}


@dataclass(frozen=True, slots=True)
class _Test:
    place: str
    name: str
    problem: Literal["", "failure", "error", "skipped"] = ""
    kind: str = ""
    message: str = ""
    text: str = ""


def render(run: Run, *, gates: Sequence[GateResult] = (), comparison: Comparison | None = None) -> str:
    """The results as XML."""
    view = View.of(run, gates, comparison)
    suites = {
        "gates": list(_gates(view)),
        "baseline": list(_differences(view)),
        "cases": [_case(case) for case in run.cases],
    }
    told = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="streamverify"{_counts(suites.values())}>',
    ]
    for name, tests in suites.items():
        if tests:
            skipped = sum(test.problem == "skipped" for test in tests)
            told.append(f'<testsuite name="{name}"{_counts([tests])} skipped="{skipped}">')
            told += [_written(test) for test in tests]
            told.append("</testsuite>")
    return "\n".join([*told, "</testsuites>"]) + "\n"


def _gates(view: View) -> Iterator[_Test]:
    for result in view.gates:
        where = "" if result.category is None else f" in {result.category}"
        name = f"{result.metric}{where} {result.gate}"
        if result.status == "passed":
            yield _Test("streamverify.gates", name)
        else:
            missing = f"without a figure: {', '.join(result.missing)}" if result.missing else ""
            yield _Test("streamverify.gates", name, "failure", result.status, result.detail, missing)


def _differences(view: View) -> Iterator[_Test]:
    place = "streamverify.baseline"
    if (compared := view.comparison) is None:
        return
    for name, one in compared.differences.items():
        if one.idle:
            yield _Test(place, name, "skipped", one.status, str(one))
        else:
            yield _Test(place, name, "failure", one.status, str(one)) if one.failed else _Test(place, name)
    for name, why in compared.owed.items():
        yield _Test(place, name, "failure", "not computed", f"critical, and not compared: {why}")
    if compared.newly_failing:
        told = f"{len(compared.newly_failing)} cases fail that passed"
        failed: Literal["", "failure"] = "failure" if compared.too_many_failures else ""
        yield _Test(place, "newly failing", failed, "failed", told, "\n".join(compared.newly_failing))
    else:
        yield _Test(place, "newly failing")


def _case(case: CaseResult) -> _Test:
    place, state = f"streamverify.cases.{case.category or 'all'}", state_of(case)
    if state == "passed":
        return _Test(place, case.id)
    if case.error:
        return _Test(place, case.id, "error", "error", case.error)
    counts = ", ".join(f"{count} {WORDS[label]}" for label, count in case.counts.items() if count)
    figures = [f"{name}: {number(measured.figure)}" for name, measured in case.figures.items()]
    report = case.report
    bad = [
        f"{WORDS[one.label]}: {one.text.strip()}"
        for one in (report.sentences if report is not None else ())
        if one.label in ("contradicted", "unsupported", "unverified")
    ]
    message = counts or "there is no answer to check"
    return _Test(place, case.id, "failure", _KINDS[state], message, "\n".join([*bad, *figures]))


def _counts(suites: object) -> str:
    tests = [test for suite in suites for test in suite]  # type: ignore[attr-defined]
    failures, errors = (sum(test.problem == one for test in tests) for one in ("failure", "error"))
    return f' tests="{len(tests)}" failures="{failures}" errors="{errors}"'


def _written(test: _Test) -> str:
    head = f"<testcase classname={_attribute(test.place)} name={_attribute(test.name)}"
    if not test.problem:
        return f"{head}/>"
    message = f"message={_attribute(test.message)}"
    if test.problem == "skipped":
        return f"{head}><skipped {message}/></testcase>"
    message += f" type={_attribute(test.kind)}"
    return f"{head}><{test.problem} {message}>{escape(_legal(test.text))}</{test.problem}></testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_legal(text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def _legal(text: str) -> str:
    """The text, with what XML cannot hold as its escape."""
    return _ILLEGAL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
