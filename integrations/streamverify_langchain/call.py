"""One call of a `VerifiedChatModel`: who listens, what it is judged against, what was asked.

Before: `model.py` is called by LangChain. After: the verifier; verdicts go to the listeners as custom events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from langchain_core.callbacks import (
    AsyncCallbackManager,
    AsyncCallbackManagerForLLMRun,
    BaseCallbackHandler,
    CallbackManager,
    CallbackManagerForLLMRun,
)
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import get_callback_manager_for_config

from streamverify import Event, Passage, Policy, Verifier, passages_from
from streamverify.adapters import ChannelKey, VerifiedChunks, VerifiedSyncChunks
from streamverify_langchain.announce import Announcer
from streamverify_langchain.documents import DocumentTap
from streamverify_langchain.passing import StructureGuard, metadata_passing
from streamverify_langchain.texts import Shape, without_context
from streamverify_langchain.translator import ChunkTranslator

OnEvent = Callable[[ChannelKey, Event], object]

_SHAPE = Shape()


class Around(NamedTuple):
    """Who listens to a call, and where it belongs."""

    handlers: Sequence[BaseCallbackHandler]
    parent: UUID | None
    run: UUID | None


class Options(NamedTuple):
    """What a model was told for all its calls."""

    verifier: Verifier
    policy: Policy
    passages: Iterable[object] | Callable[[Sequence[BaseMessage]], Iterable[object]]
    question: Callable[[Sequence[BaseMessage]], str | None] | None
    on_event: OnEvent | None


class Call:
    """One call of the model: who listens, and what was retrieved for it."""

    def __init__(
        self,
        options: Options,
        run: AsyncCallbackManagerForLLMRun | CallbackManagerForLLMRun | None,
        around: Around | None,
        messages: Sequence[BaseMessage],
        passages: Iterable[object],
    ) -> None:
        """Made when the model is called.

        Args:
            options: the model's.
            run: the model's own, where LangChain tells it.
            around: the model's, where it was told beforehand.
            messages: what the model was given.
            passages: the call's own.
        """
        if run is not None:
            around = Around(run.handlers, run.parent_run_id, run.run_id)
        elif around is None:
            # Streamed by LangChain for a call that is not: the chain around it is in its context.
            manager = get_callback_manager_for_config(ensure_config())
            around = Around(manager.handlers, manager.parent_run_id, manager.parent_run_id)
        self._options, self._around = options, around
        self.announcer = Announcer(holds=options.policy.holds_text, heard=around.run is not None)
        self._known = self._passages(messages, passages)
        asked = options.question(messages) if options.question is not None else None
        self._question = without_context(asked, self._known)

    def chunks(
        self, kind: type[VerifiedChunks[Any] | VerifiedSyncChunks[Any]], source: Any
    ) -> VerifiedChunks[Any] | VerifiedSyncChunks[Any]:
        """The inner model's chunks, verified."""
        return kind(
            source,
            ChunkTranslator(_SHAPE, _nothing, holds=self._options.policy.holds_text),
            self._known,
            verifier=self._options.verifier,
            policy=self._options.policy,
            question=self._question,
            on_event=self._tell,
        )

    async def checked(self, result: ChatResult) -> ChatResult:
        """The result with the text of every generation as the policy lets it go."""
        holds = self._options.policy.holds_text
        generations: list[ChatGeneration] = []
        for key, generation in enumerate(result.generations):
            text = "".join(part.text for part in _SHAPE.texts(generation.message))
            if holds:
                StructureGuard()(text)
            stream = self._options.verifier.stream(
                text, self._known, policy=self._options.policy, question=self._question
            )
            async with stream:
                async for event in stream:
                    self._tell(key, event)
            message, info = generation.message, generation.generation_info
            if holds:
                message = _SHAPE.replaced(message, stream.report.released)
                info = metadata_passing(info) if info is not None else None
            generations.append(ChatGeneration(message=message, generation_info=info))
        output = result.llm_output
        if holds and output is not None:
            output = metadata_passing(output)
        return ChatResult(generations=generations, llm_output=output)

    def config(self, manager: type[AsyncCallbackManager | CallbackManager]) -> RunnableConfig:
        """For the custom events of this call."""
        return {"callbacks": manager(list(self._around.handlers), parent_run_id=self._around.run)}

    def _tell(self, key: ChannelKey, event: Event) -> None:
        self.announcer(key, event)
        if self._options.on_event is not None:
            self._options.on_event(key, event)

    def _passages(self, messages: Sequence[BaseMessage], given: Iterable[object]) -> tuple[Passage, ...]:
        """What the answer is judged against, in this order: the model's own, the call's, the retrieved."""
        own = self._options.passages
        found = own(messages) if callable(own) else own
        taps = [handler for handler in self._around.handlers if isinstance(handler, DocumentTap)]
        retrieved = [document for tap in taps for document in tap.documents(self._around.parent)]
        return passages_from([*found, *given, *retrieved])


def _nothing(chunk: object) -> None:
    """Nothing beside the text is of interest."""
