"""How the time of every pattern and parser grows with the text it meets, on texts made to be slow.

    python benchmarks/growth.py                 the sizes of docs/benchmarks.md, some minutes
    python benchmarks/growth.py --brisk         at half the sizes, as CI runs the readers
    python benchmarks/growth.py --whole         every text at every size, whatever the shorter ones tell; long
    python benchmarks/growth.py --deep          also every pair of characters that a pattern speaks of; long
    python benchmarks/growth.py --check         exit 1 where something grows faster than its text
    python benchmarks/growth.py --only names    what has this in its name
    python benchmarks/growth.py --json FILE     also write the figures

Whoever writes a passage, a title, a question or a page that an answer quotes decides how long it is and what
is in it, and a regular expression holds the interpreter until it is done. So time must grow like the length:
at four times the length it may take eight times as long (4 ** 1.5), where a quadratic one takes sixteen.

Every text is run at the two shorter sizes. It goes on to the longer ones where its time grew by more than its
length between the two, or is one of the longest of its subject. A quadratic part of a sixteenth of the linear
one, at a thousand characters, is seen there; what is smaller makes at most five times of it at 64,000.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hostile import TEXTS, Text, deep_texts
from machine import describe
from patterns import pattern_subjects, patterns
from stopwatch import Subject, forget, seconds

SIZES = (1_000, 4_000, 16_000, 64_000)
BRISK = (500, 2_000, 8_000, 32_000)
"""Sizes where there is less than a minute for all readers; a growth that begins above them is missed."""
STEEPEST = 4**1.5
"""How many times longer a text four times as long may take."""
FLOOR_S = 0.020
"""Seconds; what is shorter is not compared, and counts as this long where it is compared with."""
SUSPECT = 4.6
"""How many times longer the second size may take before the text is run at all of them."""
SLOWEST = {SIZES: 4, BRISK: 2}
"""Texts of each subject that are run at all sizes in any case."""
BEYOND = 1.25
"""A run is broken off after so many times what it may take: it is steep, whatever comes."""
TRIES = 6
"""Further runs, the shortest of which counts, before something is said to be steep."""
TELLING_S = 0.001
"""Seconds; what is shorter is mostly the clock's own grain, and has no exponent."""

BOUNDED: dict[str, int] = {
    "text.sentence_ends._OPENS": 3,
    "text.sentence_ends._TITLE": 7,
    "checks.signals.check": 2_000,
    "citations.annotation._ABBREVIATION": 24,
    "citations.annotation._END": 24,
    "citations.context": 64,
    "citations.forms": 300,
    "checks.years._ABOUT": 30,
    "checks.years._PRODUCT": 30,
    "claims": 2_000,
    "claims.framing._BACK": 160,
    "claims.framing._FRONT": 160,
}
"""Rooms, modules and patterns that meet texts of at most so many characters: these are run up to the longest.
A claim is one sentence, which the segmenter cuts at 2,000 characters."""

SAMPLED = {"checks.index.SourceIndex": 4, "pii.policy.release_filter": 8}
"""Readers that call nearly all the others, each of which meets every text: these meet one text in so many."""
SAMPLED_BRISKLY = {
    "checks.index.SourceIndex": 8,
    "checks.signals.check": 2,
    "claims.reader.previous": 2,
    "claims.reader.read": 4,
    "pii.policy.release_filter": 16,
}
"""The same where time is short."""

SQUEEZED = (
    "claims.conversation",
    "claims.coreference",
    "claims.framing",
    "claims.headings",
    "claims.nonclaims",
    "claims.reader._",
)
"""Beginnings of names that meet text without two blanks in a row: `text.markdown.plain` squeezes them."""


@dataclass(frozen=True, slots=True)
class Climb:
    """How long a subject took on one text, from the shortest size to the longest that was run."""

    subject: str
    text: Text
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def steep(self) -> bool:
        """Whether the longest took longer than it may."""
        *_, before, last = (0.0, *self.seconds)
        return last > _most(before)

    @property
    def suspect(self) -> bool:
        """Whether it grew by more than its length, and could be steep at a longer size."""
        before, last = self.seconds[-2:]
        return last > SUSPECT * before and not self.harmless

    @property
    def harmless(self) -> bool:
        """Whether it stays below the law's floor at the longest size even if it grows by the square."""
        return self.seconds[-1] * (SIZES[-1] / self.sizes[-1]) ** 2 < STEEPEST * FLOOR_S

    @property
    def exponent(self) -> float | None:
        """The power of the length that the time grew by at last; None where it is too short to tell."""
        if len(self.sizes) < 2 or self.seconds[-1] < TELLING_S:
            return None
        return math.log(self.seconds[-1] / self.seconds[-2]) / math.log(self.sizes[-1] / self.sizes[-2])

    def __str__(self) -> str:
        *_, before, last = (0.0, *self.seconds)
        times = last / max(before, FLOOR_S)
        told = f"{last:.3f} s, {times:.0f} times as long as a quarter of it"
        return f"{self.subject} on {self.sizes[-1]} characters of {self.text.name}: {told}"


def _most(before: float) -> float:
    """Seconds that a text may take where a quarter of it took so many."""
    return STEEPEST * max(before, FLOOR_S)


def climb(subject: Subject, text: Text, sizes: Iterable[int], *, repeats: int = 1) -> Climb:
    """Run a subject on longer and longer texts, up to the first size that is steep."""
    done: list[int] = []
    took: list[float] = []
    for size in sizes:
        done.append(size)
        limit = BEYOND * _most(took[-1] if took else 0.0)
        took.append(seconds(subject.run, _long(subject, text, size), limit, repeats))
        found = Climb(subject.name, text, tuple(done), tuple(took))
        if found.steep:
            found = _again(subject, found)
            took = list(found.seconds)
            if found.steep:
                break
    return found


def _long(subject: Subject, text: Text, size: int) -> str:
    long = text.of(size)
    return " ".join(long.split()) if subject.name.startswith(SQUEEZED) else long


def _again(subject: Subject, found: Climb) -> Climb:
    """The last two sizes run again and again, the shortest of each kept, until it is not steep any more."""
    *shorter, size = found.sizes
    *took, last = found.seconds
    broken_off = 0
    for _ in range(TRIES):
        if shorter:
            forget()
            quarter = _long(subject, found.text, shorter[-1])
            took[-1] = min(took[-1], seconds(subject.run, quarter, BEYOND * max(took[-1], FLOOR_S)))
        limit = BEYOND * _most(took[-1] if took else 0.0)
        forget()
        now = seconds(subject.run, _long(subject, found.text, size), limit)
        broken_off += now == limit
        last = min(last, now)
        found = Climb(found.subject, found.text, found.sizes, (*took, last))
        if not found.steep or broken_off == 2:  # with the first run, three times in a row
            break
    return found


@dataclass(frozen=True, slots=True)
class Sweep:
    """A subject on all texts: what was run at all sizes, and what told enough at the shorter ones."""

    subject: str
    climbs: tuple[Climb, ...]

    @property
    def steep(self) -> list[Climb]:
        """What grew faster than its text."""
        return [one for one in self.climbs if one.steep]

    def row(self) -> dict[str, Any]:
        """The slowest text, and the one whose time grew by the highest power of its length."""
        longest = max(one.sizes[-1] for one in self.climbs)
        whole = [one for one in self.climbs if one.sizes[-1] == longest]
        slowest = max(whole, key=lambda one: one.seconds[-1])
        telling = [one for one in whole if one.exponent is not None]
        worst = max(telling, key=lambda one: one.exponent or 0.0, default=None)
        return {
            "name": self.subject,
            "texts": len(self.climbs),
            "at_the_longest": len(whole),
            "characters": longest,
            "seconds": round(slowest.seconds[-1], 6),
            "slowest": slowest.text.name,
            "exponent": None if worst is None else round(worst.exponent or 0.0, 2),
            "steepest": None if worst is None else worst.text.name,
        }


def sweep(
    subject: Subject, *, more: Iterable[Text] = (), whole: bool = False, sizes: tuple[int, ...] = SIZES
) -> Sweep:
    """How a subject's time grows on each of its texts, and on some more."""
    sampled = (SAMPLED_BRISKLY if sizes == BRISK else SAMPLED).get(subject.name, 1)
    texts = (*TEXTS[::sampled], *more)
    if longest := bound_of(subject.name):
        bounded = tuple(sorted({max(longest // 4, 1), longest}))
        return Sweep(subject.name, tuple(climb(subject, text, bounded) for text in texts))
    if whole:
        return Sweep(subject.name, tuple(climb(subject, text, sizes) for text in texts))
    begun = [_begun(subject, text, sizes[:2]) for text in texts]
    slowest = {one.text for one in sorted(begun, key=lambda one: -one.seconds[-1])[: SLOWEST[sizes]]}
    climbs = []
    for one in begun:
        found = one
        if not one.steep and one.text not in slowest and one.suspect:
            found = climb(subject, one.text, sizes[:3])
        if not found.steep and (one.text in slowest or found.suspect):
            found = climb(subject, one.text, sizes)
        climbs.append(found)
    return Sweep(subject.name, tuple(climbs))


def _begun(subject: Subject, text: Text, sizes: tuple[int, ...]) -> Climb:
    """The two shorter sizes; measured with more care where the first look makes it a suspect."""
    first = climb(subject, text, sizes)
    if first.steep or not first.suspect:
        return first
    return climb(subject, text, sizes, repeats=3)


def bound_of(name: str) -> int | None:
    """How long the texts are that a subject meets; None where nothing bounds them."""
    parts = re.split(r"[.:]", name)
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((BOUNDED[one] for one in names if one in BOUNDED), None)


def table(figures: dict[str, Any]) -> str:
    """The ten whose time grew by the highest power of the length, as docs/benchmarks.md shows them."""
    lines = ["| what | time grew by length to the power of | on | slowest |", "|---|---|---|---|"]
    steepest = [row for row in figures["rows"] if row["exponent"] is not None][:10]
    for row in steepest:
        slowest = f"{1000 * row['seconds']:.1f} ms at {row['characters']:,} characters of {row['slowest']}"
        lines.append(f"| `{row['name']}` | {row['exponent']:.2f} | {row['steepest']} | {slowest} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--brisk", action="store_true")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    from readers import reader_subjects

    everything, sizes = patterns(), BRISK if given.brisk else SIZES
    rows: list[dict[str, Any]] = []
    steep = 0
    began = time.thread_time()
    for subject in (*pattern_subjects(), *reader_subjects()):
        if given.only not in subject.name:
            continue
        deep = deep_texts(everything[subject.name]) if given.deep and subject.name in everything else ()
        swept = sweep(subject, more=deep, whole=given.whole, sizes=sizes)
        for found in swept.steep:
            print(found, flush=True)
        steep += len(swept.steep)
        rows.append(swept.row())
    rows.sort(key=lambda row: -(row["exponent"] or 0.0))
    for row in rows[:20]:
        power = "-" if row["exponent"] is None else f"{row['exponent']:.2f}"
        print(f"{row['name']:50} {power:>5} {1000 * row['seconds']:9.2f} ms  {row['slowest']}")
    print(f"{len(rows)} patterns and readers, {steep} findings, {time.thread_time() - began:.0f} s")
    if given.json:
        figures = {
            "machine": describe(),
            "command": sys.argv,
            "texts": len(TEXTS),
            "sizes": sizes,
            "seconds": round(time.thread_time() - began, 1),
            "steep": steep,
            "rows": rows,
        }
        given.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 1 if given.check and steep else 0


if __name__ == "__main__":
    sys.exit(main())
