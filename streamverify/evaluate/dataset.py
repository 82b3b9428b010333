"""Datasets: one recorded answer a row, JSON Lines, read without holding more than one row.

Before: a file, or cases made in code. After: `runner.py` has each case checked and measured.

A row may carry a recorded stream (`events`); what it says is used again where the same scorer,
calibration and policy are asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from streamverify.errors import UsageError
from streamverify.evaluate.case import Case
from streamverify.evaluate.recordings import recording_of
from streamverify.evaluate.rows import read_cases
from streamverify.files.jsonl import encodable
from streamverify.types import Passage


class Dataset:
    """Cases that can be gone through again and again; what they are is settled when it is made.

    Attributes:
        digest: SHA-256 over the digests of its cases, in order.
        questions: the same over what was asked and what is known to be right, without the answers.
        recordings: SHA-256 over the recorded streams among them; empty without any.
    """

    def __init__(self, source: Callable[[], Iterator[Case]], *, name: str = "cases") -> None:
        """Go through the cases once.

        Args:
            source: begins again at every call, with equal cases.
            name: for messages.

        Raises:
            UsageError: there is no case, an id occurs twice, or an id or a category holds a lone surrogate.
                Caller.
        """
        self._source, self.name = source, name
        whole, recorded, asked = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
        seen, found = set[str](), False
        for case in source():
            for field in ("id", "category"):
                if (text := getattr(case, field)) is not None and not encodable(text):
                    raise UsageError(
                        f"{name}: case {text!r}: its {field} holds a lone surrogate, which no file can hold"
                    )
            if case.id in seen:
                raise UsageError(f"{name}: two cases have the id {case.id!r}")
            seen.add(case.id)
            whole.update(bytes.fromhex(case.digest))
            asked.update(bytes.fromhex(case.asked))
            if case.recording is not None:
                found = True
                recorded.update(f"{case.id}\0{case.recording.report.model_dump_json()}".encode())
        if not seen:
            raise UsageError(f"{name}: there is no case to evaluate")
        self._count = len(seen)
        self.digest, self.questions = whole.hexdigest(), asked.hexdigest()
        self.recordings = recorded.hexdigest() if found else ""

    def __iter__(self) -> Iterator[Case]:
        return self._source()

    def __len__(self) -> int:
        return self._count


def dataset_of(cases: Dataset | Iterable[Case]) -> Dataset:
    """The cases as a dataset.

    Raises:
        UsageError: there is no case, or an id occurs twice. Caller.
    """
    if isinstance(cases, Dataset):
        return cases
    held = tuple(cases)
    return Dataset(lambda: iter(held))


def read_dataset(
    path: Path | str,
    *,
    where: Mapping[str, str] | None = None,
    limit: int | None = None,
    seed: int | None = None,
    warn: Callable[[str], None] | None = None,
) -> Dataset:
    """The cases of a JSON Lines file; every row is read and checked now, and again when it is needed.

    Args:
        path: see `docs/evaluate.md` for the fields of a row.
        where: keeps the rows whose `category`, `difficulty`, `domain` or metadata has these values.
        limit: keeps as many rows.
        seed: which rows `limit` keeps: a seeded sample, in the file's order; the first ones without it.
        warn: told once about each unknown field; nobody by default.

    Raises:
        InputFileError: a row is not a case; names line and field. Caller.
        UsageError: no case is left, or there is a seed and no limit. Caller.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be 1 or more, not {limit}")
    if seed is not None and limit is None:
        raise UsageError("a seed draws the sample that a limit takes: give a limit too")
    file = Path(path)
    wanted = dict(where or {})

    def every(tell: Callable[[str], None] | None = None) -> Iterator[Case]:
        return (case for case in read_cases(file, warn=tell) if _selected(case, wanted))

    # Reads no further than the first case that fits: a file without any is told of as such below.
    if wanted and next(every(), None) is None and next(read_cases(file), None) is not None:
        asked = " and ".join(f"{name}={value!r}" for name, value in wanted.items())
        raise UsageError(
            f"{path}: there is no case to evaluate with {asked}: change --where, or leave it out"
        )
    chosen: frozenset[str] | None = None
    if limit is not None:
        chosen = _sample([case.id for case in every()], limit, seed)

    first = True

    def cases() -> Iterator[Case]:
        nonlocal first
        tell, first = (warn if first else None), False
        return (case for case in every(tell) if chosen is None or case.id in chosen)

    return Dataset(cases, name=str(path))


def _selected(case: Case, wanted: Mapping[str, str]) -> bool:
    own = {"category": case.category, "difficulty": case.difficulty, "domain": case.domain}
    return all(
        str(own[name] if name in own else case.metadata.get(name)) == value for name, value in wanted.items()
    )


def _sample(ids: Sequence[str], limit: int, seed: int | None) -> frozenset[str]:
    if seed is None:
        return frozenset(ids[:limit])
    # By hash and not by a generator's state: the same cases are chosen whatever their order in the file.
    ranked = sorted(ids, key=lambda one: hashlib.sha256(f"{seed}\0{one}".encode()).digest())
    return frozenset(ranked[:limit])


def from_events(
    lines: Iterable[str | bytes],
    *,
    id: str,  # noqa: A002 - the field's name everywhere
    passages: Sequence[Passage] | None = None,
    question: str | None = None,
) -> Case:
    """A case from the recorded events of one stream, as `streamverify stream` writes them.

    Args:
        lines: one JSON object each, in order, complete.
        id: of the case.
        passages: as the stream had them; without their texts the answer cannot be scored again.
        question: as the stream had it; events do not carry it.

    Raises:
        InputFileError: it is no recorded stream, or one of other passages. Caller.
    """
    held = tuple(passages) if passages is not None else None
    recording = recording_of([line for line in lines if line.strip()], held)
    case = Case(id=id, question=question, answer=recording.report.answer, passages=held)
    return replace(case, recording=recording)
