"""Development cases of the recipe, and pairs of such a case before and after a change.

No training sees these cases.
"""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

from streamverify import Passage

SETS = Path(__file__).parents[2] / "training" / "sets"
FILES = ("details_dev", "contrasts_dev", "replies_dev")

Expected = Literal["same", "supported", "not supported"]


@dataclass(frozen=True, slots=True)
class Case:
    """A claim, the passages it is about, and whether they support it."""

    claim: str
    passages: tuple[Passage, ...]
    supported: bool


@dataclass(frozen=True, slots=True)
class Pair:
    """A case and what became of it."""

    law: str
    kind: str
    before: Case
    after: Case
    expected: Expected


def cases() -> list[Case]:
    """All development claims, in the order of the files."""
    found = []
    for name in FILES:
        with gzip.open(SETS / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                case = json.loads(line)
                passages = tuple(
                    Passage(f"{name}{number}-{i}", entry["text"], title=entry.get("title") or None)
                    for i, entry in enumerate(case["passages"])
                )
                for claim in case["claims"]:
                    found.append(Case(claim["claim"], passages, claim["label"] == "entail"))
    return found


def sample(count: int, seed: int, *, supported: bool | None = None) -> list[Case]:
    """Claims drawn by a seed; those of one context follow each other, so that its windows stay cached."""
    known = [c for c in cases() if supported is None or c.supported is supported]
    drawn = Random(seed).sample(range(len(known)), min(count, len(known)))
    return [known[i] for i in sorted(drawn)]


def sentences(text: str) -> list[str]:
    """Plain sentences of a passage, long enough to stand alone."""
    parts = re.split(r"(?<=[.!?])\s+(?=[A-Z])", text)
    return [p for p in parts if 6 <= len(p.split()) <= 40 and p.endswith(".")]
