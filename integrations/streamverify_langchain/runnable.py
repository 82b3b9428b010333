"""`VerifiedRunnable`: a chain whose answer is verified while it streams."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import aclosing, closing
from functools import partial
from typing import Any, TypeVar, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import get_callback_manager_for_config, merge_configs

from streamverify import Event, Report, Verifier, passages_from
from streamverify.adapters import (
    ChannelKey,
    OnEvent,
    PolicyLike,
    Shown,
    TextDelta,
    VerifiedChunks,
    VerifiedSyncChunks,
    policy_from,
    shared_verifier,
)
from streamverify_langchain.announce import Announcer, atold, told
from streamverify_langchain.documents import DocumentTap, documents_in
from streamverify_langchain.texts import Shape
from streamverify_langchain.translator import ChunkTranslator

Input = TypeVar("Input")
Output = TypeVar("Output")


class VerifiedRunnable(Runnable[Input, Output]):
    """A chain, verified: use it, or compose it with `|`, as the chain itself.

    It is judged against what its retrievers return, and what its input and output hold under `context_key`,
    while it runs. Under a policy that lets text flow the chunks are the very chunks, at once; under one that
    holds text a sentence passes when it was judged. Verdicts and the report are dispatched as custom events
    (`streamverify.verdict`, `streamverify.report`) when the reader takes the next chunk.

    What runs inside the chain is seen by observers as it was generated: callbacks, traces and the events of
    inner runs carry the raw tokens. Where that must not be, wrap the model: `VerifiedChatModel`.
    """

    def __init__(
        self,
        inner: Runnable[Input, Output],
        *,
        verifier: Verifier | None = None,
        policy: PolicyLike | None = None,
        passages: Iterable[object] = (),
        question: Callable[[Any], str | None] | None = None,
        answer_key: str = "answer",
        context_key: str = "context",
        other_keys: Collection[str] = ("question", "input", "query", "chat_history"),
        tap: bool = True,
        on_event: OnEvent | None = None,
        name: str | None = None,
    ) -> None:
        """Nothing is loaded yet.

        Args:
            inner: yields `str`, AI messages, or dicts that hold one of these under `answer_key`.
            verifier: one for the whole process by default.
            policy: in place of the verifier's.
            passages: known beforehand; they come first, so `[1]` in an answer means the first of them.
            question: finds what was asked in the (first part of the) input.
            answer_key: where dicts hold the answer.
            context_key: where dicts, of the input and of the output, hold a list of documents.
            other_keys: of dicts, that pass as they are under a policy that holds text too; any other key
                whose value is no list of documents is refused then.
            tap: whether what retriever runs return counts; set it to False where a chain puts a choice of
                it, or another order, under `context_key`.
            on_event: told every event as it happens, with the number of its answer.
            name: of its runs; `VerifiedRunnable` by default.

        Raises:
            PassageError: a passage cannot be read. Caller.
        """
        self.inner, self.name = inner, name
        self._verifier = verifier if verifier is not None else shared_verifier()
        self._policy = policy_from(policy) if policy is not None else self._verifier.policy
        self._passages = passages_from(passages)
        self._question, self._context_key, self._tap = question, context_key, tap
        self._shape, self._other_keys, self._on_event = Shape(answer_key), other_keys, on_event

    # LangChain passes a step what its parameters' names ask for, which its annotations do not say: the casts.

    @property
    def InputType(self) -> Any:  # noqa: N802 - LangChain's name
        """The chain's."""
        return self.inner.InputType

    @property
    def OutputType(self) -> Any:  # noqa: N802 - LangChain's name
        """The chain's."""
        return self.inner.OutputType

    def invoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Output:  # noqa: A002
        """The chain's output, its text as the policy lets it go."""
        return self._call_with_config(cast("Any", self._invoke), input, config, **kwargs)

    async def ainvoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Output:  # noqa: A002
        """The chain's output, its text as the policy lets it go."""
        return await self._acall_with_config(cast("Any", self._ainvoke), input, config, **kwargs)

    def stream(
        self,
        input: Input,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[Output]:
        """The chain's chunks, verified."""
        return self.transform(iter([input]), config, **kwargs)

    async def astream(
        self,
        input: Input,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Output]:
        """The chain's chunks, verified."""
        async for chunk in self.atransform(_once(input), config, **kwargs):
            yield chunk

    def transform(
        self,
        input: Iterator[Input],  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> Iterator[Output]:
        """The chain's chunks for an input that streams itself, verified."""
        yield from self._transform_stream_with_config(input, cast("Any", self._transform), config, **kwargs)

    async def atransform(
        self,
        input: AsyncIterator[Input],  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Output]:
        """The chain's chunks for an input that streams itself, verified."""
        async for chunk in self._atransform_stream_with_config(
            input, cast("Any", self._atransform), config, **kwargs
        ):
            yield chunk

    async def _atransform(
        self,
        input: AsyncIterator[Input],  # noqa: A002
        config: RunnableConfig,
        **kwargs: Any,
    ) -> AsyncGenerator[Any, None]:
        first = [await anext(input)] if self._question is not None else []
        call = self._begin(first, config)
        source = self.inner.atransform(call.awatched(first, input), self._tapped(config, call), **kwargs)
        chunks: Any = self._chunks(VerifiedChunks, source, call)
        async with aclosing(atold(chunks, call.announcer, config)) as verified:
            async for chunk in verified:
                yield chunk
        call.translator.finish()

    def _transform(
        self,
        input: Iterator[Input],  # noqa: A002
        config: RunnableConfig,
        **kwargs: Any,
    ) -> Iterator[Any]:
        first = [next(input)] if self._question is not None else []
        call = self._begin(first, config)
        source = self.inner.transform(call.watched(first, input), self._tapped(config, call), **kwargs)
        chunks: Any = self._chunks(VerifiedSyncChunks, source, call)
        with closing(told(chunks, call.announcer, config)) as verified:
            yield from verified
        call.translator.finish()

    async def _ainvoke(self, input: Input, config: RunnableConfig, **kwargs: Any) -> Any:  # noqa: A002
        call = self._begin([input], config)
        call.watch(input)
        output = await self.inner.ainvoke(input, self._tapped(config, call), **kwargs)
        report = await self._check(call, call.text_of(output))
        await call.announcer.adispatch(config)
        return self._shown(output, report)

    def _invoke(self, input: Input, config: RunnableConfig, **kwargs: Any) -> Any:  # noqa: A002
        call = self._begin([input], config)
        call.watch(input)
        output = self.inner.invoke(input, self._tapped(config, call), **kwargs)
        text = call.text_of(output)
        report = self._verifier.portal.run(lambda: self._check(call, text))
        call.announcer.dispatch(config)
        return self._shown(output, report)

    async def _check(self, call: _Call, text: str) -> Report:
        stream = self._verifier.stream(
            text, [*self._passages, *call.told], policy=self._policy, question=call.question
        )
        async with stream:
            async for event in stream:
                call.tell_event(0, event)
        return stream.report

    def _shown(self, output: Any, report: Report) -> Any:
        return self._shape.replaced(output, report.released) if self._policy.holds_text else output

    def _chunks(
        self, kind: type[VerifiedChunks[Any] | VerifiedSyncChunks[Any]], source: Any, call: _Call
    ) -> VerifiedChunks[Any] | VerifiedSyncChunks[Any]:
        chunks = kind(
            source,
            call.translator,
            self._passages or None,
            verifier=self._verifier,
            policy=self._policy,
            question=call.question,
            on_event=call.tell_event,
        )
        call.add_passages = chunks.add_passages
        return chunks

    def _begin(self, first: Sequence[Input], config: RunnableConfig) -> _Call:
        holds = self._policy.holds_text
        heard = bool(get_callback_manager_for_config(config).handlers)
        known = {self._shape.answer_key, self._context_key, *self._other_keys}
        translator = partial(ChunkTranslator, self._shape, holds=holds, known=known)
        call = _Call(translator, self._context_key, Announcer(holds=holds, heard=heard), self._on_event)
        if self._question is not None:
            call.question = self._question(first[0])
        return call

    def _tapped(self, config: RunnableConfig, call: _Call) -> RunnableConfig:
        return merge_configs(config, {"callbacks": [DocumentTap(call.tell)]}) if self._tap else config


class _Call:
    """What one call of the chain needs: its documents on their way to whoever judges."""

    def __init__(
        self,
        translator: Callable[[Callable[[object], None]], ChunkTranslator],
        context_key: str,
        announcer: Announcer,
        on_event: OnEvent | None,
    ) -> None:
        self._context_key, self._on_event, self.announcer = context_key, on_event, announcer
        self.question: str | None = None
        self.translator = translator(self.watch)
        self.told: list[object] = []
        self.add_passages: Callable[[Sequence[object]], object] = self.told.extend

    def tell_event(self, key: ChannelKey, event: Event) -> None:
        self.announcer(key, event)
        if self._on_event is not None:
            self._on_event(key, event)

    def tell(self, documents: Sequence[object]) -> None:
        self.add_passages(documents)

    def watch(self, value: object) -> None:
        """Take the documents that a part of the input or the output holds."""
        if documents := documents_in(value, self._context_key):
            self.add_passages(documents)

    def watched(self, first: Sequence[Input], rest: Iterator[Input]) -> Iterator[Input]:
        for item in itertools.chain(first, rest):
            self.watch(item)
            yield item

    async def awatched(self, first: Sequence[Input], rest: AsyncIterator[Input]) -> AsyncIterator[Input]:
        for item in first:
            self.watch(item)
            yield item
        async for item in rest:
            self.watch(item)
            yield item

    def text_of(self, output: Any) -> str:
        """The text of a whole output, whose documents count too."""
        moves = self.translator.read(output, lambda _: Shown())
        text = "".join(move.text for move in moves if isinstance(move, TextDelta))
        self.translator.finish()
        return text


async def _once(item: Input) -> AsyncIterator[Input]:
    yield item
