from __future__ import annotations

import io
import re
from collections.abc import AsyncGenerator, Sequence
from functools import cache

import anyio
import pytest
from rich.console import Console

from streamverify.console.transcript import Transcript, wrapped
from streamverify.console.views import Heading, LiveView, PlainView, view_for, watch
from streamverify.demo import load_case, tokens
from streamverify.events import Event, TextReleased
from streamverify.policy import Halt, Policy, Redact
from streamverify.testing import ScriptedScorer, collect, stream_of
from streamverify.types import Label, Passage
from streamverify.verifier import Verifier

SCRIPT = {"after 30 days": Label.CONTRADICTED, "e-mail": Label.UNSUPPORTED}
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal(io.StringIO):
    """What a terminal was sent."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class Pipe(io.StringIO):
    encoding = "utf-8"


class AsciiPipe(io.StringIO):
    encoding = "ascii"


def console(file: io.StringIO, *, width: int = 60, height: int = 20, **more: object) -> Console:
    return Console(
        file=file,
        width=width,
        height=height,
        force_terminal=file.isatty(),
        _environ={"TERM": "xterm"} | dict(more),
    )


def events_of(
    parts: Sequence[str], passages: Sequence[Passage], *, policy: Policy | None = None, script: object = None
) -> list[Event]:
    async def run() -> list[Event]:
        async with (
            Verifier(ScriptedScorer(SCRIPT if script is None else script)) as verifier,
            verifier.stream(stream_of(parts), passages, policy=policy) as stream,
        ):
            return await collect(stream)

    return anyio.run(run)


CASE = load_case("docs")


@cache
def _case_events(policy: Policy | None) -> tuple[Event, ...]:
    return tuple(events_of(tokens(CASE.answer), CASE.sources(), policy=policy))


def case_events(policy: Policy | None = None) -> tuple[Event, ...]:
    return _case_events(policy)


def screen_of(raw: str) -> list[str]:
    """What is left on an endless screen after these codes: those that rich sends, and no others."""
    rows, row, column = [""], 0, 0
    for code, char in re.findall(r"(\x1b\[[0-9;?]*[A-Za-z])|(.)", raw, re.DOTALL):
        if code.endswith("A"):
            row -= int(code[2:-1] or 1)
        elif code == "\x1b[2K":
            rows[row] = ""
        elif char == "\n":
            row, column = row + 1, 0
            rows += [""] * (row + 1 - len(rows))
        elif char == "\r":
            column = 0
        elif char:
            rows[row] = rows[row][:column].ljust(column) + char + rows[row][column + 1 :]
            column += 1
        else:
            assert code[-1] in "mhl", code
    return [text.rstrip() for text in rows]


async def told(events: Sequence[Event], error: Exception | None = None) -> AsyncGenerator[Event, None]:
    for event in events:
        await anyio.lowlevel.checkpoint()
        yield event
    if error is not None:
        raise error


def played(view: PlainView | LiveView, events: Sequence[Event], error: Exception | None = None) -> None:
    anyio.run(watch, told(events, error), view)


# --- plain ---------------------------------------------------------------------------------------


def test_a_pipe_gets_one_line_a_sentence_and_no_control_codes() -> None:
    file = Pipe()
    played(PlainView(console(file), Heading("Title", "Question?")), case_events())
    lines = file.getvalue().splitlines()
    assert lines[:2] == ["Title", "Question?"]
    assert lines[2].startswith("· no claim")
    assert next(line for line in lines if "after 30 days" in line).startswith("✗ contradicted")
    sentences = lines[2 : lines.index("")]
    assert len(sentences) == len(CASE.sentences)
    assert "\x1b" not in file.getvalue()


def test_an_output_without_unicode_gets_ascii_shapes() -> None:
    file = AsciiPipe()
    played(PlainView(console(file), Heading()), events_of(["It fell. It grew. "], [Passage("a", "It grew.")]))
    assert file.getvalue().isascii()
    assert file.getvalue().startswith("+ supported")


@pytest.mark.parametrize("width", [40, 60, 76, 100, 200])
def test_the_summary_keeps_to_the_width_and_tells_label_score_lag_and_fingerprint(width: int) -> None:
    file = Pipe()
    events = case_events()
    view = PlainView(console(file, width=width), Heading())
    played(view, events[-1:])
    text = file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    for word in ("finished", "contradicted", "verdict lag", "tokens scored", "first text", "scripted"):
        assert word in text.replace("\n", " ")
    assert ("lag ms" in text) == (width >= 76)


def test_labels_by_hand_are_compared() -> None:
    file = Pipe()
    heading = Heading(by_hand=lambda sentence: Label.CONTRADICTED if sentence.index == 0 else None)
    played(PlainView(console(file, width=100), heading), case_events())
    assert "0 of 1 verdicts agree" in file.getvalue()


def test_a_halted_stream_says_that_the_answer_is_incomplete() -> None:
    file = Pipe()
    played(PlainView(console(file), Heading()), case_events(Halt()))
    shown = file.getvalue()
    assert "halted, the answer is incomplete" in shown
    assert "after 30 days" not in shown[: shown.index("halted")]


# --- live ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [None, Redact()], ids=["flag", "redact"])
@pytest.mark.parametrize("width", [40, 62, 120])
def test_what_remains_on_the_screen_is_the_answer_with_its_badges_once(
    width: int, policy: Policy | None
) -> None:
    file = Terminal()
    events = case_events(policy)
    view = LiveView(console(file, width=width, height=30), Heading())
    with view:
        for number, event in enumerate(events):
            view.show(event)
            if number % 4 == 0:
                view.draw()
    raw = file.getvalue()
    assert raw.count("\x1b[?25l") == raw.count("\x1b[?25h") == 1
    whole = Transcript()
    for event in events:
        whole.apply(event)
    expected = [line.plain for line in wrapped(whole.rest(), min(width - 2, 100))]
    shown = screen_of(raw)
    title = next(number for number, line in enumerate(shown) if "finished" in line)
    assert [line for line in shown[1:title] if line] == [line for line in expected if line]


def test_an_interrupted_answer_stays_on_the_screen_as_far_as_it_came() -> None:
    file = Terminal()
    events = [event for event in case_events() if isinstance(event, TextReleased)][:12]
    view = LiveView(console(file), Heading())

    def interrupted() -> None:
        with view:
            for event in events:
                view.show(event)
                view.draw()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "\n".join(screen_of(file.getvalue())[1:]).split() == "".join(e.text for e in events).split()
    assert file.getvalue().count("\x1b[?25h") == 1


@pytest.mark.parametrize(("width", "height"), [(60, 24), (60, 12), (40, 8), (60, 4), (20, 3), (12, 1)])
def test_the_redrawn_part_is_never_larger_than_the_screen(width: int, height: int) -> None:
    screen = console(Terminal(), width=width, height=height)
    view = LiveView(screen, Heading())
    with view:
        for number, event in enumerate(case_events()[:-1]):
            view.show(event)
            if number % 8:
                continue
            lines = screen.render_lines(view._screen(), pad=False)
            assert len(lines) <= max(height - 1, 1)
            assert max(sum(segment.cell_length for segment in line) for line in lines) <= width


def test_without_colour_shapes_and_words_remain() -> None:
    file = Terminal()
    played(LiveView(console(file, width=100, NO_COLOR="1"), Heading()), case_events(Redact()))
    raw = file.getvalue()
    colours = {code for codes in re.findall(r"\x1b\[([0-9;]*)m", raw) for code in codes.split(";") if code}
    assert not {code for code in colours if code[0] in "34" and len(code) == 2}
    assert "✗ contradicted, redacted" in ESCAPES.sub("", raw)


def test_a_redacted_sentence_is_never_sent_to_the_screen_while_streaming() -> None:
    file = Terminal()
    view = LiveView(console(file, width=100), Heading())
    with view:
        for event in case_events(Redact())[:-1]:
            view.show(event)
            view.draw()
    assert "after 30 days" not in ESCAPES.sub("", file.getvalue())


HOSTILE = "\x1b[2J\x1b]0;owned\x07 It [bold]fell[/bold] \x9b31m. "


@pytest.mark.parametrize("live", [True, False])
def test_nothing_from_outside_reaches_the_terminal_as_a_control_code(live: bool) -> None:
    file = Terminal() if live else Pipe()
    kind = LiveView if live else PlainView
    passages = [Passage("\x1b[31mid", "\x1b[2J It fell.", title="\x1b]0;t\x07")]
    played(kind(console(file), Heading(HOSTILE, HOSTILE)), events_of([HOSTILE], passages))
    raw = file.getvalue()
    assert not re.search(r"\x1b\]|\x9b|\x07|\x1b\[2J", raw)
    assert "[bold]fell[/bold]" in ESCAPES.sub("", raw)


# --- choosing and failing ------------------------------------------------------------------------


def test_the_view_fits_where_the_output_goes() -> None:
    assert isinstance(view_for(console(Terminal())), LiveView)
    assert isinstance(view_for(console(Pipe())), PlainView)
    assert isinstance(view_for(console(Terminal(), TERM="dumb")), PlainView)
    # A log that was told to be colourful still cannot be redrawn.
    assert isinstance(view_for(Console(file=Pipe(), force_terminal=True)), PlainView)


@pytest.mark.parametrize("kind", [LiveView, PlainView])
def test_an_error_arrives_as_itself_after_what_came_before(kind: type[LiveView | PlainView]) -> None:
    file = Terminal()
    events = [event for event in case_events() if isinstance(event, TextReleased)][:12]
    with pytest.raises(KeyError, match="source"):
        played(kind(console(file), Heading()), events, KeyError("source"))
    assert file.getvalue().count("\x1b[?25l") == file.getvalue().count("\x1b[?25h")
    if kind is LiveView:
        assert "Here is how retries behave" in ESCAPES.sub("", file.getvalue())
