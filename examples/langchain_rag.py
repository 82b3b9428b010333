"""A LangChain RAG chain, verified while it streams; offline, with a scripted model.

pip install 'streamverify[langchain]'
python examples/langchain_rag.py
"""

# ruff: noqa: ARG002 - the framework dictates these signatures
from __future__ import annotations

import asyncio

from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough

from streamverify import Redact, Verifier
from streamverify_langchain import DocumentTap, VerifiedChatModel, VerifiedRunnable

ANSWER = "The Eiffel Tower was completed in 1889. It is 450 metres tall."


class Tower(BaseRetriever):
    """Stands for your vector store."""

    def _get_relevant_documents(self, query, *, run_manager):
        text = "The Eiffel Tower was completed in 1889 and is 330 metres tall."
        return [Document(id="tower", page_content=text)]


def model():
    """Stands for your model."""
    return GenericFakeChatModel(messages=iter([AIMessage(ANSWER)]))


async def main() -> None:
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    asked = {"context": Tower(), "question": RunnablePassthrough()} | prompt
    async with Verifier() as verifier:
        print("Badges beside the text, which flows at once:")
        chain = VerifiedRunnable(asked | model() | StrOutputParser(), verifier=verifier)
        async for event in chain.astream_events("How tall is it?", version="v2"):
            if event["name"] == "streamverify.verdict":
                print(f"  {event['data']['label']:<12} {event['data']['text'].strip()}")

        print("The same chain, redacted:")
        chain = VerifiedRunnable(asked | model() | StrOutputParser(), verifier=verifier, policy=Redact())
        print(" ", "".join([text async for text in chain.astream("How tall is it?")]))

        print("And with the model itself wrapped, so that no observer sees more:")
        redacted = VerifiedChatModel(inner=model(), verifier=verifier, policy=Redact())
        print(
            " ", (await (asked | redacted).ainvoke("How tall?", config={"callbacks": [DocumentTap()]})).text
        )


asyncio.run(main())
