"""The journal of an evaluation: a line a case, written when the case is done, so that nothing is done twice.

Before: `runner.py`. After: the same command again, or `Run.read`.

    {"journal": 1, "header": …}     what is measured with what
    {"number": 7, …}                one case, with its report; in the order in which cases were done
    {"done": 200}                   only once all are
"""

from __future__ import annotations

import json
import tempfile
import threading
import weakref
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import ValidationError

from streamverify.errors import InputFileError, UsageError
from streamverify.evaluate.file_lock import lock
from streamverify.evaluate.records import FORMAT, CaseRecord, Header
from streamverify.evaluate.result import CaseResult, Shelf
from streamverify.types import Report

JOURNAL, DONE = b'{"journal"', b'{"done"'
"""How a journal begins, and its last line."""


class Journal:
    """Results by case number, on disk; only figures stay in memory."""

    def __init__(self, path: Path | None, header: Header, recordings: str = "") -> None:
        """Begin a journal, or go on with the one at `path`.

        Args:
            path: None for a temporary file that goes with the journal.
            header: of this evaluation.
            recordings: digest of the recorded streams among the cases.

        Raises:
            InputFileError: the file is no journal, or a damaged one. Caller.
            UsageError: it is of another evaluation, is being written by one, or cannot be written. Caller.
        """
        self.header, self.path = header, path
        self.results: dict[int, CaseResult] = {}
        self._lock, self._shelf = threading.Lock(), Shelf()
        first = {"journal": FORMAT, "header": header.model_dump(mode="json"), "recordings": recordings}
        try:
            self._file = _opened(path)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error
        weakref.finalize(self, self._file.close)
        try:
            if path is not None:
                lock(self._file, path)
            if not self._resume(first):
                self._line(first)
        except OSError as error:  # reads like a file and is none, such as a process's memory
            self.close()
            raise UsageError(f"{path} cannot be used: {error.strerror or error}") from error
        except BaseException:
            self.close()  # gives the lock back
            raise

    def _resume(self, first: dict[str, Any]) -> bool:
        """Take over what the file holds; whether it held a journal."""
        if self.path is None:
            return False
        whole_lines = 0
        known: dict[str, Any] | None = None
        for number, offset, line in _whole_lines(self._file, self.path):
            if known is None:
                known = _start(line, self.path)
                _refuse_other(known, first, self.path)
            elif not line.startswith(DONE):
                result = self._taken(line, offset, number)
                self.results[result.number] = result
            else:
                break  # written again, at the same place, when this run is done
            whole_lines = offset + len(line)
        if known is None and self._file.seek(0, 2):
            _refuse_foreign(self._file, self.path)
        # What a crash left of a last line is no result.
        self._file.seek(whole_lines)
        self._file.truncate()
        return known is not None

    def _taken(self, line: bytes, offset: int, number: int) -> CaseResult:
        assert self.path is not None
        try:
            result = CaseResult.of(_record(line, self.header), self._loader(offset, len(line)))
            return self._shelf.put(result)
        except ValueError as error:
            raise InputFileError(
                self.path, f"not a result of an evaluation: {_short(error)}", line=number
            ) from None

    def append(
        self,
        result: CaseResult,
        report: Report | None,
        *,
        question: str | None = None,
        recorded: bool,
        check_ms: float | None,
    ) -> None:
        """Write a result and its report, and hand them over to the operating system."""
        self.put(record_of(result, report, question=question, recorded=recorded, check_ms=check_ms))

    def put(self, record: CaseRecord) -> None:
        """Write what `record_of` made, here or on another machine."""
        line = record.model_dump_json(exclude_defaults=True).encode() + b"\n"
        result = CaseResult.of(record)
        with self._lock:
            offset = self._write(line)
            # On the shelf while locked: it is not made for several threads.
            self.results[result.number] = self._shelf.put(
                replace(result, load=self._loader(offset, len(line)))
            )

    def finish(self) -> tuple[CaseResult, ...]:
        """Write that all cases are done; their results, in the dataset's order."""
        self._line({"done": len(self.results)})
        if self.path is not None:
            self._file.close()
        return tuple(self.results[number] for number in sorted(self.results))

    def close(self) -> None:
        """Close the file; what was written stays, and can be gone on with."""
        with suppress(OSError):  # what could not be written was told when it was tried
            self._file.close()

    def _line(self, value: dict[str, Any]) -> None:
        with self._lock:
            self._write(json.dumps(value, allow_nan=False).encode() + b"\n")

    def _write(self, line: bytes) -> int:
        """Append a line; where it begins."""
        try:
            offset = self._file.seek(0, 2)
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            where = self.path if self.path is not None else "the temporary file of the results"
            raise UsageError(
                f"{where} cannot be written: {error.strerror or error}; what is whole in it stays"
            ) from error
        return offset

    def _loader(self, offset: int, length: int) -> Callable[[], CaseRecord]:
        if self.path is not None:
            return partial(_read, self.path, offset, length)
        return partial(self._held, offset, length)  # holds the journal, and with it the temporary file

    def _held(self, offset: int, length: int) -> CaseRecord:
        with self._lock:
            self._file.seek(offset)
            return CaseRecord.model_validate_json(self._file.read(length))


def record_of(
    result: CaseResult,
    report: Report | None,
    *,
    question: str | None,
    recorded: bool,
    check_ms: float | None,
) -> CaseRecord:
    """A line of a journal: what was measured, and beside it what was checked."""
    result = replace(result, error=_escaped(result.error))
    question = _escaped(question) if question is not None else None
    return result.record(question=question, report=report, recorded=recorded, check_ms=check_ms)


def _record(line: bytes, header: Header) -> CaseRecord:
    """A case's line.

    Raises:
        ValueError: it is none, or holds what the header's metrics cannot have measured.
    """
    record = CaseRecord.model_validate_json(line)
    if problem := header.impossible(record):
        raise ValueError(problem)
    return record


def read_journal(path: Path) -> tuple[Header, tuple[CaseResult, ...]]:
    """What a finished journal holds.

    Raises:
        InputFileError: it is none, not finished, or has lost cases. Caller.
    """
    results: dict[int, CaseResult] = {}
    shelf = Shelf()
    header: Header | None = None
    done: bytes | None = None
    try:
        with path.open("rb") as file:
            for number, offset, line in _whole_lines(file, path):
                if header is None:
                    header = Header.model_validate(_start(line, path)["header"])
                elif done is not None:
                    raise InputFileError(
                        path, "stands behind the line that says all cases are done", line=number
                    )
                elif line.startswith(DONE):
                    done = line
                else:
                    load = partial(_read, path, offset, len(line))
                    try:
                        result = shelf.put(CaseResult.of(_record(line, header), load))
                    except ValueError as error:
                        raise InputFileError(path, f"not a result: {_short(error)}", line=number) from None
                    results[result.number] = result
    except OSError as error:
        raise InputFileError(path, f"cannot be read: {error.strerror or error}") from None
    except ValidationError as error:
        raise InputFileError(path, f"not a journal: {_short(error)}", line=1) from None
    if header is None or done is None:
        found = len(results)
        raise InputFileError(
            path, f"the evaluation was not finished ({found} cases done); run it again to go on"
        )
    _refuse_incomplete(path, header, results, done)
    return header, tuple(results[number] for number in sorted(results))


def _refuse_incomplete(path: Path, header: Header, numbers: Collection[int], done: bytes) -> None:
    problem = header.incomplete(numbers)
    if not problem and _count(done) != len(numbers):
        problem = f"its last line does not say that {len(numbers)} cases are done"
    if problem:
        raise InputFileError(path, f"lines were changed or lost: {problem}; run it again to fill it up")


def _count(line: bytes) -> object:
    """How many cases the last line says are done; None where it says nothing."""
    try:
        return json.loads(line)["done"]
    except (ValueError, RecursionError):
        return None


def _escaped(text: str) -> str:
    """The text with halves of surrogate pairs spelled out: no file can hold them."""
    return text.encode("utf-8", "backslashreplace").decode()


def _opened(path: Path | None) -> BinaryIO:
    if path is None:
        return tempfile.TemporaryFile()
    path.touch()
    if not path.is_file():  # a device may be read without end, and nothing can be gone on with
        raise UsageError(f"{path} is no file: a journal must be one, since it is read again")
    return path.open("r+b")


def _whole_lines(file: BinaryIO, path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Number, offset and bytes of each line that ends."""
    file.seek(0)
    offset = 0
    for number, line in enumerate(iter(file.readline, b""), 1):
        if not line.endswith(b"\n"):
            return
        if not line.strip():
            raise InputFileError(path, "an empty line does not belong in a journal", line=number)
        yield number, offset, line
        offset += len(line)


def _start(line: bytes, path: Path) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):  # the second of what is nested too deeply
        value = None
    if not isinstance(value, dict) or "journal" not in value or not isinstance(value.get("header"), dict):
        raise InputFileError(path, "exists and is no journal of an evaluation; choose another file", line=1)
    if value["journal"] != FORMAT:
        problem = f"its format is {value['journal']}, this library reads {FORMAT}"
        raise InputFileError(path, problem, line=1)
    return value


def _refuse_foreign(file: BinaryIO, path: Path) -> None:
    """Overwrite nothing that could be somebody's: only the torn first line of a journal."""
    file.seek(0)
    if not JOURNAL.startswith(file.read(len(JOURNAL))):
        raise InputFileError(path, "exists and is no journal of an evaluation; choose another file")


def _refuse_other(known: dict[str, Any], wanted: dict[str, Any], path: Path) -> None:
    old = {"recordings": known.get("recordings"), **known["header"]}
    new = {"recordings": wanted["recordings"], **wanted["header"]}
    differing = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    if differing:
        raise UsageError(
            f"{path} is the journal of another evaluation: {', '.join(differing)} differ; "
            "choose another file, or delete this one"
        )


def _read(path: Path, offset: int, length: int) -> CaseRecord:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return CaseRecord.model_validate_json(file.read(length))
    except (OSError, ValidationError) as error:
        raise InputFileError(path, f"the journal changed since it was read: {_short(error)}") from None


def _short(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return str(error)
