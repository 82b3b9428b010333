"""One line of a dataset becomes a case, or an error that names file, line and field.

Before: a line. After: `dataset.py` gives the case to whoever goes through the dataset.
"""

from __future__ import annotations

import difflib
import json
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from streamverify.errors import InputFileError, PassageError
from streamverify.evaluate.case import (
    GRADES,
    LATENCIES,
    SHARES,
    Case,
    LabelledCitation,
    LabelledSentence,
    Recording,
)
from streamverify.evaluate.matching import at_odds
from streamverify.evaluate.recordings import recording_of
from streamverify.files.jsonl import Row, json_object, undecodable
from streamverify.passages import passages_from
from streamverify.types import CitationFinding, Label, Passage

T = TypeVar("T")

MAX_LINE = 64 * 2**20
"""Longest row that is read, in bytes."""

KNOWN = (
    "id question query answer passages passages_file retrieved scores relevant reference reference_answer "
    "expected labels sentences judgments latency_ms category difficulty domain metadata events conflicts "
    "ground_truth"
).split()

KNOWN_TRUTH, KNOWN_CLAIM = ("answer", "relevant_docs", "citations"), ("claim", "source")
"""What `ground_truth` may hold, and each of its `citations`."""

_BOM = "\ufeff"


def read_cases(path: Path, *, warn: Callable[[str], None] | None = None) -> Iterator[Case]:
    """The cases of a file, one after the other.

    Args:
        path: JSON Lines; blank lines are skipped.
        warn: told once about each unknown field.

    Raises:
        InputFileError: a row is not a case. Caller.
    """
    told: set[str] = set()
    first_seen: dict[str, int] = {}
    shared: dict[str, tuple[Passage, ...]] = {}
    for number, line in _lines(path):
        row = Row(json_object(line, path, number), path, number)
        for name, meant in _unknown(row.value):
            if name not in told:
                told.add(name)
                if warn is not None:
                    warn(f"{path}:{number}: unknown field {name!r}{meant}; it is ignored")
        case = _case(row, shared)
        if case.id in first_seen:
            row.refuse("id", f"{case.id!r} is already the id of line {first_seen[case.id]}")
        first_seen[case.id] = number
        yield case


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # a second reading would find it empty
                raise InputFileError(path, "is no file; it is read more than once: write it to a file first")
            number = 0
            while data := file.readline(MAX_LINE + 1):
                number += 1
                if len(data) > MAX_LINE:
                    raise InputFileError(path, f"the line is longer than {MAX_LINE >> 20} MiB", line=number)
                try:
                    text = data.decode("utf-8")
                except UnicodeDecodeError as error:
                    problem = undecodable(error, f"byte {error.start} of the line")
                    raise InputFileError(path, problem, line=number) from None
                text = text.removeprefix(_BOM) if number == 1 else text
                if text.strip():
                    yield number, text
    except FileNotFoundError:
        raise InputFileError(path, "there is no such file") from None
    except OSError as error:
        raise InputFileError(path, f"cannot be read: {error.strerror or error}") from error


def _unknown(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Fields that nobody reads, as a path, and which was meant."""
    yield from _beside(row, KNOWN, "")
    if isinstance(truth := row.get("ground_truth"), dict):
        yield from _beside(truth, KNOWN_TRUTH, "ground_truth.")
        claims = truth.get("citations")
        for claim in claims if isinstance(claims, list) else ():
            if isinstance(claim, dict):
                yield from _beside(claim, KNOWN_CLAIM, "ground_truth.citations[].")


def _beside(found: Mapping[str, Any], known: Sequence[str], within: str) -> Iterator[tuple[str, str]]:
    for name in found:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            yield f"{within}{name}", f" (did you mean {within + near[0]!r}?)" if near else ""


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of one row; each reader gives None where the field is not there or null."""

    row: Row

    def found(self, *names: str) -> tuple[str, Any]:
        """The first of several names that the row has, and its value."""
        present = [name for name in names if self.row.value.get(name) is not None]
        if len(present) > 1 and self.row.value[present[0]] != self.row.value[present[1]]:
            self.row.refuse(present[1], f"says something else than {present[0]!r}; keep one of them")
        return (present[0], self.row.value[present[0]]) if present else (names[0], None)

    def text(self, *names: str) -> str | None:
        name, value = self.found(*names)
        return None if value is None else self.row.string(name, value)

    def ids(self, name: str) -> tuple[str, ...] | None:
        name, value = self.found(name)
        return None if value is None else self.row.identities(name, value)


def _case(row: Row, shared: dict[str, tuple[Passage, ...]]) -> Case:
    fields = _Fields(row)
    truth = row.inner("ground_truth", row.value.get("ground_truth") or {})
    under = _Fields(truth)
    reference = _either(
        row, fields.text("reference", "reference_answer"), "ground_truth.answer", under.text("answer")
    )
    relevant = _either(
        row, _relevant(row, "relevant"), "ground_truth.relevant_docs", _relevant(truth, "relevant_docs")
    )
    expected = fields.text("expected")
    passages = _passages(row, shared)
    _, events = fields.found("events")
    recording = _recording(row, events, passages) if events is not None else None
    answer = fields.text("answer")
    if recording is not None:
        if answer is not None and answer != recording.report.answer:
            row.refuse("answer", "differs from the answer in 'events'; keep one of them")
        answer = recording.report.answer
    known = passages if passages is not None else recording.passages if recording is not None else None
    ids = None if known is None else tuple(one.id for one in known)
    identity = row.value.get("id")
    retrieved = fields.ids("retrieved")
    return Case(
        id=str(row.number) if identity is None else row.identity("id", identity),
        question=fields.text("question", "query"),
        answer=answer,
        passages=passages,
        retrieved=retrieved,
        scores=_scores(row, retrieved),
        relevant=relevant,
        reference=reference,
        claims=_claims(truth),
        conflicts=_conflicts(row, ids),
        expected=None
        if expected is None
        else cast("Any", row.one_of("expected", expected, ("answer", "refuse"))),
        labels=_labels(fields, answer, ids),
        judgments=_judgments(row),
        latency_ms=_latency(row),
        category=fields.text("category"),
        difficulty=fields.text("difficulty"),
        domain=fields.text("domain"),
        metadata=row.mapping("metadata", row.value.get("metadata")),
        recording=recording,
    )


def _either(row: Row, outer: T | None, name: str, inner: T | None) -> T | None:
    """What a field says, or what `ground_truth` does; two that differ are refused."""
    if outer is None or inner is None:
        return inner if outer is None else outer
    if outer != inner:
        field = "reference" if name.endswith("answer") else "relevant"
        row.refuse(name, f"says something else than {field!r}; keep one of them")
    return outer


def _passages(row: Row, shared: dict[str, tuple[Passage, ...]]) -> tuple[Passage, ...] | None:
    given, name = row.value.get("passages"), row.value.get("passages_file")
    if given is not None and name is not None:
        row.refuse("passages_file", "stands beside 'passages'; keep one of them")
    if name is not None:
        file = Path(row.path).parent / row.filled("passages_file", name)
        if str(file) not in shared:
            try:
                rows = [Row(json_object(line, file, number), file, number) for number, line in _lines(file)]
                held = [one.passage() for one in rows]
            except InputFileError as error:
                row.refuse("passages_file", str(error))
            shared[str(file)] = _distinct(row, "passages_file", held)
        return shared[str(file)]
    if given is None:
        return None
    read = [
        Passage(f"p{place + 1}", row.filled(f"passages[{place}]", one))
        if isinstance(one, str)
        else row.inner(f"passages[{place}]", one).passage()
        for place, one in enumerate(row.array("passages", given))
    ]
    return _distinct(row, "passages", read)


def _distinct(row: Row, field: str, passages: Sequence[Passage]) -> tuple[Passage, ...]:
    try:
        return passages_from(passages)
    except PassageError as error:
        row.refuse(field, str(error))


def _relevant(row: Row, name: str) -> Mapping[str, float] | None:
    value = row.value.get(name)
    if value is None:
        return None
    if isinstance(value, dict):
        gains = {row.filled(name, one): row.number_in(f"{name}.{one}", gain) for one, gain in value.items()}
        for one, gain in gains.items():
            if gain < 0:
                row.refuse(f"{name}.{one}", "a gain must be 0 or more")
        return gains
    return dict.fromkeys(row.identities(name, value), 1.0)


def _scores(row: Row, retrieved: tuple[str, ...] | None) -> tuple[float, ...] | None:
    value = row.value.get("scores")
    if value is None:
        return None
    scores = tuple(row.number_in("scores", one) for one in row.array("scores", value))
    if retrieved is None or len(retrieved) != len(scores):
        row.refuse("scores", "must have one number for each id in 'retrieved'")
    return scores


def _claims(truth: Row) -> tuple[tuple[str, str], ...]:
    rows = [
        truth.inner(f"citations[{place}]", one)
        for place, one in enumerate(truth.array("citations", truth.value.get("citations") or []))
    ]
    return tuple(
        (one.filled("claim", one.value.get("claim")), one.identity("source", one.value.get("source")))
        for one in rows
    )


def _among(row: Row, field: str, one: str, ids: Collection[str] | None) -> None:
    """Refuse what names a passage that the case does not have; nothing is known where it tells none."""
    if ids is not None and one not in ids:
        row.refuse(field, f"names {one!r}, which is none of the case's passages ({', '.join(ids) or 'none'})")


def _conflicts(row: Row, known: Collection[str] | None) -> tuple[tuple[str, str], ...] | None:
    value = row.value.get("conflicts")
    if value is None:
        return None
    pairs = []
    for one in row.array("conflicts", value):
        ids = row.identities("conflicts", one)
        if len(ids) != 2:
            row.refuse("conflicts", "must be an array of pairs of ids")
        if ids[0] == ids[1]:
            row.refuse("conflicts", f"says that {ids[0]!r} contradicts itself: name two passages")
        for id_ in ids:
            _among(row, "conflicts", id_, known)
        pairs.append((ids[0], ids[1]))
    return tuple(pairs)


def _labels(fields: _Fields, answer: str | None, ids: Collection[str] | None) -> tuple[LabelledSentence, ...]:
    name, value = fields.found("labels", "sentences")
    if value is None:
        return ()
    rows = [fields.row.inner(f"{name}[{n}]", one) for n, one in enumerate(fields.row.array(name, value))]
    labels = tuple(_label(row, ids) for row in rows)
    if (found := at_odds(labels, answer)) is not None:
        one, other = found
        rows[other].refuse(
            "label",
            f"is {labels[other].label}, and {name}[{one}] says {labels[one].label} of the same sentence "
            f"{labels[one].text!r}; keep one of them",
        )
    return labels


def _label(row: Row, ids: Collection[str] | None) -> LabelledSentence:
    evidence = row.identities("evidence", row.value.get("evidence") or [])
    for one in evidence:
        _among(row, "evidence", one, ids)
    needs = row.number_in("needs", row.value.get("needs", 1))
    return LabelledSentence(
        text=row.filled("text", row.value.get("text")),
        label=Label(row.one_of("label", row.value.get("label"), tuple(Label))),
        evidence=evidence,
        needs=int(needs),
        citations=tuple(
            _citation(row.inner(f"citations[{n}]", one))
            for n, one in enumerate(row.array("citations", row.value.get("citations") or []))
        ),
    )


def _citation(row: Row) -> LabelledCitation:
    finding = row.value.get("finding", row.value.get("verdict"))
    return LabelledCitation(
        marker=row.string("marker", row.value.get("marker", "")),
        cites=row.identities("cites", row.value.get("cites") or []),
        finding=None
        if finding is None
        else CitationFinding(row.one_of("finding", finding, tuple(CitationFinding))),
    )


def _judgments(row: Row) -> Mapping[str, str]:
    given = row.mapping("judgments", row.value.get("judgments"))
    read = {}
    for name, value in given.items():
        row.one_of("judgments", name, (*GRADES, *SHARES))
        if name in SHARES:
            share = row.number_in(f"judgments.{name}", value)
            if not 0 <= share <= 1:
                row.refuse(f"judgments.{name}", "must be a number from 0 to 1")
            read[name] = str(share + 0.0)
            continue
        # A grade may be written as a number.
        grade = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        read[name] = row.one_of(f"judgments.{name}", grade, GRADES[name])
    return read


def _latency(row: Row) -> Mapping[str, float]:
    times = row.mapping("latency_ms", row.value.get("latency_ms"))
    for name in times:
        row.one_of("latency_ms", name, LATENCIES)
    read = {name: row.number_in(f"latency_ms.{name}", value) for name, value in times.items()}
    for name, value in read.items():
        if value < 0:
            row.refuse(f"latency_ms.{name}", "a time must be 0 or more")
    return read


def _recording(row: Row, events: object, passages: tuple[Passage, ...] | None) -> Recording:
    lines = [json.dumps(event) for event in row.array("events", events)]
    try:
        return recording_of(lines, passages)
    except InputFileError as error:
        row.refuse("events", error.problem)
