"""LangChain chains and models, verified while they stream.

    from streamverify_langchain import VerifiedRunnable

    chain = VerifiedRunnable({"context": retriever, "question": RunnablePassthrough()} | prompt | model)
    async for chunk in chain.astream("When was the tower finished?"): ...

`VerifiedRunnable` wraps a chain and sees what it retrieves. `VerifiedChatModel` wraps the model itself, so
that not even an observer sees what was not released. `GroundingCallbackHandler` only observes. Needs the
extra `langchain`; runs on asyncio, as LangChain does.
"""

from __future__ import annotations

from streamverify.adapters import require

require("langchain_core", extra="langchain", feature="streamverify_langchain")

from streamverify_langchain.announce import (  # noqa: E402 - the missing extra is told first
    REPORT,
    REVISION,
    VERDICT,
    ReportCollector,
)
from streamverify_langchain.documents import DocumentTap  # noqa: E402
from streamverify_langchain.handler import Answer, GroundingCallbackHandler  # noqa: E402
from streamverify_langchain.model import VerifiedChatModel  # noqa: E402
from streamverify_langchain.runnable import VerifiedRunnable  # noqa: E402

__all__ = [
    "REPORT",
    "REVISION",
    "VERDICT",
    "Answer",
    "DocumentTap",
    "GroundingCallbackHandler",
    "ReportCollector",
    "VerifiedChatModel",
    "VerifiedRunnable",
]
