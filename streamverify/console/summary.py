"""A finished stream, told on a page: a table of sentences, what was noticed, what it cost.

Before: the report of a stream. After: the terminal, or a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from streamverify.console.transcript import CITATIONS, LABELS, Settled, Style, one_line, says_nothing_new
from streamverify.types import CitationFinding, JudgedSentence, Label, Report

ByHand = Callable[[JudgedSentence], Label | None]
"""The label a person gave to a sentence; None where there is none."""

_ROOMY, _WIDE, _WIDEST = 76, 96, 120
"""Columns from which the table shows evidence and lag; shows them in full; takes no more."""


def summary(
    report: Report, *, style: Style, width: int, by_hand: ByHand | None = None, whole: bool = False
) -> RenderableType:
    """Table, notes and costs of a report.

    Args:
        report: of a finished, halted or failed stream; which of them is said first.
        style: what the terminal can show.
        width: columns there are.
        by_hand: labels to compare with, for answers that have them.
        whole: the answer was there at once, so that how long a verdict waited for its turn says nothing.
    """
    title = report.outcome if report.outcome == "finished" else f"{report.outcome}, the answer is incomplete"
    parts: list[RenderableType] = [
        Text(),
        Rule(Text(one_line(title)), style="dim", characters="─" if style.unicode else "-"),
    ]
    if report.error:
        parts.append(Text.assemble(("why: ", "bold red"), one_line(report.error)))
    parts.append(_table(report.sentences, style=style, width=width, by_hand=by_hand, whole=whole))
    notes = Table.grid(padding=(0, 1, 0, 0))
    notes.add_column(style="dim", justify="right", min_width=2, no_wrap=True)
    notes.add_column()
    for number, note in _notes(report, style):
        notes.add_row(f"#{number}", note)
    if notes.row_count:
        parts += [Text(), notes]
    parts.append(Text())
    parts.append(_costs(report, style, by_hand, whole=whole))
    return Group(*parts)


def plain_line(settled: Settled, style: Style) -> str:
    """One sentence on one line, for logs and pipes."""
    verdict = settled.verdict
    look = LABELS[verdict.label]
    score = "" if verdict.score is None else f"{verdict.score:.2f}"
    symbol = look.symbol if style.unicode else look.ascii
    acted = f"({settled.acted}) " if settled.acted else ""
    return f"{symbol} {look.word:<12} {score:>4}  {acted}{one_line(settled.text)}".rstrip()


def _table(
    sentences: Sequence[JudgedSentence], *, style: Style, width: int, by_hand: ByHand | None, whole: bool
) -> Table:
    roomy, wide = width >= _ROOMY, width >= _WIDE
    table = Table(
        box=box.SIMPLE_HEAD if style.unicode else box.ASCII2,
        show_edge=False,
        expand=True,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        width=min(width, _WIDEST),
    )
    table.add_column("#", justify="right", min_width=2, no_wrap=True)
    table.add_column("sentence", ratio=1, no_wrap=True, overflow="ellipsis")
    table.add_column("verdict", width=14, no_wrap=True)
    if by_hand is not None:
        table.add_column("by hand", max_width=14 if wide else 7, no_wrap=True, overflow="ellipsis")
    table.add_column("score", justify="right", width=5, no_wrap=True)
    if roomy:
        table.add_column("evidence", max_width=20 if wide else 12, no_wrap=True, overflow="ellipsis")
    if roomy and not whole:
        table.add_column("lag ms", justify="right", width=6, no_wrap=True)
    for sentence in sentences:
        row = [
            Text(str(sentence.index + 1), style="dim"),
            # A table measures all it is given, and shows a line's beginning.
            Text(one_line(sentence.text[: 8 * _WIDEST])),
            style.badge(LABELS[sentence.label], plain=True),
        ]
        if by_hand is not None:
            row.append(_hand(by_hand(sentence), sentence.label, style))
        row.append(Text("" if sentence.score is None else f"{sentence.score:.2f}"))
        if roomy:
            row.append(Text(one_line(sentence.evidence[0].passage) if sentence.evidence else ""))
        if roomy and not whole:
            scored = sentence.latency_ms is not None and sentence.score is not None
            row.append(Text(f"{sentence.latency_ms:.0f}" if scored else "", style="dim"))
        table.add_row(*row)
    return table


def _hand(label: Label | None, found: Label, style: Style) -> Text:
    if label is None:
        return Text()
    if label is found:
        return Text("same", style="dim")
    return style.badge(LABELS[label], plain=True)


def _notes(report: Report, style: Style) -> Iterator[tuple[str, Text]]:
    """What the checks found, with the number of its sentence; correct citations go without saying."""
    for sentence in report.sentences:
        number = str(sentence.index + 1)
        if sentence.label is Label.UNVERIFIED:
            yield number, Text.assemble(("not checked: ", "cyan"), one_line(sentence.why))
        for finding in sentence.findings:
            if sentence.label is Label.UNVERIFIED and f"{finding.kind}: {finding.detail}" == sentence.why:
                continue  # told above
            name = finding.kind.replace("_", " ")
            yield number, Text.assemble((f"{name}: ", "bold"), one_line(finding.detail))
        for citation in sentence.citations:
            if citation.finding is CitationFinding.CORRECT or says_nothing_new(citation, sentence.label):
                continue
            look = CITATIONS[citation.finding]
            better = "" if citation.better is None else f"; {one_line(citation.better)} does support it"
            marker = f"{one_line(citation.marker)} " if citation.marker else ""
            yield number, Text.assemble(f"citation {marker}", style.badge(look, plain=True), better)


def _costs(report: Report, style: Style, by_hand: ByHand | None, *, whole: bool) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for name, value in _rows(report, style, by_hand, whole=whole):
        grid.add_row(name, value)
    return grid


def _rows(report: Report, style: Style, by_hand: ByHand | None, *, whole: bool) -> Iterator[tuple[str, Text]]:
    dot = " · " if style.unicode else ", "
    counts = Text(dot).join(
        Text(f"{count} ").append_text(style.badge(LABELS[label], plain=True))
        for label, count in report.counts.items()
        if count
    )
    yield "sentences", counts
    if by_hand is not None:
        checked = [sentence for sentence in report.sentences if sentence.label is not Label.UNVERIFIED]
        labels = [(by_hand(sentence), sentence.label) for sentence in checked]
        compared = [(hand, found) for hand, found in labels if hand is not None]
        same = sum(hand is found for hand, found in compared)
        yield "by hand", Text(f"{same} of {len(compared)} verdicts agree with the labels a person gave")
    if report.grounding_score is not None:
        accuracy = report.citation_accuracy
        cited = "" if accuracy is None else f"{dot}citations correct {accuracy:.0%}"
        yield "grounding", Text(f"{report.grounding_score:.2f} mean score of the claims{cited}")
    timings = report.timings
    times = [
        None if whole or timings.first_text_ms is None else f"first text {_time(timings.first_text_ms)}",
        f"total {_time(timings.total_ms)}",
        None
        if whole or timings.overhead_ratio is None
        else f"{timings.overhead_ratio:.3f} times the bare stream",
    ]
    yield "time", Text(dot.join(filter(None, times)))
    if timings.verdict_lag_ms is not None and not whole:
        lag = timings.verdict_lag_ms
        yield (
            "verdict lag",
            Text(f"p50 {_time(lag.p50)}{dot}p95 {_time(lag.p95)}{dot}max {_time(lag.max)}"),
        )
    work = report.work
    done = [
        f"{work.tokens_scored} tokens scored of {work.tokens_generated} generated",
        f"{work.claims} claims",
        f"{work.windows} windows, {work.windows_from_cache} from the cache",
    ]
    yield "work", Text(dot.join(done))
    mark = report.fingerprint
    for role, one in (("scored by", mark), *(("in doubt", later) for later in mark.later)):
        told = filter(None, (one.model, one.revision, one.precision, one.provider))
        yield role, Text(one_line(dot.join(told)))
    for opinion in report.second_opinions:
        figures = (
            f"{opinion.asked} asked{dot}{opinion.changed} changed{dot}{opinion.unconfirmed} without a word"
        )
        yield "second opinion", Text(figures)


def _time(milliseconds: float) -> str:
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.2f} s"
