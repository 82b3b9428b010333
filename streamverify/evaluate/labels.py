"""Labels by hand: a line for every decision, on disk before the next one is made.

Before: `server/labelling.py` takes what a person decided. After: agreement between annotators, calibration.

    {"case": "q17", "sentence": 2, "text": "…", "label": "supported", "evidence": ["p1"], "note": "",
     "annotator": "ann"}

The last line about a sentence counts; a label of null takes the one before back.
"""

from __future__ import annotations

import codecs
import json
import os
import stat
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from streamverify.errors import InputFileError, UsageError
from streamverify.evaluate.case import Case
from streamverify.evaluate.records import Record
from streamverify.files.jsonl import undecodable
from streamverify.sentences.segmenter import SentenceSegmenter
from streamverify.types import Sentence

HandLabel = Literal["supported", "contradicted", "unsupported", "no_claim"]


class Labelled(Record):
    """What one person decided about one sentence."""

    case: str
    sentence: int = Field(ge=0)
    """Its place in the answer, from 0."""
    text: str
    label: HandLabel | None
    """None takes back what stood before."""
    evidence: tuple[str, ...] = ()
    """Ids of the passages that decided."""
    note: str = Field(default="", max_length=10_000)
    annotator: str = Field(min_length=1, max_length=200)


@dataclass(frozen=True, slots=True)
class Task:
    """An answer to be labelled, cut as the live half cuts it."""

    case: Case
    sentences: tuple[Sentence, ...]


def tasks(cases: Sequence[Case]) -> tuple[Task, ...]:
    """The cases that have an answer.

    Raises:
        UsageError: none has, or one cannot be written as text. Caller.
    """
    found = tuple(Task(case, _cut(case.answer)) for case in cases if case.answer and case.answer.strip())
    if not found:
        raise UsageError("no case has an answer to label")
    for task in found:
        held = [task.case.id, task.case.question or "", task.case.answer or ""]
        held += [part or "" for p in task.case.passages or () for part in (p.id, p.title, p.text)]
        if any("\ud800" <= sign <= "\udfff" for text in held for sign in text):
            raise UsageError(f"case {task.case.id!r} holds half a surrogate pair, which no file can hold")
    return found


def _cut(answer: str) -> tuple[Sentence, ...]:
    segmenter = SentenceSegmenter()
    cut = [*segmenter.feed(answer), *segmenter.flush()]
    return tuple(sentence for sentence in cut if sentence.text.strip())


def label_of(line: str | bytes, path: Path, number: int) -> Labelled:
    """The label on a line.

    Raises:
        InputFileError: it holds something else. Caller.
    """
    try:
        return Labelled.model_validate_json(line if isinstance(line, str) else line.decode())
    except UnicodeDecodeError as error:
        problem = undecodable(error, f"byte {error.start} of the line")
        raise InputFileError(path, problem, line=number) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        problem = "is missing" if first["type"] == "missing" else first["msg"]
        raise InputFileError(path, f"not a label: {problem}", line=number, field=place or None) from None


_BEGINNING = f'{{"{next(iter(Labelled.model_fields))}":'.encode()


def cut_off(line: bytes, *, first: bool) -> bool:
    """Whether a last line without its end is what a crash left of a label.

    After labels that may be anything but JSON. A file that begins with something else is somebody's who named
    it by mistake.
    """
    if not line:
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return not first or line.startswith(_BEGINNING) or _BEGINNING.startswith(line)
    return False


class LabelFile:
    """The labels of one annotator, in a file that several may share."""

    def __init__(self, path: Path, annotator: str, work: Sequence[Task]) -> None:
        """Begin a file, or go on with it.

        Args:
            path: JSON Lines.
            annotator: whose labels are read and written; those of others stay as they are.
            work: what is labelled.

        Raises:
            InputFileError: the file holds something else, or labels of other answers. Caller.
            UsageError: it cannot be written. Caller.
        """
        self._annotator, self._lock = annotator, threading.Lock()
        self._texts = {(t.case.id, s.index): s.text for t in work for s in t.sentences}
        self.labels: dict[tuple[str, int], Labelled] = {}
        try:
            # Unbuffered and appending: a line is one write, and two people may share the file.
            self._file = path.open("a+b", buffering=0)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error
        try:
            self._resume(path)
        except BaseException:
            self._file.close()
            raise

    def _resume(self, path: Path) -> None:
        self._file.seek(0)
        if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
            raise UsageError(f"{path} is no file that could keep labels")
        data = self._file.read()
        *whole, torn = data.removeprefix(codecs.BOM_UTF8).split(b"\n")
        crashed = cut_off(torn, first=not whole)
        for number, line in enumerate(whole if crashed or not torn else [*whole, torn], 1):
            one = label_of(line, path, number)
            try:
                self._take(one)
            except ValueError as error:
                raise InputFileError(path, str(error), line=number) from None
        if crashed:
            self._file.truncate(len(data) - len(torn))
        elif torn:  # a label whose end an editor left out
            self._file.write(b"\n")

    def _take(self, one: Labelled) -> None:
        place = one.case, one.sentence
        if one.annotator != self._annotator:
            return
        if place in self._texts and self._texts[place] != one.text:
            raise ValueError(f"sentence {one.sentence} of case {one.case!r} reads otherwise in the dataset")
        if one.label is None:
            self.labels.pop(place, None)
        else:
            self.labels[place] = one

    def put(
        self, case: str, sentence: int, label: HandLabel | None, evidence: Sequence[str] = (), note: str = ""
    ) -> None:
        """Write a decision; it is on disk when this returns.

        Raises:
            UsageError: there is no such sentence. Caller.
        """
        text = self._texts.get((case, sentence))
        if text is None:
            raise UsageError(f"there is no sentence {sentence} of case {case!r}")
        one = Labelled(
            case=case,
            sentence=sentence,
            text=text,
            label=label,
            evidence=tuple(evidence),
            note=note,
            annotator=self._annotator,
        )
        line = one.model_dump_json().encode() + b"\n"
        with self._lock:
            self._file.write(line)
            os.fsync(self._file.fileno())
            self._take(one)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
