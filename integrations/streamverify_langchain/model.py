"""`VerifiedChatModel`: a chat model that lets nothing out but what was verified."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import aclosing, closing
from typing import Any, cast

from langchain_core.caches import BaseCache
from langchain_core.callbacks import (
    AsyncCallbackManager,
    AsyncCallbackManagerForLLMRun,
    BaseCallbackManager,
    CallbackManager,
    CallbackManagerForLLMRun,
)
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.base import RunnableBinding
from langchain_core.runnables.config import get_callback_manager_for_config
from langchain_core.utils.uuid import uuid7
from pydantic import Field, field_validator

from streamverify import Policy, UsageError, Verifier, passages_from
from streamverify.adapters import VerifiedChunks, VerifiedSyncChunks, policy_from, shared_verifier
from streamverify_langchain.announce import atold, told
from streamverify_langchain.call import Around, Call, Options
from streamverify_langchain.passing import ADVICE
from streamverify_langchain.texts import chunk_of, last_question


class VerifiedChatModel(BaseChatModel):
    """A chat model, verified: use it wherever the model itself would stand.

    Under a policy that holds text nothing raw leaves it: callbacks, traces, the events of every version and
    LangGraph's streams and states carry released text alone, and so do the custom events that tell the
    verdicts. The inner model is run without callbacks of its own; its cache and rate limiter are not used.

    An answer is judged against `passages`, against what a `DocumentTap` in the call's callbacks collected,
    and against a call's own `passages` (`model.bind(passages=documents)`). What was asked counts as known.
    """

    inner: BaseChatModel
    cache: BaseCache | bool | None = Field(default=False, exclude=True)
    """Off: an answer kept from before was judged against other passages."""
    verifier: Verifier = Field(default_factory=shared_verifier, exclude=True, repr=False)
    """One for the whole process by default."""
    policy: Any = Field(default=None, exclude=True, repr=False)
    """In place of the verifier's; itself or its word."""
    passages: Any = Field(default=(), exclude=True, repr=False)
    """Passages, or a function that finds them in the messages (in tool results, say)."""
    question: Any = Field(default=last_question, exclude=True, repr=False)
    """A function that finds what was asked in the messages, or None; the passages it quotes are taken out."""
    on_event: Any = Field(default=None, exclude=True, repr=False)
    """A function that is told every event as it happens, with the number of its answer."""

    @field_validator("policy")
    @classmethod
    def _known_policy(cls, given: Any) -> Any:
        return policy_from(given) if given is not None else None

    @field_validator("passages")
    @classmethod
    def _kept(cls, given: Any) -> Any:
        # For every call, so an iterator is read now: the second call would find none.
        return passages_from(given) if isinstance(given, Iterator) else given

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

    def with_structured_output(self, schema: Any, *, include_raw: bool = False, **kwargs: Any) -> Any:
        """As the inner model, where text flows: what it says is not verified.

        Raises:
            UsageError: the policy holds text. Caller.
        """
        if self._policy().holds_text:
            raise UsageError(ADVICE)
        return super().with_structured_output(schema, include_raw=include_raw, **kwargs)

    def _get_invocation_params(self, stop: list[str] | None = None, **kwargs: Any) -> dict[str, Any]:
        # No parameters of the model, and too long for a trace.
        model = {name: value for name, value in kwargs.items() if name not in {"passages", "around"}}
        return super()._get_invocation_params(stop, **model)

    def astream(
        self,
        input: LanguageModelInput,  # noqa: A002 - LangChain's name
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[AIMessageChunk]:
        """The model's chunks, verified."""
        config, around = self._around(config)
        return super().astream(input, config, stop=stop, around=around, **kwargs)

    def stream(
        self,
        input: LanguageModelInput,  # noqa: A002 - LangChain's name
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> Iterator[AIMessageChunk]:
        """The model's chunks, verified."""
        config, around = self._around(config)
        return super().stream(input, config, stop=stop, around=around, **kwargs)

    def _around(self, config: RunnableConfig | None) -> tuple[RunnableConfig, Around]:
        """The config with a run named beforehand: LangChain tells models that stream nothing of their run."""
        known = ensure_config(config)
        run = known.get("run_id") or uuid7()
        manager = get_callback_manager_for_config(known)
        own = self.callbacks.handlers if isinstance(self.callbacks, BaseCallbackManager) else self.callbacks
        handlers = (*manager.handlers, *(own or ()))
        return {**known, "run_id": run}, Around(handlers, manager.parent_run_id, run)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        *,
        passages: Iterable[object] = (),
        around: Around | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        call = Call(self._options(), run_manager, around, messages, passages)
        chunks: Any = call.chunks(VerifiedChunks, self._achunks(messages, stop, kwargs))
        config = call.config(AsyncCallbackManager)
        async with aclosing(atold(chunks, call.announcer, config)) as verified:
            async for chunk in verified:
                yield ChatGenerationChunk(message=chunk)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        *,
        passages: Iterable[object] = (),
        around: Around | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        call = Call(self._options(), run_manager, around, messages, passages)
        chunks: Any = call.chunks(VerifiedSyncChunks, self._chunks(messages, stop, kwargs))
        with closing(told(chunks, call.announcer, call.config(CallbackManager))) as verified:
            for chunk in verified:
                yield ChatGenerationChunk(message=chunk)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        *,
        passages: Iterable[object] = (),
        around: Around | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        call = Call(self._options(), run_manager, around, messages, passages)
        result = await call.checked(await self.inner._agenerate(messages, stop=stop, **kwargs))  # noqa: SLF001
        await call.announcer.adispatch(call.config(AsyncCallbackManager))
        return result

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        *,
        passages: Iterable[object] = (),
        around: Around | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        call = Call(self._options(), run_manager, around, messages, passages)
        said = self.inner._generate(messages, stop=stop, **kwargs)  # noqa: SLF001
        result = self.verifier.portal.run(lambda: call.checked(said))
        call.announcer.dispatch(call.config(CallbackManager))
        return result

    def _policy(self) -> Policy:
        chosen: Policy = self.policy if self.policy is not None else self.verifier.policy
        return chosen

    def _options(self) -> Options:
        return Options(self.verifier, self._policy(), self.passages, self.question, self.on_event)

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


def _overrides(model: BaseChatModel, method: str) -> bool:
    return getattr(type(model), method) is not getattr(BaseChatModel, method)


def _message(generation: ChatGenerationChunk) -> AIMessageChunk:
    message = chunk_of(cast("AIMessage", generation.message))
    if not generation.generation_info:
        return message
    metadata = {**generation.generation_info, **message.response_metadata}
    return message.model_copy(update={"response_metadata": metadata})
