"""A verified stream on a terminal: the answer as it grows, badges as verdicts arrive, evidence below.

Before: the events of a stream. After: a person.

`LiveView` keeps only what can still change in the redrawn part of the screen, the open lines and one
panel of fixed height; a line that is settled is printed once, above, and scrolls like any other output.
`PlainView` writes one line a sentence and no control codes, for pipes, logs and dumb terminals.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

import anyio
from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

from streamverify.console.summary import ByHand, plain_line, summary
from streamverify.console.transcript import (
    CITATIONS,
    LABELS,
    Style,
    Transcript,
    one_line,
    says_nothing_new,
    wrapped,
)
from streamverify.events import Event, FinalEvent, SentenceJudged, SentenceRevised, StreamOpened
from streamverify.types import CitationFinding, Evidence, Label, Report

_MAX_WIDTH = 100
"""Columns beyond which lines of prose are hard to follow."""
_QUOTE_LINES = 2
_PANEL_LINES = _QUOTE_LINES + 2
"""Lines inside the panel: where the evidence stands, the quotation, what was noticed."""
_FRAME = 1 / 20
"""Seconds between two drawings: often enough for the eye, and cheap however fast events come."""


@dataclass(frozen=True, slots=True)
class Heading:
    """What a view tells beside the events."""

    title: str = ""
    question: str = ""
    by_hand: ByHand | None = None
    """Labels that a person gave, to be compared in the summary."""
    whole: bool = False
    """The answer is there at once; see `summary`."""

    def summary(self, report: Report, style: Style, width: int) -> RenderableType:
        """The end of the view."""
        return summary(report, style=style, width=width, by_hand=self.by_hand, whole=self.whole)


class Renderer(Protocol):
    """Shows the events of one stream; `with` begins and leaves the screen."""

    def __enter__(self) -> Self:
        """Begin."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the terminal as it was found."""
        ...

    def show(self, event: Event) -> None:
        """Take the next event."""
        ...

    def draw(self) -> None:
        """Bring the screen up to date; called about twenty times a second."""
        ...


def view_for(console: Console, heading: Heading | None = None) -> Renderer:
    """The live view on a terminal that can redraw, the plain one anywhere else."""
    live = console.file.isatty() and console.is_terminal and not console.is_dumb_terminal
    heading = heading or Heading()
    return LiveView(console, heading) if live else PlainView(console, heading)


async def watch(events: AsyncIterable[Event], view: Renderer) -> None:
    """Show a stream's events until its last one.

    Raises:
        Exception: whatever reading the events raises, once everything before it is shown.
    """
    failure: Exception | None = None
    with view:
        async with anyio.create_task_group() as group:
            group.start_soon(_redraw, view)
            try:
                async for event in events:
                    view.show(event)
            except Exception as raised:  # noqa: BLE001 - raised again outside of the group, which would wrap it
                failure = raised
            group.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _redraw(view: Renderer) -> None:
    while True:
        await anyio.sleep(_FRAME)
        view.draw()


def _style_of(console: Console) -> Style:
    return Style(unicode=console.encoding.lower().startswith("utf"))


class PlainView:
    """One line a sentence, then the summary; nothing is redrawn."""

    def __init__(self, console: Console, heading: Heading) -> None:
        """Nothing is written yet."""
        self._console, self._heading = console, heading
        self._transcript = Transcript(_style_of(console))

    def __enter__(self) -> Self:
        """Write the heading."""
        for text in (self._heading.title, self._heading.question):
            if text:
                self._line(one_line(text))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to restore."""

    def show(self, event: Event) -> None:
        """Write what the event settles."""
        style = self._transcript.style
        self._transcript.apply(event)
        for sentence in self._transcript.take_sentences():
            self._line(plain_line(sentence, style))
            self._console.file.flush()
        if isinstance(event, FinalEvent):
            width = self._console.width
            self._console.print(self._heading.summary(event.report, style, width))

    def draw(self) -> None:
        """Nothing is redrawn."""

    def _line(self, text: str) -> None:
        # Past rich: a line without style, of any length, a thousand times.
        self._console.file.write(f"{text}\n")


class LiveView:
    """The answer in flowing text, and below it a panel with the latest evidence and the counts."""

    def __init__(self, console: Console, heading: Heading) -> None:
        """Nothing is drawn yet."""
        self._console, self._heading = console, heading
        self._transcript = Transcript(_style_of(console))
        self._titles: dict[str, str] = {}
        self._report: Report | None = None
        self._at_ms = 0.0
        self._stale = False
        self._open = False
        self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stderr=False)

    def __enter__(self) -> Self:
        """Write the heading and take the lower part of the screen."""
        width = self._width
        for text, style in ((self._heading.title, "bold"), (self._heading.question, "italic")):
            if text:
                for line in wrapped(Text(one_line(text), style=style), width):
                    self._console.print(line)
        self._console.print(Rule(style="dim", characters=self._dash), width=width)
        self._open = True
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the screen back; what was still open stays as it stood."""
        self._leave()

    def show(self, event: Event) -> None:
        """Take in what the event changes; the next `draw` shows it."""
        self._at_ms = event.at_ms
        self._transcript.apply(event)
        self._stale = True
        match event:
            case StreamOpened(passages=passages):
                self._titles = {passage.id: passage.title or "" for passage in passages}
            case _ if isinstance(event, FinalEvent):
                self._leave()
                style, width = self._transcript.style, self._console.width
                self._console.print(self._heading.summary(event.report, style, width))
            case _:
                pass

    def draw(self) -> None:
        """Print the lines that are settled and redraw the rest, if anything changed."""
        if not (self._stale and self._open):
            return
        self._stale = False
        settled = self._transcript.take(self._width)
        self._live.update(self._screen())
        # Printing redraws the live part below; both reach the terminal in one write.
        if settled:
            self._console.print(*settled, sep="\n")
        self._live.refresh()

    @property
    def _width(self) -> int:
        # Room for the ^C that a terminal echoes: a line that wrapped would put the cursor out of place.
        return min(self._console.width - 2, _MAX_WIDTH)

    @property
    def _dash(self) -> str:
        return "─" if self._transcript.style.unicode else "-"

    def _leave(self) -> None:
        if not self._open:
            return
        self._open = False
        self._live.update(Text())
        self._live.stop()
        for line in wrapped(self._transcript.rest(), self._width):
            self._console.print(line)

    def _screen(self) -> RenderableType:
        """The open lines, as many of the last ones as fit, above the panel."""
        lines = wrapped(self._transcript.rest(), self._width)
        room = self._console.height - (_PANEL_LINES + 2) - 1
        if room < 1:  # a screen of a few lines shows the text only
            return Group(*lines[-max(self._console.height - 1, 1) :])
        return Group(*lines[-room:], self._panel())

    def _panel(self) -> Panel:
        inside = self._width - 4
        lines = list(self._evidence_lines(inside))[:_PANEL_LINES]
        lines += [Text()] * (_PANEL_LINES - len(lines))
        return Panel(
            Group(*(_clipped(line, inside) for line in lines)),
            title=self._panel_title(),
            title_align="left",
            subtitle=self._counts(),
            subtitle_align="left",
            box=box.ROUNDED if self._transcript.style.unicode else box.ASCII,
            border_style="dim",
            width=self._width,
        )

    def _panel_title(self) -> Text:
        latest = self._transcript.latest
        if latest is None:
            return Text("waiting for the first sentence", style="dim")
        style = self._transcript.style
        title = Text(f"sentence {latest.index + 1} ", style="not dim")  # the border is
        title.append_text(style.badge(LABELS[latest.label], plain=True))
        if latest.score is not None:
            title.append(f" {latest.score:.2f}")
        return title.append(f"  {latest.latency_ms:.0f} ms", "dim")

    def _evidence_lines(self, width: int) -> Iterator[Text]:
        latest = self._transcript.latest
        if latest is None:
            return
        quote = [Text()]
        if latest.evidence:
            best = latest.evidence[0]
            yield self._where(best)
            marks = "“”" if self._transcript.style.unicode else '""'
            quote = wrapped(Text(f"{marks[0]}{one_line(best.text)}{marks[1]}", style="italic"), width)
            if len(quote) > _QUOTE_LINES:
                quote[_QUOTE_LINES - 1].append(" …" if self._transcript.style.unicode else " ...")
        else:
            yield Text(one_line(latest.why) or "no evidence", style="dim")
        yield from (quote + [Text()] * _QUOTE_LINES)[:_QUOTE_LINES]
        yield _noticed(latest, self._transcript.style)

    def _where(self, evidence: Evidence) -> Text:
        words = {
            Label.SUPPORTED: "supported by",
            Label.CONTRADICTED: "contradicted by",
        }
        where = Text(f"{words.get(evidence.label, 'nearest text:')} ", style="dim")
        where.append(one_line(evidence.passage), "bold")
        if title := one_line(self._titles.get(evidence.passage, "")):
            where.append(f" {title}")
        return where.append(f"  {evidence.score:.2f}", "dim")

    def _counts(self) -> Text:
        transcript = self._transcript
        counts = Text(f"{transcript.judged} judged", style="not dim")
        for label, count in transcript.counts.items():
            if count:
                look = LABELS[label]
                symbol = look.symbol if transcript.style.unicode else look.ascii
                counts.append("  ").append(f"{symbol} {count}", look.style)
        return counts.append(f"  {self._at_ms / 1000:.1f} s", "dim")


def _noticed(latest: SentenceJudged | SentenceRevised, style: Style) -> Text:
    """Findings and citations that are not right, on one line."""
    parts = [
        Text.assemble((f"{finding.kind.replace('_', ' ')}: ", "bold"), one_line(finding.detail))
        for finding in latest.findings
        if latest.evidence or f"{finding.kind}: {finding.detail}" != latest.why  # else it stands above
    ]
    for citation in latest.citations:
        if citation.finding is not CitationFinding.CORRECT and not says_nothing_new(citation, latest.label):
            badge = style.badge(CITATIONS[citation.finding], plain=True)
            parts.append(Text(f"{one_line(citation.marker)} ").append_text(badge))
    return Text("; ").join(parts)


def _clipped(line: Text, width: int) -> Text:
    line.truncate(width, overflow="ellipsis")
    return line
