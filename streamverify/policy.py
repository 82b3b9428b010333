"""What becomes of a sentence once its verdict is known.

Before: `judging/verdict.py` and `citations/` made the verdict.
After: `streaming/session.py` turns the decision into released text.

A policy is pure: it sees a sentence, its verdict and the tally so far, and decides. One that says
`holds_text` sees every character before a reader does, and what it lets go is final.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, TypeAlias, get_args, runtime_checkable

from streamverify.citations.removal import meaningless
from streamverify.errors import UsageError
from streamverify.parameters import a_function, a_text, one_of, some_of
from streamverify.repair_plan import RepairPlan, Rewrite
from streamverify.showing.releases import Release, replaced, whole
from streamverify.text.emphasis import unpaired
from streamverify.text.layout import body
from streamverify.types import (
    Action,
    CitationFinding,
    Label,
    Replacement,
    Sentence,
    Span,
    Verdict,
)

UNGROUNDED = frozenset({Label.UNSUPPORTED, Label.CONTRADICTED})
"""The labels that policies act on unless told otherwise."""

PLACEHOLDER = "[statement removed]"
"""In place of a rejected sentence; it stands beside a badge that says why, whatever the label."""

_NUMBER = re.compile(
    r"[\d\u00bc-\u00be\u2150-\u215e]"
    r"|\b(?:zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
    r"|half|per ?cent|(?:hundred|thousand|million|billion|trillion|dozen)s?)\b",
    re.IGNORECASE,
)
"""A digit, a fraction in one sign, or a number as an English word; not `one`, which is mostly a pronoun."""


class Tally(NamedTuple):
    """What the stream has seen before the sentence in question."""

    claims: int
    """Sentences that made a claim and were checked."""
    ungrounded: int
    """Of those, UNSUPPORTED and CONTRADICTED ones."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the policy does with one sentence."""

    action: Action
    release: tuple[Release, ...] = ()
    """In text order; used only where the sentence was held."""
    reason: str = ""
    """For HALT: why."""


@runtime_checkable
class Policy(Protocol):
    """The seam for policies; see `Flag` for the smallest one."""

    @property
    def name(self) -> str:
        """As it appears in `stream_opened`."""
        ...

    @property
    def holds_text(self) -> bool:
        """Whether text waits until its sentence is closed and `decide` has spoken."""
        ...

    def holds(self, sentence: Sentence) -> bool:
        """Whether this closed sentence waits for its verdict; asked only where `holds_text`."""
        ...

    def decide(self, sentence: Sentence, verdict: Verdict, tally: Tally) -> Decision:
        """What to do; a held sentence shows exactly `Decision.release`."""
        ...


Selector = Callable[[Sentence], bool]


def every_sentence(sentence: Sentence) -> bool:  # noqa: ARG001 - a selector that selects everything
    """Selects every sentence."""
    return True


def with_numbers(sentence: Sentence) -> bool:
    """Selects sentences with a figure: a digit, or an English word such as `nine`, `half` or `percent`.

    `one`, `a` and ordinal words such as `third` are none.
    """
    return bool(_NUMBER.search(sentence.text))


@dataclass(frozen=True, slots=True)
class Observe:
    """Events only: text flows at once, nothing is acted on."""

    name: str = field(default="observe", init=False)
    holds_text: bool = field(default=False, init=False)

    def holds(self, sentence: Sentence) -> bool:  # noqa: ARG002 - the protocol's signature
        """Nothing is held."""
        return False

    def decide(self, sentence: Sentence, verdict: Verdict, tally: Tally) -> Decision:  # noqa: ARG002
        """Release, whatever the verdict."""
        return Decision(Action.RELEASE)


@dataclass(frozen=True, slots=True)
class Flag:
    """Text flows at once; sentences with one of `labels` are flagged when their verdict arrives."""

    labels: frozenset[Label] = UNGROUNDED
    name: str = field(default="flag", init=False)
    holds_text: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Refuse labels that are none."""
        some_of("Flag: labels", self.labels, tuple(Label))

    def holds(self, sentence: Sentence) -> bool:  # noqa: ARG002 - the protocol's signature
        """Nothing is held."""
        return False

    def decide(self, sentence: Sentence, verdict: Verdict, tally: Tally) -> Decision:  # noqa: ARG002
        """Flag by label."""
        return Decision(Action.FLAG if verdict.label in self.labels else Action.RELEASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Redact:
    """Hold each sentence until judged; put a placeholder where it is not grounded.

    With `scope="span"` only the unsupported words go, where the scorer can tell them; otherwise, and
    by default, the whole sentence does. Closing blanks, list marks and marks of emphasis that reach beyond
    the sentence stay, so the layout holds.
    """

    labels: frozenset[Label] = UNGROUNDED
    scope: Literal["sentence", "span"] = "sentence"
    placeholder: str = PLACEHOLDER
    fabricated_citations: Literal["keep", "marker", "sentence"] = "keep"
    """What to do with a marker that resolves to no passage: keep it, take it out, or redact its sentence."""
    where: Selector = every_sentence
    """Strictness by kind: sentences it does not select are released at once and only flagged."""
    name: str = field(default="redact", init=False)
    holds_text: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        """Refuse what would fail, or do nothing, in the middle of an answer."""
        some_of("Redact: labels", self.labels, tuple(Label))
        one_of("Redact: scope", self.scope, ("sentence", "span"))
        one_of("Redact: fabricated_citations", self.fabricated_citations, ("keep", "marker", "sentence"))
        a_text("Redact: placeholder", self.placeholder)
        a_function("Redact: where", self.where)

    def holds(self, sentence: Sentence) -> bool:
        """Held if selected."""
        return self.where(sentence)

    def decide(self, sentence: Sentence, verdict: Verdict, tally: Tally) -> Decision:  # noqa: ARG002
        """Redact by label, and by fabricated citations where asked."""
        bad = verdict.label in self.labels
        if not self.holds(sentence):
            return Decision(Action.FLAG if bad else Action.RELEASE)
        fabricated = [c for c in verdict.citations if c.finding is CitationFinding.FABRICATED]
        if bad and self.scope == "span" and verdict.unsupported_spans:
            parts = [(span, self.placeholder) for span in verdict.unsupported_spans]
            return Decision(Action.REDACT, replaced(sentence, parts, Action.REDACT))
        if bad or (fabricated and self.fabricated_citations == "sentence"):
            return self.redact(sentence)
        taken = meaningless(sentence, verdict.citations) if self.fabricated_citations == "marker" else []
        if taken:
            parts = [(span, "") for span in taken]
            return Decision(Action.REDACT, replaced(sentence, parts, Action.REDACT))
        return Decision(Action.RELEASE, whole(sentence, Action.RELEASE))

    def redact(self, sentence: Sentence) -> Decision:
        """The sentence, all of it behind the placeholder."""
        return _instead(sentence, self.placeholder, Action.REDACT)


@dataclass(frozen=True, slots=True)
class Annotate:
    """Hold each sentence until judged and write a marker into those that are supported and carry none.

    Where the marker stands and how it looks say the verifier's `CitationOptions`.
    Everything else is left to `base`; without one, other sentences are released and ungrounded ones flagged.
    """

    base: Redact | None = None
    name: str = field(default="annotate", init=False)
    holds_text: bool = field(default=True, init=False)

    def holds(self, sentence: Sentence) -> bool:  # noqa: ARG002 - the protocol's signature
        """Everything is held: any sentence may get a marker."""
        return True

    def decide(self, sentence: Sentence, verdict: Verdict, tally: Tally) -> Decision:
        """The sentence with its marker, or what `base` says."""
        if verdict.suggestion is not None:
            at, text = verdict.suggestion.at, verdict.suggestion.text
            return Decision(Action.RELEASE, replaced(sentence, [(Span(at, at), text)], Action.RELEASE))
        if self.base is not None and self.base.holds(sentence):
            return self.base.decide(sentence, verdict, tally)
        action = Action.FLAG if verdict.label in UNGROUNDED else Action.RELEASE
        return Decision(action, whole(sentence, action))


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """Stop the source at the first sentence with one of `labels`, or when a budget is exceeded.

    With `hold` (the default) the sentence that halts is never shown; without it text flows at once and
    the stream stops after the fact.
    """

    labels: frozenset[Label] = frozenset({Label.CONTRADICTED})
    max_ungrounded: int | None = None
    """Halt when more sentences than this are UNSUPPORTED or CONTRADICTED; None for no limit."""
    max_share: float | None = None
    """Halt when more than this share (0-1) of the claims is ungrounded, once `min_claims` were checked."""
    min_claims: int = 4
    hold: bool = True
    name: str = field(default="halt", init=False)

    def __post_init__(self) -> None:
        """Refuse labels that are none, and budgets that cannot be met."""
        some_of("Halt: labels", self.labels, tuple(Label))
        if self.max_ungrounded is not None and self.max_ungrounded < 0:
            raise UsageError("Halt: max_ungrounded must be 0 or more")
        if self.max_share is not None and not 0 <= self.max_share < 1:
            raise UsageError("Halt: max_share must be at least 0 and below 1")
        if self.min_claims < 1:
            raise UsageError("Halt: min_claims must be 1 or more")

    @property
    def holds_text(self) -> bool:
        """As `hold` says."""
        return self.hold

    def holds(self, sentence: Sentence) -> bool:  # noqa: ARG002 - the protocol's signature
        """As `hold` says."""
        return self.hold

    def decide(self, sentence: Sentence, verdict: Verdict, tally: Tally) -> Decision:
        """Halt by label, count or share; else release, flagged where ungrounded."""
        bad = verdict.label in UNGROUNDED
        ungrounded = tally.ungrounded + bad
        claims = tally.claims + (verdict.score is not None)
        if verdict.label in self.labels:
            return Decision(Action.HALT, reason=f"sentence {sentence.index + 1} is {verdict.label}")
        if self.max_ungrounded is not None and ungrounded > self.max_ungrounded:
            return Decision(
                Action.HALT, reason=f"{ungrounded} ungrounded sentences, {self.max_ungrounded} allowed"
            )
        if self.max_share is not None and claims >= self.min_claims and ungrounded / claims > self.max_share:
            return Decision(
                Action.HALT,
                reason=f"{ungrounded} of {claims} claims ungrounded, {self.max_share:.0%} allowed",
            )
        action = Action.FLAG if bad else Action.RELEASE
        return Decision(action, whole(sentence, action) if self.hold else ())


@runtime_checkable
class RepairingPolicy(Policy, Protocol):
    """A policy that may ask for repairs: a `Policy` with one method more."""

    def repair(self, sentence: Sentence, verdict: Verdict) -> RepairPlan | None:
        """How to repair this sentence; None where it is to be left to `decide`.

        A replacement every sentence of which is SUPPORTED or NO_CLAIM, and accepted by the plan, takes the
        place of the sentence; where none is found, `decide` says what happens.
        """
        ...


def repair_plan(policy: Policy, sentence: Sentence, verdict: Verdict) -> RepairPlan | None:
    """The plan of a policy that may repair; None from every other, and for a sentence it does not hold."""
    if not policy.holds_text or not isinstance(policy, RepairingPolicy) or not policy.holds(sentence):
        return None
    return policy.repair(sentence, verdict)


@dataclass(frozen=True, slots=True)
class Repair:
    """Ask `rewrite` for a sentence written from the evidence in place of an ungrounded one.

    The replacement is segmented and judged like any sentence; only one whose every sentence is
    SUPPORTED or NO_CLAIM is shown. After `attempts` tries the sentence is redacted.
    """

    rewrite: Rewrite
    attempts: int = field(default=2, kw_only=True)
    timeout: float = field(default=30.0, kw_only=True)
    """Seconds that one call of `rewrite` may take."""
    fallback: Redact = field(default_factory=Redact, kw_only=True)
    """Says which labels are repaired, what is held, and what happens when no repair passes."""
    name: str = field(default="repair", init=False)
    holds_text: bool = field(default=True, init=False)

    def __post_init__(self) -> None:
        """Refuse a policy that would never repair."""
        self._plan()

    def _plan(self) -> RepairPlan:
        return RepairPlan(self.rewrite, self.attempts, self.timeout, self._accepts)

    def _accepts(self, sentence: Sentence, verdict: Verdict) -> bool:
        # A citation that the fallback takes out would otherwise come back by way of a repair.
        return self.fallback.decide(sentence, verdict, Tally(0, 0)).action is Action.RELEASE

    def holds(self, sentence: Sentence) -> bool:
        """As the fallback says."""
        return self.fallback.holds(sentence)

    def repair(self, sentence: Sentence, verdict: Verdict) -> RepairPlan | None:
        """A plan wherever the fallback would redact."""
        action = self.fallback.decide(sentence, verdict, Tally(0, 0)).action
        return self._plan() if action is Action.REDACT else None

    def decide(self, sentence: Sentence, verdict: Verdict, tally: Tally) -> Decision:
        """What happens without a replacement that passed."""
        return self.fallback.decide(sentence, verdict, tally)


def repaired(sentence: Sentence, replacement: Replacement) -> Decision:
    """The sentence with its body replaced by a text that passed."""
    return _instead(sentence, replacement.text, Action.REPAIR)


def _instead(sentence: Sentence, text: str, action: Action) -> Decision:
    """Another text in place of what a sentence says, with the marks of emphasis that reach beyond it."""
    said = body(sentence, sections=action is not Action.REDACT)
    marks = unpaired(sentence.text[said.start - sentence.start : said.end - sentence.start])
    return Decision(action, replaced(sentence, [(said, marks.around(text))], action))


PolicyWord = Literal["observe", "flag", "redact", "halt", "annotate"]
"""The policies that need no argument, by the name they have in `stream_opened`."""

PolicyLike: TypeAlias = Policy | PolicyWord
"""What is accepted wherever a policy is taken."""

_WORDS: dict[PolicyWord, Callable[[], Policy]] = {
    "observe": Observe,
    "flag": Flag,
    "redact": Redact,
    "halt": Halt,
    "annotate": Annotate,
}


def policy_from(given: PolicyLike) -> Policy:
    """The policy that a word stands for; a policy is returned as it is.

    Raises:
        UsageError: it is neither; names the choices. Caller.
    """
    choices = ", ".join(map(repr, get_args(PolicyWord)))
    if isinstance(given, str):
        if given in _WORDS:
            return _WORDS[given]()
        if str(given) == "repair":
            raise UsageError("the policy 'repair' needs a function that rewrites: policy=Repair(rewrite)")
        raise UsageError(
            f"there is no policy {given!r}; choose from {choices}, or give a policy such as Redact()"
        )
    if isinstance(given, type):
        raise UsageError(f"policy={given.__name__} is a class; make one: policy={given.__name__}()")
    if not isinstance(given, Policy):
        raise UsageError(
            f"{type(given).__name__} is no policy; give one such as Redact(), or a word: {choices}"
        )
    return given
