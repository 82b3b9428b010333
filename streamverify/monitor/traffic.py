"""What was recorded in a stretch of time: a few SQL questions each, within what the requester may see.

Before: records. After: `drift.py`, `alerts.py`, and pages that show them.
"""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from streamverify.errors import UsageError
from streamverify.records import Database, Requester, histograms, hours, schema
from streamverify.records.conditions import counts
from streamverify.records.requester import AUDITOR
from streamverify.records.rows import GROUNDING
from streamverify.types import Label

AT_MOST = 200_000
"""Streams of one window that are looked at; the memory for more is not there for everybody."""
_CLAIMS = (Label.SUPPORTED, Label.CONTRADICTED, Label.UNSUPPORTED)


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time, `since` included and `until` not; both with their time zone."""

    since: datetime
    until: datetime

    def __post_init__(self) -> None:
        """Refuse what holds no moment."""
        if self.since.tzinfo is None or self.until.tzinfo is None:
            raise UsageError("a window's ends need a time zone")
        if not self.since < self.until:
            raise UsageError(
                f"the window ends at {self.until} and begins at {self.since}: later comes second"
            )

    def __str__(self) -> str:
        """Both ends, as ISO 8601 has them."""
        return f"{self.since.isoformat()}..{self.until.isoformat()}"

    def parts(self, length: timedelta) -> tuple[Window, ...]:
        """The whole windows of this length in it, the first at its beginning."""
        if length <= timedelta():
            raise UsageError("a window's length must be above 0")
        count = int((self.until - self.since) / length)
        return tuple(
            Window(self.since + number * length, self.since + (number + 1) * length)
            for number in range(count)
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """One stream that has ended."""

    stream: uuid.UUID
    opened_at: datetime
    domain: str | None
    run: str | None
    requester: str | None
    outcome: str
    grounding_score: float | None
    citation_accuracy: float | None
    labels: Mapping[Label, int]
    passages: int
    chars: int
    """Length of the answer, in characters."""

    @property
    def claims(self) -> int:
        """Sentences that make a claim and were judged."""
        return sum(self.labels[label] for label in _CLAIMS)

    @property
    def faithfulness(self) -> float | None:
        """Supported claims / claims; None without any."""
        return self.labels[Label.SUPPORTED] / self.claims if self.claims else None


@dataclass(frozen=True, slots=True)
class Bucket:
    """The streams that began in one stretch of time and have ended, summed up."""

    since: datetime
    streams: int
    failed: int
    labels: Mapping[Label, int]
    """Sentences of them all."""
    grounding: float | None
    """Mean of their scores, 0-1; None where no claim was scored."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence, with what the model said of it."""

    stream: uuid.UUID
    sentence: int
    label: str
    score: float | None


@dataclass(frozen=True, slots=True)
class HumanLabel:
    """A scored sentence that a person has looked at."""

    stream: uuid.UUID
    sentence: int
    score: float
    grounded: bool
    model: str
    """That scored."""


class Traffic:
    """Answers questions about windows."""

    def __init__(
        self,
        database: Database,
        requester: Requester | None = None,
        *,
        domain: str | None = None,
        run: str | None = None,
        sums: bool = False,
    ) -> None:
        """Nothing is asked yet.

        Args:
            database: of records.
            requester: whose rights bound every answer; by default an auditor of the empty tenant.
            domain: answers of this one alone.
            run: likewise.
            sums: take the values of whole hours from the sums, which `add_up` has brought up to date; for
                auditors, of whose streams there are some.
        """
        self._database = database
        self._requester = requester if requester is not None else Requester(roles=frozenset({AUDITOR}))
        self._domain, self._run = domain, run
        self._sums = sums and self._requester.audits

    def values(self, window: Window) -> dict[str, Counter[str]]:
        """How often each value occurred in the streams of a window that have ended, by distribution.

        As `records/histograms.py` counts and rounds them, whether from the rows or from the sums of hours.
        """
        found: dict[str, Counter[str]] = defaultdict(Counter)
        whole = _whole_hours(window) if self._sums else None
        with self._database.reading() as connection:
            if whole is not None:
                for name, value, count in connection.execute(self._summed(whole)):
                    found[name][value] += int(count)
            for part in [window] if whole is None else _beside(window, whole):
                for (name, value), count in histograms.values_of(connection, [], self._of(part)).items():
                    found[name][value] += count
        return found

    def _summed(self, whole: Window) -> sa.Select[Any]:
        own = histograms.hour_values.c
        first, last = hours.hour_of(whole.since), hours.hour_of(whole.until)
        keys = ((own.domain, self._domain), (own.run, self._run))
        if self._domain is None and self._run is None:
            which = [column == histograms.ALL for column, _ in keys]
        else:
            given = [(column, hours.key_of(name)) for column, name in keys if name is not None]
            which = [own.domain != histograms.ALL, *(column == key for column, key in given)]
        return (
            sa.select(own.name, own.value, sa.func.sum(own.count))
            .where(own.tenant == self._requester.tenant, own.hour >= first, own.hour < last, *which)
            .group_by(own.name, own.value)
        )

    def answers(self, window: Window) -> list[Answer]:
        """The streams that began in a window and have ended, in the order they began.

        Raises:
            UsageError: there are more than 200,000. Caller.
        """
        streams, ended, items = schema.streams, schema.conclusions, schema.retrieval_items
        sentences = schema.sentences
        told = ended.c.figures["counts"]
        passages = sa.select(sa.func.count()).where(items.c.stream_id == streams.c.id)
        chars = sa.select(sa.func.max(sentences.c.end)).where(sentences.c.stream_id == streams.c.id)
        columns = ("outcome", "grounding_score", "citation_accuracy")
        asked = (
            sa.select(
                streams.c.id.label("stream"),
                streams.c.opened_at,
                streams.c.domain,
                streams.c.run,
                streams.c.requester,
                *(ended.c[name] for name in columns),
                *(told[label.value].as_integer().label(label.value) for label in Label),
                passages.scalar_subquery().label("passages"),
                chars.scalar_subquery().label("chars"),
            )
            .join(ended, ended.c.stream_id == streams.c.id)
            .where(self._of(window))
            .order_by(streams.c.opened_at, streams.c.id)
            .limit(AT_MOST + 1)
        )
        rows = self._database.rows(asked)
        if len(rows) > AT_MOST:
            raise UsageError(f"more than {AT_MOST:,} streams in {window}: name a shorter window, or a domain")
        return [_answer(row) for row in rows]

    def series(self, window: Window, length: timedelta) -> list[Bucket]:
        """A window in stretches of whole seconds, summed up by the database; empty ones are left out.

        Raises:
            UsageError: the length is less than a second. Caller.
        """
        seconds = int(length.total_seconds())
        if seconds < 1:
            raise UsageError("a stretch of time takes a second or more")
        streams, ended = schema.streams, schema.conclusions
        told, since = ended.c.figures["counts"], int(window.since.timestamp())
        place = (sa.extract("epoch", streams.c.opened_at) - since) / seconds
        number = sa.cast(sa.func.floor(place), sa.Integer()).label("number")
        asked = (
            sa.select(
                number,
                sa.func.count().label("streams"),
                sa.func.sum(sa.case((ended.c.outcome == "failed", 1), else_=0)).label("failed"),
                sa.func.avg(ended.c.grounding_score).label("grounding"),
                *(sa.func.sum(told[label.value].as_integer()).label(label.value) for label in Label),
            )
            .join(ended, ended.c.stream_id == streams.c.id)
            .where(self._of(window))
            .group_by(number)
            .order_by(number)
        )
        return [
            Bucket(
                window.since + row["number"] * timedelta(seconds=seconds),
                row["streams"],
                row["failed"],
                {label: row[label.value] or 0 for label in Label},
                row["grounding"],
            )
            for row in self._database.rows(asked)
        ]

    def scores(self, window: Window, criterion: str) -> dict[uuid.UUID, float]:
        """The mean score that the streams of a window have by a criterion, as a judge or a rule gave it."""
        streams, judgments = schema.streams, schema.judgments
        asked = (
            sa.select(judgments.c.stream_id, sa.func.avg(judgments.c.score).label("score"))
            .join(streams, streams.c.id == judgments.c.stream_id)
            .where(
                self._of(window),
                judgments.c.criterion == criterion,
                judgments.c.score.is_not(None),
                counts(judgments),
            )
            .group_by(judgments.c.stream_id)
        )
        return {row["stream_id"]: float(row["score"]) for row in self._database.rows(asked)}

    def judged(self, window: Window) -> list[Judged]:
        """Every sentence of a window, as the model judged it when it streamed."""
        streams, judgments = schema.streams, schema.judgments
        asked = (
            sa.select(
                judgments.c.stream_id.label("stream"),
                judgments.c.sentence,
                judgments.c.label,
                judgments.c.score,
            )
            .join(streams, streams.c.id == judgments.c.stream_id)
            .where(self._of(window), _by_the_model(judgments))
            .order_by(streams.c.opened_at, judgments.c.stream_id, judgments.c.sentence)
        )
        return [Judged(**row) for row in self._database.rows(asked)]

    def human_labels(self, window: Window) -> list[HumanLabel]:
        """Sentences of a window that a person judged, with the score that the model gave them."""
        streams, human = schema.streams, schema.judgments
        model = schema.judgments.alias("scored")
        asked = (
            sa.select(
                human.c.stream_id.label("stream"),
                human.c.sentence,
                model.c.score,
                human.c.passed.label("grounded"),
                streams.c.fingerprint,
            )
            .select_from(human)
            .join(streams, streams.c.id == human.c.stream_id)
            .join(
                model,
                (model.c.stream_id == human.c.stream_id)
                & (model.c.sentence == human.c.sentence)
                & _by_the_model(model),
            )
            .where(
                self._of(window),
                human.c.source == "human",
                human.c.criterion == GROUNDING,
                human.c.passed.is_not(None),
                model.c.score.is_not(None),
                counts(human),
            )
            .order_by(streams.c.opened_at, human.c.stream_id, human.c.sentence)
        )
        found = self._database.rows(asked)
        named = [f"{row['fingerprint']['model']} {row['fingerprint']['revision']}".strip() for row in found]
        return [
            HumanLabel(row["stream"], row["sentence"], row["score"], row["grounded"], name)
            for row, name in zip(found, named, strict=True)
        ]

    def _of(self, window: Window) -> sa.ColumnElement[bool]:
        opened, streams = schema.streams.c.opened_at, schema.streams
        asked = [opened >= window.since, opened < window.until, self._requester.sees_stream()]
        given = ((streams.c.domain, self._domain), (streams.c.run, self._run))
        return sa.and_(*asked, *(column == value for column, value in given if value is not None))


def _whole_hours(window: Window) -> Window | None:
    """The whole hours of a window; None for none."""
    first, last = hours.hour_of(window.since), hours.hour_of(window.until)
    first += hours.moment_of(first) < window.since
    return Window(hours.moment_of(first), hours.moment_of(last)) if first < last else None


def _beside(window: Window, whole: Window) -> list[Window]:
    """What a window has before and after its whole hours."""
    ends = ((window.since, whole.since), (whole.until, window.until))
    return [Window(since, until) for since, until in ends if since < until]


def _by_the_model(judgments: sa.FromClause) -> sa.ColumnElement[bool]:
    return (
        (judgments.c.source == "model")
        & (judgments.c.criterion == GROUNDING)
        & judgments.c.sentence.is_not(None)
    )


def _answer(row: Mapping[str, Any]) -> Answer:
    own = {label: row[label.value] or 0 for label in Label}
    rest = {name: value for name, value in row.items() if name not in {label.value for label in Label}}
    return Answer(labels=own, **(rest | {"chars": row["chars"] or 0}))
