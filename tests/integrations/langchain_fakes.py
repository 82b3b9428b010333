"""Scripted models, retrievers and listeners for LangChain: the framework is the real one."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough

from streamverify import Label, Policy, Verifier
from streamverify.testing import ScriptedScorer

ANSWER = "Paris is the capital. It has 900 people. The river is the Seine."
SHOWN = "Paris is the capital. [statement removed] The river is the Seine."
SCRIPT = {"900": Label.UNSUPPORTED}
DOCUMENTS = [
    Document(id="p1", page_content="Paris is the capital of France."),
    Document(page_content="The Seine flows through Paris."),
]


class Finder(BaseRetriever):
    """Always finds the same documents."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return DOCUMENTS


def model(*answers: str) -> GenericFakeChatModel:
    """Says each answer once, word by word."""
    return GenericFakeChatModel(messages=iter([AIMessage(text) for text in answers or (ANSWER,)]))


def prompt() -> Runnable:
    """Retrieves, and asks."""
    asked = ChatPromptTemplate.from_template("{context}\n{question}")
    return {"context": Finder(), "question": RunnablePassthrough()} | asked


def text_chain(*answers: str) -> Runnable:
    """Yields `str`."""
    return prompt() | model(*answers) | StrOutputParser()


def dict_chain(*answers: str) -> Runnable:
    """Yields dicts: the question, the documents, then the answer piece by piece."""
    asked = ChatPromptTemplate.from_template("{context}\n{question}")
    return {"question": RunnablePassthrough(), "context": RunnableLambda(lambda _: DOCUMENTS)} | (
        RunnablePassthrough.assign(answer=asked | model(*answers) | StrOutputParser())
    )


def verifier(policy: Policy | None = None, **options: Any) -> Verifier:
    """Judges by the script."""
    return Verifier(ScriptedScorer(SCRIPT, **options), policy=policy)


class Listener(AsyncCallbackHandler):
    """Writes down whatever it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []

    async def on_llm_new_token(self, token: Any, *, chunk: Any = None, **_: Any) -> None:
        self.told += [("token", token), ("chunk", chunk)]

    async def on_stream_event(self, event: Any, **_: Any) -> None:
        self.told.append(("event", event))

    async def on_llm_end(self, response: Any, **_: Any) -> None:
        self.told.append(("end", response))

    async def on_custom_event(self, name: str, data: Any, **_: Any) -> None:
        self.told.append((name, data))

    def named(self, name: str) -> list[Any]:
        return [data for kind, data in self.told if kind == name]


async def no_task_left(before: set[asyncio.Task[Any]]) -> None:
    """Waits until every task that began since has ended."""
    with anyio.fail_after(60):
        while asyncio.all_tasks() - before:
            await anyio.lowlevel.checkpoint()
