"""Files that a command will write, looked at before it computes anything.

Before: the command's options. After: whatever writes. A run of hours that ends with "cannot be written", or
that writes its figures over the dataset they came from, is prevented here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path


def refuse_unwritable(reads: Iterable[Path | None], writes: Mapping[str, Path | None]) -> None:
    """Refuse outputs that are folders, stand in no folder, or are a file that is read or written anyway.

    Args:
        reads: files of the command's input, which must outlive it.
        writes: option to the file it names; None where the option was left out.

    Raises:
        UsageError: one of them is; names the option. Caller.
    """
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic

    read = {_resolved(path) for path in reads if path is not None}
    written: dict[Path, str] = {}
    for option, path in writes.items():
        if path is None or _is_device(path):
            continue
        place = _resolved(path)
        try:
            folder, beside = place.is_dir(), place.parent.is_dir()
        except OSError as error:  # a name that is too long
            raise UsageError(f"{option}: {path} cannot be written: {error.strerror or error}") from None
        if folder:
            raise UsageError(f"{option}: {path} is a folder; name a file")
        if not beside:
            raise UsageError(f"{option}: {path} cannot be written: there is no folder {path.parent}")
        if place in read:
            raise UsageError(f"{option}: {path} is what is read here; name another file")
        if place in written:
            raise UsageError(f"{written[place]} and {option} name the same file, {path}")
        written[place] = option


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # links that lead to each other
        return path


def _is_device(path: Path) -> bool:
    """Whether a path is there and neither file nor folder: what goes to /dev/null may go there twice."""
    try:
        return path.exists() and not path.is_file() and not path.is_dir()
    except OSError:  # a name that is too long
        return False
