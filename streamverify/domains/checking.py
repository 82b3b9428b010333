"""One answer against a domain, and many of them: blocks are read, rules asked, figures put together.

Before: `blocks.py` found the block, the verifier judged the prose. After: gates, `records/`, the commands.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic

from pydantic import ValidationError

from streamverify.domains.blocks import Block
from streamverify.domains.registry import Domain, DomainGate, Output
from streamverify.errors import UsageError
from streamverify.figure import Aggregate, Figure, NotComputed, share, shown
from streamverify.types import CitationFinding, JudgedSentence, Label, Report
from streamverify.validators import Answer, Outcome, validate

MOST_PROBLEMS = 20
"""Problems of one block that are told; the rest is counted."""

_NO_INTERVAL = NotComputed("no interval was asked for")


@dataclass(frozen=True, slots=True)
class OutputProblem:
    """Something about the structured block that is not as the domain asks."""

    path: str
    """Where, as `citations.0.document`; empty for the block itself."""
    message: str
    """What; it quotes nothing of the block."""

    def __str__(self) -> str:
        """On one line."""
        return f"{self.path}: {self.message}" if self.path else self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainResult(Generic[Output]):
    """What a domain says of one answer."""

    domain: str
    version: str
    output: Output | None
    """None where it could not be read; `problems` say why."""
    problems: tuple[OutputProblem, ...]
    outcomes: tuple[Outcome, ...]
    """Of the output, then of the domain's rules, in their order."""
    answer: Answer
    block: Block | None

    @property
    def passed(self) -> bool:
        """Whether the output could be read and every rule was kept, or had nothing to tell.

        A rule that could not be told is not kept: something was not checked.
        """
        return self.output is not None and all(one.held for one in self.outcomes)


def read_output(
    domain: Domain[Output], block: Block | None
) -> tuple[Output | None, tuple[OutputProblem, ...]]:
    """The block as the domain reads it, or what is wrong with it."""
    if block is None:
        return None, (OutputProblem("", "the answer has no structured block"),)
    if block.fault:
        return None, (OutputProblem("", f"the structured block cannot be read: {block.fault}"),)
    try:
        return domain.output.model_validate_json(block.text), ()
    except ValidationError as error:
        told = error.errors(include_input=False, include_url=False, include_context=False)
        problems = [OutputProblem(_path(one["loc"]), _message(one["type"], one["msg"])) for one in told]
        more = len(problems) - MOST_PROBLEMS
        rest = [OutputProblem("", f"{more} more problems")] if more > 0 else []
        return None, (*problems[:MOST_PROBLEMS], *rest)


def _path(parts: Sequence[int | str]) -> str:
    return ".".join(str(part)[:100] for part in parts[:20])


def _message(kind: str, message: str) -> str:
    return message.splitlines()[0][:200] if message else kind


def judge_output(domain: Domain[Output], block: Block | None, answer: Answer) -> DomainResult[Output]:
    """The domain's word on an answer that was verified.

    Args:
        domain: of the answer.
        block: its structured block.
        answer: its prose, verified, with what it was given.
    """
    output, problems = read_output(domain, block)
    valid = Outcome(
        criterion="output_valid",
        score=float(output is not None),
        passed=output is not None,
        detail="; ".join(map(str, problems)),
    )
    outcomes = [valid]
    for rule in domain.output_rules:
        if output is None:
            reason = "the output could not be read"
            outcomes.append(
                Outcome(criterion=rule.name, score=NotComputed(reason), passed=None, detail=reason)
            )
        else:
            outcomes.append(rule(output, answer))
    return DomainResult(
        domain=domain.name,
        version=domain.version,
        output=output,
        problems=problems,
        outcomes=(*outcomes, *validate(tuple(domain.rules), answer)),
        answer=answer,
        block=block,
    )


@dataclass(frozen=True, slots=True)
class DomainGateResult:
    """What became of a gate."""

    gate: DomainGate
    found: Figure
    passed: bool
    detail: str
    """The figure, and on how many answers it rests."""


@dataclass(frozen=True, slots=True)
class DomainSummary:
    """A domain over many answers."""

    domain: str
    answers: int
    figures: dict[str, Aggregate]
    gates: tuple[DomainGateResult, ...]
    failed: tuple[int, ...] = field(default=())
    """Places of the answers that did not pass, from 0."""

    @property
    def passed(self) -> bool:
        """Whether all gates passed; without gates whether all answers did. Of no answers nothing passes."""
        if not self.answers:
            return False
        return all(gate.passed for gate in self.gates) if self.gates else not self.failed


def aggregate(domain: Domain[Output], results: Sequence[DomainResult[Output]]) -> DomainSummary:
    """Figures and gates over answers.

    The figure of a rule is the mean of its scores; `grounded_claim_rate` and `hallucination_rate` are of all
    claims of all answers together. An answer on which something could not be told makes its gate fail; one
    in which there was nothing to tell does not.

    Args:
        domain: whose gates count.
        results: one an answer.

    Raises:
        UsageError: a result is another domain's. Caller.
    """
    if strange := next((one for one in results if one.domain != domain.name), None):
        raise UsageError(f"a result of {strange.domain!r} among those of {domain.name!r}")
    criteria = dict.fromkeys(outcome.criterion for one in results for outcome in one.outcomes)
    figures = {name: _mean([_of(one, name) for one in results]) for name in criteria}
    reports = [one.answer.report for one in results]
    figures["grounded_claim_rate"] = _pooled(reports, _grounded)
    figures["hallucination_rate"] = _pooled(reports, lambda sentence: sentence.label is not Label.SUPPORTED)
    gates = tuple(_decided(gate, figures.get(gate.metric)) for gate in domain.gates)
    failed = tuple(at for at, one in enumerate(results) if not one.passed)
    return DomainSummary(domain.name, len(results), figures, gates, failed)


def _decided(gate: DomainGate, found: Aggregate | None) -> DomainGateResult:
    if found is None:
        return DomainGateResult(gate, NotComputed("no answer has it"), passed=False, detail="not computed")
    whole = found.computed + found.nothing == found.cases
    detail = f"{shown(found.figure)}, {found.computed} of {found.cases} answers"
    gaps = [reason for reason in found.not_computed if not whole]
    told = f"{detail}, not computed: {'; '.join(gaps)}" if gaps else detail
    return DomainGateResult(gate, found.figure, gate.passes(found.figure) and whole, told)


def _of(result: DomainResult[Output], criterion: str) -> Figure:
    return next(one.score for one in result.outcomes if one.criterion == criterion)


def _mean(scores: Sequence[Figure]) -> Aggregate:
    values = [score for score in scores if not isinstance(score, NotComputed)]
    whole = share(math.fsum(values), len(values), "no answer has a figure")
    return _aggregate(whole, len(values), [one for one in scores if isinstance(one, NotComputed)])


def _pooled(reports: Sequence[Report], counts: Callable[[JudgedSentence], bool]) -> Aggregate:
    found, claims, gaps = 0, 0, []
    for report in reports:
        said = [one for one in report.sentences if one.label is not Label.NO_CLAIM]
        if any(one.label is Label.UNVERIFIED for one in said):
            gaps.append(NotComputed("a sentence was not checked"))
        elif not said:
            gaps.append(NotComputed("no claim in the answer", nothing=True))
        else:
            found, claims = found + sum(map(counts, said)), claims + len(said)
    return _aggregate(share(found, claims, "no answer makes a claim"), len(reports) - len(gaps), gaps)


def _grounded(sentence: JudgedSentence) -> bool:
    correct = (one.finding is CitationFinding.CORRECT for one in sentence.citations)
    return sentence.label is Label.SUPPORTED and any(correct)


def _aggregate(figure: Figure, computed: int, gaps: Sequence[NotComputed]) -> Aggregate:
    reasons = Counter(gap.reason for gap in gaps)
    nothing = sum(gap.nothing for gap in gaps)
    return Aggregate(figure, _NO_INTERVAL, computed, dict(reasons), nothing=nothing)
