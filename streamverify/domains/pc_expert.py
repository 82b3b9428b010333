"""Lists of parts for a computer, and what they draw.

    {"parts_list": [{"sku": "RTX-5080", "qty": 1, "tdp": 360, "connectors": ["12V-2x6"]}],
     "power_calc": {"estimated_watts": 540, "recommended_psu": 750, "headroom_pct": 28},
     "compatibility_checks": [{"check": "socket", "passed": true}]}

Before: `registry.py`. After: `domains.get("pc_expert")`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from streamverify.domains.company_expert import Prose, Words
from streamverify.domains.registry import Domain, DomainGate
from streamverify.figure import NotComputed
from streamverify.validators import Answer, CitationExists, FormatOk, MustCiteIfClaims, Outcome

Watts = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


class Part(BaseModel):
    """Something to buy."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sku: Words
    qty: Annotated[int, Field(gt=0, le=10_000)]
    tdp: Watts | None = None
    """Watts that one of them draws at most."""
    connectors: Annotated[tuple[Words, ...], Field(max_length=100)] = ()


class PowerCalc(BaseModel):
    """What the parts draw together, and the supply for it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    estimated_watts: Watts
    recommended_psu: Watts
    headroom_pct: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
    """Of the supply, what the estimate leaves free."""


class CompatibilityCheck(BaseModel):
    """One thing that was compared."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    check: Words
    passed: bool
    note: Prose | None = None


class PcBuild(BaseModel):
    """What an answer of this domain holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    parts_list: Annotated[tuple[Part, ...], Field(min_length=1, max_length=1_000)]
    power_calc: PowerCalc
    assumptions: Annotated[tuple[Prose, ...], Field(max_length=100)] = ()
    compatibility_checks: Annotated[tuple[CompatibilityCheck, ...], Field(max_length=1_000)] = ()


@dataclass(frozen=True, slots=True)
class PowerAddsUp:
    """The estimate covers the parts' watts, and the supply covers it with the headroom it tells."""

    slack: float = 0.01
    """How far a figure may be off, as a share: outputs round."""
    name: str = "power_adds_up"

    def __call__(self, output: PcBuild, answer: Answer, /) -> Outcome:  # noqa: ARG002 - the protocol's signature
        """Of the two, how many hold; where no part tells its watts, nothing says so of the estimate."""
        power = output.power_calc
        drawn = sum(part.qty * part.tdp for part in output.parts_list if part.tdp is not None)
        covers = power.estimated_watts >= drawn * (1 - self.slack)
        free = power.recommended_psu * (1 - power.headroom_pct / 100)
        supplied = free >= power.estimated_watts * (1 - self.slack)
        if supplied and all(part.tdp is None for part in output.parts_list):
            reason = "no part tells how many watts it draws"
            return Outcome(criterion=self.name, score=NotComputed(reason), passed=None, detail=reason)
        wrong = [
            *([] if covers else [f"the parts draw {drawn:g} W, the estimate is {power.estimated_watts:g} W"]),
            *([] if supplied else [f"{power.recommended_psu:g} W leave no {power.headroom_pct:g} % free"]),
        ]
        return Outcome(
            criterion=self.name, score=1 - len(wrong) / 2, passed=not wrong, detail="; ".join(wrong)
        )


@dataclass(frozen=True, slots=True)
class PartsFit:
    """Every check of compatibility that the output tells passed."""

    name: str = "parts_fit"

    def __call__(self, output: PcBuild, answer: Answer, /) -> Outcome:  # noqa: ARG002 - the protocol's signature
        """Checks that passed / checks."""
        told = [one.passed for one in output.compatibility_checks]
        if not told:
            none = NotComputed("the output tells no check", nothing=True)
            return Outcome(criterion=self.name, score=none, passed=None, detail=none.reason)
        failed = told.count(False)
        return Outcome(
            criterion=self.name,
            score=sum(told) / len(told),
            passed=not failed,
            detail=f"{failed} of {len(told)} checks failed" if failed else "",
        )


def pc_expert() -> Domain[PcBuild]:
    """The domain."""
    return Domain(
        name="pc_expert",
        version="1",
        output=PcBuild,
        rules=(MustCiteIfClaims(), CitationExists(), FormatOk()),
        output_rules=(PowerAddsUp(), PartsFit()),
        gates=(
            DomainGate(metric="output_valid", least=1.0),
            DomainGate(metric="power_adds_up", least=1.0),
            DomainGate(metric="hallucination_rate", most=0.02),
        ),
        describes="Lists of parts for a computer, with what they draw.",
    )
