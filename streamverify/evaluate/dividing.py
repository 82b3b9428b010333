"""Parts of a dataset: a sample, or a split whose parts share no passage.

Before: a file of rows. After: files of the same rows, byte for byte but for the paths of passage files.

Rows that rest on one passage belong together: a threshold or a prompt that was chosen on one of them has seen
what the other asks about.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from math import fsum, isfinite
from pathlib import Path

from streamverify.errors import InputFileError, UsageError
from streamverify.evaluate.case import Case
from streamverify.evaluate.dataset import read_dataset
from streamverify.evaluate.rows import read_cases
from streamverify.files.jsonl import json_object
from streamverify.files.written import write_whole

SLACK = 1e-9
"""Above 1 that shares may add up to: written as decimals, those of a whole may miss it by a rounding."""


def sample(path: Path, count: int, *, seed: int, to: Path) -> int:
    """Write a seeded sample of the rows, in the file's order; returns how many they are.

    Raises:
        InputFileError: a row is not a case. Caller.
        UsageError: the sample cannot be written, or `count` is below 1. Caller.
    """
    kept = {case.id for case in read_dataset(path, limit=count, seed=seed)}
    _write(path, {to: kept})
    return len(kept)


def split(path: Path, parts: Mapping[str, float], *, seed: int, to: Path) -> dict[str, int]:
    """Write `to/NAME.jsonl` for each part, no passage in two of them; returns how many rows each has.

    Args:
        path: the dataset.
        parts: name to share, each above 0, together 1 at most; what they leave goes to them in proportion.
        seed: which rows go where; equal seeds give equal parts, whatever the order of the rows.
        to: folder, made if need be.

    Raises:
        InputFileError: a row is not a case. Caller.
        UsageError: the parts are none, one stays empty as too many rows share passages, or nothing can be
            written. Caller.
    """
    shares = parts.values()
    sound = len(parts) >= 2 and min(shares) > 0 and isfinite(sum(shares))
    if not sound:
        raise UsageError("name at least two parts, each with a share above 0: train=0.8,test=0.2")
    if wrong := [name for name in parts if not name.isidentifier()]:
        raise UsageError(f"{wrong[0]!r} cannot name a part, and so a file: use letters, figures and _")
    if (whole_share := fsum(shares)) > 1 + SLACK:
        raise UsageError(f"the shares of the parts add up to {whole_share:.9g}: they may be 1 at most")
    groups = sorted(together(path), key=lambda ids: _drawn(seed, min(ids)))
    if not groups:
        raise InputFileError(path, "there is no case to divide")
    # Large groups first, each to the part that lacks most: small ones then even out what is left.
    groups.sort(key=len, reverse=True)
    whole, total = sum(len(ids) for ids in groups), sum(parts.values())
    held: dict[str, set[str]] = {name: set() for name in parts}
    for left, ids in zip(range(len(groups), 0, -1), groups, strict=True):
        # The last groups go to parts that would stay empty otherwise.
        empty = [name for name, kept in held.items() if not kept]
        open_to = empty if left <= len(empty) else list(parts)
        lacking = {name: whole * parts[name] / total - len(held[name]) for name in open_to}
        held[max(lacking, key=lambda name: lacking[name])] |= ids
    for name, kept in held.items():
        if not kept:
            largest = max(len(ids) for ids in groups)
            raise UsageError(
                f"part {name!r} stays empty: {largest} of {whole} rows share passages with each other"
            )
    try:
        to.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{to} cannot be made: {error.strerror or error}") from None
    _write(path, {to / f"{name}.jsonl": kept for name, kept in held.items()})
    return {name: len(kept) for name, kept in held.items()}


def together(path: Path) -> list[set[str]]:
    """Ids of rows that share passages, directly or through others."""
    parent: dict[str, str] = {}

    def root(one: str) -> str:
        while parent[one] != one:
            parent[one] = parent[parent[one]]
            one = parent[one]
        return one

    owner: dict[str, str] = {}
    for case in read_cases(path):
        parent[case.id] = case.id
        for key in _keys(case):
            parent[root(case.id)] = root(owner.setdefault(key, case.id))
    groups: dict[str, set[str]] = {}
    for one in parent:
        groups.setdefault(root(one), set()).add(one)
    return list(groups.values())


def _keys(case: Case) -> set[str]:
    """What a row rests on: passages by their text, documents that are only named by their id."""
    if case.passages is None:
        named = {*(case.passage_ids or ()), *(case.retrieved or ()), *(case.relevant or ())}
        return {f"id {one}" for one in named}
    texts = {
        "text " + hashlib.sha256(" ".join(p.text.split()).encode("utf-8", "surrogatepass")).hexdigest()
        for p in case.passages
    }
    own = set(case.passage_ids or ())
    return texts | {
        f"id {one}" for one in (*(case.retrieved or ()), *(case.relevant or ())) if one not in own
    }


def _drawn(seed: int, id_: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{id_}".encode("utf-8", "surrogatepass")).digest()


def _write(path: Path, wanted: Mapping[Path, set[str]]) -> None:
    """Copy rows to files; the dataset's ids decide which goes where."""
    for target in wanted:
        if os.path.realpath(target) == os.path.realpath(path):
            raise UsageError(f"{target} is the dataset itself; write elsewhere")
    text = path.read_text(encoding="utf-8-sig")
    ids = (case.id for case in read_cases(path))
    rows = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    lines: dict[Path, list[str]] = {target: [] for target in wanted}
    for (number, line), id_ in zip(rows, ids, strict=True):
        for target, kept in wanted.items():
            if id_ in kept:
                lines[target].append(moved(line, path, number, target, id_))
    for target, found in lines.items():
        write_whole(target, "".join(f"{line}\n" for line in found))


def moved(line: str, path: Path, number: int, target: Path, id_: str) -> str:
    """The row as it stands; with its own id and path where they depended on the place it stood in."""
    row = dict(json_object(line, path, number))
    named = row.get("passages_file")
    changed = row.get("id") is None
    row["id"] = id_ if changed else row["id"]
    if named is not None:
        file = os.path.relpath(Path(os.path.realpath(path.parent)) / named, os.path.realpath(target.parent))
        changed, row["passages_file"] = changed or file != named, file
    return json.dumps(row, ensure_ascii=False) if changed else line.rstrip("\r")
