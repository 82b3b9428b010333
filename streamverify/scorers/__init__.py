"""Whatever judges entailment; `protocol.py` says what a scorer is.

The classes are loaded when they are first asked for, since most of them load ONNX Runtime.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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

_MODULES = {
    "CrossEncoderScorer": "cross_encoder",
    "FunctionScorer": "function",
    "LLMJudgeScorer": "llm_judge",
    "LexicalScorer": "lexical",
    "PremiseCachedScorer": "premise_cached",
    "Share": "named",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
