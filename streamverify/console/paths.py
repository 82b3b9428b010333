"""Paths of options that take a folder, where an empty word would mean the one that the shell is in.

Before: the command line. After: the commands of every room.
"""

from __future__ import annotations

from pathlib import Path

import typer


def path_from(text: str) -> Path:
    """What names a file or a folder; an empty word, as of a variable that is not set, names none.

    Raises:
        typer.BadParameter: it is empty. Caller.
    """
    if not text:
        raise typer.BadParameter("is empty; name a file or a folder")
    return Path(text)
