"""The metrics that Prometheus is given: names, help, labels and every value a label may have.

Before: `prometheus.py` makes them, alert rules and dashboards name them. After: a law in the tests compares.

A label's value is a word of a closed list. No id, no name and no text is among them: what users can vary
would grow the number of series without bound, and would leave the house with the metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from streamverify.reasons import UncheckedReason
from streamverify.types import Action, CitationFinding, FindingKind, Label, Outcome

OTHER = "other"
"""What a policy of the application's own is called."""
POLICIES = ("observe", "flag", "redact", "halt", "annotate", "repair", OTHER)
NO_REASON = "none"
"""Where a verdict gives no reason."""


@dataclass(frozen=True, slots=True)
class MetricFamily:
    """One metric."""

    name: str
    """Without the endings that Prometheus adds (`_total`, `_bucket` …)."""
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Label to every value it may have."""
    buckets: tuple[float, ...] = ()
    """Upper ends; of a histogram."""

    @property
    def series(self) -> tuple[str, ...]:
        """The names by which Prometheus asks for it."""
        match self.kind:
            case "counter":
                return (f"{self.name}_total",)
            case "gauge":
                return (self.name,)
            case "histogram":
                return tuple(f"{self.name}_{ending}" for ending in ("bucket", "sum", "count"))


def _words(enum: type[Label | Action | CitationFinding | FindingKind]) -> tuple[str, ...]:
    return tuple(member.value for member in enum)


_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

STREAMS = MetricFamily(
    "streamverify_streams", "counter", "Streams that ended.", {"outcome": get_args(Outcome)}
)
OPEN_STREAMS = MetricFamily("streamverify_open_streams", "gauge", "Streams that run now.")
SENTENCES = MetricFamily(
    "streamverify_sentences",
    "counter",
    "Sentences of ended streams, by their last label.",
    {"label": _words(Label), "policy": POLICIES},
)
ACTIONS = MetricFamily(
    "streamverify_actions", "counter", "What policies did with sentences.", {"action": _words(Action)}
)
CITATIONS = MetricFamily(
    "streamverify_citations",
    "counter",
    "Citations, by what was found out.",
    {"finding": _words(CitationFinding)},
)
FINDINGS = MetricFamily(
    "streamverify_findings",
    "counter",
    "What deterministic checks noticed.",
    {"kind": _words(FindingKind)},
)
FAILURES = MetricFamily(
    "streamverify_scoring_failures",
    "counter",
    "Sentences that could not be verified, by why.",
    {"reason": (*get_args(UncheckedReason), NO_REASON)},
)
LAG = MetricFamily(
    "streamverify_verdict_lag_seconds",
    "histogram",
    "From a sentence's close to its verdict.",
    buckets=_SECONDS,
)
PREPARATION = MetricFamily(
    "streamverify_preparation_seconds",
    "histogram",
    "From a stream's opening until its passages were encoded.",
    buckets=_SECONDS,
)
SCORE = MetricFamily(
    "streamverify_answer_grounding_score",
    "histogram",
    "Mean probability, 0-1, that the passages support an answer's claims; answers with a scored claim only.",
    buckets=tuple(tenth / 10 for tenth in range(1, 11)),
)
OBSERVER_DROPS = MetricFamily(
    "streamverify_observer_dropped",
    "counter",
    "Calls that observers were never given: a queue was full, or the verifier was closed first.",
)
RECORD_DROPS = MetricFamily(
    "streamverify_records_dropped", "counter", "Openings and ends of streams that no record was kept of."
)
CACHE = MetricFamily(
    "streamverify_window_cache_bytes", "gauge", "Memory taken by encoded passages kept between streams."
)

FAMILIES = (
    STREAMS, OPEN_STREAMS, SENTENCES, ACTIONS, CITATIONS, FINDINGS, FAILURES, LAG, PREPARATION, SCORE,
    OBSERVER_DROPS, RECORD_DROPS, CACHE,
)  # fmt: skip


def policy_word(policy: str) -> str:
    """The label of a policy: its name where it is one of this library's."""
    return policy if policy in POLICIES else OTHER
