"""Verdicts and reports as LangChain's custom events, and how a caller gets them back."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterator, Sequence
from typing import Any, TypeVar
from uuid import UUID

from langchain_core.callbacks import (
    BaseCallbackHandler,
    adispatch_custom_event,
    dispatch_custom_event,
)
from langchain_core.runnables import RunnableConfig

from streamverify import (
    Event,
    Report,
    Sentence,
    SentenceClosed,
    SentenceJudged,
    SentenceRevised,
    StreamFailed,
    StreamFinished,
    StreamHalted,
)
from streamverify.adapters import ChannelKey, Redactor, VerifiedChunks, VerifiedSyncChunks

T = TypeVar("T")

VERDICT = "streamverify.verdict"
"""Name of the event that tells the verdict on one sentence."""

REVISION = "streamverify.revision"
"""Name of the event that tells a later verdict, in the place of one that was `provisional`."""

REPORT = "streamverify.report"
"""Name of the event that tells the report, last."""

Announcement = tuple[str, dict[str, Any]]


class Announcer:
    """Turns the events of one call into custom events, as a reader may see them.

    Under a policy that holds text they carry none of the answer but what was released: a listener must not
    learn from a verdict what a reader may not see. The messages of errors stay out under every policy.
    """

    def __init__(self, *, holds: bool, heard: bool = True) -> None:
        """Nothing was told yet.

        Args:
            holds: whether the policy holds text.
            heard: whether anybody listens; where nobody does, nothing is made.
        """
        self._holds, self._heard = holds, heard
        self._redactors: dict[ChannelKey, Redactor] = {}
        self._sentences: dict[tuple[ChannelKey, int], Sentence] = {}
        self._waiting: list[Announcement] = []

    def __call__(self, key: ChannelKey, event: Event) -> None:
        """Take an event as it happens."""
        if not self._heard:
            return
        if key not in self._redactors:
            self._redactors[key] = Redactor(reveal=not self._holds)
        for told in self._redactors[key](event):
            if isinstance(told, SentenceClosed):
                self._sentences[key, told.sentence.index] = told.sentence
            elif isinstance(told, SentenceJudged):
                self._waiting.append((VERDICT, self._verdict(key, told)))
            elif isinstance(told, SentenceRevised):
                self._waiting.append((REVISION, self._verdict(key, told)))
            elif isinstance(told, StreamFinished | StreamHalted | StreamFailed):
                self._waiting.append((REPORT, told.report.model_dump(mode="json")))

    @property
    def waiting(self) -> bool:
        """Whether there is something to tell."""
        return bool(self._waiting)

    async def adispatch(self, config: RunnableConfig) -> None:
        """Tell what was not told yet, in order, to the listeners of this config."""
        for name, data in self.take():
            await adispatch_custom_event(name, data, config=config)

    def dispatch(self, config: RunnableConfig) -> None:
        """As `adispatch`, without an event loop."""
        for name, data in self.take():
            dispatch_custom_event(name, data, config=config)

    def take(self) -> Iterator[Announcement]:
        """What was not told yet, in order."""
        waiting, self._waiting = self._waiting, []
        return iter(waiting)

    def _verdict(self, key: ChannelKey, event: SentenceJudged | SentenceRevised) -> dict[str, Any]:
        """A verdict as JSON: the event's fields, with its sentence's place and, where text flows, its text.

        A verdict comes before its sentence was released, so where text is held there is no text to tell yet.
        """
        sentence = self._sentences[key, event.index]
        if not event.provisional:
            del self._sentences[key, event.index]
        data = event.model_dump(mode="json", exclude={"kind", "seq"})
        data |= {"start": sentence.start, "end": sentence.end}
        return data if self._holds else {**data, "text": sentence.text}


async def atold(
    chunks: VerifiedChunks[T], announcer: Announcer, config: RunnableConfig
) -> AsyncGenerator[T, None]:
    """The chunks, with what is to be told told before the chunk that comes after it, and at the end."""
    async with chunks:
        try:
            async for chunk in chunks:
                if announcer.waiting:  # not after most chunks
                    await announcer.adispatch(config)
                yield chunk
        except Exception:
            await announcer.adispatch(config)
            raise
    await announcer.adispatch(config)


def told(
    chunks: VerifiedSyncChunks[T], announcer: Announcer, config: RunnableConfig
) -> Generator[T, None, None]:
    """As `atold`, without an event loop."""
    with chunks:
        try:
            for chunk in chunks:
                announcer.dispatch(config)
                yield chunk
        except Exception:
            announcer.dispatch(config)
            raise
    announcer.dispatch(config)


class ReportCollector(BaseCallbackHandler):
    """Keeps the reports of the calls it is handed to: `invoke(..., config={"callbacks": [collector]})`.

    They are as a reader may see them: under a policy that holds text with what was not released masked.
    """

    run_inline = True  # told before the call returns
    raise_error = True
    ignore_llm = ignore_chat_model = ignore_chain = ignore_agent = ignore_retriever = ignore_retry = True

    def __init__(self) -> None:
        """Nothing was told yet."""
        self._reports: list[Report] = []

    @property
    def reports(self) -> Sequence[Report]:
        """Every report so far, in the order the answers ended."""
        return tuple(self._reports)

    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **_: Any) -> None:  # noqa: ARG002
        """Keep a report."""
        if name == REPORT:
            self._reports.append(Report.model_validate(data))
