"""What the records answer: plain values.

Before: `reader.py`. After: an auditor, the commands.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class StreamRow:
    """One stream of a list."""

    id: uuid.UUID
    opened_at: datetime
    requester: str | None
    domain: str | None
    run: str | None
    policy: str
    outcome: str | None
    """None: it never ended in order; its process was killed, or its end was not stored."""
    grounding_score: float | None
    question: str | None
    released: str | None
    """None where no text is kept, or the stream never ended."""


@dataclass(frozen=True, slots=True)
class SentenceRow:
    """One sentence with its verdict, as judged last."""

    number: int
    text: str | None
    """None where no text is kept, or where it was withheld from the requester."""
    action: str
    label: str
    score: float | None
    source: str
    """Who judged last: `model`, or `human`."""
    replacement: str | None
    """For a repair: what was shown in its place."""


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document, and what part it had."""

    sentence: int | None
    role: str
    """`evidence`, `cited`, or `retrieved`."""
    passage: str
    uri: str
    checksum: str
    title: str | None
    page: str | None
    section: str | None
    rank: int
    score: float | None
    label: str | None
    """Of evidence its label, of a citation its finding."""
    text: str | None
    """The passage; None where no text is kept."""


@dataclass(frozen=True, slots=True)
class AccessRow:
    """Who could see a retrieved document when it was retrieved."""

    passage: str
    uri: str
    visibility: str
    owner: str | None
    roles: tuple[str, ...]
    requester: str | None
    requester_roles: tuple[str, ...]
    could_see: bool
    """Whether the stream's requester was among them."""


@dataclass(frozen=True, slots=True)
class WithheldRow:
    """A sentence that was not shown as it was generated."""

    stream: uuid.UUID
    opened_at: datetime
    requester: str | None
    sentence: int
    action: str
    label: str
    text: str | None


@dataclass(frozen=True, slots=True)
class ContentRow:
    """The structured block of an answer, and the domain that read it."""

    domain: str
    version: str
    output: str | None
    """As it was written; None where no text is kept, or there was no block."""


@dataclass(frozen=True, slots=True)
class JudgmentRow:
    """One judgment."""

    id: uuid.UUID
    stream: uuid.UUID
    sentence: int | None
    at: datetime
    source: str
    by: str | None
    criterion: str
    label: str
    passed: bool | None
    """None: nothing was checked, or there was nothing to check."""
    score: float | None
    severity: str | None
    detail: str | None
    supersedes: uuid.UUID | None
    current: bool
    """Whether no later judgment took its place."""


@dataclass(frozen=True, slots=True)
class CitedRow:
    """A document that was cited."""

    uri: str
    citations: int
    """That name it."""
    judged: int
    """Of these, whose sentence was judged."""
    correct: int
    """Of these, that it supports."""

    @property
    def accuracy(self) -> float | None:
        """Correct by judged; None where none was judged."""
        return self.correct / self.judged if self.judged else None


@dataclass(frozen=True, slots=True)
class ScopeRow:
    """A scope: a tag of documents."""

    scope: str
    retrieved: int
    """How often a document of it was retrieved for an answer; each document once an answer."""
    refused: int
    """Of these, where who asked could not see the document then."""


@dataclass(frozen=True, slots=True)
class DependencyRow:
    """A document that is cited where another one holds what is said."""

    uri: str
    """The cited one."""
    on: str
    supported: int
    """Sentences that cite the first and are supported by the second."""
    together: int
    """Sentences that cite both."""


@dataclass(frozen=True, slots=True)
class FailureRow:
    """One criterion in one run."""

    run: str
    since: datetime
    """Its first stream."""
    criterion: str
    passed: int
    failed: int
    undecided: int
    """Nothing was checked, or there was nothing to check."""

    @property
    def failure_rate(self) -> float | None:
        """Failed by decided; None where none was decided."""
        decided = self.passed + self.failed
        return self.failed / decided if decided else None


@dataclass(frozen=True, slots=True)
class BlamedRow:
    """A document behind what went wrong."""

    uri: str
    contradicted: int
    """Sentences that it contradicts, by the judgment that counts."""
    fabricated: int
    """Citations of nothing, in sentences for which it was the evidence."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """An evaluation whose figures were added."""

    id: uuid.UUID
    name: str
    digest: str
    """SHA-256 of the run's file."""
    imported_at: datetime


@dataclass(frozen=True, slots=True)
class RunFigureRow:
    """One figure of an evaluation."""

    metric: str
    value: float | None
    """None where it was not computed."""
    low: float | None
    high: float | None
    """Ends of its 95 % interval; None where there is none."""
    computed: int
    """Cases that have a figure."""
    not_computed: str | None
    """Why there is no value."""
    gaps: Mapping[str, int]
    """Why cases have no figure, and how many."""
    nothing: int
    """Of these, where there was nothing to measure."""
