"""The report page: one HTML file that works from a mail, without a network and without JavaScript.

Before: `view.py` says what stands where. After: a browser.

Its content policy allows one style and one script, by their hashes, and nothing else; whatever comes from a
dataset, a model or a file is text. No clock and no chance: equal runs give equal bytes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamverify._extras import require
from streamverify.evaluate.comparison import Comparison
from streamverify.evaluate.gates import GateResult
from streamverify.evaluate.records import MetricRecord
from streamverify.evaluate.report import charts, sentences
from streamverify.evaluate.report.view import LISTED, STATES, FigureRow, State, View, Way, number, state_of
from streamverify.evaluate.result import CaseResult
from streamverify.evaluate.run import Run
from streamverify.figure import Aggregate, Interval, NotComputed
from streamverify.files.written import write_whole
from streamverify.text.styled import styled
from streamverify.types import Report

if TYPE_CHECKING:
    from markupsafe import Markup

OPENED = 2000
"""Cases whose answers stand on the page; more are listed with their figures only."""
SENTENCES = 200
"""Sentences of one answer that stand on the page."""
LABELS = ("supported", "contradicted", "unsupported", "unverified", "no_claim")

_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"} | {127: 0x2421}
"""What no page may hold, shown by its picture."""

_LIVE = (".supported{", ".badge", ".risk", ".redact", ".repair", ".cite", "mark{")
"""How the lines begin that the live element's style sheet and the page have in common."""


def render(run: Run, *, gates: Sequence[GateResult] = (), comparison: Comparison | None = None) -> bytes:
    """The page, in UTF-8.

    Args:
        run: with its journal, cases open to their answers; without, to their figures only.
        gates: as `decide` found them.
        comparison: with the baseline.

    Raises:
        MissingExtraError: jinja2 is not installed. Caller.
    """
    template = _template()
    style, script = _style(), _file("page.js")
    view = View.of(run, gates, comparison)
    figures = [_Row(row, view.behind_figure(row)) for row in view.figures]
    ways = [view.behind_gate(result) for result in view.gates]
    named = {case.id for way in (*ways, *(one.way for one in figures)) for case, _ in way.cases}
    listed = view.listed(named)
    text: str = template.render(
        view=view,
        header=run.header,
        style=_verbatim(style),
        script=_verbatim(script),
        policy=f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'",
        shapes=sentences.SHAPES,
        words=sentences.WORDS,
        states=STATES,
        figures=[one for one in figures if not one.row.why],
        gaps=[one for one in figures if one.row.why],
        gates=list(zip(view.gates, ways, strict=True)),
        cut=_verbatim("_<wbr>"),
        spreads=[one for one in figures if one.row.found.spread is not None],
        categories=_categories(run),
        metrics=list(run.header.metrics),
        numbers={case.id: case.number for case in listed if case.id in view.newly_failing},
        cases=_cases(listed, view, named),
        listed=len(listed),
        limit=LISTED,
        opened=OPENED,
        left_out=len(run.cases) - len(listed),
        sampled=any(
            state_of(case) == "passed" and case.id not in view.newly_failing.union(named) for case in listed
        ),
    )
    return text.encode("utf-8", "backslashreplace")


def write(
    path: Path | str, run: Run, *, gates: Sequence[GateResult] = (), comparison: Comparison | None = None
) -> None:
    """Write the page.

    Raises:
        UsageError: it cannot be written. Caller.
        MissingExtraError: jinja2 is not installed. Caller.
    """
    write_whole(path, render(run, gates=gates, comparison=comparison))


@dataclass(frozen=True, slots=True)
class _Row:
    """A metric's row with its charts."""

    row: FigureRow
    way: Way

    @property
    def bar(self) -> Markup | str:
        found = self.row.found
        if isinstance(found.figure, NotComputed) or self.row.record.combination == "sum":
            return ""  # a count has no scale
        held = found.interval
        ends = (held.low, held.high) if isinstance(held, Interval) else None
        before = self.row.difference.before if self.row.difference is not None else None
        old = before if isinstance(before, float) else None
        told = f"{self.row.value}, 95 % interval {self.row.interval}" if ends else self.row.value
        if old is not None:
            told += f", baseline {self.row.before}"
        scale = _scale(self.row, [found.figure, *(ends or ()), *([old] if old is not None else [])])
        return _verbatim(charts.interval_bar(found.figure, ends, scale, told=told, before=old))

    @property
    def histogram(self) -> Markup | str:
        spread = self.row.found.spread
        if spread is None:
            return ""
        told = f"cases in ten bins from {spread.start:.4g} to {spread.end:.4g}: " + ", ".join(
            str(count) for count in spread.histogram
        )
        return _verbatim(charts.histogram(spread.histogram, spread.start, spread.end, told=told))

    @property
    def ends(self) -> tuple[str, str]:
        """The histogram's ends."""
        spread = self.row.found.spread
        return (f"{spread.start:.4g}", f"{spread.end:.4g}") if spread is not None else ("", "")

    @property
    def spread(self) -> list[tuple[str, str]]:
        found = self.row.found.spread
        if found is None:
            return []
        shown = partial(number, record=self.row.record)
        told = [("median", shown(found.median)), ("lowest", shown(found.smallest))]
        return [*told, ("p95", shown(found.p95)), ("sd", shown(found.deviation))]


def _scale(row: FigureRow, values: Sequence[float]) -> tuple[float, float]:
    start, end = row.record.range
    return min(start, *values), max(end if end is not None else 0.0, *values)


def _categories(run: Run) -> list[tuple[str, int, list[tuple[str, str, str]]]]:
    """Category, its cases, and for each metric figure, interval and coverage."""
    found = []
    for name, figures in run.categories.items():
        cells = [_cell(one, run.header.metrics[metric]) for metric, one in figures.items()]
        count = sum(case.category == name for case in run.cases)
        found.append((name, count, cells))
    return found


def _cell(found: Aggregate, record: MetricRecord) -> tuple[str, str, str]:
    ends = ""
    if isinstance(found.interval, Interval):
        ends = f"{number(found.interval.low, record)} – {number(found.interval.high, record)}"
    return number(found.figure, record), ends, str(found)


@dataclass(frozen=True, slots=True)
class _Case:
    """A case as the template reads it."""

    result: CaseResult
    state: State
    new: bool
    metrics: Mapping[str, MetricRecord]
    question: str | None
    report: Report | None

    @property
    def counts(self) -> list[tuple[str, int]]:
        return [(label, count) for label in LABELS if (count := self.result.counts.get(label))]

    @property
    def strip(self) -> Markup:
        counts = dict(self.counts)
        told = ", ".join(f"{count} {sentences.WORDS[label]}" for label, count in counts.items())
        return _verbatim(charts.strip(counts, told=told))

    @property
    def figures(self) -> list[tuple[str, str, str, str]]:
        """Name, figure, why there is none, warning."""
        told = []
        for name, measured in self.result.figures.items():
            figure = measured.figure
            why = figure.reason if isinstance(figure, NotComputed) else ""
            told.append((name, number(figure, self.metrics.get(name)), why, measured.warning))
        return told

    @property
    def main(self) -> tuple[str, str] | None:
        """The first figure that could be computed, for the closed line."""
        return next(((name, value) for name, value, why, _ in self.figures if not why), None)

    @property
    def sort_keys(self) -> str:
        """The figures in the run's order, larger is worse; `-` where there is none."""
        keys = []
        for name, record in self.metrics.items():
            figure = self.result.figures[name].figure
            sign = -1 if record.higher_is_better else 1
            keys.append("-" if isinstance(figure, NotComputed) else f"{sign * figure + 0.0:.6g}")
        return " ".join(keys)


def _cases(listed: Sequence[CaseResult], view: View, named: Collection[str]) -> Iterator[_Case]:
    new = view.newly_failing
    for place, case in enumerate(listed):
        # Read from the journal when it is its turn, and held no longer.
        record = case.load() if place < OPENED or case.id in named else None
        question, report = (record.question, record.report) if record is not None else (None, None)
        yield _Case(case, state_of(case), case.id in new, view.run.header.metrics, question, report)


def _template() -> Any:
    jinja2 = require("jinja2", extra="eval", feature="the report page")
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=visible,
    )
    environment.globals.update(
        parts=sentences.parts,
        styled=styled,
        deciding=sentences.deciding,
        relation=sentences.relation,
        details=sentences.details,
        cited=sentences.cited,
        means=sentences.MEANS,
        actions=sentences.ACTIONS,
        most_sentences=SENTENCES,
    )
    return environment.from_string(_file("page.html.j2"))


def visible(value: Any) -> Any:
    """Text whose control characters can be seen; what is markup already stays."""
    return value.translate(_CONTROLS) if type(value) is str else value


def _file(name: str) -> str:
    return (resources.files("streamverify.evaluate.report") / name).read_text(encoding="utf-8")


def live_rules() -> str:
    """The lines of the live element's style sheet that the page shares, its colours first."""
    source = (resources.files("streamverify") / "static" / "styles.js").read_text(encoding="utf-8")
    colours = re.search(r"^--surface:.*$", source, re.MULTILINE)
    assert colours is not None, "the live element's colours are not where they were"
    rules = [line for line in source.splitlines() if line.startswith(_LIVE)]
    return "\n".join([f":root{{{colours[0]}}}", *rules])


def _style() -> str:
    return f"\n{live_rules()}\n{_file('page.css')}"


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _verbatim(text: str) -> Markup:
    """Markup of this package's own making."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2, an extra

    return Markup(text)  # noqa: S704 - own charts and files, whose texts are escaped where they are made
