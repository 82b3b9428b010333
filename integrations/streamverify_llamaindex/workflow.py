"""Verdicts as events of a LlamaIndex workflow."""

from __future__ import annotations

from collections.abc import Callable

from workflows import Context
from workflows.events import Event as WorkflowEvent

from streamverify import Event, SentenceClosed, SentenceJudged, SentenceRevised, StreamOpened
from streamverify.adapters import Redactor


class SentenceVerdictEvent(WorkflowEvent):
    """A verdict on one sentence, for those who read a workflow's `stream_events()`."""

    index: int
    text: str
    """The sentence as generated; masked, a character for each, where the policy holds text."""
    start: int
    """Where it stands in the answer as generated, in characters."""
    end: int
    label: str
    score: float | None
    """Calibrated P(supported), 0-1; None where there is none."""
    evidence: list[str]
    """Ids of the nodes that speak for or against it, best first."""
    provisional: bool = False
    """Another scorer is being asked; its verdict on the same sentence follows."""


def verdicts_to(context: Context) -> Callable[[Event], None]:
    """An `on_event` for a verifying engine that writes every verdict to the workflow's event stream.

    Args:
        context: of the step that reads the answer.
    """
    sentences: dict[int, SentenceClosed] = {}
    redactor = Redactor()

    def tell(event: Event) -> None:
        nonlocal redactor
        if isinstance(event, StreamOpened):  # of the next answer
            redactor = Redactor()
        for seen in redactor(event):
            write(seen)

    def write(event: Event) -> None:
        if isinstance(event, SentenceClosed):
            sentences[event.sentence.index] = event
        elif isinstance(event, SentenceJudged | SentenceRevised):
            sentence = sentences[event.index].sentence
            if not event.provisional:
                del sentences[event.index]
            context.write_event_to_stream(
                SentenceVerdictEvent(
                    index=event.index,
                    text=sentence.text,
                    start=sentence.start,
                    end=sentence.end,
                    label=event.label.value,
                    score=event.score,
                    evidence=list(dict.fromkeys(evidence.passage for evidence in event.evidence)),
                    provisional=event.provisional,
                )
            )

    return tell
