"""What every command keeps to: exit statuses, one line for what went wrong, results on standard output only.

Exit status: 0 done · 1 what was asked to fail on was found · 2 bad usage, bad input, no model, or no room
for the results · 130 interrupted · 141 the reader of standard output went away.
"""

from __future__ import annotations

import errno
import functools
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import ParamSpec

import typer

P = ParamSpec("P")

FAILED, USAGE, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})
"""What writing can end with; every other way to fail belongs to a file that the error names."""


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """The command with every expected way of going wrong turned into one line and an exit status."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        from streamverify.errors import StreamVerifyError  # noqa: PLC0415 - loads pydantic

        try:
            with _named_logs():
                command(*args, **kwargs)
            sys.stdout.flush()
        except StreamVerifyError as error:
            complain(str(error))
            raise typer.Exit(USAGE) from None
        except KeyboardInterrupt:
            complain("interrupted before the end; what was shown is not a whole result")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _give_up_output()
            raise typer.Exit(BROKEN_PIPE) from None
        except OSError as error:
            if error.errno not in _NO_ROOM or error.filename is not None:
                raise
            _give_up_output()
            complain(f"standard output cannot be written: {error.strerror}; the result is not whole")
            raise typer.Exit(USAGE) from None

    return run


@contextmanager
def _named_logs() -> Iterator[None]:
    """Lines of the log that nobody set up, on standard error like everything else that is told there."""
    last = logging.lastResort
    if last is None:  # whoever runs this wants silence
        yield
        return
    before = last.formatter
    last.setFormatter(logging.Formatter("streamverify: %(message)s"))
    try:
        yield
    finally:
        last.setFormatter(before)


def write(text: str) -> None:
    """A line of results, handed over at once."""
    print(text, flush=True)


def complain(message: str) -> None:
    """A line about what went wrong."""
    from streamverify.console.transcript import one_line  # noqa: PLC0415 - loads rich

    murmur(f"streamverify: {one_line(message)}")


def murmur(line: str) -> None:
    """A line on standard error; where it has no room, what is on standard output is no worse for it."""
    with suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def _give_up_output() -> None:
    # What is still buffered has no place to go; the interpreter would complain when flushing it at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
