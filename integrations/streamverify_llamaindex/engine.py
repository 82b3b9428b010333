"""`VerifyingQueryEngine`: a query engine whose answers are verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle

from streamverify import UsageError, Verifier
from streamverify.adapters import PolicyLike
from streamverify_llamaindex.verification import ANSWER, Checks, OnEvent, Verification


class VerifyingQueryEngine(BaseQueryEngine):
    """A query engine, verified: use it as the engine itself.

    The response is of the same type. A streaming one yields what the policy lets a reader see, as it comes;
    of a structured one each field that is a string is checked, and nothing else. LlamaIndex's own events
    carry the answer as generated, whatever the policy.
    """

    def __init__(
        self,
        inner: BaseQueryEngine,
        *,
        verifier: Verifier | None = None,
        policy: PolicyLike | None = None,
        on_event: OnEvent | None = None,
    ) -> None:
        """Nothing is loaded yet.

        Args:
            inner: `RetrieverQueryEngine`, `CitationQueryEngine`, or any other whose responses name their
                source nodes.
            verifier: one for the whole process by default.
            policy: in place of the verifier's.
            on_event: told every event of every answer, in order, where the answer is read.
        """
        super().__init__(callback_manager=inner.callback_manager)
        self.inner = inner
        self._checks = Checks(verifier, policy, on_event)

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"inner": self.inner}

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """What the engine retrieves."""
        return self.inner.retrieve(query_bundle)

    def synthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """The engine's response from these nodes, verified."""
        response = self.inner.synthesize(query_bundle, nodes, additional_source_nodes)
        return self._verified(response, query_bundle.query_str)

    async def asynthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> RESPONSE_TYPE:
        """The engine's response from these nodes, verified."""
        response = await self.inner.asynthesize(query_bundle, nodes, additional_source_nodes)
        return await self._averified(response, query_bundle.query_str)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return self._verified(self.inner.query(query_bundle), query_bundle.query_str)

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return await self._averified(await self.inner.aquery(query_bundle), query_bundle.query_str)

    def _verified(self, response: RESPONSE_TYPE, question: str) -> RESPONSE_TYPE:
        found = self._checks.begin()
        if isinstance(response, StreamingResponse | AsyncStreamingResponse):
            return _streamed(response, question, found)
        nodes, texts = response.source_nodes, _texts(response, holds=found.holds).items()
        shown = {name: found.check(text, nodes, question, name) for name, text in texts}
        return _with_texts(response, shown, found)

    async def _averified(self, response: RESPONSE_TYPE, question: str) -> RESPONSE_TYPE:
        found = self._checks.begin()
        if isinstance(response, StreamingResponse | AsyncStreamingResponse):
            return _streamed(response, question, found)
        nodes, texts = response.source_nodes, _texts(response, holds=found.holds).items()
        shown = {name: await found.acheck(text, nodes, question, name) for name, text in texts}
        return _with_texts(response, shown, found)


def _streamed(
    response: StreamingResponse | AsyncStreamingResponse, question: str, found: Verification
) -> RESPONSE_TYPE:
    nodes, metadata = response.source_nodes, found.metadata(response)
    if isinstance(response, StreamingResponse):
        pieces = found.stream(response.response_gen, nodes, question)
        return found.on(replace(response, response_gen=pieces, metadata=metadata))
    apieces = found.astream(response.async_response_gen(), nodes, question)
    return found.on(replace(response, response_gen=apieces, metadata=metadata))


def _texts(response: Response | PydanticResponse, *, holds: bool) -> dict[str, str]:
    """The texts of a whole response, by the name of their field.

    Raises:
        UsageError: a structured one has a field that nobody can verify, and the policy holds text. Caller.
    """
    fields = vars(response) if isinstance(response, Response) else dict(response.response or ())
    names = [ANSWER] if isinstance(response, Response) else fields
    for name in names:
        if holds and not isinstance(fields[name], str | None):
            raise UsageError(
                f"the field {name!r} is no string, so it cannot be verified, and the policy holds text: make "
                "every field prose, or use Flag()"
            )
    return {name: text for name in names if isinstance(text := fields[name], str) and text}


def _with_texts(
    response: Response | PydanticResponse, texts: Mapping[str, str], found: Verification
) -> RESPONSE_TYPE:
    metadata = found.metadata(response)
    if isinstance(response, Response):
        return found.on(replace(response, response=texts.get(ANSWER, response.response), metadata=metadata))
    if response.response is None:
        return found.on(replace(response, metadata=metadata))
    shown = response.response.model_copy(update=texts)
    return found.on(replace(response, response=shown, metadata=metadata))
