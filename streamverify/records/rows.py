"""One stream as rows: pure.

Before: `store.py` hands over what an observer was told. After: `writer.py` writes the rows.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from streamverify.figure import NotComputed
from streamverify.observe import Opening
from streamverify.pii import PiiDetector, blocked, redacted_report
from streamverify.pii.items import BLOCK
from streamverify.provenance import Visibility
from streamverify.records import chain, schema
from streamverify.records.digests import cleaned, digest, salt
from streamverify.records.sources import SourceChunk, chunk_from, passage_id
from streamverify.types import Citation, FindingKind, JudgedSentence, Label, Passage, Report
from streamverify.validators import Outcome

Keep = Literal["text", "redacted", "hashes"]
"""What is kept of texts: themselves, themselves without personal data, or their digests alone."""
KEEPS: tuple[str, ...] = get_args(Keep)

Rows = dict[str, list[dict[str, Any]]]
"""Table to rows."""

GROUNDING = "grounding"
"""The criterion of the model's verdict on a sentence."""

BY_SENTENCE = "@sentence"
"""What follows a rule's name where it was held to a sentence by itself; figures of answers stay apart."""

_LETTER = re.compile(r"[^\W\d_]")
_PASSED = {Label.SUPPORTED: True, Label.CONTRADICTED: False, Label.UNSUPPORTED: False}
"""Whether a verdict says that a sentence passed; nothing is said where nothing was checked."""
_UNDECIDED = frozenset({FindingKind.LANGUAGE, FindingKind.TOO_LONG})
"""Findings that say why nothing was checked."""


@dataclass(slots=True)
class OpenStream:
    """A stream that runs: what its later rows need of its opening."""

    id: uuid.UUID
    opening: Opening
    passages: list[Passage]
    """All that were retrieved so far."""
    at: datetime
    tenant: str
    keep: Keep
    unsaid: Visibility
    salt: str
    scores: Mapping[str, float]
    detector: PiiDetector
    """Finds personal data, where it is not kept."""
    retrievals: int = 0
    chunks: dict[str, SourceChunk] = field(default_factory=dict)
    """By the passage's id in the stream."""
    late: list[tuple[int, list[SourceChunk]]] = field(default_factory=list)
    """Retrievals that came after the opening, by number."""

    def take(self, passages: Sequence[Passage]) -> tuple[int, list[SourceChunk]]:
        """One retrieval, ranked as given."""
        hide = self.hidden if self.keep == "redacted" else None
        found = [chunk_from(p, self.tenant, self.scores.get(p.id), self.unsaid, hide) for p in passages]
        self.passages += passages
        self.chunks |= {chunk.passage: chunk for chunk in found}
        number, self.retrievals = self.retrievals, self.retrievals + 1
        return number, found

    def kept(self, text: str | None) -> str | None:
        """A text as it is stored."""
        return None if text is None or self.keep == "hashes" else self.hidden(cleaned(text))

    def hidden(self, text: str) -> str:
        """A text that stands by itself, without personal data where that is not kept."""
        return blocked(text, self.detector) if self.keep == "redacted" else text

    def digest(self, text: str | None) -> str:
        """A text's digest, of which nobody can tell the text."""
        return digest(cleaned(text or ""), self.salt)

    def sealed(self, kind: str, rows: Rows) -> Rows:
        """The rows of an entry, with the digest of their texts where these are not the original ones."""
        if self.keep == "redacted":
            rows[schema.KEPT[kind]][0]["kept_digest"] = chain.kept_digest(rows, self.salt)
        return rows

    def chunk(self, passage: str) -> uuid.UUID | None:
        """The chunk that a passage's id means; None for one that was never retrieved."""
        found = self.chunks.get(passage_id(passage))
        return None if found is None else found.id


@dataclass(frozen=True, slots=True)
class Written:
    """One entry of the chain, with its rows."""

    kind: Literal["opening", "conclusion"]
    subject: uuid.UUID
    rows: Rows
    """All but those of sources."""
    retrieved: tuple[tuple[int, list[SourceChunk]], ...]
    keep: Keep


def opening_rows(
    opening: Opening, keep: Keep, unsaid: Visibility, detector: PiiDetector
) -> tuple[OpenStream, Written]:
    """What is known when a stream begins."""
    context = opening.context
    stream = OpenStream(
        id=uuid.UUID(opening.stream),
        opening=opening,
        passages=[],
        at=opening.at.astimezone(UTC),
        tenant=cleaned(context.tenant or ""),
        keep=keep,
        unsaid=unsaid,
        salt=salt(),
        scores=context.scores,
        detector=detector,
    )
    row = {
        "id": stream.id,
        "tenant": stream.tenant,
        "opened_at": stream.at,
        "requester": _name(context.user),
        "requester_digest": stream.digest(_name(context.user)),
        "domain": _name(context.domain),
        "conversation": _name(context.conversation),
        "run": _name(context.run),
        "policy": cleaned(opening.policy),
        "fingerprint": opening.fingerprint.model_dump(mode="json"),
        "kept": keep,
        "salt": stream.salt,
        "question": stream.kept(opening.question),
        "question_digest": stream.digest(opening.question),
        "kept_digest": None,
    }
    rows: Rows = {
        "streams": [row],
        "stream_roles": [
            {"stream_id": stream.id, "role": role} for role in sorted({cleaned(r) for r in context.roles})
        ],
        "stream_tags": [
            {"stream_id": stream.id, "name": name, "value": value}
            for name, value in {cleaned(n): cleaned(v) for n, v in context.tags.items()}.items()
        ],
    }
    stream.sealed("opening", rows)
    return stream, Written("opening", stream.id, rows, (stream.take(opening.passages),), keep)


def conclusion_rows(
    stream: OpenStream, report: Report, outcomes: Sequence[tuple[int | None, Outcome]] = ()
) -> Written:
    """What is known when a stream has ended, with what the rules said of it, or of one of its sentences."""
    judged, at = report.sentences, ended_at(stream, report)
    # Digests are of what was said, texts of what is kept of it: in the whole, since items need their context.
    redacts = stream.keep == "redacted"
    shown = redacted_report(report, stream.detector, stream.passages) if redacts else report
    pairs = list(zip(judged, shown.sentences, strict=True))
    rows: Rows = {
        "conclusions": [_conclusion(stream, report, shown, at)],
        "sentences": [_sentence(stream, *pair) for pair in pairs],
        "actions": [_action(stream, *pair) for pair in pairs],
        "evidence": [row for sentence in judged for row in _evidence(stream, sentence)],
        "judgments": [
            *(row for pair in pairs for row in _judgments(stream, *pair, at)),
            *(_outcome(stream, sentence, outcome, at) for sentence, outcome in outcomes),
        ],
        "citations": [],
        "citation_passages": [],
    }
    cited = ((sentence, citation) for sentence in shown.sentences for citation in sentence.citations)
    for number, (sentence, citation) in enumerate(cited):
        rows["citations"].append(
            {
                "stream_id": stream.id,
                "number": number,
                "sentence": sentence.index,
                "marker": _marker(stream, citation),
                "start": citation.start,
                "end": citation.end,
                "finding": citation.finding.value,
                "score": citation.score,
                "better": None if citation.better is None else cleaned(citation.better),
            }
        )
        rows["citation_passages"] += [
            {
                "stream_id": stream.id,
                "citation": number,
                "rank": rank,
                "passage": passage_id(passage),
                "chunk_id": stream.chunk(passage),
            }
            for rank, passage in enumerate(citation.passages)
        ]
    stream.sealed("conclusion", rows)
    return Written("conclusion", stream.id, rows, tuple(stream.late), stream.keep)


def _marker(stream: OpenStream, citation: Citation) -> str:
    """As it was written where it names passages; else its words are blocks.

    Markers outlive the text of their answer: a name that means no passage is a part of that text alone.
    """
    marker = cleaned(citation.marker)
    named = citation.passages and all(stream.chunk(passage) for passage in citation.passages)
    return marker if named else _LETTER.sub(BLOCK, marker)


def ended_at(stream: OpenStream, report: Report) -> datetime:
    """When a stream ended; not by this machine's clock, which may go back."""
    return stream.at + timedelta(milliseconds=report.timings.total_ms)


def _outcome(stream: OpenStream, sentence: int | None, outcome: Outcome, at: datetime) -> dict[str, Any]:
    label = "not_computed" if outcome.passed is None else "passed" if outcome.passed else "failed"
    row = judgment_row(
        stream,
        sentence,
        at,
        source="rule",
        criterion=cleaned(outcome.criterion) + ("" if sentence is None else BY_SENTENCE),
        label=label,
        passed=outcome.passed,
        detail=outcome.detail,
    )
    return row | {"score": None if isinstance(outcome.score, NotComputed) else outcome.score}


def _conclusion(stream: OpenStream, report: Report, shown: Report, at: datetime) -> dict[str, Any]:
    figures = {"counts": "counts", "citations": "citation_figures", "timings": "timings", "work": "work"}
    plain = report.model_dump(mode="json", include={*figures.values(), "warnings"})
    return {
        "stream_id": stream.id,
        "concluded_at": at,
        "outcome": report.outcome,
        "error": stream.kept(shown.error),
        "error_digest": None if report.error is None else stream.digest(report.error),
        "answer": stream.kept(shown.answer),
        "answer_digest": stream.digest(report.answer),
        "released": stream.kept(shown.released),
        "released_digest": stream.digest(report.released),
        "grounding_score": report.grounding_score,
        "citation_accuracy": report.citation_accuracy,
        "figures": {name: plain[told] for name, told in figures.items()} | {"warnings": plain["warnings"]},
        "kept_digest": None,
    }


def _sentence(stream: OpenStream, sentence: JudgedSentence, shown: JudgedSentence) -> dict[str, Any]:
    return {
        "stream_id": stream.id,
        "number": sentence.index,
        "start": sentence.start,
        "end": sentence.end,
        "kind": sentence.kind.value,
        "text": stream.kept(shown.text),
        "digest": stream.digest(sentence.text),
    }


def _action(stream: OpenStream, sentence: JudgedSentence, shown: JudgedSentence) -> dict[str, Any]:
    replacement = None if sentence.replacement is None else sentence.replacement.text
    return {
        "stream_id": stream.id,
        "sentence": sentence.index,
        "action": sentence.action.value,
        "replacement": None if shown.replacement is None else stream.kept(shown.replacement.text),
        "replacement_digest": None if replacement is None else stream.digest(replacement),
    }


def _evidence(stream: OpenStream, sentence: JudgedSentence) -> list[dict[str, Any]]:
    return [
        {
            "stream_id": stream.id,
            "sentence": sentence.index,
            "rank": rank,
            "passage": passage_id(found.passage),
            "chunk_id": stream.chunk(found.passage),
            "start": found.start,
            "end": found.end,
            "score": found.score,
            "label": found.label.value,
        }
        for rank, found in enumerate(sentence.evidence)
    ]


def _judgments(
    stream: OpenStream, sentence: JudgedSentence, shown: JudgedSentence, at: datetime
) -> list[dict[str, Any]]:
    def row(
        source: str, criterion: str, label: str, passed: bool | None, *, detail: str, kept: str
    ) -> dict[str, Any]:
        return judgment_row(
            stream,
            sentence.index,
            at,
            source=source,
            criterion=criterion,
            label=label,
            passed=passed,
            detail=detail,
            kept=kept,
        )

    label = sentence.label
    verdict = row("model", GROUNDING, label.value, _PASSED.get(label), detail=sentence.why, kept=shown.why)
    verdict["score"] = sentence.score
    found = []
    for finding, kept in zip(sentence.findings, shown.findings, strict=True):
        passed = None if finding.kind in _UNDECIDED else False
        found.append(
            row("rule", finding.kind.value, "found", passed, detail=finding.detail, kept=kept.detail)
        )
    return [verdict, *found]


def judgment_row(
    stream: OpenStream,
    sentence: int | None,
    at: datetime,
    *,
    source: str,
    criterion: str,
    label: str,
    passed: bool | None,
    detail: str,
    kept: str | None = None,
) -> dict[str, Any]:
    """A judgment, as yet without who made it; `kept` is what may be stored of its detail."""
    told = detail if kept is None else kept
    return {
        "id": uuid.uuid4(),
        "stream_id": stream.id,
        "sentence": sentence,
        "at": at,
        "source": source,
        "by": None,
        "criterion": criterion,
        "label": label,
        "passed": passed,
        "score": None,
        "severity": None,
        "detail": stream.kept(told) if detail else None,
        "detail_digest": stream.digest(detail) if detail else None,
        "supersedes": None,
        "kept_digest": None,
    }


def _name(text: str | None) -> str | None:
    return None if text is None else cleaned(text)
