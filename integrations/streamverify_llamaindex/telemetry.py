"""Verdicts in LlamaIndex's instrumentation: what the engines tell its dispatcher, and a handler that counts.

The dispatcher is for telemetry only. Its events reach handlers apart from the answer, and the model's lazy
events cannot be told apart by their tags, so a handler cannot verify: the engines do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index_instrumentation import get_dispatcher
from pydantic import PrivateAttr

from streamverify import Label, Report, SentenceJudged, SentenceRevised


class SentenceChecked(BaseEvent):
    """A verdict on one sentence of an answer."""

    index: int
    label: str
    score: float | None
    """Calibrated P(supported), 0-1; None where there is none."""
    latency_ms: float
    text: str
    """The sentence as generated; masked, a character for each, where the policy holds text."""
    provisional: bool = False
    """Another scorer is being asked; its verdict on the same sentence follows."""

    @classmethod
    def class_name(cls) -> str:
        """The event's name."""
        return "SentenceChecked"


class AnswerChecked(BaseEvent):
    """The report on one answer."""

    outcome: str
    grounding_score: float | None
    citation_accuracy: float | None
    counts: dict[str, int]
    """Sentences by label."""

    @classmethod
    def class_name(cls) -> str:
        """The event's name."""
        return "AnswerChecked"


class GroundingEventHandler(BaseEventHandler):
    """Counts verdicts and answers over all verifying engines, and passes their events on.

    Add it to the root dispatcher: `get_dispatcher().add_event_handler(GroundingEventHandler())`.
    """

    _told: Callable[[SentenceChecked | AnswerChecked], object] | None = PrivateAttr(default=None)
    _labels: Counter[str] = PrivateAttr(default_factory=Counter)
    _outcomes: Counter[str] = PrivateAttr(default_factory=Counter)

    def __init__(
        self, told: Callable[[SentenceChecked | AnswerChecked], object] | None = None, **fields: Any
    ) -> None:
        """Nothing was counted yet.

        Args:
            told: called with each of these events; it must be quick, for the stream waits.
            fields: the base class's.
        """
        super().__init__(**fields)
        self._told = told

    @classmethod
    def class_name(cls) -> str:
        """The handler's name."""
        return "GroundingEventHandler"

    def handle(self, event: BaseEvent, **_: Any) -> None:
        """Take one event; others than the two pass by."""
        if isinstance(event, SentenceChecked):
            self._labels[event.label] += not event.provisional
        elif isinstance(event, AnswerChecked):
            self._outcomes[event.outcome] += 1
        else:
            return
        if self._told is not None:
            self._told(event)

    @property
    def labels(self) -> dict[Label, int]:
        """Sentences by label; every label is present."""
        return {label: self._labels[label.value] for label in Label}

    @property
    def outcomes(self) -> dict[str, int]:
        """Answers by outcome: `finished`, `halted`, `failed`."""
        return dict(self._outcomes)


def dispatch_verdict(event: SentenceJudged | SentenceRevised, text: str) -> None:
    """Tell the dispatcher of a verdict."""
    get_dispatcher(__name__).event(
        SentenceChecked(
            index=event.index,
            label=event.label.value,
            score=event.score,
            latency_ms=event.latency_ms,
            text=text,
            provisional=event.provisional,
        )
    )


def dispatch_report(report: Report) -> None:
    """Tell the dispatcher of a report."""
    get_dispatcher(__name__).event(
        AnswerChecked(
            outcome=report.outcome,
            grounding_score=report.grounding_score,
            citation_accuracy=report.citation_accuracy,
            counts={label.value: count for label, count in report.counts.items()},
        )
    )
