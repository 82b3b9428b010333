"""Cases, reports and verifiers for the tests of this folder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from streamverify import Passage, Verifier
from streamverify.evaluate import Case
from streamverify.testing import ScriptedScorer
from streamverify.types import Label

PASSAGES = (
    Passage("mill", "The mill was built in 1712. It has two wheels."),
    Passage("river", "The river is 40 kilometres long."),
)
SCRIPT = {"moon": Label.UNSUPPORTED, "never": Label.CONTRADICTED}
GOOD, BAD, WRONG, NONE = (
    "The mill was built in 1712.",
    "The moon owns the mill.",
    "The mill never turned.",
    "Thank you for asking!",
)


def verifier(**options: object) -> Verifier:
    return Verifier(ScriptedScorer(SCRIPT, **options))


def case(number: int, *sentences: str, **more: object) -> Case:
    given = {"answer": " ".join(sentences), "passages": PASSAGES, **more}
    return Case(id=f"case-{number}", **given)


def cases(count: int = 6) -> list[Case]:
    kinds = ((GOOD,), (GOOD, BAD), (GOOD, BAD, WRONG), (NONE,), (WRONG,), (GOOD, GOOD, BAD))
    return [case(n, *kinds[n % len(kinds)], category="even" if n % 2 == 0 else "odd") for n in range(count)]


def written(path: Path, rows: Iterable[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def row(one: Case) -> dict[str, object]:
    passages = [{"id": p.id, "text": p.text} for p in one.passages or ()]
    return {"id": one.id, "answer": one.answer, "passages": passages, "category": one.category}
