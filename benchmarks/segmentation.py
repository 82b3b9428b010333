"""What cutting an answer into sentences costs a character, however long the answer and its sentences are.

    python benchmarks/segmentation.py                 1 kB to 1 MB, some minutes
    python benchmarks/segmentation.py --quick         up to 40 kB, a few seconds
    python benchmarks/segmentation.py --check         exit 1 where the cost a character grows with the length
    python benchmarks/segmentation.py --json FILE     also write the figures

Figures are microseconds of the thread's own processor time a character, the best of the repeats. `growth`
is the cost a character of the longest answer over that of the second shortest (1 MB over 10 kB; quick: 40 kB
over 4 kB); without quadratic growth it stays near 1. `slowest` is the slowest piece of four characters.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from machine import describe
from streamverify.sentences.segmenter import SentenceSegmenter

SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = (1_000, 4_000, 40_000)
FEEDS = {"1": 1, "4": 4, "whole": None}
"""Characters a piece; an LLM's token has about four."""
LONGEST_GROWTH = 3.0
SHORTEST_RUN = 0.02
"""Seconds; shorter runs are repeated until their sum is this long."""

_ANSWER = """\
The committee met on 3 May 2024 and approved the budget of $4.2 million, up 5.1% on the year before [1]. \
Dr. A. Smith called it "long overdue." It covers roads (e.g. the A40), schools and parks.[2]

## What changes

- **Roads:** work begins in Sept. 2024 and ends within 18 months [1][3]. Two bridges stay closed.
- **Schools:** three of them get new roofs; see `config.yaml` or https://example.org/plan?v=2.1 for details.
1. Residents may object until 30 June.
2. Objections go to the U.S. office, not to the council.

| Item | Cost |
|------|------|
| Roads | 2.1 |

"""
TEXTS = {
    "answer": _ANSWER,
    "no stop": "and then another thing that has to be said without ever coming to an end ",
    "no blank": "x",
    "Chinese": "委员会于2024年5月3日开会，批准了预算。史密斯博士说：“早就该这样了。”[2]它包括道路和学校。",
    "code": "```python\nfor row in table:\n    print(row.name, row.total)\n```\n\n",
    "brackets": "((([[[",
    "stops": ". Dr. ",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One text fed in one way; microseconds of processor time a character, by characters in all."""

    text: str
    piece: str
    cost: dict[int, float]
    growth: float
    slowest_ms: float | None


def main() -> int:
    """Measures, prints, writes and checks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="shorter texts, fewer repeats")
    parser.add_argument("--check", action="store_true", help="exit 1 where the cost a character grows")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sizes = QUICK_SIZES if options.quick else SIZES
    repeats = 2 if options.quick else options.repeats

    print(f"{'text':<10} {'piece':>5}  " + " ".join(f"{size:>9,}" for size in sizes) + "   growth  slowest")
    per_char(_ANSWER, 4)  # warm-up: the first sentence of a process compiles what it needs
    rows = []
    for name, unit in TEXTS.items():
        for piece in FEEDS:
            row = measure(name, unit, piece, sizes, repeats)
            slowest = f"{row.slowest_ms:>6.2f}ms" if row.slowest_ms is not None else ""
            costs = " ".join(f"{row.cost[size]:>9.2f}" for size in sizes)
            print(f"{name:<10} {piece:>5}  {costs} {row.growth:>8.2f} {slowest}", flush=True)
            rows.append(row)
    if options.json is not None:
        record = {
            "question": "cost of segmentation",
            "unit": "microseconds of processor time a character",
            "machine": describe(),
            "repeats": repeats,
            "n": len(rows),
            "rows": [asdict(row) for row in rows],
        }
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    grown = [row for row in rows if row.growth > LONGEST_GROWTH]
    for row in grown:
        print(
            f"{row.text} in pieces of {row.piece}: {row.growth:.1f} times the cost a character",
            file=sys.stderr,
        )
    return 1 if options.check and grown else 0


def measure(name: str, unit: str, piece: str, sizes: tuple[int, ...], repeats: int) -> Row:
    """The cost of one text in one kind of pieces, at every size."""
    cost = {}
    for size in sizes:
        text = (unit * (size // len(unit) + 1))[:size]
        cost[size] = min(per_char(text, FEEDS[piece] or size) for _ in range(repeats))
    growth = cost[sizes[-1]] / cost[sizes[1]]
    return Row(name, piece, cost, growth, slowest_piece(text[: sizes[-2]]) if piece == "4" else None)


def per_char(text: str, piece: int) -> float:
    """Microseconds of processor time a character."""
    pieces = [text[at : at + piece] for at in range(0, len(text), piece)]
    spent, runs = 0.0, 0
    while spent < SHORTEST_RUN:
        segmenter = SentenceSegmenter()
        began = time.thread_time()
        for part in pieces:
            segmenter.feed(part)
        segmenter.flush()
        spent, runs = spent + time.thread_time() - began, runs + 1
    return spent / runs / len(text) * 1e6


def slowest_piece(text: str) -> float:
    """Milliseconds of processor time of the slowest piece of four characters."""
    segmenter, slowest = SentenceSegmenter(), 0.0
    for at in range(0, len(text), 4):
        began = time.thread_time()
        segmenter.feed(text[at : at + 4])
        slowest = max(slowest, time.thread_time() - began)
    return slowest * 1e3


if __name__ == "__main__":
    sys.exit(main())
