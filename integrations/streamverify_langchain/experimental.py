"""LangGraph and agents, verified. Experimental: it follows LangGraph's third event protocol, which is beta.

`GroundingMiddleware` verifies an agent's model, and so its streams and its state. `GroundingTransformer`
verifies the streams of a compiled graph as it is, and leaves its state alone: for both, let the graph's node
call a `VerifiedChatModel`.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, ClassVar

import anyio

from streamverify.adapters import Pipe, PolicyLike, policy_from, require, shared_verifier

require("langgraph", extra="langgraph", feature="streamverify_langchain.experimental")
require("langchain.agents", extra="langgraph", feature="streamverify_langchain.experimental")

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse  # noqa: E402
from langchain_core.messages import BaseMessage, ToolMessage  # noqa: E402
from langgraph.stream import ProtocolEvent, StreamChannel, StreamTransformer  # noqa: E402

from streamverify import Event, Policy, TextReleased, VerifiedStream, Verifier, passages_from  # noqa: E402
from streamverify_langchain.announce import Announcer  # noqa: E402
from streamverify_langchain.call import OnEvent  # noqa: E402
from streamverify_langchain.documents import documents_in  # noqa: E402
from streamverify_langchain.model import VerifiedChatModel  # noqa: E402
from streamverify_langchain.passing import without_unknown  # noqa: E402
from streamverify_langchain.texts import last_question, without_context  # noqa: E402


def tool_results(messages: Sequence[BaseMessage]) -> list[object]:
    """What tools found: the documents among their artifacts, or else the text they returned, by call id."""
    found: list[object] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            documents = documents_in({"artifact": message.artifact}, "artifact")
            found += documents or [{"id": message.tool_call_id, "text": message.text}]
    return found


class GroundingMiddleware(AgentMiddleware):
    """Verifies what an agent's model says: `create_agent(model, tools, middleware=[GroundingMiddleware()])`.

    Under a policy that holds text neither a stream, nor the state, nor a callback carries more than what was
    released. Tool calls pass.
    """

    def __init__(
        self,
        *,
        verifier: Verifier | None = None,
        policy: PolicyLike | None = None,
        passages: Callable[[Sequence[BaseMessage]], Iterable[object]] = tool_results,
        on_event: OnEvent | None = None,
    ) -> None:
        """Nothing is loaded yet.

        Args:
            verifier: one for the whole process by default.
            policy: in place of the verifier's.
            passages: finds them in the messages the model is given.
            on_event: told every event as it happens.
        """
        super().__init__()
        self._verifier = verifier if verifier is not None else shared_verifier()
        self._policy = policy_from(policy) if policy is not None else None
        self._passages, self._on_event = passages, on_event

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """The model's response, verified."""
        return handler(request.override(model=self._around(request)))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """The model's response, verified."""
        return await handler(request.override(model=self._around(request)))

    def _around(self, request: ModelRequest[Any]) -> VerifiedChatModel:
        return VerifiedChatModel(
            inner=request.model,
            verifier=self._verifier,
            policy=self._policy,
            passages=self._passages,
            on_event=self._on_event,
        )


class _Block:
    """A text block of a message on its way through its check."""

    def __init__(self, check: Callable[[Pipe[str]], VerifiedStream], tell: Callable[[Event], object]) -> None:
        self.pieces: Pipe[str] = Pipe(math.inf)
        self._stream, self._tell = check(self.pieces), tell
        self._opened = anyio.Event()
        self._error: Exception | None = None
        self.said = self.released = ""
        self._told = 0

    async def open(self) -> None:
        """Begin the check; what goes wrong is raised by `end`."""
        try:
            await self._stream.__aenter__()
            self._stream.add_listener(self._take)
        except Exception as error:  # noqa: BLE001 - kept
            self._error = error
        finally:
            self._opened.set()

    def put(self, text: str) -> None:
        """Take the next piece."""
        if text:
            self.said += text
            self.pieces.put(text)

    def news(self) -> str:
        """What was released since it was asked last."""
        text, self._told = self.released[self._told :], len(self.released)
        return text

    async def end(self) -> None:
        """Wait for the last verdict.

        Raises:
            Exception: the check failed, and the verifier is told to raise that.
        """
        self.pieces.end()
        await self._opened.wait()
        if self._error is not None:
            raise self._error
        async for _ in self._stream:
            pass

    async def close(self) -> None:
        """Stop the check, which is not being opened any more."""
        with anyio.CancelScope(shield=True):
            await self._stream.aclose()

    def _take(self, event: Event) -> None:
        if isinstance(event, TextReleased):
            self.released += event.text
        self._tell(event)


class GroundingTransformer(StreamTransformer):
    """Verifies the messages a graph streams under version 3: `astream_events(..., transformers=[it])`.

    `run.extensions["verdicts"]` tells verdicts and reports. The graph's own state, and with it `values`,
    keeps what was generated. Give options with `GroundingTransformer.using(policy=Redact(), …)`.
    """

    before_builtins: ClassVar[bool] = True  # text must be edited before the built-in transformers copy it
    required_stream_modes: ClassVar[tuple[str, ...]] = ("messages", "values")

    verifier: ClassVar[Verifier | None] = None
    policy: ClassVar[Policy | None] = None
    passages: ClassVar[Sequence[object]] = ()
    context_key: ClassVar[str] = "context"

    @classmethod
    def using(
        cls,
        *,
        verifier: Verifier | None = None,
        policy: PolicyLike | None = None,
        passages: Sequence[object] = (),
        context_key: str = "context",
    ) -> type[GroundingTransformer]:
        """A transformer with these options.

        Args:
            verifier: one for the whole process by default.
            policy: in place of the verifier's.
            passages: known beforehand.
            context_key: where the graph's state holds a list of documents.

        Raises:
            PassageError: a passage cannot be read. Caller.
        """
        options = {
            "verifier": verifier,
            "policy": policy_from(policy) if policy is not None else None,
            "passages": passages_from(passages),
            "context_key": context_key,
        }
        return type(cls.__name__, (cls,), options)

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        """Made by LangGraph, for one run."""
        super().__init__(scope)
        self._used = self.verifier if self.verifier is not None else shared_verifier()
        self._chosen = self.policy if self.policy is not None else self._used.policy
        self._verdicts: StreamChannel[dict[str, Any]] = StreamChannel("verdicts")
        self._documents: list[object] = []
        self._asked: str | None = None
        self._blocks: dict[object, _Block] = {}

    def init(self) -> dict[str, Any]:
        """The channel of verdicts."""
        return {"verdicts": self._verdicts}

    async def aprocess(self, event: ProtocolEvent) -> bool:
        """Take one event of the graph; the text in it becomes what was released."""
        data: Any = event["params"]["data"]
        if event["method"] == "values":
            self._documents = documents_in(data, self.context_key) or self._documents
            messages = data.get("messages") if isinstance(data, dict) else None
            if isinstance(messages, list):
                self._asked = last_question([m for m in messages if isinstance(m, BaseMessage)])
        elif event["method"] == "messages":
            part, origin = data if isinstance(data, tuple) else (data, {})
            if not isinstance(part, dict):
                return not self._chosen.holds_text  # nothing that could be read
            key = (tuple(event["params"]["namespace"]), _run(origin), part.get("index"))
            await self._message(part, key)
        return True

    async def afail(self, err: BaseException) -> None:  # noqa: ARG002 - LangGraph's signature
        """The graph has failed: stop what is still open."""
        await self._close()

    async def afinalize(self) -> None:
        """The graph has ended, or its reader has left."""
        await self._close()

    async def _close(self) -> None:
        while self._blocks:
            await self._blocks.popitem()[1].close()

    async def _message(self, part: dict[str, Any], key: object) -> None:
        kind = part.get("event")
        if kind == "content-block-start" and part["content"].get("type") == "text":
            self._feed(key, part["content"], "text")
        elif kind == "content-block-delta" and part["delta"].get("type") == "text-delta":
            self._feed(key, part["delta"], "text")
        elif kind == "content-block-finish" and part["content"].get("type") == "text":
            block = self._block(key)
            said = part["content"].get("text") or ""
            if said.startswith(block.said):
                block.put(said[len(block.said) :])
            await block.end()
            self._blocks.pop(key, None)  # gone where the reader left meanwhile
            if self._chosen.holds_text:
                # LangGraph shows readers what the text at the end has more than its deltas.
                part["content"]["text"] = block.released
        elif self._chosen.holds_text:
            without_unknown(part)

    def _feed(self, key: object, holder: dict[str, Any], name: str) -> None:
        if said := holder.get(name):
            block = self._block(key)
            block.put(said)
            if self._chosen.holds_text:
                holder[name] = block.news()

    def _block(self, key: object) -> _Block:
        block = self._blocks.get(key)
        if block is None:
            block = self._blocks[key] = _Block(self._check(), self._announced())
            # Only what ends by itself may be scheduled: a run that is left early waits for it before
            # it tells its transformers.
            self.schedule(block.open())
        return block

    def _check(self) -> Callable[[Pipe[str]], VerifiedStream]:
        known = passages_from([*self.passages, *self._documents])
        question = without_context(self._asked, known)
        return lambda pieces: self._used.stream(pieces, known, policy=self._chosen, question=question)

    def _announced(self) -> Callable[[Event], None]:
        announcer = Announcer(holds=self._chosen.holds_text)

        def tell(event: Event) -> None:
            announcer(0, event)
            for name, told in announcer.take():
                self._verdicts.push({"name": name, **told})

        return tell


def _run(origin: Any) -> object:
    """The model's run, which tells messages apart that stream at the same time."""
    return origin.get("run_id") or origin.get("langgraph_node") if isinstance(origin, dict) else None
