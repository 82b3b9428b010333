"""Tells, while a RAG answer is still streaming, which sentences its passages support.

    from streamverify import Passage, Verifier

    passages = [Passage("p1", "The Eiffel Tower was completed in 1889 and stands 330 metres tall.")]
    report = Verifier().check_sync("The tower was finished in 1889. It is 450 metres tall.", passages)
    for sentence in report.sentences:
        print(sentence.label, sentence.score, sentence.text)

A token's way, a folder a stage: `stream.py` and `streaming/` read the source and keep the order, `sentences/`
closes sentences, `claims/` reads what they claim, `judging/` has them judged (`passages.py`, `scorers/`,
`checks/`, `citations/`), `policy.py` decides, `showing/` says what is seen, `events.py` is what comes out.

Importing this package loads no other module but `_lazy` and touches nothing outside the process; a name is
loaded with its module when it is first used, and numpy and onnxruntime when the first check runs.
"""

from typing import TYPE_CHECKING

from streamverify._lazy import lazy_names

if TYPE_CHECKING:
    from streamverify.calibration import Calibration as Calibration
    from streamverify.context import StreamContext as StreamContext
    from streamverify.context import stream_context as stream_context
    from streamverify.decorator import CheckedAnswer as CheckedAnswer
    from streamverify.decorator import VerifiedPieces as VerifiedPieces
    from streamverify.decorator import VerifiedSyncPieces as VerifiedSyncPieces
    from streamverify.decorator import verified as verified
    from streamverify.errors import InputFileError as InputFileError
    from streamverify.errors import MissingExtraError as MissingExtraError
    from streamverify.errors import ModelChecksumError as ModelChecksumError
    from streamverify.errors import ModelContractError as ModelContractError
    from streamverify.errors import ModelError as ModelError
    from streamverify.errors import ModelNotFoundError as ModelNotFoundError
    from streamverify.errors import PassageError as PassageError
    from streamverify.errors import PieceError as PieceError
    from streamverify.errors import ProviderError as ProviderError
    from streamverify.errors import ScoringError as ScoringError
    from streamverify.errors import ScoringTimeoutError as ScoringTimeoutError
    from streamverify.errors import StreamInterruptedError as StreamInterruptedError
    from streamverify.errors import StreamStateError as StreamStateError
    from streamverify.errors import StreamVerifyError as StreamVerifyError
    from streamverify.errors import UsageError as UsageError
    from streamverify.events import Event as Event
    from streamverify.events import SentenceClosed as SentenceClosed
    from streamverify.events import SentenceJudged as SentenceJudged
    from streamverify.events import SentenceRevised as SentenceRevised
    from streamverify.events import StreamFailed as StreamFailed
    from streamverify.events import StreamFinished as StreamFinished
    from streamverify.events import StreamHalted as StreamHalted
    from streamverify.events import StreamOpened as StreamOpened
    from streamverify.events import TextReleased as TextReleased
    from streamverify.judging.citations import CitationOptions as CitationOptions
    from streamverify.observe import Observer as Observer
    from streamverify.observe import ObserverStatistics as ObserverStatistics
    from streamverify.observe import Opening as Opening
    from streamverify.passages import passages_from as passages_from
    from streamverify.pii.policy import RedactPii as RedactPii
    from streamverify.policy import Annotate as Annotate
    from streamverify.policy import Decision as Decision
    from streamverify.policy import Flag as Flag
    from streamverify.policy import Halt as Halt
    from streamverify.policy import Observe as Observe
    from streamverify.policy import Policy as Policy
    from streamverify.policy import Redact as Redact
    from streamverify.policy import Repair as Repair
    from streamverify.policy import RepairingPolicy as RepairingPolicy
    from streamverify.policy import Tally as Tally
    from streamverify.policy import every_sentence as every_sentence
    from streamverify.policy import with_numbers as with_numbers
    from streamverify.repair_plan import RepairPlan as RepairPlan
    from streamverify.repair_plan import RepairRequest as RepairRequest
    from streamverify.scorers.cascade import Cascade as Cascade
    from streamverify.scorers.protocol import Scorer as Scorer
    from streamverify.sentences.segmenter import Segmenter as Segmenter
    from streamverify.sentences.segmenter import SentenceSegmenter as SentenceSegmenter
    from streamverify.showing.releases import Release as Release
    from streamverify.stream import VerifiedStream as VerifiedStream
    from streamverify.streaming.retrieval import retrieved as retrieved
    from streamverify.types import Action as Action
    from streamverify.types import Citation as Citation
    from streamverify.types import CitationFigures as CitationFigures
    from streamverify.types import CitationFinding as CitationFinding
    from streamverify.types import Evidence as Evidence
    from streamverify.types import Finding as Finding
    from streamverify.types import FindingKind as FindingKind
    from streamverify.types import Fingerprint as Fingerprint
    from streamverify.types import JudgedSentence as JudgedSentence
    from streamverify.types import Label as Label
    from streamverify.types import Passage as Passage
    from streamverify.types import Replacement as Replacement
    from streamverify.types import Report as Report
    from streamverify.types import SecondOpinion as SecondOpinion
    from streamverify.types import Sentence as Sentence
    from streamverify.types import SentenceKind as SentenceKind
    from streamverify.types import Span as Span
    from streamverify.types import SuggestedCitation as SuggestedCitation
    from streamverify.types import Timings as Timings
    from streamverify.types import Verdict as Verdict
    from streamverify.types import Work as Work
    from streamverify.verifier import Verifier as Verifier

__version__ = "0.1.0"

_HOMES = {
    "calibration": "Calibration",
    "context": "StreamContext stream_context",
    "decorator": "CheckedAnswer VerifiedPieces VerifiedSyncPieces verified",
    "errors": (
        "InputFileError MissingExtraError ModelChecksumError ModelContractError ModelError "
        "ModelNotFoundError PassageError PieceError ProviderError ScoringError "
        "ScoringTimeoutError StreamInterruptedError StreamStateError StreamVerifyError "
        "UsageError"
    ),
    "events": (
        "Event SentenceClosed SentenceJudged SentenceRevised StreamFailed StreamFinished "
        "StreamHalted StreamOpened TextReleased"
    ),
    "judging.citations": "CitationOptions",
    "observe": "Observer ObserverStatistics Opening",
    "passages": "passages_from",
    "pii.policy": "RedactPii",
    "policy": (
        "Annotate Decision Flag Halt Observe Policy Redact Repair RepairingPolicy "
        "Tally every_sentence with_numbers"
    ),
    "repair_plan": "RepairPlan RepairRequest",
    "showing.releases": "Release",
    "scorers.cascade": "Cascade",
    "scorers.protocol": "Scorer",
    "sentences.segmenter": "Segmenter SentenceSegmenter",
    "stream": "VerifiedStream",
    "streaming.retrieval": "retrieved",
    "types": (
        "Action Citation CitationFigures CitationFinding Evidence Finding FindingKind "
        "Fingerprint JudgedSentence Label Passage Replacement Report SecondOpinion Sentence "
        "SentenceKind Span SuggestedCitation Timings Verdict Work"
    ),
    "verifier": "Verifier",
}
"""Module to the public names that live in it: what the imports above say; a test compares the two."""

__getattr__, _public_names = lazy_names(__name__, _HOMES)

if not TYPE_CHECKING:  # type checkers read the imports above
    __all__ = _public_names()  # noqa: PLE0605 - it is a list


def __dir__() -> list[str]:
    """The public names."""
    return [*_public_names(), "__version__"]
