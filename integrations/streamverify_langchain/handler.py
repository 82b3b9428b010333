"""`GroundingCallbackHandler`: verifies what a chain's models say, without touching it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import math
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Self
from uuid import UUID

import anyio
import anyio.lowlevel
from anyio.streams.memory import MemoryObjectReceiveStream
from langchain_core.callbacks import AsyncCallbackHandler, adispatch_custom_event
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, GenerationChunk, LLMResult
from langchain_core.runnables import RunnableConfig, ensure_config

from streamverify import Event, StreamStateError, UsageError, VerifiedStream, Verifier, passages_from
from streamverify.adapters import PolicyLike, policy_from, shared_verifier
from streamverify_langchain.announce import Announcer
from streamverify_langchain.documents import DocumentTap
from streamverify_langchain.texts import last_question, without_context
from streamverify_langchain.watch import Watch


class Answer(NamedTuple):
    """Whose event it is."""

    root: UUID
    """The run of the whole call."""
    run: UUID
    """The model's run."""


class _BlockFailed(Exception):  # noqa: N818 - a signal
    """The block of a `with` raised; what it raised is on its way already."""


OnAnswer = Callable[[Answer, Event], object]


class GroundingCallbackHandler(AsyncCallbackHandler):
    """Has what models say checked beside the chain, which it neither alters nor slows.

        async with GroundingCallbackHandler(on_event=print) as handler:
            await chain.ainvoke(question, config={"callbacks": [handler]})

    Or `with`, around `invoke` and `stream`: the checks run in the verifier's own event loop then.
    A callback only enqueues; the checks run in this handler's own tasks, which leaving the block waits for.
    An answer is judged against what was retrieved in the same call before its model began. A check that
    fails, or an `on_event` that raises, does not disturb the chain: it is raised on leaving the block. One
    handler serves any number of calls at once, asynchronous ones and such as run in other threads.
    """

    run_inline = True  # documents must be there before the model starts
    raise_error = True  # LangChain would only log what goes wrong here

    def __init__(
        self,
        on_event: OnAnswer | None = None,
        *,
        verifier: Verifier | None = None,
        policy: PolicyLike | None = None,
        passages: Sequence[object] = (),
        tags: Collection[str] = (),
        custom_events: bool = False,
    ) -> None:
        """Nothing is loaded yet.

        Args:
            on_event: told every event, with the answer it belongs to.
            verifier: one for the whole process by default.
            policy: in place of the verifier's; what it would withhold is only in its events and report.
            passages: known beforehand; they come before what is retrieved.
            tags: only models that carry one of these are checked; all are by default. A model that merely
                rewrites the question is better left out.
            custom_events: also dispatch verdicts and reports as custom events. The end of a model's run then
                waits for its last verdict, for a chain that has ended passes nothing on.

        Raises:
            PassageError: a passage cannot be read. Caller.
        """
        self._on_event, self._tags, self._custom = on_event, frozenset(tags), custom_events
        self._verifier = verifier if verifier is not None else shared_verifier()
        self._policy = policy_from(policy) if policy is not None else self._verifier.policy
        self._passages = passages_from(passages)
        self._tap = DocumentTap()
        self._watches: dict[UUID, Watch] = {}
        self._failures: list[Exception] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = False

    async def __aenter__(self) -> Self:
        """Be ready for calls.

        Raises:
            StreamStateError: it was entered before. Caller.
        """
        if self._loop is not None:
            raise StreamStateError("a GroundingCallbackHandler can be entered once; make another")
        self._loop, self._context = asyncio.get_running_loop(), contextvars.copy_context()
        self._begun, begun = anyio.create_memory_object_stream[_Begun](math.inf)
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        self._group.start_soon(self._serve, begun)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for every check; after an error in the block, stop them instead.

        Raises:
            Exception: what went wrong in a check or in `on_event`, in a group where it was several things.
        """
        # What other threads posted is taken first; cancelled here, the group would stay open.
        with anyio.CancelScope(shield=True):
            await anyio.lowlevel.checkpoint()
        self._over = True
        self._begun.close()
        for watch in tuple(self._watches.values()):
            watch.end()
        if error is not None:
            self._group.cancel_scope.cancel()
        await self._group.__aexit__(None, None, None)
        if error is None and self._failures:
            if len(self._failures) == 1:
                raise self._failures[0]
            raise ExceptionGroup("checks failed", self._failures)

    def __enter__(self) -> Self:
        """Be ready for calls of code that has no event loop; the checks run in the verifier's own.

        Raises:
            StreamStateError: it was entered before. Caller.
        """
        entered: Future[None] = Future()
        # One task enters and leaves, for a task group belongs to the task that opened it; a thread waits.
        waiting = ThreadPoolExecutor(1, "streamverify-observer")
        self._apart = waiting.submit(self._verifier.portal.run, lambda: self._live(entered))
        waiting.shutdown(wait=False)
        wait([self._apart, entered], return_when=FIRST_COMPLETED)
        if not entered.done():
            self._apart.result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for every check; after an error in the block, stop them instead.

        Raises:
            Exception: as leaving `async with` does.
        """
        self._verifier.portal.run(partial(self._leave, failed=error is not None))
        self._apart.result()

    async def _live(self, entered: Future[None]) -> None:
        self._left, self._block_failed = anyio.Event(), False
        with contextlib.suppress(_BlockFailed):
            async with self:
                entered.set_result(None)
                await self._left.wait()
                if self._block_failed:
                    raise _BlockFailed

    async def _leave(self, *, failed: bool) -> None:
        self._block_failed = failed
        self._left.set()

    # LangChain asks for these before each callback and raises what they raise. What a callback raises it only
    # logs where there is no event loop, and the chain would go on unchecked.

    @property
    def ignore_chain(self) -> bool:
        """Never.

        Raises:
            StreamStateError: the handler was not entered. Caller.
        """
        if self._loop is None:
            raise StreamStateError("enter the handler first: (async) with GroundingCallbackHandler(...)")
        return False

    @property
    def ignore_retriever(self) -> bool:
        """As `ignore_chain`."""
        return self.ignore_chain

    @property
    def ignore_llm(self) -> bool:
        """As `ignore_chain`."""
        return self.ignore_chain

    @property
    def ignore_chat_model(self) -> bool:
        """Never; asked when a model begins.

        Raises:
            StreamStateError: the handler was not entered, or was left. Caller.
        """
        if self._over:
            raise StreamStateError("the block of this GroundingCallbackHandler was left; make another")
        return self.ignore_chain

    async def on_chain_start(self, *args: Any, **kwargs: Any) -> None:
        """Remember where the run belongs."""
        self._post(self._tap.on_chain_start, *args, **kwargs)

    async def on_chain_end(self, *args: Any, **kwargs: Any) -> None:
        """Forget a call that has ended."""
        self._post(self._tap.on_chain_end, *args, **kwargs)

    async def on_chain_error(self, *args: Any, **kwargs: Any) -> None:
        """Forget a call that has failed."""
        self._post(self._tap.on_chain_error, *args, **kwargs)

    async def on_tool_start(self, *args: Any, **kwargs: Any) -> None:
        """Remember where the run belongs."""
        self._post(self._tap.on_tool_start, *args, **kwargs)

    async def on_retriever_start(self, *args: Any, **kwargs: Any) -> None:
        """Note the retrieval."""
        self._post(self._tap.on_retriever_start, *args, **kwargs)

    async def on_retriever_end(self, *args: Any, **kwargs: Any) -> None:
        """Keep what was retrieved."""
        self._post(self._tap.on_retriever_end, *args, **kwargs)

    async def on_retriever_error(self, *args: Any, **kwargs: Any) -> None:
        """Forget the retrieval."""
        self._post(self._tap.on_retriever_error, *args, **kwargs)

    async def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], **kwargs: Any
    ) -> None:
        """Begin a check."""
        asked = last_question(messages[0]) if messages else None
        await self.on_llm_start(serialized, [], asked=asked, **kwargs)

    async def on_llm_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002 - LangChain's signature
        prompts: Sequence[object],  # noqa: ARG002
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: Sequence[str] | None = None,
        asked: str | None = None,
        **_: Any,
    ) -> None:
        """Begin a check.

        Raises:
            UsageError: custom events are wanted, and nothing around the model could pass them on. Caller.
        """
        if self._tags and not self._tags.intersection(tags or ()):
            return
        config = ensure_config() if self._custom else None
        if config is not None and (parent_run_id is None or not self._is_here()):
            refused = UsageError(
                "custom_events needs a chain or graph around the model, called asynchronously"
            )
            if not self._is_here():
                self._failures.append(refused)  # without an event loop LangChain would only log it
            raise refused
        self._post(self._begin, run_id, parent_run_id, config, asked)

    async def on_llm_new_token(
        self,
        token: str | list[str | dict[str, Any]],
        *,
        chunk: GenerationChunk | ChatGenerationChunk | None = None,
        run_id: UUID,
        **_: Any,
    ) -> None:
        """Take a token."""
        text = chunk.message.text if isinstance(chunk, ChatGenerationChunk) else token
        if isinstance(text, str):
            self._post(self._pass, run_id, lambda watch: watch.token(text))

    async def on_stream_event(self, event: Any, *, run_id: UUID, **_: Any) -> None:
        """Take an event of the third protocol."""
        self._post(self._pass, run_id, lambda watch: watch.event(event))

    async def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """The model has ended."""
        first = response.generations[0][0] if response.generations and response.generations[0] else None
        message = getattr(first, "message", None)
        text = message.text if isinstance(message, BaseMessage) else getattr(first, "text", "")

        def end(watch: Watch) -> None:
            watch.whole(str(text))
            watch.end()

        watch = self._watches.get(run_id) if self._custom else None
        self._post(self._pass, run_id, end)
        if watch is not None:
            await watch.done.wait()

    async def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """The model has failed, or was stopped."""
        self._post(self._pass, run_id, lambda watch: watch.end(error))

    def _is_here(self) -> bool:
        return asyncio.get_running_loop() is self._loop

    def _post(self, function: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        """Do it in the handler's own loop: at once where this is it, in order in any case."""
        if self._loop is None or self._over:
            return  # `ignore_chain` refuses what begins; the rest belongs to checks that were ended
        if self._is_here():
            function(*args, **kwargs)
        else:
            # In the handler's context: a thread without an event loop has none that its tasks could run in.
            self._loop.call_soon_threadsafe(partial(function, *args, **kwargs), context=self._context)

    def _pass(self, run: UUID, step: Callable[[Watch], object]) -> None:
        if (watch := self._watches.get(run)) is not None:
            step(watch)

    def _begin(
        self, run: UUID, parent: UUID | None, config: RunnableConfig | None, asked: str | None
    ) -> None:
        watch = self._watches[run] = Watch()
        answer = Answer(self._tap.root(parent) or run, run)
        known = (*self._passages, *self._tap.documents(parent))
        self._begun.send_nowait(_Begun(answer, watch, known, config, asked))

    async def _serve(self, begun: MemoryObjectReceiveStream[_Begun]) -> None:
        with begun:
            async for one in begun:
                self._group.start_soon(self._check, one)

    async def _check(self, begun: _Begun) -> None:
        watch = begun.watch
        try:
            known = passages_from(begun.known)
            asked = without_context(begun.asked, known)
            async with self._verifier.stream(
                watch.pieces, known, policy=self._policy, question=asked
            ) as stream:
                if begun.config is None:
                    await stream.run_callback(lambda event: self._tell(begun.answer, event))
                else:
                    await self._dispatch(begun.answer, stream, begun.config)
        except Exception as error:  # noqa: BLE001 - kept: raised on leaving the block
            if error is not watch.error:  # the model's own is raised by the chain
                self._failures.append(error)
        finally:
            del self._watches[begun.answer.run]
            watch.done.set()

    async def _dispatch(self, answer: Answer, stream: VerifiedStream, config: RunnableConfig) -> None:
        announcer = Announcer(holds=self._policy.holds_text)
        async for event in stream:
            self._tell(answer, event)
            announcer(0, event)
            for name, data in announcer.take():
                await adispatch_custom_event(name, data, config=config)

    def _tell(self, answer: Answer, event: Event) -> None:
        if self._on_event is not None:
            self._on_event(answer, event)


class _Begun(NamedTuple):
    """A check that is to be made."""

    answer: Answer
    watch: Watch
    known: Sequence[object]
    config: RunnableConfig | None
    asked: str | None
