"""Answers on a company's policies: who may read what, how old, and by which document.

    {"answer": "…", "citations": [{"document": "hr/leave", "sections": ["2.1"]}],
     "policy_scope": ["HR"], "confidentiality": "internal", "assumptions": []}

Before: `registry.py`. After: `domains.get("company_expert")`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from streamverify.domains.registry import Domain, DomainGate
from streamverify.figure import NotComputed
from streamverify.provenance import Provenance, Visibility
from streamverify.types import Label
from streamverify.validators import (
    Answer,
    CitationExists,
    FormatOk,
    FreshnessOk,
    MustCiteIfClaims,
    Outcome,
    PolicyScopeAllowed,
    RetrievalRelevance,
)
from streamverify.validators.rules import HR_AGE

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
"""A name or an id."""
Prose = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100_000)]

_OPENNESS: tuple[Visibility, ...] = ("public", "internal", "restricted")


class DocumentCitation(BaseModel):
    """A document that the answer rests on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    document: Words
    """Id of a passage, or address of its document."""
    sections: Annotated[tuple[Words, ...], Field(max_length=100)] = ()


class CompanyAnswer(BaseModel):
    """What an answer of this domain holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: Prose
    citations: Annotated[tuple[DocumentCitation, ...], Field(max_length=1_000)] = ()
    policy_scope: Annotated[tuple[Words, ...], Field(min_length=1, max_length=100)]
    """Such as HR or Benefits."""
    confidentiality: Visibility
    assumptions: Annotated[tuple[Prose, ...], Field(max_length=100)] = ()


class ScopesByName(Mapping[str, Sequence[str]]):
    """Opens every scope to the role of its name, in any case."""

    def __getitem__(self, scope: str) -> Sequence[str]:
        """The roles."""
        return (scope, scope.lower(), scope.upper())

    def __iter__(self) -> Iterator[str]:
        """None is listed: every name has one."""
        return iter(())

    def __len__(self) -> int:
        """See `__iter__`."""
        return 0


@dataclass(frozen=True, slots=True)
class OutputCitationsExist:
    """Each cited document was retrieved, and the requester may see it; claims cite at least one."""

    name: str = "output_citations_exist"

    def __call__(self, output: CompanyAnswer, answer: Answer, /) -> Outcome:
        """Citations that mean visible documents / citations."""
        if not output.citations:
            labels = {one.label for one in answer.report.sentences}
            if Label.UNVERIFIED in labels and labels <= {Label.UNVERIFIED, Label.NO_CLAIM}:
                reason = "the output cites nothing, and whether the answer claims something was not checked"
                return Outcome(criterion=self.name, score=NotComputed(reason), passed=None, detail=reason)
            if labels <= {Label.NO_CLAIM}:
                none = NotComputed("the output cites nothing and the answer claims nothing", nothing=True)
                return Outcome(criterion=self.name, score=none, passed=None, detail=none.reason)
            told = "the answer makes claims and its output cites no document"
            return Outcome(criterion=self.name, score=0.0, passed=False, detail=told)
        found = [_named(one.document, answer) for one in output.citations]
        kept = [one is not None and one.visible_to(answer.requester) for one in found]
        missing, hidden = found.count(None), kept.count(False) - found.count(None)
        detail = f"{missing} cited documents were not retrieved, {hidden} the requester may not see"
        passed = all(kept)
        return Outcome(
            criterion=self.name,
            score=sum(kept) / len(kept),
            passed=passed,
            detail="" if passed else detail,
        )


@dataclass(frozen=True, slots=True)
class OutputScopesAllowed:
    """The scopes the output names are open to the requester's roles."""

    allowed: Mapping[str, Sequence[str]]
    """Scope to the roles that open it; `*` stands for everybody."""
    name: str = "output_scopes_allowed"

    def __call__(self, output: CompanyAnswer, answer: Answer, /) -> Outcome:
        """Scopes that are open / scopes."""
        roles = answer.requester.roles
        opens = [bool({"*", *roles} & set(self.allowed.get(scope, ()))) for scope in output.policy_scope]
        closed = len(opens) - sum(opens)
        return Outcome(
            criterion=self.name,
            score=sum(opens) / len(opens),
            passed=not closed,
            detail=f"{closed} scopes are not the requester's" if closed else "",
        )


@dataclass(frozen=True, slots=True)
class ConfidentialityKept:
    """The output calls itself no more open than the most closed document it cites."""

    name: str = "confidentiality_kept"

    def __call__(self, output: CompanyAnswer, answer: Answer, /) -> Outcome:
        """1.0 or 0.0."""
        found = [_named(one.document, answer) for one in output.citations]
        seen = [_OPENNESS.index(one.visibility) for one in found if one is not None]
        if not seen:
            none = NotComputed("the output cites no document that was retrieved", nothing=True)
            return Outcome(criterion=self.name, score=none, passed=None, detail=none.reason)
        kept = _OPENNESS.index(output.confidentiality) >= max(seen)
        told = f"it calls itself {output.confidentiality} and rests on what is {_OPENNESS[max(seen)]}"
        return Outcome(criterion=self.name, score=float(kept), passed=kept, detail="" if kept else told)


def _named(document: str, answer: Answer) -> Provenance | None:
    found = answer.provenance(document)
    if found is not None:
        return found
    sources = (answer.provenance(passage.id) for passage in answer.passages)
    return next((one for one in sources if one is not None and one.uri == document), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyRules:
    """What differs from company to company."""

    allowed: Mapping[str, Sequence[str]] = field(default_factory=ScopesByName)
    """Scope to the roles that open it; by default the role of the same name."""
    limits: Mapping[str, timedelta] = field(default_factory=lambda: MappingProxyType({"HR": HR_AGE}))
    """Topic or tag to the greatest age of a document."""


def company_expert(rules: CompanyRules | None = None) -> Domain[CompanyAnswer]:
    """The domain, with a company's own scopes and ages."""
    own = rules or CompanyRules()
    return Domain(
        name="company_expert",
        version="1",
        output=CompanyAnswer,
        rules=(
            MustCiteIfClaims(),
            CitationExists(),
            PolicyScopeAllowed(own.allowed),
            FreshnessOk(own.limits),
            RetrievalRelevance(5),
            FormatOk(),
        ),
        output_rules=(OutputCitationsExist(), OutputScopesAllowed(own.allowed), ConfidentialityKept()),
        gates=(
            DomainGate(metric="must_cite_if_claims", least=1.0),
            DomainGate(metric="citation_exists", least=1.0),
            DomainGate(metric="policy_scope_allowed", least=1.0),
            DomainGate(metric="freshness_ok", least=0.9),
            DomainGate(metric="grounded_claim_rate", least=0.95),
            DomainGate(metric="hallucination_rate", most=0.02),
        ),
        text=lambda output: output.answer,
        describes="Answers on a company's policies, by documents the requester may see.",
    )
