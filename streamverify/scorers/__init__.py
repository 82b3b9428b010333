"""Whatever judges entailment; `protocol.py` says what a scorer is.

The classes are loaded when they are first asked for, since most of them load ONNX Runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamverify._lazy import lazy_names

if TYPE_CHECKING:
    from streamverify.scorers.cross_encoder import CrossEncoderScorer
    from streamverify.scorers.function import FunctionScorer
    from streamverify.scorers.lexical import LexicalScorer
    from streamverify.scorers.llm_judge import LLMJudgeScorer
    from streamverify.scorers.named import Share
    from streamverify.scorers.premise_cached import PremiseCachedScorer

__all__ = [
    "CrossEncoderScorer",
    "FunctionScorer",
    "LLMJudgeScorer",
    "LexicalScorer",
    "PremiseCachedScorer",
    "Share",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "scorers.cross_encoder": "CrossEncoderScorer",
        "scorers.function": "FunctionScorer",
        "scorers.llm_judge": "LLMJudgeScorer",
        "scorers.lexical": "LexicalScorer",
        "scorers.premise_cached": "PremiseCachedScorer",
        "scorers.named": "Share",
    },
)
