"""Datasets of other tools as rows of ours.

Before: a file in the form of Ragas, DeepEval or TREC. After: rows that `read_dataset` reads.

What a form does not know stays away: no id, no label and no score is made up. Ragas 0.4 writes JSON Lines and
CSV, DeepEval 4.3 JSON, JSON Lines and CSV. In all but JSON, DeepEval joins passages with `|`; into CSV, Ragas
writes lists as Python does.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from streamverify.errors import InputFileError, UsageError
from streamverify.files.csv_rows import csv_rows
from streamverify.files.jsonl import json_array, json_object, strict_json, undecodable
from streamverify.files.written import write_whole

_JOINED = "|"
_SOURCED = re.compile(r"deepeval_source=(?P<source>.*?),deepeval_context=(?P<text>.*)", re.DOTALL)
_EMPTY: tuple[object, ...] = (None, "", [], {})
MAX_BYTES = 1 << 30
"""Longest file that is converted."""

_RAGAS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "question": ("user_input", "question"),
        "answer": ("response", "answer"),
        "passages": ("retrieved_contexts", "contexts"),
        "reference": ("reference", "ground_truth"),
    }
)
_DEEPEVAL: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "question": ("input",),
        "answer": ("actual_output", "actualOutput"),
        "passages": ("retrieval_context", "retrievalContext"),
        "reference": ("expected_output", "expectedOutput"),
    }
)
"""Our field to the names that it has there, newest first."""


def convert(
    path: Path, form: str, *, qrels: Path | None = None, warn: Callable[[str], None] | None = None
) -> list[dict[str, Any]]:
    """The rows of a file of another tool.

    Args:
        path: JSON Lines, a JSON array or (by its ending) CSV for `ragas` and `deepeval`; a run file for
            `trec`.
        form: `ragas`, `deepeval` or `trec`.
        qrels: relevance judgments beside a TREC run.
        warn: told once of each column that has no place here and is left out, and where the file's form
            cannot say where a passage ends.

    Raises:
        InputFileError: the file is something else; names the line. Caller.
        UsageError: there is no such form, or judgments beside a form that has none. Caller.
    """
    if form not in FORMS:
        raise UsageError(f"there is no form {form!r}; choose {', '.join(FORMS)}")
    if qrels is not None and form != "trec":
        raise UsageError("judgments of relevance go with a TREC run: --from trec")
    if form == "trec":
        rows = _trec(path, qrels)
    else:
        told: list[str] = []
        rows = []
        for number, (place, found) in enumerate(_objects(path, form), 1):
            source = _Source(place, number, found, told)
            rows.append(_FORMS[form](source))
            told += source.left_out()
        for text in dict.fromkeys(told) if warn is not None else ():
            assert warn is not None
            warn(f"{path}: {text}")
    if not rows:
        raise InputFileError(path, "there is no row in it")
    return rows


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)  # a device has no size, and may have no end
        if len(data) > MAX_BYTES:
            raise InputFileError(path, f"is longer than {MAX_BYTES >> 20} MiB")
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise InputFileError(path, undecodable(error, f"byte {error.start}")) from None
    except OSError as error:
        raise InputFileError(path, f"cannot be read: {error.strerror or error}") from None


class _Place(NamedTuple):
    """Where a row stands, for messages: a line of a file, or an element of an array."""

    path: Path | str
    line: int | None


def _objects(path: Path, form: str) -> Iterator[tuple[_Place, Mapping[str, Any]]]:
    text = _text(path)
    if path.suffix.lower() == ".csv":
        for number, row in csv_rows(text, path):
            filled = {name: cell for name, cell in row.items() if cell}
            cells = {n: _listed(c) for n, c in filled.items()} if form == "ragas" else filled
            yield _Place(path, number), cells
    elif text.lstrip().startswith("["):
        for index, found in enumerate(json_array(text, path)):
            yield _Place(f"{path}[{index}]", None), found
    else:
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield _Place(path, number), json_object(line, path, number)


def _listed(cell: str) -> Any:
    """A cell, or the list of texts and numbers that Python wrote into it."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return cell
    try:
        found = ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return cell
    return found if isinstance(found, list) else cell


@dataclass(frozen=True, slots=True)
class _Source:
    """One row of another tool, and how to refuse it."""

    place: _Place
    number: int
    """Of the row, from 1: its id where it has none."""
    row: Mapping[str, Any]
    told: list[str]
    read: set[str] = field(default_factory=set)
    """Columns that found a place."""

    def refuse(self, field: str, problem: str) -> NoReturn:
        raise InputFileError(self.place.path, problem, line=self.place.line, field=field)

    def take(self, name: str) -> Any:
        self.read.add(name)
        return self.row.get(name)

    def left_out(self) -> list[str]:
        """A line for each column that holds something and was not read."""
        left = [name for name, value in self.row.items() if name not in self.read and value not in _EMPTY]
        return [f"column {name!r} has no place in our rows and is left out" for name in left]

    def named(self, ours: str, names: Mapping[str, Sequence[str]]) -> tuple[str, Any]:
        theirs = names[ours]
        found = next((one for one in theirs if self.row.get(one) is not None), theirs[0])
        self.read.update(one for one in theirs if self.row.get(one) == self.row.get(found))
        return found, self.row.get(found)

    def text(self, ours: str, names: Mapping[str, Sequence[str]]) -> str | None:
        field, value = self.named(ours, names)
        if isinstance(value, list):
            self.refuse(field, "is a conversation of several turns; give each turn a row of its own")
        if value is not None and not isinstance(value, str):
            self.refuse(field, "must be a text")
        return value

    def ids(self, field: str) -> list[str] | None:
        value = self.take(field)
        if value is None:
            return None
        plain = isinstance(value, list) and all(
            isinstance(one, str | int) and not isinstance(one, bool) for one in value
        )
        if not plain or not all(str(one).strip() for one in value):
            self.refuse(field, "must be an array of ids")
        return [str(one) for one in value]


def _common(source: _Source, names: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    own = source.take("id")
    row: dict[str, Any] = {"id": str(source.number if own in (None, "") else own)}
    for ours in ("question", "answer", "reference"):
        if (text := source.text(ours, names)) is not None:
            row[ours] = text
    return row


def _known(source: _Source, row: dict[str, Any], names: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    if len(row) == 1:
        known = ", ".join(name for theirs in names.values() for name in theirs)
        raise InputFileError(source.place.path, f"has none of the fields {known}", line=source.place.line)
    return row


def _ragas(source: _Source) -> dict[str, Any]:
    row = _common(source, _RAGAS)
    field, value = source.named("passages", _RAGAS)
    texts, ids = _texts(source, field, value), source.ids("retrieved_context_ids")
    if ids is not None:
        row["retrieved"] = list(dict.fromkeys(ids))
    if texts is not None and ids is not None:
        if len(ids) != len(texts):
            source.refuse("retrieved_context_ids", f"must be as many as {field}")
        held: dict[str, str] = {}
        for id_, text in zip(ids, texts, strict=True):
            # A context that was retrieved twice is one passage.
            if held.setdefault(id_, text) != text:
                source.refuse("retrieved_context_ids", f"{id_!r} is the id of two texts")
        row["passages"] = [{"id": id_, "text": text} for id_, text in held.items() if text.strip()]
    elif texts is not None:
        row["passages"] = [text for text in texts if text.strip()]
    if (relevant := source.ids("reference_context_ids")) is not None:
        row["relevant"] = relevant
    samples = _texts(source, "multi_responses", source.take("multi_responses"))
    if samples is not None:
        row["metadata"] = {"samples": samples}
    truths = source.row.get("ground_truths")  # of versions before 0.1; several are not one reference
    if isinstance(truths, list) and len(truths) == 1 and row.get("reference", truths[0]) == truths[0]:
        row["reference"] = "".join(_texts(source, "ground_truths", source.take("ground_truths")) or ())
    return _known(source, row, _RAGAS)


def _deepeval(source: _Source) -> dict[str, Any]:
    row = _common(source, _DEEPEVAL)
    field, value = source.named("passages", _DEEPEVAL)
    if isinstance(value, str):
        source.told.append(
            "passages stand in one text with | between them, as DeepEval writes and reads this form: "
            "one that holds a | itself is cut there; save_as('json') keeps them apart"
        )
        value = value.split(_JOINED)
    texts = _texts(source, field, value)
    if texts is not None:
        row["passages"] = [_sourced(n, text) for n, text in enumerate(texts, 1) if text.strip()]
    metadata = _about(source)
    for name, kind in (("name", str), ("tags", list)):
        if isinstance(value := source.row.get(name), kind):
            metadata[name] = source.take(name)
    return {**_known(source, row, _DEEPEVAL), **({"metadata": metadata} if metadata else {})}


def _about(source: _Source) -> dict[str, Any]:
    """The metadata of a row, which its CSV holds as a text."""
    value = source.row.get("additional_metadata")
    if isinstance(value, str):
        try:
            value = strict_json(value)
        except (ValueError, RecursionError):
            return {}
    if not isinstance(value, dict):
        return {}
    source.take("additional_metadata")
    return dict(value)


def _sourced(number: int, text: str) -> str | dict[str, str]:
    """A passage; where DeepEval wrote down where it came from, with that as its title."""
    found = _SOURCED.fullmatch(text)
    if found is None or not found["text"].strip():
        return text
    return {"id": f"p{number}", "title": found["source"], "text": found["text"]}


def _texts(source: _Source, field: str, value: object) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        source.refuse(field, "must be an array of texts")
    return value


def _trec(path: Path, qrels: Path | None) -> list[dict[str, Any]]:
    ranked: dict[str, list[tuple[int, str, float]]] = {}
    named: set[tuple[str, str]] = set()
    for number, (query, _, document, rank, score, _tag) in _columns(path, 6):
        found = ranked.setdefault(query, [])
        if (query, document) in named:
            raise InputFileError(path, f"document {document!r} occurs twice for {query!r}", line=number)
        named.add((query, document))
        found.append((int(_number(path, number, rank)), document, _number(path, number, score)))
    gains: dict[str, dict[str, float]] = {}
    for number, (query, _, document, gain) in _columns(qrels, 4) if qrels is not None else ():
        gains.setdefault(query, {})[document] = max(_number(qrels or path, number, gain), 0.0)
    rows = []
    # Queries that were judged and not answered are rows too: they are misses, not gaps.
    for query in dict.fromkeys([*ranked, *gains]):
        places = sorted(ranked.get(query, []))
        row: dict[str, Any] = {"id": query, "retrieved": [one for _, one, _ in places]}
        row["scores"] = [score for _, _, score in places]
        if query in gains:
            row["relevant"] = gains[query]
        rows.append(row)
    return rows


def _columns(path: Path, count: int) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(_text(path).split("\n"), 1):
        if columns := line.split():
            if len(columns) != count:
                problem = f"expected {count} columns, found {len(columns)}"
                raise InputFileError(path, problem, line=number)
            yield number, columns


def _number(path: Path, line: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputFileError(path, f"{text!r} is no number", line=line)
    return value


_FORMS: Mapping[str, Callable[[_Source], dict[str, Any]]] = MappingProxyType(
    {"ragas": _ragas, "deepeval": _deepeval}
)
"""Form to what reads a row of it."""
FORMS = (*_FORMS, "trec")


def write_rows(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write rows as JSON Lines.

    Raises:
        UsageError: they cannot be written. Caller.
    """
    text = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    write_whole(path, text)
