"""Whole hours of recorded traffic, as the sums of `records/hours.py` have them.

Before: records. After: the dashboard.

An auditor gets the sums over everybody, anybody else those of their own streams: both answer at once, however
much was recorded. Which documents they may see is asked when they read.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from streamverify.monitor.traffic import Window
from streamverify.records import Database, Requester, schema
from streamverify.records import hours as sums
from streamverify.types import Label

HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Hours:
    """The streams that began in a stretch of whole hours and have ended, summed up."""

    since: datetime
    streams: int = 0
    failed: int = 0
    halted: int = 0
    supported: int = 0
    contradicted: int = 0
    unsupported: int = 0
    no_claim: int = 0
    unverified: int = 0
    """Sentences by label, as their streams left them."""
    scored: int = 0
    grounding_sum: int = 0
    """Streams with a grounding score, and its sum in millionths."""
    checked: int = 0
    accuracy_sum: int = 0
    """Streams with a citation accuracy, and its sum in millionths."""
    citations: int = 0
    fabricated: int = 0

    @property
    def claims(self) -> int:
        """Sentences that make a claim and were judged."""
        return self.supported + self.contradicted + self.unsupported

    @property
    def faithfulness(self) -> float | None:
        """Supported claims / claims; None without any."""
        return _share(self.supported, self.claims)

    @property
    def contradiction_rate(self) -> float | None:
        """Contradicted claims / claims; None without any."""
        return _share(self.contradicted, self.claims)

    @property
    def unverified_rate(self) -> float | None:
        """Sentences that could not be checked / those and the claims; None without any."""
        return _share(self.unverified, self.claims + self.unverified)

    @property
    def grounding(self) -> float | None:
        """Mean of the answers' scores, 0-1; None without any."""
        return _share(self.grounding_sum, self.scored * sums.SCALE)

    @property
    def citation_accuracy(self) -> float | None:
        """Mean over answers, 0-1; None without any."""
        return _share(self.accuracy_sum, self.checked * sums.SCALE)

    @property
    def fabrication_rate(self) -> float | None:
        """Citations of nothing / citations; None without any."""
        return _share(self.fabricated, self.citations)

    @property
    def error_rate(self) -> float | None:
        """Failed streams / streams; None without any."""
        return _share(self.failed, self.streams)

    @property
    def labels(self) -> dict[Label, int]:
        """Sentences by label."""
        return {label: getattr(self, label.value) for label in Label}


@dataclass(frozen=True, slots=True)
class DocumentSum:
    """What a document was cited for and behind."""

    uri: str
    cited: int
    """Citations that name it."""
    judged: int
    """Of these, whose sentence was judged."""
    correct: int
    """Of these, that it supports."""
    contradicted: int
    """Sentences that it contradicts, by the judgment that counts."""
    fabricated: int
    """Citations of nothing, in sentences for which it was the evidence."""

    @property
    def accuracy(self) -> float | None:
        """Correct / judged; None where none was judged."""
        return _share(self.correct, self.judged)


@dataclass(frozen=True, slots=True)
class Part:
    """A domain or a run, and how its streams did."""

    name: str | None
    """None for streams that name none."""
    told: Hours


def hours_before(now: datetime, count: int) -> Window:
    """The last whole hours, the one that runs included.

    Args:
        now: with its time zone.
        count: 1 or more.
    """
    end = sums.moment_of(sums.hour_of(now) + 1)
    return Window(end - count * HOUR, end)


class HourlyTraffic:
    """Answers questions about windows of whole hours."""

    def __init__(
        self,
        database: Database,
        requester: Requester,
        *,
        domain: str | None = None,
        run: str | None = None,
    ) -> None:
        """Nothing is asked yet.

        Args:
            database: of records; `add_up` brings its sums up to date.
            requester: whose rights bound every answer.
            domain: streams of this one alone.
            run: likewise.
        """
        self._database, self._requester = database, requester
        self._domain, self._run = domain, run

    def series(self, window: Window, length: timedelta = HOUR) -> list[Hours]:
        """A window of whole hours in stretches of as many hours, the empty ones too.

        Args:
            window: its ends are hours.
            length: whole hours.
        """
        step = int(length / HOUR)
        first, last = sums.hour_of(window.since), sums.hour_of(window.until)
        found = self._source(window)
        place = sa.cast(sa.func.floor((found.c.hour - first) / step), sa.Integer()).label("place")
        one = sa.select(place, *(found.c[name] for name in sums.SUMS)).subquery()
        asked = sa.select(one.c.place, *_totals(one)).group_by(one.c.place)
        told = {row["place"]: row for row in self._database.rows(asked)}
        return [
            _hours(sums.moment_of(first + at * step), told.get(at, {}))
            for at in range(-(-(last - first) // step))
        ]

    def total(self, window: Window) -> Hours:
        """A window of whole hours in one."""
        found = self._source(window)
        (row,) = self._database.rows(sa.select(*_totals(found)))
        return _hours(window.since, row)

    def domains(self, window: Window, limit: int = 50) -> list[Part]:
        """The domains of a window, those with most streams first."""
        return self._parts(window, "domain", limit)

    def runs(self, window: Window, limit: int = 50) -> list[Part]:
        """The runs of a window, likewise."""
        return self._parts(window, "run", limit)

    def documents(self, window: Window, limit: int = 50) -> list[DocumentSum]:
        """Documents of all domains and runs: those behind most that went wrong first, then the most cited."""
        names = sums.DOCUMENT_SUMS
        if self._requester.audits:
            table = sums.document_hours
            rows: sa.FromClause = sa.select(table).where(*self._hours(table, window)).subquery()
        else:
            table, known = sums.own_document_hours, schema.documents
            rows = (
                sa.select(known.c.uri, *(table.c[name] for name in names))
                .join_from(table, known, known.c.id == table.c.document_id)
                .where(*self._hours(table, window), self._requester.sees_document())
                .subquery()
            )
        total = [sa.func.sum(rows.c[name]).label(name) for name in names]
        blame = sa.func.sum(rows.c.contradicted + rows.c.fabricated)
        asked = (
            sa.select(rows.c.uri, *total)
            .group_by(rows.c.uri)
            .order_by(blame.desc(), sa.func.sum(rows.c.cited).desc(), rows.c.uri)
            .limit(limit)
        )
        return [
            DocumentSum(**{name: _plain(row[name]) for name in row}) for row in self._database.rows(asked)
        ]

    def _parts(self, window: Window, column: str, limit: int) -> list[Part]:
        found = self._source(window)
        asked = (
            sa.select(found.c[column], *_totals(found))
            .group_by(found.c[column])
            .order_by(sa.func.sum(found.c.streams).desc(), found.c[column])
            .limit(limit)
        )
        return [
            Part(sums.name_of(row[column]), _hours(window.since, row)) for row in self._database.rows(asked)
        ]

    def _source(self, window: Window) -> sa.FromClause:
        """Rows as `hours` has them, within what the requester may see."""
        given = {"domain": self._domain, "run": self._run}
        table = sums.hours if self._requester.audits else sums.own_hours
        own = [table.c[name] == sums.key_of(value) for name, value in given.items() if value is not None]
        return sa.select(table).where(*self._hours(table, window), *own).subquery()

    def _hours(self, table: sa.Table, window: Window) -> list[sa.ColumnElement[bool]]:
        first, last = sums.hour_of(window.since), sums.hour_of(window.until)
        within = [table.c.tenant == self._requester.tenant, table.c.hour >= first, table.c.hour < last]
        if self._requester.audits:
            return within
        user = self._requester.user
        return [*within, sa.false() if user is None else table.c.requester == user]


_FIELDS = {"grounding": "grounding_sum", "citation_accuracy": "accuracy_sum"}
"""Columns that have another name here."""


def _totals(rows: sa.FromClause) -> list[sa.ColumnElement[Any]]:
    return [sa.func.sum(rows.c[name]).label(name) for name in sums.SUMS]


def _hours(since: datetime, row: dict[str, Any]) -> Hours:
    told = {_FIELDS.get(name, name): _plain(row.get(name)) for name in sums.SUMS}
    return Hours(since, **told)


def _plain(value: Any) -> Any:
    """A sum as PostgreSQL gives it, as a whole number; 0 for none."""
    return value if isinstance(value, str) else int(value or 0)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
