"""One answer on its way through the verifier, whatever kind of response it came in."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import aclosing, closing
from typing import Any, TypeVar

from llama_index.core.schema import NodeWithScore
from llama_index.core.tools.types import ToolOutput

from streamverify import (
    Event,
    Passage,
    Policy,
    Report,
    Sentence,
    SentenceClosed,
    SentenceJudged,
    SentenceRevised,
    StreamStateError,
    TextReleased,
    UsageError,
    VerifiedPieces,
    VerifiedStream,
    VerifiedSyncPieces,
    Verifier,
    passages_from,
)
from streamverify.adapters import PolicyLike, Redactor, Source, policy_from, shared_verifier
from streamverify_llamaindex.telemetry import dispatch_report, dispatch_verdict

R = TypeVar("R")
OnEvent = Callable[[Event], object]

ANSWER = "response"
"""Name of the text in `Verification.reports`, for responses that have one."""

_ATTRIBUTE = "streamverify"


class Verification:
    """What was found about one response; reached with `verification(response)`."""

    def __init__(self, verifier: Verifier, policy: Policy, on_event: OnEvent | None) -> None:
        """Nothing was checked yet; the engines make these."""
        self._verifier, self._policy, self._on_event = verifier, policy, on_event
        self._reports: dict[str, Report] = {}
        self._sentences: dict[int, Sentence] = {}
        self._redactors: dict[str, Redactor] = {}

    @property
    def report(self) -> Report:
        """The whole answer, once its stream has ended.

        Raises:
            StreamStateError: it has not, or the response had no text that was checked. Caller.
        """
        if ANSWER not in self._reports:
            raise StreamStateError("the report is there once the response was read to its end")
        return self._reports[ANSWER]

    @property
    def reports(self) -> Mapping[str, Report]:
        """Each text's report so far: `"response"`, or the fields of a structured response."""
        return dict(self._reports)

    @property
    def holds(self) -> bool:
        """Whether the policy holds text."""
        return self._policy.holds_text

    def metadata(self, response: Any) -> dict[str, Any] | None:
        """A response's metadata; where text is held, that of its nodes alone: engines put anything there."""
        found: dict[str, Any] | None = response.metadata
        if found is None or not self.holds:
            return found
        nodes = {node.node.node_id for node in response.source_nodes}
        return {name: value for name, value in found.items() if name in nodes}

    def sources(self, outputs: list[ToolOutput]) -> list[ToolOutput]:
        """What tools returned; where text is held that of retrievers alone: an engine's is an answer too."""
        return [self._source(output) for output in outputs] if self.holds else outputs

    def _source(self, output: ToolOutput) -> ToolOutput:
        found = output.raw_output
        if isinstance(found, list) and all(isinstance(node, NodeWithScore) for node in found):
            return output
        return ToolOutput(
            tool_name=output.tool_name, content="", raw_input=output.raw_input, is_error=output.is_error
        )

    def on(self, response: R) -> R:
        """The response, with this to be found by `verification`."""
        setattr(response, _ATTRIBUTE, self)
        return response

    def stream(
        self, source: Source, nodes: Sequence[object], question: str | None
    ) -> Generator[str, None, None]:
        """What a reader may see of the source."""
        pieces = VerifiedSyncPieces(self._open(source, nodes, question), self._verifier)
        with closing(pieces):
            for event in pieces.events():
                self._tell(event)
                if isinstance(event, TextReleased) and event.text:
                    yield event.text

    async def astream(
        self, source: Source, nodes: Sequence[object], question: str | None
    ) -> AsyncGenerator[str, None]:
        """What a reader may see of the source."""
        pieces = VerifiedPieces(self._open(source, nodes, question))
        async with aclosing(pieces):
            async for event in pieces.events():
                self._tell(event)
                if isinstance(event, TextReleased) and event.text:
                    yield event.text

    def check(self, text: str, nodes: Sequence[object], question: str | None, name: str = ANSWER) -> str:
        """What a reader may see of the text."""
        return self._verifier.portal.run(lambda: self.acheck(text, nodes, question, name))

    async def acheck(
        self, text: str, nodes: Sequence[object], question: str | None, name: str = ANSWER
    ) -> str:
        """What a reader may see of the text."""
        async with self._open(text, nodes, question) as stream:
            async for event in stream:
                self._tell(event, name)
            return stream.report.released

    def _open(self, source: Source, nodes: Sequence[object], question: str | None) -> VerifiedStream:
        return self._verifier.stream(source, passages_of(nodes), policy=self._policy, question=question)

    def _tell(self, event: Event, name: str = ANSWER) -> None:
        if name not in self._redactors:
            self._redactors[name] = Redactor(reveal=not self.holds)
        for told in self._redactors[name](event):
            if isinstance(told, SentenceClosed):
                self._sentences[told.sentence.index] = told.sentence
            elif isinstance(told, SentenceJudged | SentenceRevised):
                dispatch_verdict(told, self._sentences[told.index].text)
        if (report := getattr(event, "report", None)) is not None:
            self._reports[name] = report
            dispatch_report(report)
        if self._on_event is not None:
            self._on_event(event)


class Checks:
    """An engine's settings: makes the verification of each response."""

    def __init__(
        self, verifier: Verifier | None, policy: PolicyLike | None, on_event: OnEvent | None
    ) -> None:
        self._verifier = verifier if verifier is not None else shared_verifier()
        self._policy = policy_from(policy) if policy is not None else self._verifier.policy
        self._on_event = on_event

    def begin(self) -> Verification:
        """For one response."""
        return Verification(self._verifier, self._policy, self._on_event)


def passages_of(nodes: Sequence[object]) -> tuple[Passage, ...]:
    """A passage for each node, so that `[2]` in an answer means the second.

    A node that comes again is named by its place (`id@2`), and stays where it is.
    """
    passages: list[Passage] = []
    for place, node in enumerate(nodes, 1):
        [passage] = passages_from([node])
        if any(known.id == passage.id for known in passages):
            passage = Passage(f"{passage.id}@{place}", passage.text, passage.title, passage.metadata)
        passages.append(passage)
    return tuple(passages)


def verification(response: object) -> Verification:
    """What was found about a response of a verifying engine.

    Raises:
        UsageError: the response comes from another engine. Caller.
    """
    found = vars(response).get(_ATTRIBUTE)
    if not isinstance(found, Verification):
        raise UsageError(f"this {type(response).__name__} does not come from a verifying engine")
    return found
