"""One call of a `VerifiedChatModel`: who listens, what it is judged against, what was asked.

Before: `model.py` is called by LangChain. After: the verifier; verdicts go to the listeners as custom events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from langchain_core.callbacks import (
    AsyncCallbackManager,
    AsyncCallbackManagerForLLMRun,
    BaseCallbackHandler,
    CallbackManager,
    CallbackManagerForLLMRun,
    adispatch_custom_event,
    dispatch_custom_event,
)
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import ensure_config
from langchain_core.runnables.config import get_callback_manager_for_config

from streamverify import Event, Passage, Policy, passages_from
from streamverify.adapters import Key
from streamverify_langchain.announce import Announcer
from streamverify_langchain.documents import DocumentTap
from streamverify_langchain.texts import SPELLED_OUT, Shape, without_context

if TYPE_CHECKING:
    from streamverify_langchain.model import VerifiedChatModel

OnEvent = Callable[[Key, Event], object]

SHAPE = Shape()


class Around(NamedTuple):
    """Who listens to a call, and where it belongs."""

    handlers: Sequence[BaseCallbackHandler]
    parent: UUID | None
    run: UUID | None


class Call:
    """One call of the model: who listens, and what was retrieved for it."""

    def __init__(
        self,
        model: VerifiedChatModel,
        run: AsyncCallbackManagerForLLMRun | CallbackManagerForLLMRun | None,
        around: Around | None,
    ) -> None:
        self._model = model
        self.policy: Policy = model.policy if model.policy is not None else model.verifier.policy
        self._announcer = Announcer(holds=self.policy.holds_text)
        if run is not None:
            around = Around(run.handlers, run.parent_run_id, run.run_id)
        elif around is None:
            # Streamed by LangChain for a call that is not: the chain around it is in its context.
            manager = get_callback_manager_for_config(ensure_config())
            around = Around(manager.handlers, manager.parent_run_id, manager.parent_run_id)
        self._around = around

    def __call__(self, key: Key, event: Event) -> None:
        """Take an event as it happens."""
        self._announcer(key, event)
        if self._model.on_event is not None:
            self._model.on_event(key, event)

    def passages(self, messages: Sequence[BaseMessage], given: Iterable[object]) -> tuple[Passage, ...]:
        """What the answer is judged against, in this order: the model's own, the call's, the retrieved."""
        own = self._model.passages
        found = own(messages) if callable(own) else own
        taps = [handler for handler in self._around.handlers if isinstance(handler, DocumentTap)]
        retrieved = [document for tap in taps for document in tap.documents(self._around.parent)]
        return passages_from([*found, *given, *retrieved])

    def question(self, messages: Sequence[BaseMessage], known: Sequence[Passage]) -> str | None:
        """What was asked, as the model's `question` finds it."""
        find = self._model.question
        return without_context(find(messages) if find is not None else None, known)

    async def checked(self, result: ChatResult, known: Sequence[Passage], question: str | None) -> ChatResult:
        """The result with the text of every generation as the policy lets it go."""
        generations: list[ChatGeneration] = []
        for key, generation in enumerate(result.generations):
            text = "".join(part.text for part in SHAPE.texts(generation.message))
            stream = self._model.verifier.stream(text, known, policy=self.policy, question=question)
            async with stream:
                async for event in stream:
                    self(key, event)
            message = SHAPE.replaced(generation.message, stream.report.released)
            info = generation.generation_info
            if message is not generation.message and info is not None:
                info = {name: value for name, value in info.items() if name != SPELLED_OUT}
            generations.append(ChatGeneration(message=message, generation_info=info))
        return ChatResult(generations=generations, llm_output=result.llm_output)

    async def adispatch(self) -> None:
        """Tell the verdicts that came since."""
        for name, data in self._announcer.take():
            if self._around.run is not None:
                manager = AsyncCallbackManager(list(self._around.handlers), parent_run_id=self._around.run)
                await adispatch_custom_event(name, data, config={"callbacks": manager})

    def dispatch(self) -> None:
        """Tell the verdicts that came since."""
        for name, data in self._announcer.take():
            if self._around.run is not None:
                manager = CallbackManager(list(self._around.handlers), parent_run_id=self._around.run)
                dispatch_custom_event(name, data, config={"callbacks": manager})
