"""A scripted model and retriever for LlamaIndex: the framework is the real one."""

from __future__ import annotations

import threading
from typing import Any

import anyio.lowlevel
from llama_index.core import get_response_synthesizer
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from streamverify import Label, Policy, Verifier
from streamverify.testing import ScriptedScorer

ANSWER = "Paris is the capital. It has 900 people. The river is the Seine."
SHOWN = "Paris is the capital. [statement removed] The river is the Seine."
SCRIPT = {"900": Label.UNSUPPORTED}


class Scripted(CustomLLM):
    """Says `text`, word by word; then fails where `error` says so."""

    text: str = ANSWER
    error: bool = False
    said: Any = None
    ended: Any = None

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text=self.text)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any):
        def generate():
            whole = ""
            try:
                for word in self.text.split(" "):
                    delta = word if not whole else f" {word}"
                    whole += delta
                    self.said.append(delta)
                    yield CompletionResponse(text=whole, delta=delta)
                if self.error:
                    raise RuntimeError("the model broke")
            finally:
                if self.ended is not None:
                    self.ended.set()

        return generate()

    async def astream_complete(self, prompt: str, formatted: bool = False, **options: Any):
        words = await super().astream_complete(prompt, formatted, **options)

        async def one_by_one():
            async for word in words:
                await anyio.lowlevel.checkpoint()  # as a model that is waited for
                yield word

        return one_by_one()


def scripted(**fields: Any) -> Scripted:
    """A model with its own record of what it said."""
    return Scripted(said=[], ended=threading.Event(), **fields)


class Nodes(BaseRetriever):
    """Always finds the same two nodes."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        texts = {"n1": "Paris is the capital of France.", "n2": "The Seine flows through Paris."}
        return [NodeWithScore(node=TextNode(id_=id_, text=text), score=0.9) for id_, text in texts.items()]


def query_engine(llm: CustomLLM, *, streaming: bool) -> RetrieverQueryEngine:
    """A real engine around them."""
    synthesizer = get_response_synthesizer(llm=llm, streaming=streaming, use_async=True)
    return RetrieverQueryEngine(retriever=Nodes(), response_synthesizer=synthesizer)


def verifier(policy: Policy | None = None, **options: Any) -> Verifier:
    """Judges by the script."""
    return Verifier(ScriptedScorer(SCRIPT, **options), policy=policy)
