"""LlamaIndex query engines, verified while they stream; offline, with a scripted model.

pip install 'streamverify[llamaindex]'
python examples/llamaindex_rag.py
"""

# ruff: noqa: ARG002 - the framework dictates these signatures
from __future__ import annotations

from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from streamverify import Redact, Verifier
from streamverify_llamaindex import VerifyingQueryEngine, verification

ANSWER = "The Eiffel Tower was completed in 1889 [1]. It is 450 metres tall [1]. It is in Paris [4]."


class Model(CustomLLM):
    """Stands for your model."""

    @property
    def metadata(self):
        return LLMMetadata()

    def complete(self, prompt, formatted=False, **options):
        return CompletionResponse(text=ANSWER)

    def stream_complete(self, prompt, formatted=False, **options):
        for end in range(5, len(ANSWER) + 5, 5):
            yield CompletionResponse(text=ANSWER[:end], delta=ANSWER[end - 5 : end])


class Tower(BaseRetriever):
    """Stands for your index."""

    def _retrieve(self, query_bundle):
        text = "The Eiffel Tower in Paris was completed in 1889 and is 330 metres tall."
        return [NodeWithScore(node=TextNode(id_="tower", text=text), score=1.0)]


def main() -> None:
    synthesizer = get_response_synthesizer(llm=Model(), streaming=True)
    inner = CitationQueryEngine(retriever=Tower(), llm=Model(), response_synthesizer=synthesizer)
    with Verifier(policy=Redact()) as verifier:
        response = VerifyingQueryEngine(inner, verifier=verifier).query("How tall is the Eiffel Tower?")
        for text in response.response_gen:
            print(text, end="", flush=True)
        print()
        for sentence in verification(response).report.sentences:
            cited = ", ".join(f"{c.marker} {c.finding}" for c in sentence.citations)
            print(f"  {sentence.label:<12} {cited}")


main()
