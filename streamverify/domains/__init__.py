"""Kinds of answers: what each must hold beside its prose, the rules it keeps, what many of them must reach.

    domain = installed().get("company_expert")
    async with DomainStream(domain, verifier, source, passages) as stream:
        async for event in stream: ...
    stream.result.output, stream.result.outcomes

Before: a verifier. After: `records.add_content` stores it, `streamverify validate` and `domains` run it.
"""

from streamverify.domains.blocks import Block, BlockReader
from streamverify.domains.checking import (
    DomainGateResult,
    DomainResult,
    DomainSummary,
    OutputProblem,
    aggregate,
    judge_output,
)
from streamverify.domains.company_expert import CompanyAnswer, CompanyRules, company_expert
from streamverify.domains.live import DomainStream, check_answer
from streamverify.domains.pc_expert import PcBuild, pc_expert
from streamverify.domains.registry import Domain, DomainGate, Domains, OutputRule

__all__ = [
    "Block",
    "BlockReader",
    "CompanyAnswer",
    "CompanyRules",
    "Domain",
    "DomainGate",
    "DomainGateResult",
    "DomainResult",
    "DomainStream",
    "DomainSummary",
    "Domains",
    "OutputProblem",
    "OutputRule",
    "PcBuild",
    "aggregate",
    "check_answer",
    "company_expert",
    "installed",
    "judge_output",
    "pc_expert",
]


def installed() -> Domains:
    """The domains that come with the library, and those of installed packages."""
    return Domains((company_expert(), pc_expert()))
