"""LlamaIndex query and chat engines, verified while they stream.

    from streamverify_llamaindex import VerifyingQueryEngine, verification

    engine = VerifyingQueryEngine(index.as_query_engine(streaming=True), policy=Redact())
    response = engine.query("When was the tower finished?")
    for text in response.response_gen: ...
    verification(response).report

Responses keep their type. An answer is judged against the nodes it was made from. Needs the extra
`llamaindex`; runs on asyncio, as LlamaIndex does.
"""

from __future__ import annotations

from streamverify.adapters import require

require("llama_index.core", extra="llamaindex", feature="streamverify_llamaindex")

from streamverify_llamaindex.chat import VerifyingChatEngine  # noqa: E402 - the missing extra is told first
from streamverify_llamaindex.engine import VerifyingQueryEngine  # noqa: E402
from streamverify_llamaindex.telemetry import AnswerChecked, GroundingEventHandler, SentenceChecked  # noqa: E402
from streamverify_llamaindex.verification import Verification, verification  # noqa: E402
from streamverify_llamaindex.workflow import SentenceVerdictEvent, verdicts_to  # noqa: E402

__all__ = [
    "AnswerChecked",
    "GroundingEventHandler",
    "SentenceChecked",
    "SentenceVerdictEvent",
    "Verification",
    "VerifyingChatEngine",
    "VerifyingQueryEngine",
    "verdicts_to",
    "verification",
]
