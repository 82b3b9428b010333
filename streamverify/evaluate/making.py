"""Questions made from passages, so that a dataset can begin without a single one written by hand.

Before: passages. After: rows with question and reference; the application under test adds its answers.

Two makers. A language model writes all types. The rules here write what can be made honestly without one:
gaps in sentences, summaries that quote, questions over two passages that share a rare word, and gaps whose
passage is withheld. They cannot make a question that takes a conclusion, and say so. Every row names its
maker.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from streamverify.errors import JudgeError, UsageError
from streamverify.evaluate.judge.questions import WRITE
from streamverify.evaluate.protocol import Judge
from streamverify.sentences.segmenter import segment
from streamverify.types import Passage, SentenceKind

TYPES = ("fact_single", "summary", "reasoning", "multi_hop", "unanswerable")
RULES = "rules"
"""Names the maker that is no model."""

_GAP = "____"
_VALUE = re.compile(
    r"(?<![\w.,-])\d[\d.,]*\d(?!\w)|(?<![\w.,-])\d(?!\w)|(?<=[a-z,] )[A-Z][a-z]{2,}(?: [A-Z][a-z]+)*"
)
_WORD = re.compile(r"[^\W\d_]{5,}")
_OTHERS = 3
"""Passages beside which an unanswerable question is put."""


@dataclass(frozen=True, slots=True)
class Made:
    """Rows of a dataset, and how many of each type could not be made, with the reason."""

    rows: tuple[dict[str, Any], ...]
    missing: dict[str, tuple[int, str]]


def make(
    passages: Sequence[Passage], *, per_type: int = 20, seed: int = 0, writer: Judge | None = None
) -> Made:
    """Questions of each type about some passages.

    Args:
        passages: at least one.
        per_type: questions of each type, at most.
        seed: which passages and sentences; equal seeds give equal rows.
        writer: a language model; the rules if None.

    Raises:
        UsageError: there is no passage, or `per_type` is below 1. Caller.
        JudgeError: the writer answered none of its questions.
    """
    if not passages or per_type < 1:
        raise UsageError("making questions takes at least one passage, and at least one question of a type")
    if writer is None:
        found = {kind: _first(_BY_RULE[kind](passages, seed), per_type) for kind in TYPES}
        why = dict.fromkeys(TYPES, _SHORT) | {"reasoning": _NO_REASONING}
    else:
        found, why = _written(passages, per_type, seed, writer)
    maker = RULES if writer is None else writer.name
    rows = [
        _row(f"{kind}-{number}", kind, one, maker)
        for kind in TYPES
        for number, one in enumerate(found[kind], 1)
    ]
    missing = {
        kind: (per_type - len(found[kind]), why[kind]) for kind in TYPES if len(found[kind]) < per_type
    }
    return Made(tuple(rows), missing)


_SHORT = "the passages hold no more sentences that the rules can ask about"
_NO_REASONING = "the rules cannot write a question that takes a conclusion; name a writer"


@dataclass(frozen=True, slots=True)
class _Asked:
    question: str
    reference: str
    """Empty where the passages do not tell."""
    sources: tuple[Passage, ...]
    """Those that tell; those that do not where none does."""


def _row(id_: str, kind: str, one: _Asked, maker: str) -> dict[str, Any]:
    told = kind != "unanswerable"
    row: dict[str, Any] = {"id": id_, "question": one.question, "category": kind}
    row["expected"] = "answer" if told else "refuse"
    if told:
        row |= {"reference": one.reference, "relevant": [p.id for p in one.sources]}
    row["passages"] = [
        {"id": p.id, "text": p.text, **({"title": p.title} if p.title is not None else {})}
        for p in one.sources
    ]
    return row | {"metadata": {"maker": maker}}


def _first(found: Iterator[_Asked], count: int) -> list[_Asked]:
    kept: dict[str, _Asked] = {}
    for one in found:
        kept.setdefault(one.question, one)
        if len(kept) == count:
            break
    return list(kept.values())


def _shuffled(items: Sequence[Any], seed: int, name: Callable[[Any], str]) -> list[Any]:
    def drawn(one: Any) -> bytes:
        return hashlib.sha256(f"{seed}\0{name(one)}".encode("utf-8", "surrogatepass")).digest()

    return sorted(items, key=drawn)


def _sentences(passage: Passage) -> list[str]:
    found = (s.text.strip() for s in segment(passage.text) if s.kind is SentenceKind.PROSE)
    return [text for text in found if 20 <= len(text) <= 400 and text.endswith(".")]


def _gaps(passages: Sequence[Passage], seed: int) -> Iterator[tuple[Passage, str, str, str]]:
    """Passage, sentence, the sentence with a gap, and what was taken out: one gap a sentence."""
    told = [(passage, text) for passage in passages for text in _sentences(passage)]
    for passage, text in _shuffled(told, seed, lambda one: f"{one[0].id}\0{one[1]}"):
        values = list(_VALUE.finditer(text))
        if values:
            value = values[-1]
            yield passage, text, text[: value.start()] + _GAP + text[value.end() :], value.group()


def _single(passages: Sequence[Passage], seed: int) -> Iterator[_Asked]:
    for passage, text, gap, _ in _gaps(passages, seed):
        yield _Asked(f"What belongs into the gap: “{gap}”", text, (passage,))


def _summary(passages: Sequence[Passage], seed: int) -> Iterator[_Asked]:
    for passage in _shuffled(passages, seed, lambda one: one.id):
        told = _sentences(passage)
        if len(told) > 1:
            name = passage.title or passage.id
            yield _Asked(f"What are the main points of “{name}”?", " ".join(told[:3]), (passage,))


def _multi_hop(passages: Sequence[Passage], seed: int) -> Iterator[_Asked]:
    words: dict[str, list[tuple[Passage, str]]] = {}
    for passage in passages:
        seen: dict[str, str] = {}
        for text in _sentences(passage):
            for match in _WORD.finditer(text):
                seen.setdefault(match.group().casefold(), text)
        for word, text in seen.items():
            words.setdefault(word, []).append((passage, text))
    # Rare is a word of exactly two passages; it is what they have in common.
    shared = [(word, places) for word, places in words.items() if len(places) == 2]
    told: set[tuple[str, str]] = set()
    for word, places in _shuffled(shared, seed, lambda one: one[0]):
        pair = places[0][0].id, places[1][0].id
        if pair not in told:
            told.add(pair)
            reference = " ".join(text for _, text in places)
            yield _Asked(
                f"What do different passages say about “{word}”? Name every one.",
                reference,
                tuple(passage for passage, _ in places),
            )


def _unanswerable(passages: Sequence[Passage], seed: int) -> Iterator[_Asked]:
    for passage, _, gap, value in _gaps(passages, seed + 1):
        others = [p for p in passages if p.id != passage.id and value.casefold() not in p.text.casefold()]
        if others:
            beside = _shuffled(others, seed, lambda one: one.id)[:_OTHERS]
            yield _Asked(f"What belongs into the gap: “{gap}”", "", tuple(beside))


def _none(passages: Sequence[Passage], seed: int) -> Iterator[_Asked]:  # noqa: ARG001 - as the others
    return iter(())


_BY_RULE: dict[str, Callable[[Sequence[Passage], int], Iterator[_Asked]]] = {
    "fact_single": _single,
    "summary": _summary,
    "reasoning": _none,
    "multi_hop": _multi_hop,
    "unanswerable": _unanswerable,
}


def _written(
    passages: Sequence[Passage], per_type: int, seed: int, writer: Judge
) -> tuple[dict[str, list[_Asked]], dict[str, str]]:
    found: dict[str, list[_Asked]] = {kind: [] for kind in TYPES}
    why: dict[str, str] = {}
    asked, failures = 0, list[JudgeError]()
    for number, kind in enumerate(TYPES):
        seen: set[str] = set()
        for sources in _sources(kind, passages, per_type, seed + number):
            asked += 1
            texts = [{"title": p.title or "", "text": p.text} for p in sources]
            try:
                said = writer.ask(WRITE, {"type": kind, "passages": texts})
            except JudgeError as error:
                failures.append(error)
                why[kind] = f"the writer failed: {error}"
                continue
            told = bool(said.answer.strip())
            if said.question in seen or told == (kind == "unanswerable"):
                why.setdefault(kind, "the writer repeated itself, or answered what has no answer")
                continue
            seen.add(said.question)
            found[kind].append(_Asked(said.question, said.answer, sources))
        why.setdefault(kind, "there are too few passages")
    if failures and len(failures) == asked:
        raise failures[0]
    return found, why


def _sources(kind: str, passages: Sequence[Passage], count: int, seed: int) -> Iterator[tuple[Passage, ...]]:
    """Which passages to ask about: one each, or pairs for questions that need two."""
    order = _shuffled(passages, seed, lambda one: one.id)
    if kind != "multi_hop":
        for passage in order[:count]:
            yield (passage,)
        return
    # Neighbours in the order first: no passage is in every pair.
    pairs = sorted(combinations(range(len(order)), 2), key=lambda pair: (pair[1] - pair[0], pair[0]))
    for one, other in pairs[:count]:
        yield order[one], order[other]
