"""How often each value occurred in every hour, so that drift over a hundred thousand streams is a sum.

Before: the streams that `hours.py` adds up, in the same transactions. After: `monitor/traffic.py`.

    hour_values    one row an hour, tenant, domain, run, distribution and value; and one over all domains and
                   runs, whose key is `ALL`

Numbers are rounded to where a difference means nothing any more (`rounded`): scores to a thousandth, lengths
to three digits, passages not at all. Whoever counts from rows rounds likewise, so that both say the same. Of
an answer's sentences one is drawn by a hash of its stream: those of one answer depend on each other.
"""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from streamverify.records import schema
from streamverify.records.rows import GROUNDING
from streamverify.text.language import detect

NUMBERS = ("score", "grounding", "length", "passages")
"""Distributions of numbers: of one sentence an answer, and of whole answers."""
WORDS = ("label", "language")
ALL = "*"
"""Key of domain and run for all of them; a name's key begins with an equals sign."""
READ_CHARS = 2_000
"""Of an answer, to tell its language."""
_READ = 2_000
_THOUSAND = 1_000

hour_values = sa.Table(
    "hour_values",
    schema.metadata,
    sa.Column("tenant", sa.Text(), primary_key=True),
    sa.Column("hour", schema.Number, primary_key=True, autoincrement=False),
    sa.Column("domain", sa.Text(), primary_key=True),
    sa.Column("run", sa.Text(), primary_key=True),
    sa.Column("name", sa.Text(), primary_key=True),
    sa.Column("value", sa.Text(), primary_key=True),
    sa.Column("count", schema.Number, nullable=False),
)

Values = Counter[tuple[Any, ...]]
"""Key of a row of `hour_values` to how often."""


def rounded(name: str, value: float) -> str:
    """A value as it is counted: a whole number of thousandths, or of characters or passages."""
    if name in ("score", "grounding"):
        return str(round(value * _THOUSAND))
    whole = round(value)
    digits = len(str(whole)) - 3
    return str(round(whole, -digits)) if digits > 0 else str(whole)


def number_of(name: str, counted: str) -> float:
    """The number that `rounded` made a text of."""
    return int(counted) / _THOUSAND if name in ("score", "grounding") else float(counted)


def drawn(stream: uuid.UUID, sentence: int) -> bytes:
    """Where a sentence stands in the draw of its stream: the lowest one is taken."""
    return hashlib.sha256(stream.bytes + sentence.to_bytes(8, "big")).digest()


def values_of(
    connection: sa.Connection, key: list[sa.ColumnElement[Any]], *which: sa.ColumnElement[bool]
) -> Values:
    """How often each value occurs in the ended streams that fit.

    Args:
        connection: to the records.
        key: columns of `streams` by which to count apart, before distribution and value.
        which: conditions of `streams` and `conclusions`.
    """
    found: Values = Counter()
    for *own, name, value in _answers(connection, key, which):
        found[*own, name, value] += 1
    for *own, label, score in _picked(connection, key, which):
        found[*own, "label", label] += 1
        if score is not None:
            found[*own, "score", rounded("score", score)] += 1
    return found


def _answers(
    connection: sa.Connection, key: list[sa.ColumnElement[Any]], which: tuple[sa.ColumnElement[bool], ...]
) -> Iterator[tuple[Any, ...]]:
    streams, ended, items, sentences = (
        schema.streams,
        schema.conclusions,
        schema.retrieval_items,
        schema.sentences,
    )
    passages = sa.select(sa.func.count()).where(items.c.stream_id == streams.c.id)
    chars = sa.select(sa.func.max(sentences.c.end)).where(sentences.c.stream_id == streams.c.id)
    asked = (
        sa.select(
            *key,
            ended.c.grounding_score,
            chars.scalar_subquery(),
            passages.scalar_subquery(),
            sa.func.substr(ended.c.answer, 1, READ_CHARS),
        )
        .select_from(streams.join(ended, ended.c.stream_id == streams.c.id))
        .where(*which)
    )
    for *own, grounding, length, count, text in connection.execute(asked).yield_per(_READ):
        if grounding is not None:
            yield *own, "grounding", rounded("grounding", grounding)
        yield *own, "length", rounded("length", length or 0)
        yield *own, "passages", rounded("passages", count)
        language = None if text is None else detect(text)
        if language is not None:
            yield *own, "language", language


def _picked(
    connection: sa.Connection, key: list[sa.ColumnElement[Any]], which: tuple[sa.ColumnElement[bool], ...]
) -> Iterator[tuple[Any, ...]]:
    """Key, label and score of one sentence of each stream, as the model judged it when it streamed."""
    streams, ended, judgments = schema.streams, schema.conclusions, schema.judgments
    asked = (
        sa.select(judgments.c.stream_id, judgments.c.sentence, *key, judgments.c.label, judgments.c.score)
        .select_from(
            streams.join(ended, ended.c.stream_id == streams.c.id).join(
                judgments, judgments.c.stream_id == streams.c.id
            )
        )
        .where(
            *which,
            judgments.c.source == "model",
            # Most judgments are of this criterion: its index would be the longest way round.
            judgments.c.criterion.concat("") == GROUNDING,
            judgments.c.sentence.is_not(None),
        )
    )
    held: dict[uuid.UUID, tuple[bytes, tuple[Any, ...]]] = {}
    for stream, sentence, *told in connection.execute(asked).yield_per(_READ):
        place = drawn(stream, sentence)
        if stream not in held or place < held[stream][0]:
            held[stream] = place, tuple(told)
    return (told for _, told in held.values())


def rows_of(found: Values) -> list[dict[str, Any]]:
    """Rows to add, from values by tenant, hour, domain and run: these, and the sums over the last two."""
    whole: Values = Counter()
    for (tenant, hour, _domain, _run, *told), count in found.items():
        whole[tenant, hour, ALL, ALL, *told] += count
    names = [column.name for column in hour_values.primary_key]
    counted = [*found.items(), *whole.items()]
    return [dict(zip(names, key, strict=True)) | {"count": count} for key, count in counted]
