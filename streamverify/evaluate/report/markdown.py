"""The note for a pull request: verdict, short table, which cases got worse; the rest folded away.

Before: `view.py`. After: a pull request, a job's summary.

What comes from a dataset or a model stands in `<code>` with every punctuation mark as an entity: it can be no
markup, no mention of anybody and no link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from streamverify.evaluate.comparison import Comparison
from streamverify.evaluate.gates import GateResult
from streamverify.evaluate.report.sentences import WORDS
from streamverify.evaluate.report.view import STATES, FigureRow, View, state_of
from streamverify.evaluate.result import CaseResult
from streamverify.evaluate.run import Run

CASES = 20
"""Cases a note names of each sort."""
TEXT = 300
"""Characters of a foreign text in it."""

_MARKS = re.compile(r"[^\w .,;%()+-]|_|(?<=www)\.", re.ASCII | re.IGNORECASE)
"""Punctuation that Markdown may read within a line, and control characters."""
_SIGNS = {True: "❌", False: "✅", None: "➖"}


def render(run: Run, *, gates: Sequence[GateResult] = (), comparison: Comparison | None = None) -> str:
    """The note, as Markdown that GitHub and GitLab read."""
    view = View.of(run, gates, comparison)
    return "\n".join([*_head(view), "", *_table(view), *_folded(view)]).rstrip() + "\n"


def _head(view: View) -> list[str]:
    states = ", ".join(f"{count:,} {STATES[state]}" for state, count in view.states.items() if count)
    header = view.run.header
    made = f"scored by {_code(view.scorer)}, dataset {_code(header.dataset[:12])}"
    return [
        f"### {_SIGNS[view.failed]} {_plain(view.verdict)}",
        "",
        f"{header.cases:,} cases ({states}), {made}",
    ]


def _table(view: View) -> list[str]:
    compared = view.comparison is not None
    gated = {result.metric: result for result in view.gates if result.category is None}
    rows = [row for row in view.figures if not row.why or row.name in gated]
    names = [
        "metric",
        "figure",
        "95 % interval",
        *(["baseline", "change"] if compared else []),
        "cases",
        "gate",
    ]
    told = ["| " + " | ".join(names) + " |", "|:--" + "|--:" * (len(names) - 2) + "|:--|"]
    for row in rows:
        cells = [_code(row.name), row.value, row.interval if row.has_interval else "–"]
        if compared:
            cells += [row.before or "–", _change(row)]
        cells += [f"{row.found.computed:,} of {row.found.cases:,}", _gate(gated.get(row.name))]
        told.append("| " + " | ".join(cells) + " |")
    return told


def _change(row: FigureRow) -> str:
    if row.difference is None or not row.change:
        return "–"
    return f"**{row.change}** {row.difference.status}" if row.difference.failed else row.change


def _gate(result: GateResult | None) -> str:
    return "" if result is None else f"{_SIGNS[result.status != 'passed']} {_plain(str(result.gate))}"


def _folded(view: View) -> Iterator[str]:
    if failing := [result for result in view.gates if result.status != "passed"]:
        yield from _details(f"{len(failing)} gates not passed", [f"- {_plain(str(one))}" for one in failing])
    compared = view.comparison
    cases = {case.id: case for case in view.run.cases}
    if compared is not None and compared.newly_failing:
        new = [cases[one] for one in compared.newly_failing]
        count = "1 case fails that passed" if len(new) == 1 else f"{len(new):,} cases fail that passed"
        yield from _details(count, list(_cases(new)), opened=True)
    if compared is not None and compared.not_comparable:
        told = [f"- {_code(name)}: {_plain(why)}" for name, why in compared.not_comparable.items()]
        yield from _details(f"{len(told)} metrics not compared", told)
    bad = [case for case in view.ordered() if state_of(case) != "passed"]
    if bad:
        count = "1 case" if len(bad) == 1 else f"{len(bad):,} cases"
        yield from _details(f"{count} not passed", list(_cases(bad)))
    if gaps := [row for row in view.figures if row.found.not_computed]:
        told = [f"- {_code(row.name)}: {_plain(row.coverage)}" for row in gaps]
        yield from _details("What was not computed, and why", told)


def _cases(cases: Sequence[CaseResult]) -> Iterator[str]:
    for case in cases[:CASES]:
        counts = ", ".join(f"{count} {WORDS[label]}" for label, count in case.counts.items() if count)
        told = _plain(case.error) if case.error else counts
        yield f"- {_code(case.id)} {STATES[state_of(case)]}: {told or 'no answer'}"
        report = case.report
        for sentence in report.sentences if report is not None else ():
            if sentence.label in ("contradicted", "unsupported"):
                yield f"  - {WORDS[sentence.label]}: {_code(sentence.text.strip())}"
                break
    if len(cases) > CASES:
        yield f"- and {len(cases) - CASES:,} more"


def _details(summary: str, lines: Sequence[str], *, opened: bool = False) -> list[str]:
    start = "<details open>" if opened else "<details>"
    return ["", f"{start}<summary>{summary}</summary>", "", *lines, "", "</details>"]


def _entities(text: str) -> str:
    flat = " ".join(text.encode("utf-8", "backslashreplace").decode().split())
    return _MARKS.sub(lambda found: _entity(found[0]), flat)


def _entity(sign: str) -> str:
    if ord(sign) > 127:
        return sign
    return f"&#{ord(sign)};" if sign.isprintable() else "&#65533;"


def _code(text: str) -> str:
    """Foreign text, cut to a length that a note bears."""
    return f"<code>{_entities(text if len(text) <= TEXT else text[: TEXT - 1] + '…')}</code>"


def _plain(text: str) -> str:
    """Text of this library's own making, which may hold names from elsewhere."""
    # A mention is looked for after entities are read, and not across a comment.
    return _entities(text).replace("&#64;", "@<!-- -->")
