"""A lock on an open file that the system takes back when its process ends, however it ends.

Nothing is written for it, so that a killed process leaves no lock behind that somebody must judge stale.
"""

from __future__ import annotations

import errno
import sys
from pathlib import Path
from typing import BinaryIO

from streamverify.errors import UsageError

_HELD = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}


def lock(file: BinaryIO, path: Path) -> None:
    """Lock a file that is open for writing, until it is closed.

    Raises:
        UsageError: another process, or another evaluation of this one, has it; or its file system knows no
            locks. Caller.
    """
    try:
        _lock(file)
    except OSError as error:
        if error.errno in _HELD:
            raise UsageError(
                f"{path} is being written by another evaluation; wait for its end, or choose another file"
            ) from None
        raise UsageError(
            f"{path} cannot be locked against other writers ({error.strerror or error}); "
            "choose a file on a local disk"
        ) from None


if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 60
    """A byte that no journal reaches: what is locked there cannot be read by others."""

    def _lock(file: BinaryIO) -> None:
        file.seek(_FAR)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        finally:
            file.seek(0)

else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
