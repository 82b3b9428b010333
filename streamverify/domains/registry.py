"""What a domain is, and which there are: own ones and those that other packages bring.

Before: `company_expert.py`, `pc_expert.py`, entry points. After: `checking.py`.

A package offers one in its `pyproject.toml`; it is loaded when it is asked for by name:

    [project.entry-points."streamverify.domains"]
    recipes = "kitchen.domain:recipes"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from streamverify.errors import UsageError
from streamverify.figure import Figure, NotComputed, shown
from streamverify.validators import Answer, Outcome, Rule

GROUP = "streamverify.domains"
"""Entry points of this group are domains, by their names."""

Output = TypeVar("Output", bound=BaseModel)
"""What an answer of a domain holds beside its prose."""
Read_contra = TypeVar("Read_contra", bound=BaseModel, contravariant=True)


class OutputRule(Protocol[Read_contra]):
    """Checks one thing about the structured output, given the answer it came with."""

    @property
    def name(self) -> str:
        """The criterion."""
        ...

    def __call__(self, output: Read_contra, answer: Answer, /) -> Outcome:
        """Whether it was kept."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainGate:
    """What a figure over answers must reach; a figure that could not be computed passes no gate."""

    metric: str
    """A criterion of the domain's rules, `output_valid`, `grounded_claim_rate` or `hallucination_rate`."""
    least: float | None = None
    most: float | None = None

    def __post_init__(self) -> None:
        """Refuse a gate that everything passes."""
        if self.least is None and self.most is None:
            raise UsageError(f"the gate on {self.metric!r} needs least or most")

    def passes(self, value: Figure) -> bool:
        """Whether this figure passes."""
        if isinstance(value, NotComputed):
            return False
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def __str__(self) -> str:
        """`freshness_ok >= 0.900`."""
        ends = ((">=", self.least), ("<=", self.most))
        return f"{self.metric} " + " and ".join(
            f"{sign} {shown(end)}" for sign, end in ends if end is not None
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain(Generic[Output]):
    """A kind of answer: what it must hold, which rules it keeps, what many of them must reach."""

    name: str
    version: str
    """Of the schema and the rules; stored with what was read by them."""
    output: type[Output]
    """Reads the structured block."""
    rules: Sequence[Rule] = ()
    output_rules: Sequence[OutputRule[Output]] = ()
    gates: Sequence[DomainGate] = ()
    text: Callable[[Output], str] | None = None
    """Text of the output that is verified where the answer has no prose beside its block."""
    describes: str = field(default="", compare=False)
    """In one sentence, for people."""

    def __post_init__(self) -> None:
        """Refuse two rules with one name, and gates on figures that are never computed."""
        names = [*(rule.name for rule in self.rules), *(rule.name for rule in self.output_rules)]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UsageError(f"domain {self.name!r}: two rules are called {twice!r}")
        for gate in self.gates:
            if gate.metric not in {*names, *FIGURES}:
                known = ", ".join((*names, *FIGURES))
                raise UsageError(
                    f"domain {self.name!r}: no figure {gate.metric!r} for a gate; it has {known}"
                )


AnyDomain = Domain[Any]
"""Of whatever output."""

FIGURES = ("output_valid", "grounded_claim_rate", "hallucination_rate")
"""Figures of every domain, beside those of its rules."""


class Domains:
    """Domains by name; those of other packages are found by their entry points."""

    def __init__(self, known: Iterable[AnyDomain] = (), *, installed: bool = True) -> None:
        """Hold the domains that are given.

        Args:
            known: come before others of their name.
            installed: whether those of other packages are found too.

        Raises:
            UsageError: two have one name. Caller.
        """
        self._known: dict[str, AnyDomain] = {}
        self._installed = installed
        for domain in known:
            self.register(domain)

    def register(self, domain: AnyDomain) -> None:
        """Add one.

        Raises:
            UsageError: there is one of this name. Caller.
        """
        if domain.name in self._known:
            raise UsageError(f"there is a domain {domain.name!r} already")
        self._known[domain.name] = domain

    @property
    def names(self) -> tuple[str, ...]:
        """Of all, in order; nothing is loaded for it."""
        return tuple(sorted({*self._known, *self._offered()}))

    def get(self, name: str) -> AnyDomain:
        """The domain of this name.

        Raises:
            UsageError: there is none, or what a package offers is none. Caller.
        """
        if name in self._known:
            return self._known[name]
        offered = self._offered().get(name)
        if offered is None:
            raise UsageError(f"there is no domain {name!r}; there are {', '.join(self.names) or 'none'}")
        found = offered()
        if not isinstance(found, Domain):
            raise UsageError(
                f"the domain {name!r} that a package offers is {type(found).__name__}, no Domain"
            )
        self._known[name] = found
        return found

    def _offered(self) -> Mapping[str, Callable[[], object]]:
        return {point.name: point.load for point in entry_points(group=GROUP)} if self._installed else {}
