"""The command as a user runs it, in a process of its own, and texts for it to check."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from streamverify.events import Event, read_event

PASSAGES = '{"id": "tower", "text": "The tower is 330 metres tall. It was completed in 1889."}\n'
TRUE = "The tower is 330 metres tall."
FALSE = "Penguins invented cheese in Peru."
LEXICAL = ("--scorer", "lexical")


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command as a user runs it; its pipes are closed in the end."""
    command = [sys.executable, "-m", "streamverify", *arguments]
    environment = os.environ | {"PYTHONIOENCODING": "utf-8", "COLUMNS": "100"}
    pipe = subprocess.PIPE
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # So a shell starts what runs in the background, and children would inherit it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        command, env=environment, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ended(process: subprocess.Popen[bytes], data: bytes | None = None) -> tuple[int, str, str]:
    """Exit status, standard output, standard error."""
    out, err = process.communicate(data, timeout=150)
    return process.returncode, out.decode(), err.decode()


def first_line(process: subprocess.Popen[bytes]) -> str:
    """What it says first; if it ended without a word, what it complained of."""
    assert process.stdout is not None
    assert process.stderr is not None
    line = process.stdout.readline().decode().strip()
    if not line:
        raise AssertionError(f"exit {process.wait(60)}: {process.stderr.read().decode()}")
    return line


def send(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(data)


def next_event(process: subprocess.Popen[bytes]) -> Event:
    assert process.stdout is not None
    return read_event(process.stdout.readline())
