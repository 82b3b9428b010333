"""Whether what a claim puts in quotation marks stands in a source, and what differs where it nearly does.

Only quotations of three words or more are claims about wording; shorter ones are terms or irony.
Blanks, case, punctuation and the kind of quotation mark do not count; an ellipsis or a bracketed
insertion may stand for anything in between.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from streamverify.text.words import fold, split_words

LEAST_WORDS = 3
_QUOTED = re.compile(
    r"“(?P<a>[^“”]{3,600})”|„(?P<b>[^„“”]{3,600})[“”]|«(?P<c>[^«»]{3,600})»|「(?P<d>[^「」]{3,600})」"
    r"|『(?P<e>[^『』]{3,600})』|(?<![\w\"])\"(?P<f>[^\"\n]{3,600})\"(?!\w)"
)
_GAP = re.compile(r"\[[^\]]{0,60}\]|…|\.\s?\.\s?\.")
_ANCHORS = 200
"""Places at which a near miss is looked for."""
_ALIKE = 0.6
"""Share of words in common from which a passage counts as the misquoted place."""
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Quotation:
    """Quoted words; `start` and `end` are their offsets, without the marks."""

    start: int
    end: int
    text: str


def quotations(text: str) -> tuple[Quotation, ...]:
    """The quotations of at least `LEAST_WORDS` words (or as many CJK characters), in order."""
    found = []
    for match in _QUOTED.finditer(text):
        group = match.lastgroup or "a"
        quoted = match[group]
        if len(split_words(quoted)) >= LEAST_WORDS or len(_CJK.findall(quoted)) >= LEAST_WORDS + 2:
            found.append(Quotation(match.start(group), match.end(group), quoted))
    return tuple(found)


def plain(text: str) -> str:
    """The words of a text, folded, one blank around each: what quotations are compared as."""
    return f" {' '.join(split_words(fold(text)))} "


def occurs(quotation: Quotation, sources: Sequence[str]) -> bool:
    """Whether one of the sources (each as `plain` gives it) holds the parts of the quotation in order."""
    parts = [part for part in (plain(part) for part in _GAP.split(quotation.text)) if part.strip()]
    return any(_in_order(parts, source) for source in sources)


def _in_order(parts: Sequence[str], source: str) -> bool:
    position = 0
    for part in parts:
        found = source.find(part, position)
        if found < 0:
            return False
        position = found + len(part) - 1
    return True


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Where a source says nearly what was quoted."""

    source: int
    """Index of the source."""
    difference: str
    """What differs, for a reader: ""may" where the source has "must""."""


def near_miss(quotation: Quotation, sources: Sequence[str]) -> NearMiss | None:
    """The likeliest place a quotation was taken from; None when no source has most of its words together."""
    quoted = plain(quotation.text).split()
    best: tuple[float, int, list[str]] | None = None
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(quoted)
    for number, source in enumerate(sources):
        for stretch in _stretches(quoted, source):
            matcher.set_seq1(stretch)
            if matcher.quick_ratio() < _ALIKE:
                continue
            common = sum(block.size for block in matcher.get_matching_blocks())
            share = common / len(quoted)
            if share >= _ALIKE and (best is None or share > best[0]):
                best = (share, number, stretch)
    if best is None:
        return None
    return NearMiss(best[1], _difference(quoted, best[2]))


def _stretches(quoted: Sequence[str], source: str) -> list[list[str]]:
    """Stretches of a source, as long as the quotation, around its longest words."""
    found: list[list[str]] = []
    for anchor in sorted(set(quoted), key=len, reverse=True)[:3]:
        needle, position = f" {anchor} ", source.find(f" {anchor} ")
        before = quoted.index(anchor)
        while position >= 0 and len(found) < _ANCHORS:
            left = source[max(position - 12 * (before + 2), 0) : position].split()[-(before + 2) :]
            right = source[position : position + 12 * (len(quoted) + 2)].split()[: len(quoted) - before + 2]
            found.append(left + right)
            position = source.find(needle, position + 1)
    return found


def _difference(quoted: list[str], stretch: list[str]) -> str:
    matcher = SequenceMatcher(a=quoted, b=stretch, autojunk=False)
    codes = matcher.get_opcodes()
    inner = [
        (" ".join(quoted[a:b]), " ".join(stretch[c:d]))
        for place, (tag, a, b, c, d) in enumerate(codes)
        if tag != "equal" and not (tag == "insert" and place in {0, len(codes) - 1})
    ]
    written, source = inner[0] if inner else ("", "")
    if written and source:
        return f"“{written}” where the source has “{source}”"
    return f"“{written}” is not in the source" if written else f"the source has “{source}” too"
