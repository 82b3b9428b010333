"""What a scorer says of labelled claims, and what it costs; kept, so that fitting runs no model twice."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import anyio

from figures import BAD, Row
from labelled import read
from quality import judge
from streamverify import Verifier


@dataclass(frozen=True, slots=True)
class Claim:
    """One labelled claim and its calibrated probability."""

    item: str
    """Its set and case: folds never split one."""
    supported: bool
    score: float


@dataclass(frozen=True, slots=True)
class Verdicts:
    """One scorer's, in the order of the sets."""

    model: str
    scale: str
    """Of its calibration; see `Calibration.scale`."""
    threshold: float
    cpu_ms: float
    """Processor time a claim, its share of the encoding included."""
    claims: tuple[Claim | None, ...]
    """None where it gave no probability."""


def verdicts(scorer: str, sets: Sequence[Path], keep: Path | None = None) -> Verdicts:
    """Of a scorer, as `streamverify check --scorer` takes it, over labelled sets.

    Args:
        scorer: its name.
        sets: in golden's form, or claims with a premise.
        keep: folder where they are kept, and taken from if they are there.
    """
    names = "-".join(path.name.split(".")[0] for path in sets)
    kept = keep / f"{scorer.replace('/', '_')}-{names}.json" if keep is not None else None
    if kept is not None and kept.is_file():
        told = json.loads(kept.read_text(encoding="utf-8"))
        rows = tuple(Claim(**row) if row is not None else None for row in told.pop("claims"))
        return Verdicts(**told, claims=rows)
    with Verifier(scorer) as verifier:
        began = time.process_time()
        judged = [(path, row) for path in sets for row in anyio.run(judge, verifier, read(path))[0]]
        spent = time.process_time() - began
        own, mark = verifier.calibration, verifier.fingerprint
    labelled = [(path, row) for path, row in judged if row.gold == "supported" or row.gold in BAD]
    found = tuple(_claim(path, row) for path, row in labelled)
    made = Verdicts(mark.model, own.scale, own.threshold, 1000 * spent / max(len(found), 1), found)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(asdict(made)), encoding="utf-8")
    return made


def _claim(path: Path, row: Row) -> Claim | None:
    if row.score is None:
        return None
    return Claim(f"{path.name}:{row.item}", row.gold == "supported", row.score)
