"""Passages, answers and standard input, read with errors that name file, line and field.

Before: the command line. After: `passages.py` and `stream.py` take what was read.
"""

from __future__ import annotations

import codecs
import errno
import os
import stat
import sys
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import BinaryIO

import anyio
import anyio.lowlevel

from streamverify.errors import InputFileError
from streamverify.files.jsonl import Row, json_array, json_object, undecodable
from streamverify.types import Passage

STDIN = "-"
"""The path that means standard input."""
_STDIN = "<stdin>"

MAX_BYTES = 256 * 2**20
"""Longest passages file, folder of passages or answer that is read."""

_TEXT_SUFFIXES = frozenset({".txt", ".md"})
_BOM = "\ufeff"
_READ_BYTES = 65_536


def read_passages(path: Path) -> tuple[Passage, ...]:
    """The passages of a JSON Lines file, a JSON array, a text file, or a folder of text files, in order.

    A line, or an item of an array, is an object with `id` (string, or an integer, which is read as its
    digits) and `text`, and optionally `title` (string or null) and `metadata` (object or null); other fields
    are ignored. Blank lines are skipped. A file that begins with `[` is an array. A `.txt` or `.md` file is
    one passage whose id is its name. In a folder every such file below it is a passage whose id is its path
    relative to the folder, sorted; names that begin with a dot are skipped.

    Returns:
        At least one passage, no id twice.

    Raises:
        InputFileError: what was found is something else. Caller.
    """
    folder = _is_folder(path)
    if folder:
        passages = tuple(_folder(path))
    elif path.suffix.lower() in _TEXT_SUFFIXES:
        passages = (_text_file(path),)
    else:
        text = _decoded(_bytes(path), path)
        passages = tuple(_array(text, path) if text.lstrip().startswith("[") else _lines(text, path))
    if not passages:
        found = "no .txt or .md file in this folder" if folder else "the file is empty"
        raise InputFileError(path, f"{found}; at least one passage is needed")
    return passages


def read_answer(path: str) -> str:
    """The text of an answer, exactly as stored, from a file or, for `-`, from standard input.

    Raises:
        InputFileError: it cannot be read, is not UTF-8, or holds nothing but blanks. Caller.
    """
    text = _decoded(_bytes(path), _STDIN if path == STDIN else path)
    if not text.strip():
        raise InputFileError(_STDIN if path == STDIN else path, "the answer is empty")
    return text


class Utf8Pieces:
    """Turns bytes that arrive in any cuts into text, and says where they stop being UTF-8.

    What comes out depends on the bytes and never on how they were cut: of an invalid stream, every
    character before the first bad byte comes out before the error does.
    """

    def __init__(self, name: str) -> None:
        """Name the source as errors should name it."""
        self._name = name
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._taken = 0  # bytes given to the decoder, those it still holds included
        self._error: InputFileError | None = None

    def feed(self, data: bytes) -> str:
        """The characters that these bytes complete, up to the first bad byte; then call `check`."""
        return self._decode(data, final=False)

    def flush(self) -> None:
        """End the stream; then call `check`."""
        self._decode(b"", final=True)

    def check(self) -> None:
        """Tell what is wrong with the bytes fed so far.

        Raises:
            InputFileError: there is an invalid byte, or the stream ended within a character. Caller.
        """
        if self._error is not None:
            raise self._error

    def _decode(self, data: bytes, *, final: bool) -> str:
        if self._error is not None:
            return ""
        held = self._decoder.getstate()[0]
        begin = self._taken - len(held)
        self._taken += len(data)
        try:
            return self._decoder.decode(data, final)
        except UnicodeDecodeError as error:
            problem = f"invalid UTF-8 at byte offset {begin + error.start}: {error.reason}"
            self._error = InputFileError(self._name, problem)
            return (held + data)[: error.start].decode("utf-8")


async def stdin_pieces(fd: int = 0) -> AsyncGenerator[str, None]:
    """The text of a file descriptor, each part as soon as it has arrived; a byte order mark is dropped.

    Raises:
        InputFileError: it cannot be read, or is not UTF-8; everything before that was yielded. Caller.
    """
    decoder = Utf8Pieces(_STDIN)
    first = True
    while data := await _read(fd, _STDIN):
        text = decoder.feed(data)
        if first and text:
            text, first = text.removeprefix(_BOM), False
        if text:
            yield text
        decoder.check()
    decoder.flush()
    decoder.check()


async def _read(fd: int, name: str) -> bytes:
    try:
        if sys.platform == "win32":
            return await anyio.to_thread.run_sync(os.read, fd, _READ_BYTES)
        # A thread that blocks in read() could not be stopped; waiting for readiness can. Files and devices
        # such as /dev/null are always ready, and an event loop refuses to watch them.
        mode = os.fstat(fd).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd):
            await anyio.wait_readable(fd)
        else:
            await anyio.lowlevel.checkpoint()
        return os.read(fd, _READ_BYTES)
    except OSError as error:
        raise InputFileError(name, f"cannot be read: {error.strerror or error}") from error


def _text_file(path: Path) -> Passage:
    text = _decoded(_bytes(path), path)
    if not text.strip():
        raise InputFileError(path, "the file is empty")
    return Passage(path.name, text)


def _array(text: str, path: Path) -> Iterator[Passage]:
    seen: set[str] = set()
    for index, item in enumerate(json_array(text, path)):
        row = Row(item, f"{path}[{index}]")
        passage = row.passage()
        if passage.id in seen:
            row.refuse("id", f"{passage.id!r} is the id of an item before it")
        seen.add(passage.id)
        yield passage


def _lines(text: str, path: Path) -> Iterator[Passage]:
    first_seen: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        passage = Row(json_object(line, path, number), path, number).passage()
        if passage.id in first_seen:
            problem = f"{passage.id!r} is already the id of line {first_seen[passage.id]}"
            raise InputFileError(path, problem, line=number, field="id")
        first_seen[passage.id] = number
        yield passage


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # opening it as a file will tell why
        return False


def _folder(folder: Path) -> Iterator[Passage]:
    left = MAX_BYTES
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in inside.parts)
        if hidden or path.suffix.lower() not in _TEXT_SUFFIXES or not path.is_file():
            continue
        data = _bytes(path)
        left -= len(data)
        if left < 0:
            raise InputFileError(folder, f"the files of this folder exceed {MAX_BYTES >> 20} MiB")
        text = _decoded(data, path)
        if not text.strip():
            raise InputFileError(path, "the file is empty")
        identity = inside.as_posix()
        try:
            identity.encode()
        except UnicodeEncodeError:
            raise InputFileError(ascii(str(path)), "the file's name is not valid UTF-8") from None
        yield Passage(identity, text)


def _bytes(path: Path | str) -> bytes:
    name = _STDIN if path == STDIN else path
    try:
        if path == STDIN:
            data = _stdin().read(MAX_BYTES + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputFileError(name, "there is no such file or folder") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputFileError(name, f"cannot be read: {reason}") from error
    if len(data) > MAX_BYTES:
        raise InputFileError(name, f"is larger than {MAX_BYTES >> 20} MiB")
    return data


def _stdin() -> BinaryIO:
    if sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed")
    return sys.stdin.buffer


def _decoded(data: bytes, name: Path | str) -> str:
    try:
        return data.decode("utf-8").removeprefix(_BOM)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = undecodable(error, f"byte offset {error.start}")
        raise InputFileError(name, problem, line=line) from None
