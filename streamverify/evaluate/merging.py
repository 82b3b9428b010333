"""Labels by hand become labels of the dataset: of several people, what most of them say.

Before: `labels.py` wrote a line for every decision. After: `fitting.py` and `agreement.py` read the cases.

A sentence on which no label has most votes gets none: it is told, and somebody decides. Nothing is averaged.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from streamverify.errors import InputFileError, UsageError
from streamverify.evaluate.agreement import Agreement, between_hands
from streamverify.evaluate.case import Case, LabelledSentence
from streamverify.evaluate.dataset import Dataset, read_dataset
from streamverify.evaluate.dividing import moved
from streamverify.evaluate.labels import Labelled, cut_off, label_of, tasks
from streamverify.evaluate.rows import MAX_LINE, read_cases
from streamverify.files.jsonl import json_object, undecodable
from streamverify.files.written import write_whole
from streamverify.types import Label

K = TypeVar("K", str, int)
_FIELDS = {"case", "sentence", "label", "annotator"}


@dataclass(frozen=True, slots=True)
class Conflict:
    """A sentence on which no label has most votes."""

    case: str
    sentence: int
    """From 0."""
    text: str
    given: Mapping[str, str]
    """Annotator to label."""

    def __str__(self) -> str:
        """On one line, sentences counted from 1."""
        said = ", ".join(f"{name} {label}" for name, label in sorted(self.given.items()))
        return f"case {self.case!r}, sentence {self.sentence + 1}: {said}: left without a label"


@dataclass(frozen=True, slots=True)
class Merged:
    """The labels of several people as one."""

    labels: Mapping[str, tuple[LabelledSentence, ...]]
    """Case to its labelled sentences, in the answer's order."""
    annotators: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    outvoted: int
    """Sentences that have a label against somebody's vote."""
    unlabelled: int
    """Sentences of the labelled answers that nobody labelled."""
    agreement: Agreement | None
    """None of one annotator."""

    @property
    def sentences(self) -> int:
        """With a label."""
        return sum(len(found) for found in self.labels.values())


def holds_labels(path: Path | str) -> bool:
    """Whether a file holds labels by hand, a line a decision, and not cases; by its first line.

    Raises:
        InputFileError: it cannot be read, or its first line is no JSON object. Caller.
    """
    for number, line, _ in _lines(Path(path)):
        return json_object(line, path, number).keys() >= _FIELDS
    return False


def read_labels(paths: Sequence[Path | str]) -> tuple[Labelled, ...]:
    """What stands of the labels of some files: the last decision of each annotator about each sentence.

    Raises:
        InputFileError: a line is no label. Caller.
        UsageError: an annotator says something else about a sentence in another file. Caller.
    """
    held: dict[tuple[str, str, int], tuple[Labelled, Path]] = {}
    for path in map(Path, paths):
        own: dict[tuple[str, str, int], Labelled] = {}
        for number, line, torn in _lines(path):
            if torn and cut_off(line.encode(), first=number == 1):
                continue
            one = label_of(line, path, number)
            own[one.annotator, one.case, one.sentence] = one
        for place, one in own.items():
            if one.label is None:
                continue
            known, where = held.setdefault(place, (one, path))
            if (known.label, known.text) != (one.label, one.text):
                raise UsageError(
                    f"{one.annotator} labels sentence {one.sentence + 1} of case {one.case!r} differently in "
                    f"{where} and {path}: keep one of them"
                )
    return tuple(one for _, (one, _) in sorted(held.items()))


def _lines(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Number and text of each line that is not blank, and whether its end is missing."""
    try:
        with path.open("rb") as file:
            number = 0
            while data := file.readline(MAX_LINE + 1):
                number += 1
                if len(data) > MAX_LINE:
                    raise InputFileError(path, f"the line is longer than {MAX_LINE >> 20} MiB", line=number)
                torn = not data.endswith(b"\n")
                try:
                    line = data.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    if torn:
                        return  # cut within a character
                    problem = undecodable(error, f"byte {error.start} of the line")
                    raise InputFileError(path, problem, line=number) from None
                if line.strip():
                    yield number, line, torn
    except OSError as error:
        raise InputFileError(path, f"cannot be read: {error.strerror or error}") from None


def merge(cases: Iterable[Case], labels: Sequence[Labelled]) -> Merged:
    """What most of the annotators say about each sentence.

    Args:
        cases: whose answers were labelled.
        labels: of `read_labels`.

    Raises:
        UsageError: there is no label, or one is of an answer that is not, or not so, among the cases. Caller.
    """
    if not labels:
        raise UsageError("there is no label to merge")
    cut = {task.case.id: task.sentences for task in tasks(list(cases))}
    found: dict[str, tuple[LabelledSentence, ...]] = {}
    conflicts: list[Conflict] = []
    outvoted = unlabelled = 0
    for case, of_case in _grouped(labels, lambda one: one.case):
        if case not in cut:
            raise UsageError(f"labels name case {case!r}, of which the dataset has no answer")
        texts = {sentence.index: sentence.text for sentence in cut[case]}
        decided: list[LabelledSentence] = []
        seen = 0
        for place, votes in _grouped(of_case, lambda one: one.sentence):
            if any(texts.get(place) != vote.text for vote in votes):
                raise UsageError(f"sentence {place + 1} of case {case!r} reads otherwise in the dataset")
            seen += 1
            winner = _winner(votes)
            if winner is None:
                given = {vote.annotator: str(vote.label) for vote in votes}
                conflicts.append(Conflict(case, place, texts[place].strip(), given))
                continue
            outvoted += any(vote.label != winner for vote in votes)
            evidence = _evidence([vote for vote in votes if vote.label == winner])
            decided.append(LabelledSentence(texts[place].strip(), Label(winner), evidence))
        unlabelled += len(texts) - seen
        if decided:
            found[case] = tuple(decided)
    names = tuple(sorted({one.annotator for one in labels}))
    agreed = between_hands(_hands(labels, names)) if len(names) > 1 else None
    return Merged(found, names, tuple(conflicts), outvoted, unlabelled, agreed)


def _grouped(labels: Iterable[Labelled], key: Callable[[Labelled], K]) -> Iterator[tuple[K, list[Labelled]]]:
    for name, group in groupby(sorted(labels, key=key), key=key):
        yield name, list(group)


def _winner(votes: Sequence[Labelled]) -> str | None:
    ranked = Counter(str(vote.label) for vote in votes).most_common(2)
    tied = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
    return None if tied else ranked[0][0]


def _evidence(votes: Sequence[Labelled]) -> tuple[str, ...]:
    """Passages that at least half of those who decided so have ticked."""
    ticked = Counter(one for vote in votes for one in dict.fromkeys(vote.evidence))
    return tuple(one for one, count in ticked.items() if 2 * count >= len(votes))


def _hands(labels: Sequence[Labelled], names: Sequence[str]) -> list[dict[str, dict[tuple[str, int], str]]]:
    told: dict[str, dict[str, dict[tuple[str, int], str]]] = {name: {} for name in names}
    for one in labels:
        told[one.annotator].setdefault(one.case, {})[one.text, one.sentence] = str(one.label)
    return [told[name] for name in names]


def agreement_of(labels: Sequence[Labelled]) -> Agreement:
    """How far the annotators of some labels agree.

    Raises:
        UsageError: there are fewer than two of them. Caller.
    """
    return between_hands(_hands(labels, sorted({one.annotator for one in labels})))


def labelled_dataset(
    path: Path | str, labels: Sequence[Path | str], *, warn: Callable[[str], None] | None = None
) -> Dataset:
    """A dataset with the labels of some files in place of its own.

    Args:
        path: the dataset.
        labels: files of `streamverify dataset label`.
        warn: told about unknown fields, and every sentence on which the annotators are divided.

    Raises:
        InputFileError: a file is something else. Caller.
        UsageError: as `merge`. Caller.
    """
    base = read_dataset(path, warn=warn)
    merged = merge(base, read_labels(labels))
    for conflict in merged.conflicts if warn is not None else ():
        assert warn is not None
        warn(str(conflict))
    held = merged.labels
    return Dataset(lambda: (replace(case, labels=held.get(case.id, ())) for case in base), name=str(path))


def write_golden(path: Path, merged: Merged, out: Path, *, replacing: bool = False) -> int:
    """Write the dataset's rows with their labels, the others as they stand; returns how many have some.

    Args:
        path: the dataset.
        merged: see `merge`.
        out: JSON Lines.
        replacing: whether labels that a row has already may go.

    Raises:
        InputFileError: a row is not a case, or has labels already. Caller.
        UsageError: nothing can be written. Caller.
    """
    if os.path.realpath(out) == os.path.realpath(path):
        raise UsageError(f"{out} is the dataset itself; write elsewhere")
    text = path.read_text(encoding="utf-8-sig")
    rows = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    written = []
    for (number, line), case in zip(rows, read_cases(path), strict=True):
        kept = moved(line, path, number, out, case.id)
        if case.id in merged.labels:
            if case.labels and not replacing:
                raise InputFileError(path, "has labels already; --replace drops them", line=number)
            row = {
                k: v for k, v in json_object(kept, path, number).items() if k not in ("labels", "sentences")
            }
            row["labels"] = [_row(one) for one in merged.labels[case.id]]
            kept = json.dumps(row, ensure_ascii=False, allow_nan=False)
        written.append(kept)
    write_whole(out, "".join(f"{line}\n" for line in written))
    return len(merged.labels)


def _row(one: LabelledSentence) -> dict[str, object]:
    row: dict[str, object] = {"text": one.text, "label": str(one.label)}
    return {**row, "evidence": list(one.evidence)} if one.evidence else row
