"""Is the passage shown first the one the sentence rests on? `python benchmarks/evidence.py SET.jsonl…`.

For each labelled sentence that names the passages it rests on, and that was judged: whether the first piece
of evidence of its verdict lies in one of them. Sets are in the form of the golden cases.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from streamverify import Verifier
from windows import passages_of, sentences_of, told


def hits(verifier: Verifier, row: dict[str, Any]) -> list[tuple[str, bool]]:
    """Label and hit of each sentence that names its evidence and has a verdict with evidence."""
    report = verifier.check_sync(row["answer"], passages_of(row), question=row.get("question"))
    found = []
    for (sentence, evidence), labelled in zip(sentences_of(row), row["sentences"], strict=True):
        middle = (sentence.start + sentence.end) // 2
        pieces = next((one.evidence for one in report.sentences if one.start <= middle < one.end), ())
        if evidence and pieces:
            found.append((labelled["label"], pieces[0].passage in evidence))
    return found


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", type=Path, nargs="+")
    parser.add_argument("--model", default="fast", help="an installed model, cascade, or a folder")
    options = parser.parse_args()
    with Verifier(model=options.model) as verifier:
        for path in options.datasets:
            lines = path.read_text(encoding="utf-8").splitlines()
            by_label: dict[str, list[bool]] = defaultdict(list)
            for label, hit in (pair for line in lines if line for pair in hits(verifier, json.loads(line))):
                by_label[label].append(hit)
            every = [hit for found in by_label.values() for hit in found]
            each = ", ".join(f"{label} {told(found)} of {len(found)}" for label, found in by_label.items())
            print(f"{path.name.split('.')[0]}: {told(every)} of {len(every)}; {each}")


if __name__ == "__main__":
    main()
