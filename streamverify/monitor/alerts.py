"""Alerts over what was recorded: figures of the last hours against bounds, with what chance allows for.

Before: a TOML file, and `traffic.py`. After: `sinks.py`, and the exit status of `streamverify monitor check`.

    [defaults]
    window = "1h"
    min_streams = 20
    [alerts]
    faithfulness = { min = 0.85 }
    grounding = { min = 0.80, for = "1h" }
    error_rate = { max = 0.05, on = "value" }
    [alerts."domain=legal"]
    faithfulness = { min = 0.95 }
    [sinks]
    webhook = "https://alerts.example.org/hook"
    command = ["notify-team", "--urgent"]

A rule is a gate of `evaluate/gates.py` with a window. It is on where the kinder end of Wilson's interval
misses the bound, answers being the trials (`on = "value"`: where the figure itself does).
"""

from __future__ import annotations

import difflib
import math
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from streamverify.evaluate.records import Record
from streamverify.evaluate.stats import wilson
from streamverify.evaluate.toml_files import WrongPlaceError, built, read_toml, unknown
from streamverify.figure import Figure, NotComputed, shown
from streamverify.monitor.moments import length_from
from streamverify.monitor.traffic import Answer, Traffic, Window
from streamverify.text.printing import counted
from streamverify.types import Label

_POINTS = 12
"""Moments at which a rule with `for` is looked at."""
_NAMED = 5
"""Streams that an alert names."""


class Rule(Record):
    """The bounds of one figure over a window; at least one of them."""

    min: float | None = Field(default=None, ge=0, le=1, strict=True)
    """Every figure is a share or a score, 0-1."""
    max: float | None = Field(default=None, ge=0, le=1, strict=True)
    on: Literal["sure", "value"] = "sure"
    """Whether chance must be excluded."""
    window: str = "1h"
    min_streams: int = Field(default=20, ge=1)
    """With a figure; fewer say nothing."""
    for_: str = ""
    """In a file `for`: how long it must have been so; empty for not at all."""

    @field_validator("window", "for_")
    @classmethod
    def _length(cls, value: str) -> str:
        if value:
            length_from(value)
        return value

    @model_validator(mode="after")
    def _bounds(self) -> Rule:
        if self.min is None and self.max is None:
            raise ValueError("an alert needs min or max")
        if not self.window:
            raise ValueError('an alert needs a window such as "1h"')
        return self

    @property
    def length(self) -> timedelta:
        """Of the window."""
        return length_from(self.window)

    @property
    def held(self) -> timedelta:
        """How long it must have been so."""
        return length_from(self.for_) if self.for_ else timedelta()

    def met(self, value: float) -> bool:
        """Whether a figure lies within the bounds."""
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)

    def __str__(self) -> str:
        """The rule in words."""
        bounds = [f">= {self.min:g}"] if self.min is not None else []
        bounds += [f"<= {self.max:g}"] if self.max is not None else []
        return f"{' and '.join(bounds)} over {self.window}" + (f" for {self.for_}" if self.for_ else "")


class Sinks(Record):
    """Where alerts that are on go, beside standard output."""

    log: bool = True
    """To the log `streamverify.alerts`."""
    webhook: str | None = None
    """Address that gets them as JSON."""
    command: tuple[str, ...] = ()
    """Program and arguments; gets them as JSON on standard input. No shell sees them."""

    @field_validator("webhook")
    @classmethod
    def _address(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://")
        return value


@dataclass(frozen=True, slots=True)
class Rules:
    """The alerts of a file."""

    everywhere: Mapping[str, Rule]
    """Figure to rule over all answers."""
    domains: Mapping[str, Mapping[str, Rule]] = field(default_factory=dict)
    """Domain to its rules."""
    sinks: Sinks = field(default_factory=Sinks)


Status = Literal["on", "off", "not computed"]


@dataclass(frozen=True, slots=True)
class Alert:
    """What became of one rule."""

    figure: str
    domain: str | None
    rule: Rule
    status: Status
    value: Figure
    bound: Figure
    """What is held against the rule: the kinder end of the interval, or the value."""
    streams: int
    """With a figure, in the window."""
    open: tuple[uuid.UUID, ...] = ()
    """Where the figure misses its bound: the streams to look at first, the worst first."""
    detail: str = ""

    def __str__(self) -> str:
        """Status, rule and what was found, on one line."""
        where = "" if self.domain is None else f" (domain {self.domain})"
        text = f"{self.status:<12}  {self.figure}{where} {self.rule}: "
        if self.status == "not computed" and self.detail:
            return text + self.detail
        text += shown(self.value)
        if isinstance(self.bound, float) and self.bound != self.value:
            text += f", chance allowed for {shown(self.bound)}"
        text += f", {counted(self.streams, 'stream')}"
        if self.detail:
            text += f"; {self.detail}"
        if self.open and self.status == "on":
            text += f"; open {', '.join(str(one) for one in self.open)}"
        return text


Parts = tuple[float, float]
"""Numerator and denominator of one answer; a denominator of 0 for no figure."""


def _share(*labels: Label, of: Sequence[Label]) -> Callable[[Answer], Parts]:
    return lambda answer: (
        float(sum(answer.labels[label] for label in labels)),
        float(sum(answer.labels[label] for label in of)),
    )


def _mean(value: float | None) -> Parts:
    return (0.0, 0.0) if value is None else (value, 1.0)


_CLAIMS = (Label.SUPPORTED, Label.CONTRADICTED, Label.UNSUPPORTED)
FIGURES: Mapping[str, Callable[[Answer], Parts]] = {
    "faithfulness": _share(Label.SUPPORTED, of=_CLAIMS),
    "hallucination_rate": _share(Label.CONTRADICTED, Label.UNSUPPORTED, of=_CLAIMS),
    "unverified_rate": _share(Label.UNVERIFIED, of=(*_CLAIMS, Label.UNVERIFIED)),
    "grounding": lambda answer: _mean(answer.grounding_score),
    "citation_accuracy": lambda answer: _mean(answer.citation_accuracy),
    "error_rate": lambda answer: (float(answer.outcome == "failed"), 1.0),
}
"""Figures that come from every answer. Any other name is a criterion of judgments with scores of 0-1."""
_LOWER_IS_BETTER = frozenset({"hallucination_rate", "unverified_rate", "error_rate"})

DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "alerts": {
        "faithfulness": {"min": 0.85},
        "grounding": {"min": 0.80, "for": "1h"},
        "retrieval_precision": {"min": 0.5},
        "unverified_rate": {"max": 0.05},
        "error_rate": {"max": 0.05},
    }
}
"""What is watched where no file says so. Where nothing can be checked, no other figure says anything."""


_TABLES = ("defaults", "alerts", "sinks")
_COMMON = ("window", "min_streams", "for", "on")
"""What may be said for all rules at once."""


def read_rules(path: Path | str) -> Rules:
    """The rules of a TOML file.

    Raises:
        InputFileError: it is none; names the place. Caller.
    """
    return read_toml(path, rules_from)


def rules_from(found: Mapping[str, Any]) -> Rules:
    """The rules of a mapping as a file has it.

    Raises:
        ValueError: it is none; names the place.
    """
    defaults, given = _tables(found)
    everywhere: dict[str, Rule] = {}
    domains: dict[str, dict[str, Rule]] = {}
    for name, value in given.items():
        if not isinstance(value, Mapping):
            raise WrongPlaceError(f"alerts.{name}", "must be a table such as { min = 0.85 }")
        if "=" in name:
            slice_, _, domain = name.partition("=")
            if slice_ != "domain":
                raise WrongPlaceError(
                    f"alerts.{name}", 'alerts over slices go by domain: [alerts."domain=…"]'
                )
            own = {
                figure: _rule(f"alerts.{name}.{figure}", figure, one, defaults)
                for figure, one in value.items()
            }
            domains[domain] = own
        else:
            everywhere[name] = _rule(f"alerts.{name}", name, value, defaults)
    if not everywhere and not domains:
        raise WrongPlaceError("alerts", "holds no rule")
    return Rules(everywhere, domains, built(Sinks, "sinks", found.get("sinks", {})))


def _tables(found: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Defaults and alerts."""
    for name in found:
        if name not in _TABLES:
            raise WrongPlaceError(name, unknown(name, _TABLES))
    defaults, given = found.get("defaults", {}), found.get("alerts", {})
    for place, table in (("defaults", defaults), ("alerts", given)):
        if not isinstance(table, Mapping):
            raise WrongPlaceError(place, "must be a table")
    for name in defaults:
        if name not in _COMMON:
            raise WrongPlaceError(f"defaults.{name}", unknown(name, _COMMON))
    return defaults, given


_SLIP = 0.85
"""Likeness to the name of a figure above which another name is taken for a slip of the pen."""


def _rule(place: str, figure: str, value: object, defaults: Mapping[str, Any]) -> Rule:
    if figure not in FIGURES and difflib.get_close_matches(figure, FIGURES, n=1, cutoff=_SLIP):
        raise WrongPlaceError(place, unknown(figure, FIGURES))
    if not isinstance(value, Mapping):
        raise WrongPlaceError(place, "must be a table such as { min = 0.85 }")
    told = {("for_" if name == "for" else name): one for name, one in {**defaults, **value}.items()}
    rule = built(Rule, place, told)
    if why := _wrong_side(figure, rule):
        raise WrongPlaceError(place, why)
    return rule


def _wrong_side(figure: str, rule: Rule) -> str:
    """Why a bound is missed by good answers alone; empty where it is not, or nobody can know."""
    from streamverify.evaluate.metrics import CATALOGUE  # noqa: PLC0415 - the whole catalogue, for this alone

    if figure in FIGURES:
        higher = figure not in _LOWER_IS_BETTER
    elif (known := CATALOGUE.get(figure)) is not None:
        higher = known.higher_is_better
    else:
        return ""
    if (rule.min if higher else rule.max) is not None:
        return ""
    return (
        f"{figure} is better the {'higher' if higher else 'lower'} it is: give {'min' if higher else 'max'}"
    )


def check(traffic: Callable[[str | None], Traffic], rules: Rules, now: datetime) -> tuple[Alert, ...]:
    """What becomes of every rule, in the file's order.

    Args:
        traffic: of a domain; of all for None.
        rules: as a file has them.
        now: where windows end.
    """
    return tuple(_checked(traffic, rules, now))


def _checked(traffic: Callable[[str | None], Traffic], rules: Rules, now: datetime) -> Iterator[Alert]:
    for domain, own in ((None, rules.everywhere), *rules.domains.items()):
        for figure, rule in own.items():
            yield _decided(traffic(domain), figure, domain, rule, now)


def _decided(traffic: Traffic, figure: str, domain: str | None, rule: Rule, now: datetime) -> Alert:
    whole = Window(now - rule.length - rule.held, now)
    answers = traffic.answers(whole)
    parts_of = FIGURES.get(figure)
    if parts_of is None:
        scores = traffic.scores(whole, figure)
        parts = [(answer, _mean(scores.get(answer.stream))) for answer in answers]
    else:
        parts = [(answer, parts_of(answer)) for answer in answers]
    rows = [(answer, own) for answer, own in parts if own[1]]
    points = _POINTS if rule.held else 0
    moments = [now - rule.held * place / max(points, 1) for place in range(points + 1)]
    looks = [_look(rule, _within(rows, moment - rule.length, moment)) for moment in moments]
    value, bound, count, missed = looks[0]
    if isinstance(value, NotComputed):
        return Alert(figure, domain, rule, "not computed", value, bound, count, detail=value.reason)
    if rule.met(value):
        return Alert(figure, domain, rule, "off", value, bound, count)
    low = rule.min is not None and value < rule.min
    current = _within(rows, now - rule.length, now)
    worst = sorted(current, key=lambda row: (row[1][0] / row[1][1]) * (1 if low else -1))
    named = tuple(answer.stream for answer, _ in worst[:_NAMED])
    if not missed:  # as far as anybody can be sure
        return Alert(figure, domain, rule, "off", value, bound, count, named)
    if not all(later[3] for later in looks):
        detail = f"not for {rule.for_} yet"
        return Alert(figure, domain, rule, "off", value, bound, count, named, detail)
    return Alert(figure, domain, rule, "on", value, bound, count, named)


Row = tuple[Answer, Parts]


def _within(rows: Sequence[Row], since: datetime, until: datetime) -> list[Row]:
    return [row for row in rows if since <= row[0].opened_at < until]


def _look(rule: Rule, rows: Sequence[Row]) -> tuple[Figure, Figure, int, bool]:
    """Value, what is held against the rule, trials, and whether it is missed."""
    count = len(rows)
    if count < rule.min_streams:
        few = NotComputed(f"{counted(count, 'stream')} with a figure; {rule.min_streams} are needed")
        return few, few, count, False
    whole = math.fsum(own[1] for _, own in rows)
    value = math.fsum(own[0] for _, own in rows) / whole
    interval = wilson(min(value, 1.0) * count, count)
    if isinstance(interval, NotComputed):
        return interval, interval, count, False
    high, low = (value, value) if rule.on == "value" else (interval.high, interval.low)
    if rule.min is not None and value < rule.min:
        return value, high, count, high < rule.min
    if rule.max is not None and value > rule.max:
        return value, low, count, low > rule.max
    return value, value, count, False
