"""`VerifiedChatModel`: a chat model that lets nothing out but what was verified."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from typing import Any, cast
from uuid import UUID

from langchain_core.caches import BaseCache
from langchain_core.callbacks import (
    AsyncCallbackManager,
    AsyncCallbackManagerForLLMRun,
    CallbackManager,
    CallbackManagerForLLMRun,
    adispatch_custom_event,
    dispatch_custom_event,
)
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, ensure_config
from langchain_core.runnables.base import RunnableBinding
from langchain_core.runnables.config import get_callback_manager_for_config
from pydantic import Field

from streamverify import Event, Passage, Policy, UsageError, Verifier
from streamverify.chunks import VerifiedChunks, VerifiedSyncChunks
from streamverify.decorator import shared_verifier
from streamverify.moves import Key
from streamverify.passages import passages_from
from streamverify_langchain.announce import Announcer
from streamverify_langchain.documents import DocumentTap
from streamverify_langchain.texts import SPELLED_OUT, Shape, chunk_of
from streamverify_langchain.translator import ChunkTranslator

OnEvent = Callable[[Key, Event], object]

_SHAPE = Shape()


class VerifiedChatModel(BaseChatModel):
    """A chat model, verified: use it wherever the model itself would stand.

    Under a policy that holds text nothing raw leaves it: callbacks, traces, the events of every version and
    LangGraph's streams and states carry released text alone, and so do the custom events that tell the
    verdicts. The inner model is run without callbacks of its own; its cache and rate limiter are not used.

    An answer is judged against `passages`, against what a `DocumentTap` in the call's callbacks collected,
    and against a call's own `passages` (`model.bind(passages=documents)`).
    """

    inner: BaseChatModel
    cache: BaseCache | bool | None = Field(default=False, exclude=True)
    """Off: an answer kept from before was judged against other passages."""
    verifier: Verifier = Field(default_factory=shared_verifier, exclude=True, repr=False)
    """One for the whole process by default."""
    policy: Any = Field(default=None, exclude=True, repr=False)
    """In place of the verifier's."""
    passages: Any = Field(default=(), exclude=True, repr=False)
    """Passages, or a function that finds them in the messages (in tool results, say)."""
    on_event: Any = Field(default=None, exclude=True, repr=False)
    """A function that is told every event as it happens, with the number of its answer; custom events need a
    chain or graph around the model, this does not."""

    @property
    def _llm_type(self) -> str:
        return f"verified-{self.inner._llm_type}"  # noqa: SLF001 - a model is built from its subclass hooks

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"inner": self.inner._identifying_params}  # noqa: SLF001

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """As the inner model; its tool calls pass, its text is verified.

        Raises:
            UsageError: the inner model binds tools in a way of its own. Operator.
        """
        bound = self.inner.bind_tools(tools, tool_choice=tool_choice, **kwargs)
        if not isinstance(bound, RunnableBinding) or bound.bound is not self.inner:
            raise UsageError(f"{type(self.inner).__name__} binds tools in a way that cannot be verified")
        return self.bind(**bound.kwargs)

    def _get_invocation_params(self, stop: list[str] | None = None, **kwargs: Any) -> dict[str, Any]:
        kwargs.pop("passages", None)  # no parameter of the model, and too long for a trace
        return super()._get_invocation_params(stop, **kwargs)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        *,
        passages: Iterable[object] = (),
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        call = _Call(self, run_manager)
        chunks: VerifiedChunks[AIMessageChunk] = VerifiedChunks(
            self._achunks(messages, stop, kwargs),
            ChunkTranslator(_SHAPE, _nothing),
            call.passages(messages, passages),
            verifier=self.verifier,
            policy=call.policy,
            on_event=call,
        )
        async with chunks:
            try:
                async for chunk in chunks:
                    await call.adispatch()
                    yield ChatGenerationChunk(message=chunk)
            except Exception:
                await call.adispatch()
                raise
        await call.adispatch()

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        *,
        passages: Iterable[object] = (),
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        call = _Call(self, run_manager)
        chunks: VerifiedSyncChunks[AIMessageChunk] = VerifiedSyncChunks(
            self._chunks(messages, stop, kwargs),
            ChunkTranslator(_SHAPE, _nothing),
            call.passages(messages, passages),
            verifier=self.verifier,
            policy=call.policy,
            on_event=call,
        )
        with chunks:
            try:
                for chunk in chunks:
                    call.dispatch()
                    yield ChatGenerationChunk(message=chunk)
            except Exception:
                call.dispatch()
                raise
        call.dispatch()

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        *,
        passages: Iterable[object] = (),
        **kwargs: Any,
    ) -> ChatResult:
        call = _Call(self, run_manager)
        known = call.passages(messages, passages)
        result = await self.inner._agenerate(messages, stop=stop, **kwargs)  # noqa: SLF001
        result = await call.checked(result, known)
        await call.adispatch()
        return result

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        *,
        passages: Iterable[object] = (),
        **kwargs: Any,
    ) -> ChatResult:
        call = _Call(self, run_manager)
        known = call.passages(messages, passages)
        result = self.inner._generate(messages, stop=stop, **kwargs)  # noqa: SLF001
        result = self.verifier.portal.run(lambda: call.checked(result, known))
        call.dispatch()
        return result

    async def _achunks(
        self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]
    ) -> AsyncIterator[AIMessageChunk]:
        inner = self.inner
        if not _overrides(inner, "_astream") and not _overrides(inner, "_stream"):
            result = await inner._agenerate(messages, stop=stop, **options)  # noqa: SLF001
            yield chunk_of(cast("AIMessage", result.generations[0].message))
            return
        generated = inner._astream(messages, stop=stop, **options)  # noqa: SLF001
        async with aclosing(cast("AsyncGenerator[ChatGenerationChunk, None]", generated)) as generations:
            async for generation in generations:
                yield _message(generation)

    def _chunks(
        self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]
    ) -> Iterator[AIMessageChunk]:
        inner = self.inner
        if not _overrides(inner, "_stream"):
            result = inner._generate(messages, stop=stop, **options)  # noqa: SLF001
            yield chunk_of(cast("AIMessage", result.generations[0].message))
            return
        for generation in inner._stream(messages, stop=stop, **options):  # noqa: SLF001
            yield _message(generation)


class _Call:
    """One call of the model: who listens, and what was retrieved for it."""

    def __init__(
        self,
        model: VerifiedChatModel,
        run: AsyncCallbackManagerForLLMRun | CallbackManagerForLLMRun | None,
    ) -> None:
        self._model = model
        self.policy: Policy = model.policy if model.policy is not None else model.verifier.policy
        self._announcer = Announcer(holds=self.policy.holds_text)
        if run is not None:
            self._handlers, self._parent = run.handlers, run.parent_run_id
            self._run: UUID | None = run.run_id
        else:
            # LangChain hands streaming models no run: the chain or graph around this call is in its context.
            around = get_callback_manager_for_config(ensure_config())
            self._handlers, self._parent = around.handlers, around.parent_run_id
            self._run = around.parent_run_id

    def __call__(self, key: Key, event: Event) -> None:
        """Take an event as it happens."""
        self._announcer(key, event)
        if self._model.on_event is not None:
            self._model.on_event(key, event)

    def passages(self, messages: Sequence[BaseMessage], given: Iterable[object]) -> tuple[Passage, ...]:
        """What the answer is judged against, in this order: the model's own, the call's, the retrieved."""
        own = self._model.passages
        found = own(messages) if callable(own) else own
        taps = [handler for handler in self._handlers if isinstance(handler, DocumentTap)]
        retrieved = [document for tap in taps for document in tap.documents(self._parent)]
        return passages_from([*found, *given, *retrieved])

    async def checked(self, result: ChatResult, known: Sequence[Passage]) -> ChatResult:
        """The result with the text of every generation as the policy lets it go."""
        generations: list[ChatGeneration] = []
        for key, generation in enumerate(result.generations):
            text = "".join(part.text for part in _SHAPE.texts(generation.message))
            stream = self._model.verifier.stream(text, known, policy=self.policy)
            async with stream:
                async for event in stream:
                    self(key, event)
            message = _SHAPE.replaced(generation.message, stream.report.released)
            info = generation.generation_info
            if message is not generation.message and info is not None:
                info = {name: value for name, value in info.items() if name != SPELLED_OUT}
            generations.append(ChatGeneration(message=message, generation_info=info))
        return ChatResult(generations=generations, llm_output=result.llm_output)

    async def adispatch(self) -> None:
        """Tell the verdicts that came since."""
        for name, data in self._announcer.take():
            if self._run is not None:
                manager = AsyncCallbackManager(self._handlers, parent_run_id=self._run)
                await adispatch_custom_event(name, data, config={"callbacks": manager})

    def dispatch(self) -> None:
        """Tell the verdicts that came since."""
        for name, data in self._announcer.take():
            if self._run is not None:
                manager = CallbackManager(self._handlers, parent_run_id=self._run)
                dispatch_custom_event(name, data, config={"callbacks": manager})


def _overrides(model: BaseChatModel, method: str) -> bool:
    return getattr(type(model), method) is not getattr(BaseChatModel, method)


def _message(generation: ChatGenerationChunk) -> AIMessageChunk:
    message = chunk_of(cast("AIMessage", generation.message))
    if not generation.generation_info:
        return message
    metadata = {**generation.generation_info, **message.response_metadata}
    return message.model_copy(update={"response_metadata": metadata})


def _nothing(chunk: object) -> None:
    """Nothing beside the text is of interest."""
