"""The nouns of the library: frozen values, without behaviour beyond reading themselves.

Everything here crosses a process border (events, reports, files), so it is pydantic, frozen and
closed to unknown fields. `Passage` is a dataclass because callers build it by position.

Spans are half-open ranges of characters (code points), into the answer *as generated* if not said otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from pydantic import Field

from streamverify.errors import PassageError
from streamverify.reasons import ReasonCode
from streamverify.text.printing import headline, html_table, printable, score_of
from streamverify.value import Value

_NO_METADATA: Mapping[str, Any] = MappingProxyType({})


class Span(NamedTuple):
    """A half-open range of characters `[start, end)`."""

    start: int
    end: int


class Label(StrEnum):
    """What the passages say about a sentence."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"
    NO_CLAIM = "no_claim"
    """Nothing to check: a greeting, a question, a heading, an honest abstention."""
    UNVERIFIED = "unverified"
    """The check did not run or cannot be trusted; `Verdict.reason` says why."""


class Action(StrEnum):
    """What the policy did with a sentence."""

    RELEASE = "release"
    FLAG = "flag"
    REDACT = "redact"
    HALT = "halt"
    REPAIR = "repair"


class SentenceKind(StrEnum):
    """The markdown block a sentence stands in."""

    PROSE = "prose"
    HEADING = "heading"
    LIST_ITEM = "list_item"
    QUOTE = "quote"
    """A block quotation (`> …`)."""
    TABLE = "table"
    CODE = "code"


class FindingKind(StrEnum):
    """What a deterministic check, or the judge, noticed beside the model's scores."""

    NUMBER_MISMATCH = "number_mismatch"
    DATE_MISMATCH = "date_mismatch"
    QUOTE_MISMATCH = "quote_mismatch"
    NAME_NOT_FOUND = "name_not_found"
    NEGATION_MISMATCH = "negation_mismatch"
    SOURCE_CONFLICT = "source_conflict"
    """Two passages disagree about the claim."""
    SUPERSEDED = "superseded"
    """The claim follows a passage that a later version, also given, says otherwise."""
    FALSE_ABSTENTION = "false_abstention"
    """The answer says the passages do not tell, and they do."""
    UNCONFIRMED = "unconfirmed"
    """A later scorer of a cascade was to decide and gave no word: the verdict before it stands."""
    LANGUAGE = "language"
    TOO_LONG = "too_long"


class CitationFinding(StrEnum):
    """What is known about one citation."""

    CORRECT = "correct"
    PARTIAL = "partial"
    WRONG_PASSAGE = "wrong_passage"
    FABRICATED = "fabricated"
    """The marker resolves to no passage."""
    MISSING = "missing"
    """A claim without a marker where the policy requires one."""
    UNSUPPORTED = "unsupported"
    """The cited passage does not support the sentence, nor does any other."""
    UNVERIFIED = "unverified"
    """The passage exists, and nothing more is known: the sentence makes no claim or was not judged."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One source text given by the caller.

    Raises:
        PassageError: the id, the text or the title is not a string, the id is empty, or the metadata are no
            mapping.
    """

    id: str
    text: str
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=lambda: _NO_METADATA, hash=False)

    def __post_init__(self) -> None:
        """Refuse what would only fail later, far from its cause."""
        if not isinstance(self.id, str) or not self.id:
            raise PassageError(f"a passage's id must be a non-empty string, not {self.id!r}")
        if not isinstance(self.text, str):
            raise PassageError(f"passage {self.id!r}: text must be a string, not {type(self.text).__name__}")
        if self.title is not None and not isinstance(self.title, str):
            raise PassageError(
                f"passage {self.id!r}: title must be a string, not {type(self.title).__name__}"
            )
        if not isinstance(self.metadata, Mapping):
            found = type(self.metadata).__name__
            raise PassageError(f"passage {self.id!r}: metadata must be a mapping, not {found}")


class Sentence(Value):
    """A stretch of the answer judged as one, closing blanks included; joined, their texts are the answer."""

    index: int
    text: str
    start: int
    end: int
    kind: SentenceKind = SentenceKind.PROSE

    @property
    def span(self) -> Span:
        """Where the sentence stands in the answer as generated."""
        return Span(self.start, self.end)


class Evidence(Value):
    """A sentence of a passage that speaks for or against a sentence of the answer."""

    passage: str
    """Id of the passage."""
    start: int
    """Offset in the passage's text, in characters."""
    end: int
    text: str
    score: float
    """Probability (0-1) of what `label` says, from the single pass over its window."""
    label: Label
    """SUPPORTED, CONTRADICTED, or UNSUPPORTED for the nearest text when neither holds."""


class Finding(Value):
    """Something a deterministic check noticed; `start` and `end` point into the answer."""

    kind: FindingKind
    start: int
    end: int
    detail: str


class Citation(Value):
    """A marker the answer carries, and what became of checking it."""

    marker: str
    start: int
    end: int
    passages: tuple[str, ...] = ()
    """Ids the marker resolves to; empty when it is fabricated or missing."""
    finding: CitationFinding
    score: float | None = None
    """Calibrated probability (0-1) that the cited passages support the sentence; None without any."""
    better: str | None = None
    """Id of a passage that supports the sentence where the cited one does not."""
    supported_span: Span | None = None
    """For `partial`: the part of the sentence that the cited passage supports."""


class SuggestedCitation(Value):
    """A marker that a supported sentence without one could carry."""

    at: int
    """Where it goes, in the answer."""
    text: str
    """What goes there, the blank before it included."""
    passages: tuple[str, ...]


class Verdict(Value):
    """Label, calibrated score and reasons for one sentence."""

    index: int
    """Index of the sentence."""
    label: Label
    score: float | None = None
    """Calibrated P(supported), 0-1; None for NO_CLAIM and UNVERIFIED."""
    reason: ReasonCode = ""
    """Why, in one word for a machine; see `ReasonCode`."""
    reason_text: str = ""
    """The same for a person, as a short clause; of a failed check, its error."""
    evidence: tuple[Evidence, ...] = ()
    """Best first."""
    citations: tuple[Citation, ...] = ()
    suggestion: SuggestedCitation | None = None
    """For a supported sentence without a marker: the one it could carry."""
    findings: tuple[Finding, ...] = ()
    unsupported_spans: tuple[Span, ...] = ()
    """The parts of the sentence that the passages do not back, in order, without overlap."""
    passes: int | None = None
    """Runs of the model it rests on, where they are fewer than usual because the machine was behind."""

    @property
    def why(self) -> str:
        """Reason and text on one line: `too_long: 412 tokens in one sentence`."""
        return ": ".join(filter(None, (self.reason, self.reason_text)))


class Replacement(Value):
    """Text that took the place of a sentence, with the verdicts it passed."""

    text: str
    attempts: int
    """How many rewrites it took."""
    verdicts: tuple[Verdict, ...]
    """One for each sentence of `text`; their spans count from the start of `text`."""


class JudgedSentence(Sentence, Verdict):
    """One sentence of a report: the text, the verdict and what the policy did."""

    action: Action
    replacement: Replacement | None = None
    """For REPAIR: what a reader sees instead."""
    latency_ms: float | None = None
    """Milliseconds from the sentence's close to this verdict; None when it was never scored."""
    scorer: str | None = None
    """Model that had the last word, in a cascade; None where there is one scorer, or nobody had a word."""


class Fingerprint(Value):
    """What scored: enough to reproduce a verdict."""

    model: str
    revision: str = ""
    precision: str = ""
    provider: str = ""
    """The execution provider really in use, read back from the runtime."""
    calibration: str = ""
    """Digest of the weights and thresholds that made labels of the scores; empty where none did."""
    reader: str = ""
    """Digest of what was learned to tell talk from claims; empty where no sentence was read."""
    band: tuple[float, float] | None = None
    kept: float | None = None
    later: tuple[Fingerprint, ...] = ()
    """Of a cascade, behind the first. `band`: where each decides; `kept`: share of the log-odds before."""


class Lag(Value):
    """Milliseconds between a sentence's close and its verdict, over a stream."""

    p50: float
    p95: float
    max: float


class Timings(Value):
    """Milliseconds since the stream opened, unless said otherwise; None where it did not happen."""

    prepare_ms: float | None = None
    """Until claims could be judged: the passages are cut and read, and encoded where that cannot wait."""
    first_text_ms: float | None = None
    """Until the first character a reader may see."""
    total_ms: float
    verdict_lag_ms: Lag | None = None
    overhead_ratio: float | None = None
    """Total time / time spent waiting for the source; None when the source took no measurable time."""


class Work(Value):
    """Counters of one stream: what was really computed."""

    windows: int = 0
    windows_from_cache: int = 0
    """Windows the passages were cut into; of those encoded or looked up, those the cache already held."""
    claims: int = 0
    """Claims handed to the scorer."""
    claims_from_cache: int = 0
    """Claims that the verifier had put to the same passages before, and whose scores it remembered."""
    tokens_scored: int = 0
    tokens_generated: int = 0
    """Tokens of those claims, each handed over once; tokens of the answer, by the scorer's tokenizer."""
    passes: int = 0
    """Runs of the model over a claim (single and joint passes)."""
    hurried: int = 0
    overloaded: int = 0
    """Claims that got as few passes as can be, and sentences that got none: the machine was behind."""

    def __add__(self, other: Work) -> Work:
        """Counter by counter."""
        return Work(**{name: getattr(self, name) + getattr(other, name) for name in Work.model_fields})


class SecondOpinion(Value):
    """What a later scorer of a cascade did in one stream: sentences it was asked about, and what it cost."""

    scorer: str
    asked: int
    changed: int
    unconfirmed: int
    """Of those asked, how many got another label, and how many no word: each has a finding that says so."""
    work: Work


class CitationFigures(Value):
    """How an answer cites; every share is 0-1, and None where `not_computed` says why."""

    citations: int
    """Markers in the answer."""
    fabricated: int
    missing: int
    """Those that mean no passage; claims without a marker where one was required."""
    existence: float | None
    """Markers that mean a passage / markers."""
    accuracy: float | None
    """Correct / checked."""
    precision: float | None
    completeness: float | None
    """Supporting cited passages / cited passages; / supporting passages."""
    quality: float | None
    """0.4 existence + 0.3 accuracy by score + 0.3 grounding."""
    multi_source_coverage: float | None
    """Claims that need several passages and cite as many / claims that need several."""
    not_computed: dict[str, str]
    """Figure to the reason why it is None."""


Outcome = Literal["finished", "halted", "failed"]
"""How a stream ended: with its source, by its policy, or in any other way."""


class Report(Value):
    """A whole stream: every sentence, counts, scores, timings."""

    outcome: Outcome
    answer: str
    """The answer as generated, as far as it came."""
    released: str
    """What a reader was allowed to see."""
    sentences: tuple[JudgedSentence, ...]
    counts: dict[Label, int]
    """By label; every label is present."""
    grounding_score: float | None
    """Mean calibrated score over the sentences that make a claim; None when none was scored."""
    citation_accuracy: float | None
    """Correct citations / citations; None when the answer carries none that was checked."""
    citation_figures: CitationFigures
    timings: Timings
    work: Work
    fingerprint: Fingerprint
    error: str | None = Field(default=None)
    """What ended a failed stream, or why a halted one stopped."""
    warnings: tuple[str, ...] = ()
    """What the application should know, a word for a machine first: `nothing_checked: …`."""
    second_opinions: tuple[SecondOpinion, ...] = ()
    """One for each later scorer of a cascade, in the order they are asked."""

    @property
    def failed(self) -> tuple[JudgedSentence, ...]:
        """The sentences that did not pass: UNSUPPORTED, CONTRADICTED or, since nobody checked, UNVERIFIED."""
        return tuple(s for s in self.sentences if s.label not in (Label.SUPPORTED, Label.NO_CLAIM))

    def to_dict(self) -> dict[str, Any]:
        """What `model_dump_json` writes, as plain values."""
        return self.model_dump(mode="json")

    def __str__(self) -> str:
        """A line on the whole and one for each sentence, safe to print: control characters are replaced."""
        warned = (f"! {printable(warning)}" for warning in self.warnings)
        told = (f"{s.label:<12}  {score_of(s.score):4}  {printable(s.text)}" for s in self.sentences)
        return "\n".join((self._headline(), *warned, *told))

    def _repr_html_(self) -> str:
        """The same as a table, for notebooks; everything is escaped."""
        rows = ((s.label.value, score_of(s.score), s.text) for s in self.sentences)
        return html_table((self._headline(), *self.warnings), ("label", "score", "sentence"), rows)

    def _headline(self) -> str:
        return headline(self.outcome, self.error, self.counts, self.grounding_score)
