"""Streams as OpenTelemetry traces.

Before: `observe.py` tells each stream, in a thread of the observer's own. After: the application's exporters.

    span of the caller                        whatever was current where the stream was made
    └─ streamverify.request                   in the proxy, whose upstream is told of it; the parent then
    └─ streamverify.stream                    from the opening to the last event
       ├─ streamverify.prepare                until claims can be judged
       ├─ streamverify.sentence               one each, from its close to its verdict
       └─ event gen_ai.evaluation.result      one an answer; one a sentence, in its span, on request

Times are those of the events, not of this thread, which may be behind.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self

from streamverify._extras import require
from streamverify.events import (
    Event,
    FinalEvent,
    SentenceClosed,
    SentenceJudged,
    SentenceRevised,
    StreamFailed,
    StreamFinished,
    StreamHalted,
)
from streamverify.monitor import conventions
from streamverify.observe import Observer, Opening
from streamverify.types import Sentence, Verdict

require("opentelemetry.trace", extra="otel", feature="streamverify.monitor.OpenTelemetryObserver")

from opentelemetry import _logs, context, trace  # noqa: E402 - after the check of the extra
from opentelemetry.trace.propagation.tracecontext import (  # noqa: E402 - as above
    TraceContextTextMapPropagator,
)

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, TracerProvider

OPEN = 10_000
"""Streams that may be open at once: one whose end was never told must not be kept for ever."""

_SCOPE = "streamverify"


@dataclass(slots=True)
class _Open:
    """A stream that runs."""

    span: Span
    inside: Context
    """With the stream's span as the current one."""
    began: int
    """Nanoseconds since 1970."""
    closed: dict[int, tuple[Sentence, int]] = field(default_factory=dict)
    """Sentences without their last verdict, and when they closed."""
    told: int = 0
    """When something was told last."""

    def at(self, ms: float) -> int:
        """The moment this many milliseconds after the opening."""
        return self.began + round(ms * 1e6)


class OpenTelemetryObserver(Observer):
    """Makes spans and evaluation events: `Verifier(observers=[OpenTelemetryObserver()])`.

    The parent of a stream's span is the span that is current where the stream is made, also through an
    adapter. Spans carry figures, labels and words of closed lists; no text of a question, a passage or an
    answer, and nobody's name, unless `text` asks for it.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        logger_provider: LoggerProvider | None = None,
        *,
        sentences: bool = True,
        sentence_events: bool = False,
        openinference: bool = False,
        text: bool = False,
    ) -> None:
        """Nothing is exported here: that is the providers' work, and they stay the caller's to shut down.

        Args:
            tracer_provider: of the spans; the application's global one by default.
            logger_provider: of the events; the application's global one by default.
            sentences: whether each sentence has a span of its own.
            sentence_events: whether each sentence has an event `gen_ai.evaluation.result` too.
            openinference: also put OpenInference's attributes on the spans.
            text: put question, sentences, released text and explanations in; they may be personal data.
        """
        from streamverify import __version__  # noqa: PLC0415 - read when needed

        tracers = tracer_provider if tracer_provider is not None else trace.get_tracer_provider()
        loggers = logger_provider if logger_provider is not None else _logs.get_logger_provider()
        self._tracer = tracers.get_tracer(_SCOPE, __version__)
        self._logger = loggers.get_logger(_SCOPE, __version__)
        self._sentences, self._sentence_events = sentences, sentence_events
        self._text, self._openinference = text, openinference
        self._open: OrderedDict[str, _Open] = OrderedDict()

    @contextmanager
    def request(self, headers: Mapping[str, str]) -> Iterator[dict[str, str]]:
        """A span around one request that a server passes on; the current one inside the block.

        Its parent is the span that is current already, as where the server is instrumented, or else the one
        that the headers tell. It ends in the caller's thread: let the provider export in batches.

        Args:
            headers: of the request, with names in lower case.

        Yields:
            The headers that tell the next server of this span: `traceparent`, and `tracestate` if any.
        """
        parent, carrier = context.get_current(), TraceContextTextMapPropagator()
        if not trace.get_current_span(parent).get_span_context().is_valid:
            parent = carrier.extract(headers, parent)
        span = self._tracer.start_span("streamverify.request", context=parent, kind=trace.SpanKind.SERVER)
        inside = trace.set_span_in_context(span, parent)
        told: dict[str, str] = {}
        carrier.inject(told, inside)
        token = context.attach(inside)
        try:
            yield told
        except BaseException as error:
            span.set_attribute(conventions.ERROR, type(error).__name__)
            span.set_status(trace.StatusCode.ERROR)
            raise
        finally:
            context.detach(token)
            span.end()

    def opened(self, opening: Opening) -> None:
        """Begin the stream's span."""
        parent = opening.around.copy().run(context.get_current)
        began = round(opening.at.timestamp() * 1e9)
        told = conventions.opening_attributes(opening, text=self._text, openinference=self._openinference)
        span = self._tracer.start_span(
            "streamverify.stream", context=parent, start_time=began, attributes=told
        )
        self._open[opening.stream] = _Open(span, trace.set_span_in_context(span, parent), began, told=began)
        while len(self._open) > OPEN:
            self._lost(self._open.popitem(last=False)[1])

    def event(self, stream: str, event: Event) -> None:
        """Make the span of a sentence, or end the stream's."""
        found = self._open.get(stream)
        if found is None:
            return
        found.told = found.at(event.at_ms)
        match event:
            case SentenceClosed():
                found.closed[event.sentence.index] = (event.sentence, found.told)
            case SentenceJudged() | SentenceRevised():
                if not event.provisional and event.index in found.closed:
                    self._judged(found, event, found.told)
            case StreamFinished() | StreamHalted() | StreamFailed():
                del self._open[stream]
                self._ended(found, event)

    def close(self) -> None:
        """End the spans of streams whose end was never told; call it after the verifier was closed."""
        while self._open:
            self._lost(self._open.popitem(last=False)[1])

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def _judged(self, found: _Open, verdict: Verdict, end: int) -> None:
        sentence, start = found.closed.pop(verdict.index)
        inside = found.inside
        if self._sentences:
            told = conventions.sentence_attributes(
                verdict, sentence.text, text=self._text, openinference=self._openinference
            )
            span = self._tracer.start_span(
                "streamverify.sentence", context=found.inside, start_time=start, attributes=told
            )
            if conventions.ERROR in told:
                span.set_status(trace.StatusCode.ERROR)
            span.end(end)
            inside = trace.set_span_in_context(span, found.inside)
        if self._sentence_events:
            self._emit(
                conventions.of_sentence(verdict), inside, end, {"streamverify.sentence": verdict.index}
            )

    def _ended(self, found: _Open, event: FinalEvent) -> None:
        end, report = found.told, event.report
        for sentence in report.sentences:  # what no verdict was told of, as where a cascade was broken off
            if sentence.index in found.closed:
                self._judged(found, sentence, end)
        if (ready := report.timings.prepare_ms) is not None:
            told: conventions.Attributes = {
                "streamverify.windows": report.work.windows,
                "streamverify.windows_from_cache": report.work.windows_from_cache,
            }
            if self._openinference:
                told[conventions.SPAN_KIND] = "CHAIN"
            self._tracer.start_span(
                "streamverify.prepare", context=found.inside, start_time=found.began, attributes=told
            ).end(found.at(ready))
        evaluation = conventions.of_answer(report, conventions.failed_word(event))
        if evaluation is not None:
            self._emit(evaluation, found.inside, end, {})
        found.span.set_attributes(
            conventions.final_attributes(event, text=self._text, openinference=self._openinference)
        )
        if isinstance(event, StreamFailed):
            found.span.set_status(trace.StatusCode.ERROR, event.error if self._text else None)
        found.span.end(end)

    def _emit(
        self, evaluation: conventions.Evaluation, inside: Context, at: int, more: conventions.Attributes
    ) -> None:
        self._logger.emit(
            event_name=conventions.EVENT,
            timestamp=at,
            context=inside,
            severity_number=_logs.SeverityNumber.INFO,
            attributes=evaluation.attributes(text=self._text) | more,
        )

    def _lost(self, found: _Open) -> None:
        """A span without an end would never be exported; one that looks like success would be a lie."""
        found.span.set_attribute(conventions.ERROR, "end_not_told")
        found.span.set_status(trace.StatusCode.ERROR)
        found.span.end(found.told)
