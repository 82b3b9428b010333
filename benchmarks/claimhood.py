"""Does the reader tell sentences that claim something from those that do not? By set and by kind.

    python benchmarks/claimhood.py [--kinds]

Every set is read with the rules alone and with the learned part beside them. "Seen" sets were in view when
rules and weights were made; held-out ones were not, and nothing may be changed because of a line in them.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from streamverify.claims.reader import read
from streamverify.evaluate.stats import wilson
from streamverify.figure import NotComputed
from streamverify.sentences.segmenter import segment

ROOT = Path(__file__).resolve().parents[1]
SETS = (
    ("dev", "seen", "tests/claims/claimhood.jsonl"),
    ("more", "seen", "training/sets/claimhood_more.jsonl.gz"),
    ("wide", "seen", "training/sets/claimhood_wide.jsonl.gz"),
    ("varied", "seen", "training/sets/claimhood_varied.jsonl.gz"),
    ("paired", "seen", "training/sets/claimhood_paired.jsonl.gz"),
    ("lookalikes", "seen", "training/sets/claimhood_lookalikes.jsonl.gz"),
    ("products", "seen", "training/sets/claimhood_products.jsonl.gz"),
    ("talk", "seen", "training/sets/claimhood_talk.jsonl.gz"),
    ("silence", "seen", "training/sets/claimhood_silence.jsonl.gz"),
    ("heldout", "held out", "training/sets/claimhood_heldout.jsonl.gz"),
    ("wide_heldout", "held out", "training/sets/claimhood_wide_heldout.jsonl.gz"),
    ("varied_heldout", "held out", "training/sets/claimhood_varied_heldout.jsonl.gz"),
    ("products_heldout", "held out", "training/sets/claimhood_products_heldout.jsonl.gz"),
    ("second_heldout", "held out", "training/sets/claimhood_second_heldout.jsonl.gz"),
)


def records(path: Path) -> list[dict[str, Any]]:
    """The lines of a JSON Lines file, compressed or not."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def claims(case: dict[str, Any], *, learned: bool) -> bool:
    """Whether the reader finds a claim in any sentence of a case."""
    before = segment(case["previous"] + "\n\n") if case["previous"] else []
    found = segment(case["text"])
    return any(
        read(sentence, previous=[*before, *found[:place]], learned=learned).claim is not None
        for place, sentence in enumerate(found)
    )


def line(name: str, cases: Sequence[dict[str, Any]], found: Sequence[bool]) -> str:
    """Rate with its 95 % interval, claims lost and non-claims judged, as a row of a table."""
    wanted = [case["label"] == "claim" for case in cases]
    right = sum(map(bool.__eq__, found, wanted))
    interval = wilson(right, len(cases))
    assert not isinstance(interval, NotComputed), interval.reason
    lost = sum(is_claim and not seen for seen, is_claim in zip(found, wanted, strict=True))
    judged = sum(seen and not is_claim for seen, is_claim in zip(found, wanted, strict=True))
    positive = sum(wanted)

    def share(part: int, whole: int) -> str:
        return f"{part / whole:.3f}" if whole else "–"

    return (
        f"| {name} | {len(cases)} | {right / len(cases):.3f} ({interval.low:.3f}–{interval.high:.3f}) "
        f"| {share(lost, positive)} | {share(judged, len(cases) - positive)} |"
    )


def main() -> None:
    """Print a table of all sets, and one of kinds for each set where that is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kinds", action="store_true", help="a table by kind for every set")
    kinds = parser.parse_args().kinds
    header = (
        "| sentences | number | right (95 % interval) | claims lost | non-claims judged |\n"
        "|---|---|---|---|---|"
    )
    print(header)
    by_kind: dict[str, list[str]] = {}
    for name, seen, path in SETS:
        cases = records(ROOT / path)
        found = [claims(case, learned=True) for case in cases]
        print(line(f"{name}, {seen}, rules alone", cases, [claims(case, learned=False) for case in cases]))
        print(line(f"{name}, {seen}", cases, found))
        groups: dict[str, list[int]] = defaultdict(list)
        for place, case in enumerate(cases):
            groups[f"{case['label']}: {case['kind']}"].append(place)
        by_kind[name] = [
            line(kind, [cases[place] for place in places], [found[place] for place in places])
            for kind, places in sorted(groups.items())
        ]
    if kinds:
        for name, lines in by_kind.items():
            print(f"\n{name}\n\n{header}", *lines, sep="\n")


if __name__ == "__main__":
    main()
