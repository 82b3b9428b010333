"""Standard output for people, whose reader may go away."""

from __future__ import annotations

import errno
import os
from typing import NoReturn

from rich.console import Console


class Screen(Console):
    """A terminal, or a pipe or file in its place; numbers and paths in texts of others are not coloured."""

    def __init__(self) -> None:
        super().__init__(highlight=False)

    def on_broken_pipe(self) -> NoReturn:
        """Tell the command that its reader has gone: rich would end the program, from inside a task.

        Raises:
            BrokenPipeError: always.
        """
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
