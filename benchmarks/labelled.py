"""Labelled sets as items to verify: whole answers with labelled sentences, or claims with a premise."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamverify import CitationFinding, Passage
from streamverify.demo import case_ids, load_case

CLAIM_LABELS = {
    "entail": "supported",
    "neutral": "unsupported",
    "contradict": "contradicted",
    "not_entail": "not_supported",
}


@dataclass(frozen=True, slots=True)
class GoldCitation:
    """A labelled marker; offsets in the answer."""

    start: int
    end: int
    finding: CitationFinding


@dataclass(frozen=True, slots=True)
class Gold:
    """A labelled stretch of the answer."""

    start: int
    end: int
    label: str
    """`supported`, `unsupported`, `contradicted`, `no_claim`, or `not_supported` where only that is known."""
    kind: str = ""
    spans: tuple[tuple[int, int], ...] | None = None
    """Unsupported spans in the answer; None where the set has none."""
    citations: tuple[GoldCitation, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """What is verified in one go."""

    id: str
    passages: tuple[Passage, ...]
    answer: str
    gold: tuple[Gold, ...]
    question: str | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named set."""

    name: str
    items: Sequence[Item] = field(repr=False)


def read(path: Path, limit: int | None = None) -> Dataset:
    """A set from JSON Lines, gzipped or not; at most `limit` items, chosen by a fixed seed."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")
    items = [_item(row) for row in rows if row.get("premise", " ")]
    if limit is not None and len(items) > limit:
        items = random.Random(1).sample(items, limit)
    return Dataset(name, items)


def _item(row: dict[str, Any]) -> Item:
    if "sentences" in row:
        return case(row)
    return joined(row) if "claims" in row else claim(row)


def bundled() -> Dataset:
    """The demo cases with their hand labels."""
    items = []
    for name in case_ids():
        made = load_case(name)
        gold = tuple(
            Gold(span.start, span.end, str(sentence.label), kind=made.domain)
            for span, sentence in zip(made.spans(), made.sentences, strict=True)
        )
        items.append(Item(made.id, made.sources(), made.answer, gold, made.question))
    return Dataset("bundled cases", items)


def case(row: dict[str, Any]) -> Item:
    """A whole answer; labelled sentences are found in it in order."""
    passages = tuple(Passage(p["id"], p["text"], p.get("title")) for p in row["passages"])
    return Item(row["id"], passages, row["answer"], tuple(_sentences(row)), row.get("question"))


def _sentences(row: dict[str, Any]) -> Iterator[Gold]:
    at = 0
    for sentence in row["sentences"]:
        start = row["answer"].index(sentence["text"], at)
        at = start + len(sentence["text"])
        spans = []
        for text in sentence.get("unsupported_spans", ()):
            place = start + sentence["text"].index(text)
            spans.append((place, place + len(text)))
        citations = []
        place = 0
        for citation in sentence.get("citations", ()):
            place = sentence["text"].index(citation["marker"], place)
            end = place + len(citation["marker"])
            citations.append(GoldCitation(start + place, start + end, CitationFinding(citation["verdict"])))
            place = end
        yield Gold(start, at, sentence["label"], sentence.get("kind", ""), tuple(spans), tuple(citations))


def joined(row: dict[str, Any]) -> Item:
    """A case of `training/sets/`: its claims are the sentences of one answer, in order."""
    gold, at = [], 0
    for one in row["claims"]:
        end = at + len(one["claim"])
        label = CLAIM_LABELS.get(one["label"], one["label"])
        marked = [(at + one["claim"].index(text), text) for text in one.get("spans", ())]
        spans = tuple((start, start + len(text)) for start, text in marked)
        gold.append(Gold(at, end, label, str(one.get("kind") or ""), spans or None))
        at = end + 1
    passages = tuple(
        Passage(p.get("id", f"p{n}"), p["text"], p.get("title")) for n, p in enumerate(row["passages"], 1)
    )
    answer = " ".join(one["claim"] for one in row["claims"])
    return Item(row["id"], passages, answer, tuple(gold), row.get("question"))


def claim(row: dict[str, Any]) -> Item:
    """One claim with its premise as the only passage (or the passages the row names)."""
    text = row["claim"]
    passages = row.get("passages") or [row["premise"]]
    spans = tuple((a, b) for a, b in row["spans"]) if "spans" in row else None
    label = CLAIM_LABELS.get(row["label"], row["label"])
    gold = Gold(0, len(text), label, str(row.get("kind") or ""), spans)
    made = tuple(Passage(f"p{n}", passage) for n, passage in enumerate(passages, 1))
    return Item(row["id"], made, text, (gold,))
