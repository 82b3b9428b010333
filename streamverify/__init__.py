"""Tells, while a RAG answer is still streaming, which sentences its passages support.

    from streamverify import Passage, Verifier

    passages = [Passage("p1", "The Eiffel Tower was completed in 1889 and stands 330 metres tall.")]
    report = Verifier().check_sync("The tower was finished in 1889. It is 450 metres tall.", passages)
    for sentence in report.sentences:
        print(sentence.label, sentence.score, sentence.text)

A token's way, file by file: `stream.py` and `pump.py` read the source, `segment.py` closes sentences,
`assess.py` has them judged (`passages.py`, `scorers/`, `checks/`, `judge.py`, `citations/`), `policy.py`
decides, `session.py` keeps the order, `events.py` is what comes out.

Importing this package loads nothing but this file and touches nothing outside the process; a name is
loaded with its module when it is first used, and numpy and onnxruntime when the first check runs.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamverify.calibration import Calibration
    from streamverify.citing import CitationOptions
    from streamverify.decorator import CheckedAnswer, VerifiedPieces, VerifiedSyncPieces, verified
    from streamverify.errors import (
        InputFileError,
        MissingExtraError,
        ModelChecksumError,
        ModelContractError,
        ModelError,
        ModelNotFoundError,
        PassageError,
        PieceError,
        ProviderError,
        ScoringError,
        ScoringTimeoutError,
        StreamInterruptedError,
        StreamStateError,
        StreamVerifyError,
        UsageError,
    )
    from streamverify.events import (
        Event,
        SentenceClosed,
        SentenceJudged,
        StreamFailed,
        StreamFinished,
        StreamHalted,
        StreamOpened,
        TextReleased,
    )
    from streamverify.passages import passages_from
    from streamverify.policy import (
        Annotate,
        Decision,
        Flag,
        Halt,
        Observe,
        Policy,
        Redact,
        Release,
        Repair,
        RepairRequest,
        Tally,
        every_sentence,
        with_numbers,
    )
    from streamverify.retrieval import retrieved
    from streamverify.scorers.protocol import Scorer
    from streamverify.segment import Segmenter, SentenceSegmenter
    from streamverify.stream import VerifiedStream
    from streamverify.types import (
        Action,
        Citation,
        CitationFigures,
        CitationFinding,
        Evidence,
        Finding,
        FindingKind,
        Fingerprint,
        JudgedSentence,
        Label,
        Passage,
        Replacement,
        Report,
        Sentence,
        SentenceKind,
        Span,
        SuggestedCitation,
        Timings,
        Verdict,
        Work,
    )
    from streamverify.verifier import Verifier

__version__ = "0.1.0"

__all__ = [
    "Action",
    "Annotate",
    "Calibration",
    "CheckedAnswer",
    "Citation",
    "CitationFigures",
    "CitationFinding",
    "CitationOptions",
    "Decision",
    "Event",
    "Evidence",
    "Finding",
    "FindingKind",
    "Fingerprint",
    "Flag",
    "Halt",
    "InputFileError",
    "JudgedSentence",
    "Label",
    "MissingExtraError",
    "ModelChecksumError",
    "ModelContractError",
    "ModelError",
    "ModelNotFoundError",
    "Observe",
    "Passage",
    "PassageError",
    "PieceError",
    "Policy",
    "ProviderError",
    "Redact",
    "Release",
    "Repair",
    "RepairRequest",
    "Replacement",
    "Report",
    "Scorer",
    "ScoringError",
    "ScoringTimeoutError",
    "Segmenter",
    "Sentence",
    "SentenceClosed",
    "SentenceJudged",
    "SentenceKind",
    "SentenceSegmenter",
    "Span",
    "StreamFailed",
    "StreamFinished",
    "StreamHalted",
    "StreamInterruptedError",
    "StreamOpened",
    "StreamStateError",
    "StreamVerifyError",
    "SuggestedCitation",
    "Tally",
    "TextReleased",
    "Timings",
    "UsageError",
    "Verdict",
    "VerifiedPieces",
    "VerifiedStream",
    "VerifiedSyncPieces",
    "Verifier",
    "Work",
    "every_sentence",
    "passages_from",
    "retrieved",
    "verified",
    "with_numbers",
]

_HOMES = {
    "calibration": "Calibration",
    "citing": "CitationOptions",
    "decorator": "CheckedAnswer VerifiedPieces VerifiedSyncPieces verified",
    "errors": (
        "InputFileError MissingExtraError ModelChecksumError ModelContractError ModelError "
        "ModelNotFoundError PassageError PieceError ProviderError ScoringError ScoringTimeoutError "
        "StreamInterruptedError StreamStateError StreamVerifyError UsageError"
    ),
    "events": (
        "Event SentenceClosed SentenceJudged StreamFailed StreamFinished StreamHalted StreamOpened "
        "TextReleased"
    ),
    "passages": "passages_from",
    "policy": (
        "Annotate Decision Flag Halt Observe Policy Redact Release Repair RepairRequest Tally every_sentence "
        "with_numbers"
    ),
    "retrieval": "retrieved",
    "scorers.protocol": "Scorer",
    "segment": "Segmenter SentenceSegmenter",
    "stream": "VerifiedStream",
    "types": (
        "Action Citation CitationFigures CitationFinding Evidence Finding FindingKind Fingerprint "
        "JudgedSentence Label Passage Replacement Report Sentence SentenceKind Span SuggestedCitation "
        "Timings Verdict Work"
    ),
    "verifier": "Verifier",
}
"""Module to the public names that live in it."""


def __getattr__(name: str) -> object:
    """The public name, its module loaded now."""
    for module, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names."""
    return [*__all__, "__version__"]
