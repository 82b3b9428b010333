"""What a metric is: a function of a case and its report that gives a figure, or says why there is none.

Before: `runner.py` has the report. After: `run.py` keeps what was measured and adds it up.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal, Protocol, overload, runtime_checkable

from streamverify.errors import UsageError
from streamverify.evaluate.case import Case
from streamverify.evaluate.judge.questions import A, Question
from streamverify.figure import Figure, NotComputed, finite
from streamverify.types import Passage, Report


class Need(StrEnum):
    """What a metric must have to be computed."""

    ANSWER = "answer"
    PASSAGES = "passages"
    QUESTION = "question"
    REFERENCE = "reference"
    RETRIEVED = "retrieved"
    RELEVANT = "relevant"
    EXPECTED = "expected"
    CLAIMS = "claims"
    CONFLICTS = "conflicts"
    LATENCY = "latency"
    LABELS = "labels"
    JUDGE = "judge"
    EMBEDDER = "embedder"


ABSENT: Mapping[Need, str] = MappingProxyType(
    {
        Need.ANSWER: "the case has no answer",
        Need.PASSAGES: "the case names no passages",
        Need.QUESTION: "the case has no question",
        Need.REFERENCE: "the case has no reference answer",
        Need.RETRIEVED: "the case does not say what was retrieved",
        Need.RELEVANT: "no relevant document labelled",
        Need.EXPECTED: "the case does not say whether it should be answered",
        Need.CLAIMS: "the case labels no claims with their sources",
        Need.CONFLICTS: "the case labels no conflicts",
        Need.LATENCY: "the case records no latency",
        Need.LABELS: "the case has no labelled sentences",
        Need.JUDGE: "no judge was given",
        Need.EMBEDDER: "no embedder was given",
    }
)
"""Why a figure is not computed where a need is not met."""

_NO_DETAILS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure and what it was made of."""

    figure: Figure
    parts: tuple[float, float] | None = None
    """Numerator and denominator, where the figure is a share: they make pooled rates possible."""
    details: Mapping[str, Any] = field(default_factory=lambda: _NO_DETAILS)
    """What a reader may open the figure to; plain JSON values."""
    warning: str = ""
    """What a reader should know before using the figure."""

    def __post_init__(self) -> None:
        """Refuse what is no number."""
        if not isinstance(self.figure, NotComputed):
            finite(self.figure)
        for part in self.parts or ():
            finite(part, "a part of a figure")


class Embedder(Protocol):
    """Turns texts into vectors; texts of like meaning point the same way."""

    @property
    def name(self) -> str:
        """Model and version; enters the run's header."""
        ...

    def __call__(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        """One vector a text, in order, each of the same length. Blocking; from any thread."""
        ...


class Judge(Protocol):
    """Something that answers questions about texts; `judge.client.Judge` asks an endpoint."""

    @property
    def name(self) -> str:
        """Model and version; enters the run's header."""
        ...

    def ask(self, question: Question[A], data: Mapping[str, Any], /) -> A:
        """The answer, of the question's type. Blocking; from any thread.

        Raises:
            JudgeError: there is none, or one of another shape.
        """
        ...


@dataclass(frozen=True, slots=True)
class Tools:
    """What metrics may use beside the case and its report."""

    embedder: Embedder | None = None
    judge: Judge | None = None
    check: Callable[[str, Sequence[Passage]], Report] | None = None
    """Checks any text by any passages with the verifier of the evaluation. Blocking; from any thread."""


Combination = Literal["mean", "pooled", "sum"]
"""How the cases' figures become one: their mean (macro), the ratio of the summed parts (micro), their sum."""


@runtime_checkable
class Metric(Protocol):
    """The seam for metrics; `metric` makes one of a function."""

    @property
    def name(self) -> str:
        """As in files, gates and commands."""
        ...

    @property
    def needs(self) -> frozenset[Need]:
        """What must be there for a figure to be computed."""
        ...

    @property
    def version(self) -> str:
        """Changes whenever a figure could; runs with different versions are not compared."""
        ...

    @property
    def higher_is_better(self) -> bool:
        """Which way is worse."""
        ...

    @property
    def combination(self) -> Combination:
        """How cases are added up."""
        ...

    @property
    def range(self) -> tuple[float, float | None]:
        """Least and greatest value; None for no limit."""
        ...

    def __call__(self, case: Case, report: Report | None, tools: Tools, /) -> Measured:
        """The figure of one case.

        Args:
            case: whose needs are met.
            report: of the live half, unchanged; None where the case has no answer to check.
            tools: whose needs are met.
        """
        ...


Plain = Callable[..., "Measured | float | int | bool | NotComputed"]


@dataclass(frozen=True, slots=True)
class FunctionMetric:
    """A metric made of a function; see `metric`."""

    function: Plain
    name: str
    needs: frozenset[Need]
    version: str
    higher_is_better: bool
    combination: Combination
    range: tuple[float, float | None]

    def __call__(self, case: Case, report: Report | None, tools: Tools) -> Measured:
        """The function's figure.

        Raises:
            ValueError: it is no number, or out of the metric's range. Whoever wrote the metric.
        """
        given = (case, report, tools)[: _arguments(self.function)]
        found = self.function(*given)
        measured = found if isinstance(found, Measured) else Measured(_plain(found))
        if not isinstance(measured.figure, NotComputed):
            low, high = self.range
            if measured.figure < low or (high is not None and measured.figure > high):
                raise ValueError(f"{self.name}: {measured.figure:g} is outside of its range")
        return measured


def _plain(found: float | NotComputed) -> Figure:
    return found if isinstance(found, NotComputed) else finite(found)


def _arguments(function: Plain) -> int:
    parameters = inspect.signature(function).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return min(3, sum(parameter.kind in kinds for parameter in parameters))


@overload
def metric(function: Plain, /) -> FunctionMetric: ...


@overload
def metric(
    *,
    needs: Iterable[str] = ...,
    range: tuple[float, float | None] = ...,
    name: str | None = ...,
    version: str = ...,
    higher_is_better: bool = ...,
    combination: Combination = ...,
) -> Callable[[Plain], FunctionMetric]: ...


def metric(
    function: Plain | None = None,
    /,
    *,
    needs: Iterable[str] = (Need.ANSWER,),
    range: tuple[float, float | None] = (0.0, 1.0),  # noqa: A002 - what a reader expects to write
    name: str | None = None,
    version: str = "1",
    higher_is_better: bool = True,
    combination: Combination = "mean",
) -> FunctionMetric | Callable[[Plain], FunctionMetric]:
    """A metric made of a function `(case, report)` or `(case, report, tools)`.

    Args:
        function: gives a number, a `NotComputed`, or a `Measured`; called from several threads at once.
        needs: words of `Need`; where one is not met the function is not called.
        range: least and greatest value; None for no upper limit.
        name: the function's own if None.
        version: change it with the function, so that old runs are not compared with new ones.
        higher_is_better: whether a drop is a regression.
        combination: how the cases' figures become one; `pooled` needs `Measured.parts`.

    Raises:
        UsageError: a need that does not exist. Caller.
    """

    def made(given: Plain) -> FunctionMetric:
        return FunctionMetric(
            function=given,
            name=name if name is not None else getattr(given, "__name__", "metric"),
            needs=frozenset(_need(word) for word in needs),
            version=version,
            higher_is_better=higher_is_better,
            combination=combination,
            range=range,
        )

    return made if function is None else made(function)


def _need(word: str) -> Need:
    try:
        return Need(word)
    except ValueError:
        raise UsageError(f"a metric cannot need {word!r}; known needs: {', '.join(Need)}") from None


def unmet(wanted: Metric, case: Case, tools: Tools) -> NotComputed | None:
    """Why this metric cannot be computed for this case; None where it can be tried."""
    for need in Need:
        if need in wanted.needs and not _MET[need](case, tools):
            return NotComputed(ABSENT[need])
    return None


def _said(text: str | None) -> bool:
    return text is not None and bool(text.strip())


_MET: Mapping[Need, Callable[[Case, Tools], bool]] = MappingProxyType(
    {
        Need.ANSWER: lambda case, _: _said(case.answer),
        Need.PASSAGES: lambda case, _: case.passage_ids is not None,
        Need.QUESTION: lambda case, _: _said(case.question),
        Need.REFERENCE: lambda case, _: _said(case.reference),
        Need.RETRIEVED: lambda case, _: case.ranked is not None,
        Need.RELEVANT: lambda case, _: any(gain > 0 for gain in (case.relevant or {}).values()),
        Need.EXPECTED: lambda case, _: case.expected is not None,
        Need.CLAIMS: lambda case, _: bool(case.claims),
        Need.CONFLICTS: lambda case, _: case.conflicts is not None,
        Need.LATENCY: lambda case, _: bool(case.latency_ms),
        Need.LABELS: lambda case, _: bool(case.labels),
        Need.JUDGE: lambda _, tools: tools.judge is not None,
        Need.EMBEDDER: lambda _, tools: tools.embedder is not None,
    }
)


def chosen(wanted: Iterable[str | Metric], catalogue: Mapping[str, Metric]) -> tuple[Metric, ...]:
    """Metrics by name or as themselves, each once.

    Raises:
        UsageError: there is no such metric, or two have one name. Caller.
    """
    found: dict[str, Metric] = {}
    for one in wanted:
        if isinstance(one, str):
            if one not in catalogue:
                near = difflib.get_close_matches(one, catalogue, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(catalogue))}"
                raise UsageError(f"there is no metric {one!r}; {hint}")
            one = catalogue[one]  # noqa: PLW2901 - a name stands for its metric
        if found.setdefault(one.name, one) is not one:
            raise UsageError(f"two metrics are called {one.name!r}; give one of them another name")
    if not found:
        raise UsageError("name at least one metric")
    return tuple(found.values())
