"""`streamverify stream` in a pipe: early verdicts, and every way in which its ends may go away."""

from __future__ import annotations

import signal
import sys
from contextlib import suppress

import pytest
from command_line import LEXICAL, TRUE, ended, next_event, send, started

from streamverify.events import StreamFailed, StreamFinished, read_event


def test_stream_tells_events_while_the_answer_is_still_arriving(passages: str) -> None:
    with started("stream", "-p", passages, *LEXICAL) as process:
        send(process, f"{TRUE} The next".encode())
        events = [next_event(process)]
        # Ends only because the verdict comes before the rest of the answer does.
        while events[-1].kind != "sentence_judged":
            events.append(next_event(process))
        status, out, err = ended(process, b" one is open")
    events += [read_event(line) for line in out.splitlines()]
    assert (status, err) == (0, "")
    assert [event.seq for event in events] == list(range(len(events)))
    assert isinstance(events[-1], StreamFinished)
    assert events[-1].report.answer == f"{TRUE} The next one is open"


@pytest.mark.slow
def test_stream_names_the_byte_that_is_no_utf8_after_what_came_before(passages: str) -> None:
    data = f"{TRUE} Größe: ".encode()
    with started("stream", "-p", passages, *LEXICAL) as process:
        status, out, err = ended(process, data + b"\xff rest")
    last = read_event(out.splitlines()[-1])
    assert status == 2
    assert err == f"streamverify: <stdin>: invalid UTF-8 at byte offset {len(data)}: invalid start byte\n"
    assert isinstance(last, StreamFailed)
    assert last.report.answer == f"{TRUE} Größe: "
    assert last.report.sentences[0].text.strip() == TRUE


@pytest.mark.slow
def test_stream_ends_quietly_when_its_reader_goes_away(passages: str) -> None:
    with started("stream", "-p", passages, *LEXICAL) as process:
        send(process, TRUE.encode())
        next_event(process)
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        with suppress(BrokenPipeError):  # it may be gone by now
            send(process, b" More. " * 50)
        assert process.stderr.read() == b""
        assert process.wait(150) == 141


@pytest.mark.slow
def test_check_ends_quietly_when_its_reader_goes_away(passages: str) -> None:
    with started("check", "-p", passages, "--answer", "-", *LEXICAL) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # before there is an answer, so before anything can be shown
        send(process, TRUE.encode())
        assert process.stdin is not None
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait(150) == 141


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_ends_with_status_130_and_one_line(passages: str) -> None:
    with started("stream", "-p", passages, *LEXICAL) as process:
        send(process, TRUE.encode())
        next_event(process)
        process.send_signal(signal.SIGINT)
        # Its standard input is still open: waiting for it must not keep it from ending.
        assert process.wait(150) == 130
        assert process.stderr is not None
        err = process.stderr.read().decode()
    assert err == "streamverify: interrupted before the end; what was shown is not a whole result\n"


# --- demo and model ------------------------------------------------------------------------------
