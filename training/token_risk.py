"""Fits from which risk on a token belongs to an unsupported span.

    python -m training.token_risk SET… --calibration calibration.json [--model FOLDER]

The threshold with the highest F1 of characters in the mean over the sets: of what is marked in sentences that
people call not supported, against what they marked themselves. A sentence that the verdict calls supported
marks nothing, and what it should have marked counts as missed. Everything is read through the library, as a
stream would. Development sets with marked spans only; a set that chose here measures nothing any more.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamverify.calibration import Calibration
from streamverify.judging.assessor import VerifierConfig
from streamverify.judging.premises import Measured
from streamverify.judging.verdict import label_for, unsupported_spans
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Claim, Scorer, TokenRisk
from streamverify.text.layout import body
from streamverify.types import Finding, Label, Span
from training.fuse import claims, parts, set_name
from training.jsonl import json_lines

THRESHOLDS = tuple(round(0.05 * step, 2) for step in range(2, 17))


@dataclass(frozen=True, slots=True)
class Reading:
    """What there is to mark in one sentence."""

    claim: Claim
    tokens: tuple[TokenRisk, ...]
    findings: tuple[Finding, ...]
    whole: Span

    def characters(self, threshold: float) -> set[int]:
        """Places in the answer that would be marked."""
        spans = unsupported_spans(self.claim, self.tokens, threshold, self.findings, self.whole)
        return {at for span in spans for at in range(*span)}


@dataclass(frozen=True, slots=True)
class Marked:
    """A sentence that people call not supported: the places they marked, and how it was read.

    Without a reading it was called supported, or not judged: nothing of it is marked.
    """

    known: frozenset[int]
    reading: Reading | None = None


def f1(sentences: Sequence[Marked], threshold: float) -> float:
    """F1 of the marked characters, 0-1; 0 where neither side marked any."""
    both = given = known = 0
    for sentence in sentences:
        shown = sentence.reading.characters(threshold) if sentence.reading is not None else set()
        both += len(shown & sentence.known)
        given += len(shown)
        known += len(sentence.known)
    return 2 * both / (given + known) if given + known else 0.0


def best(sets: Mapping[str, Sequence[Marked]]) -> tuple[float, dict[float, float]]:
    """The threshold with the highest mean, the higher of equals, and the mean at each."""
    means = {at: sum(f1(found, at) for found in sets.values()) / len(sets) for at in THRESHOLDS}
    return max(means, key=lambda at: (round(means[at], 4), at)), means


def known_places(record: dict[str, Any]) -> list[frozenset[int]]:
    """What people marked of each labelled stretch of a record, as places in its answer."""
    answer, _, labels = parts(record)
    if "premise" in record:
        return [frozenset(at for start, end in record.get("spans", ()) for at in range(start, end))]
    key = "claims" if "claims" in record else "sentences"
    name = "spans" if "claims" in record else "unsupported_spans"
    found = []
    for (start, end, _), one in zip(labels, record[key], strict=True):
        places = [(answer.index(text, start, end), len(text)) for text in one.get(name, ())]
        found.append(frozenset(at for place, size in places for at in range(place, place + size)))
    return found


def marked(basis: VerifierConfig, record: dict[str, Any]) -> Iterator[Marked]:
    """The sentences of one record that are not supported and have a marked span."""
    _, _, labels = parts(record)
    known = known_places(record)
    for place, sentence, found in claims(basis, record, lambda place: bool(known[place])):
        own = frozenset(at for at in known[place] if sentence.start <= at < sentence.end)
        if labels[place][2] in ("supported", "no_claim") or not own:
            continue
        if found is None or _supported(basis, found):
            yield Marked(own)
        else:
            whole = body(sentence, sections=False)
            yield Marked(own, Reading(found.claim, found.score.tokens, found.checked.findings, whole))


def _supported(basis: VerifierConfig, found: Measured) -> bool:
    return label_for(basis.calibration, found.features, contradiction=False)[0] is Label.SUPPORTED


def read(path: Path, scorer: Scorer, calibration: Calibration) -> list[Marked]:
    """The marked sentences of a set."""
    basis = VerifierConfig(scorer, calibration)
    with ThreadPoolExecutor(scorer.traits.concurrency) as pool:
        found = pool.map(lambda record: list(marked(basis, record)), json_lines(path))
        return [sentence for sentences in found for sentence in sentences]


def main() -> None:
    """Read, choose, write into the calibration."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", type=Path, nargs="+")
    parser.add_argument("--calibration", type=Path, required=True, help="read, and written with the new fit")
    parser.add_argument("--model", type=Path, help="folder of the model; the embedded one without")
    options = parser.parse_args()
    calibration = Calibration.read(options.calibration)
    scorer = PremiseCachedScorer(options.model, joint_windows=3)
    sets = {set_name(path): read(path, scorer, calibration) for path in options.sets}
    threshold, means = best(sets)
    fitted = calibration.model_copy(update={"token_risk": threshold})
    options.calibration.write_text(fitted.model_dump_json(indent=2) + "\n", encoding="utf-8")
    for at, mean in means.items():
        print(at, round(mean, 3), {name: round(f1(found, at), 3) for name, found in sets.items()})
    print(f"token_risk {threshold}")


if __name__ == "__main__":
    main()
