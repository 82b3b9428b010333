"""One answer to be measured, and what is known about it.

Before: a row of a dataset, or code. After: metrics read it beside the report.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from streamverify.errors import UsageError
from streamverify.events import PassageSummary
from streamverify.types import CitationFinding, Fingerprint, Label, Passage, Report

LATENCIES = ("retrieval", "first_token", "generation", "verification", "total")
"""What a case may tell the milliseconds of; the total is measured, never a sum of parts that overlap."""

GRADES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "helpfulness": ("1", "2", "3", "4", "5"),
        "correctness": ("1", "2", "3", "4", "5"),
        "relevance": ("1", "2", "3", "4", "5"),
        "non_fabrication": ("major", "minor", "none"),
    }
)
"""Criterion of a whole answer to its grades, worst first."""

SHARES = ("groundedness",)
"""Criteria of a whole answer that are told as a number from 0 to 1."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class LabelledCitation:
    """What a careful reader says about a marker of a sentence."""

    marker: str
    cites: tuple[str, ...] = ()
    finding: CitationFinding | None = None


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """A sentence of the answer, without list and heading marks, and its label by hand."""

    text: str
    label: Label
    evidence: tuple[str, ...] = ()
    """Ids of the passages that show it."""
    needs: int = 1
    """How many of them it takes."""
    citations: tuple[LabelledCitation, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """A stream that was verified before: what its first and its last event tell."""

    passages: tuple[PassageSummary, ...]
    policy: str
    fingerprint: Fingerprint
    report: Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One answer to be measured, with whatever is known about it; what is not known is None or empty."""

    id: str
    """Pairs the case with itself in another run; unique in its dataset."""
    question: str | None = None
    answer: str | None = None
    passages: tuple[Passage, ...] | None = None
    """None where the texts are not known; empty where nothing was retrieved."""
    retrieved: tuple[str, ...] | None = None
    """Ids as the retriever ranked them, best first."""
    scores: tuple[float, ...] | None = None
    """The retriever's scores, in the order of `retrieved`; metrics go by the ranks."""
    relevant: Mapping[str, float] | None = None
    """Id to gain; above 0 is relevant."""
    reference: str | None = None
    """An answer that is right."""
    claims: tuple[tuple[str, str], ...] = ()
    """Labelled claims of the answer: text, and id of the passage to cite for it."""
    conflicts: tuple[tuple[str, str], ...] | None = None
    """Pairs of passages that are known to contradict each other."""
    expected: Literal["answer", "refuse"] | None = None
    labels: tuple[LabelledSentence, ...] = ()
    judgments: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    """Criterion to what a person judged of the whole answer, by the words of `GRADES` or as a number."""
    latency_ms: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    """Measured by whoever recorded the answer, by the names of `LATENCIES`."""
    category: str | None = None
    difficulty: str | None = None
    domain: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    recording: Recording | None = None

    @property
    def passage_ids(self) -> tuple[str, ...] | None:
        """Ids of what the answer could rest on; None where they are not known."""
        if self.passages is not None:
            return tuple(passage.id for passage in self.passages)
        return None if self.recording is None else tuple(p.id for p in self.recording.passages)

    @property
    def ranked(self) -> tuple[str, ...] | None:
        """Ids as retrieved, best first: `retrieved`, or the passages in their order."""
        return self.retrieved if self.retrieved is not None else self.passage_ids

    @property
    def asked(self) -> str:
        """SHA-256 of what was asked and what is known to be right; another answer does not change it."""
        relevant = None if self.relevant is None else dict(self.relevant)
        content = [self.id, self.question, self.reference, relevant, self.expected, self.category]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @property
    def question_digest(self) -> str:
        """16 hex digits of what the question is under this id; empty where there is none to tell."""
        if self.question is None:
            return ""
        told = f"{self.id}\0{self.question}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(told).hexdigest()[:16]

    @property
    def digest(self) -> str:
        """SHA-256 of everything but the recording, which tells the verdicts and not the case."""
        content = {
            "id": self.id,
            "question": self.question,
            "answer": self.answer,
            "passages": None
            if self.passages is None
            else [[p.id, p.text, p.title, dict(p.metadata)] for p in self.passages],
            "retrieved": self.retrieved,
            "scores": self.scores,
            "relevant": None if self.relevant is None else dict(self.relevant),
            "reference": self.reference,
            "claims": self.claims,
            "conflicts": self.conflicts,
            "expected": self.expected,
            "labels": [_label_content(sentence) for sentence in self.labels],
            "latency_ms": dict(self.latency_ms),
            "category": self.category,
            "difficulty": self.difficulty,
            "domain": self.domain,
            "metadata": dict(self.metadata),
        }
        if self.judgments:  # a case without any keeps the digest that it had before there were any
            content["judgments"] = dict(self.judgments)
        try:
            written = json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise UsageError(f"case {self.id!r}: its metadata cannot be written as JSON: {error}") from None
        return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()


def _label_content(sentence: LabelledSentence) -> list[object]:
    citations = [[c.marker, c.cites, c.finding] for c in sentence.citations]
    return [sentence.text, sentence.label, sentence.evidence, sentence.needs, citations]
