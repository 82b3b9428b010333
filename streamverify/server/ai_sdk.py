"""The AI SDK's UI message stream, version 1: badges with an unmodified `useChat`.

    start, source-document …                       one a passage
    text-start, text-delta …, text-end             what a reader may see
    data-streamverify {id: "s0"}                   state pending, then the verdict in its place
    data-streamverify-report, message-metadata     the report without the answer
    finish | error, then [DONE]

Where text waits for its verdict, each sentence is a text part of its own and its `text-end` carries the
label. Where text flows at once, the answer is one text part, because a sentence's end is known only
after the next one began; `data-streamverify` tells where each sentence stands in it.

Only chunks that majors 5, 6 and 7 of the npm package `ai` all accept are sent. The key `citations` on
`text-end` came with 7 and ends the whole stream in releases of 6, so it must be asked for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from streamverify.events import (
    Event,
    FinalEvent,
    SentenceClosed,
    SentenceJudged,
    SentenceRevised,
    StreamFailed,
    StreamOpened,
    TextReleased,
)
from streamverify.files.jsonl import json_text
from streamverify.server.encoding import Message
from streamverify.server.native import shown
from streamverify.types import Label, Passage, Report, Sentence, Verdict

_WHOLE = "t0"
"""Id of the one text part of an answer that flows."""


@dataclass(frozen=True, slots=True)
class AiSdk:
    """`ai-sdk` on the wire."""

    major: Literal[5, 6, 7] = 5
    """Oldest major version of `ai` among the clients; 7 adds `citations` to `text-end`."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The protocol's version."""
        return MappingProxyType({"x-vercel-ai-ui-message-stream": "v1"})

    def encoder(self, run: str, passages: Sequence[Passage] | None) -> _AiSdkEncoder:
        """One for the run."""
        return _AiSdkEncoder(run, passages, citations=self.major >= 7)


class _AiSdkEncoder:
    def __init__(self, run: str, passages: Sequence[Passage] | None, *, citations: bool) -> None:
        self._run, self._passages, self._citations = run, passages, citations
        self._titles: dict[str, str] = {}
        self._open: str | None = None
        self._waiting: deque[Sentence] = deque()  # closed, their text not all shown
        self._sentences: dict[int, Sentence] = {}  # closed, and their last verdict not told yet
        self._verdicts: dict[int, SentenceJudged | SentenceRevised] = {}  # judged, their text not all shown
        self._flow = _Utf16()
        self._cited: dict[int, list[dict[str, Any]]] = {}  # of the one text part, by sentence

    def encode(self, event: Event) -> list[Message]:
        """The event as chunks of the stream."""
        match event:
            case StreamOpened():
                return self._start(event)
            case TextReleased():
                held = self._waiting and event.span.start < self._waiting[-1].end
                return self._held(event) if held else self._flowing(event)
            case SentenceClosed():
                return [self._pending(event.sentence)]
            case SentenceJudged() | SentenceRevised():
                return [self._judged(event)]
            case _:
                return self._end(event)

    def _start(self, event: StreamOpened) -> list[Message]:
        chunks = [_chunk("start", messageId=self._run)]
        for passage in event.passages:
            title = self._titles[passage.id] = passage.title or passage.id
            chunks.append(_chunk("source-document", sourceId=passage.id, mediaType="text/plain", title=title))
        if self._passages is not None:
            chunks.append(_data("streamverify-passages", "passages", shown(self._passages)["passages"]))
        return chunks

    def _flowing(self, event: TextReleased) -> list[Message]:
        self._flow.extend(event.text)
        if not event.text:
            return []
        begin = [] if self._open else [_chunk("text-start", id=_WHOLE)]
        self._open = _WHOLE
        return [*begin, _chunk("text-delta", id=_WHOLE, delta=event.text)]

    def _held(self, event: TextReleased) -> list[Message]:
        sentence = self._waiting[0]
        part = f"s{sentence.index}"
        chunks: list[Message] = []
        if self._open is None:
            self._open = part
            self._flow = _Utf16()
            chunks.append(_chunk("text-start", id=part))
        self._flow.extend(event.text)
        if event.text:
            chunks.append(_chunk("text-delta", id=part, delta=event.text))
        if event.span.end >= sentence.end:
            self._waiting.popleft()
            self._open = None
            verdict = self._verdicts.pop(sentence.index, None)
            chunks.append(self._text_end(part, verdict, self._citations_of(verdict, 0, self._flow.length)))
        return chunks

    def _pending(self, sentence: Sentence) -> Message:
        self._sentences[sentence.index] = sentence
        if self._open != _WHOLE:
            self._waiting.append(sentence)
        return _data("streamverify", f"s{sentence.index}", {"state": "pending", **self._place(sentence)})

    def _judged(self, event: SentenceJudged | SentenceRevised) -> Message:
        """A verdict; a later one has the same id, which puts it in the place of the one before."""
        sentence = self._sentences[event.index]
        if not event.provisional:
            del self._sentences[event.index]
        place = self._place(sentence)
        if self._open == _WHOLE:
            self._cited[event.index] = self._citations_of(event, *place["utf16"])
        else:
            self._verdicts[event.index] = event
        verdict = event.model_dump(mode="json", exclude={"kind", "seq", "at_ms", "index"})
        return _data("streamverify", f"s{event.index}", {"state": event.label, **place, **verdict})

    def _end(self, event: FinalEvent) -> list[Message]:
        cited = [one for index in sorted(self._cited) for one in self._cited[index]]
        chunks = [self._text_end(self._open, None, cited)] if self._open else []
        summary = _summary(event.report)
        chunks += [
            _data("streamverify-report", "report", summary),
            _chunk("message-metadata", messageMetadata={"streamverify": summary}),
        ]
        if isinstance(event, StreamFailed):
            chunks.append(_chunk("error", errorText=event.error))
        else:
            chunks.append(_chunk("finish"))
        return [*chunks, Message("[DONE]")]

    def _place(self, sentence: Sentence) -> dict[str, Any]:
        place: dict[str, Any] = {"index": sentence.index, "start": sentence.start, "end": sentence.end}
        if self._open == _WHOLE:
            place["part"] = _WHOLE
            # What JavaScript counts in; start and end count code points, as everywhere else.
            place["utf16"] = [self._flow.at(sentence.start), self._flow.at(sentence.end)]
        else:
            place["part"] = f"s{sentence.index}"
        return place

    def _text_end(self, part: str, verdict: Verdict | None, cited: list[dict[str, Any]]) -> Message:
        fields: dict[str, Any] = {"id": part}
        if verdict is not None:
            about = {"index": verdict.index, "label": verdict.label, "score": verdict.score}
            fields["providerMetadata"] = {"streamverify": about}
        if self._citations and cited:
            fields["citations"] = cited
        return _chunk("text-end", **fields)

    def _citations_of(self, verdict: Verdict | None, start: int, end: int) -> list[dict[str, Any]]:
        if verdict is None or verdict.label is not Label.SUPPORTED:
            return []
        return [
            {
                "source": {
                    "type": "source",
                    "sourceType": "document",
                    "id": evidence.passage,
                    "mediaType": "text/plain",
                    "title": self._titles.get(evidence.passage, evidence.passage),
                },
                "startIndex": start,
                "endIndex": end,
                "citedText": evidence.text,
            }
            for evidence in verdict.evidence
            if evidence.label is Label.SUPPORTED
        ]


class _Utf16:
    """Places in a growing text, counted the way JavaScript counts."""

    def __init__(self) -> None:
        self._length = 0
        self._astral: list[int] = []  # code points that take two units

    @property
    def length(self) -> int:
        """Units of the whole text."""
        return self.at(self._length)

    def extend(self, text: str) -> None:
        """Put text after what is there."""
        if not text.isascii():
            self._astral += [self._length + at for at, char in enumerate(text) if char > "\uffff"]
        self._length += len(text)

    def at(self, position: int) -> int:
        """Units before the code point at `position`."""
        return position + bisect_left(self._astral, position)


def _summary(report: Report) -> dict[str, Any]:
    return report.model_dump(
        mode="json",
        include={"outcome", "counts", "grounding_score", "citation_accuracy", "timings", "error"},
    )


def _chunk(kind: str, **fields: Any) -> Message:
    return Message(json_text({"type": kind, **fields}))


def _data(name: str, identity: str, value: object) -> Message:
    return _chunk(f"data-{name}", id=identity, data=value)
