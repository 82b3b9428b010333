"""A file of results is whole or is not there: what stood under its name stays until then.

Before: whoever has a result. After: the disk.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from streamverify.errors import UsageError


def write_whole(path: Path | str, text: str | bytes | Iterable[str]) -> None:
    """Write a file as UTF-8, with line feeds as they are; a device or a pipe is written to.

    Text that comes in parts need not be in memory all at once. The content is written beside the file and
    then takes its place, so that a disk that is full, or a process that ends, leaves no half of it under the
    name, and not half of what was there.

    Raises:
        UsageError: it cannot be written, or holds half of a surrogate pair. Caller.
    """
    parts = [text] if isinstance(text, str | bytes) else text
    content = (part.encode("utf-8") if isinstance(part, str) else part for part in parts)
    try:
        _write(Path(os.path.realpath(path)), content)
    except UnicodeEncodeError as error:
        row = error.object.count("\n", 0, error.start) + 1
        raise UsageError(
            f"{path} cannot be written: line {row} would hold half of a surrogate pair, which is no character"
        ) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error


def _write(place: Path, content: Iterable[bytes]) -> None:
    if os.path.lexists(place) and not place.is_file():  # a device or a pipe; of a folder the system tells
        with place.open("wb") as file:
            file.writelines(content)
        return
    part = place.with_name(f".{os.getpid()}-{os.urandom(6).hex()}.part")
    try:
        with part.open("xb") as file:
            file.writelines(content)
        if place.exists():
            shutil.copymode(place, part)
        part.replace(place)
    except BaseException:
        with suppress(FileNotFoundError):
            part.unlink()
        raise
