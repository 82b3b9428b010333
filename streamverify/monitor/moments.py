"""Stretches of time, as people write them: `24h`, `2026-11-01..2026-11-08`.

Before: a command or a file. After: `traffic.py`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from streamverify.errors import UsageError

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_LONGEST = timedelta(days=3650)
_YEARS = range(1900, 3000)
"""Years of moments: from the first or the last that a calendar has, no length could be counted."""
_LENGTH = re.compile(r"([0-9]{1,6})([smhd])")


def length_from(text: str) -> timedelta:
    """A length such as `90s`, `30m`, `24h` or `7d`.

    Raises:
        UsageError: it is none, 0, or more than ten years. Caller.
    """
    found = _LENGTH.fullmatch(text.strip())
    if found is None or not int(found[1]):
        raise UsageError(f"{text!r} is no length of time; write 90s, 30m, 24h or 7d")
    length = timedelta(**{_UNITS[found[2]]: int(found[1])})
    if length > _LONGEST:
        raise UsageError(f"{text!r} is more than {_LONGEST.days} days")
    return length


def moment_from(text: str) -> datetime:
    """A day or a moment; in UTC where it names no zone.

    Raises:
        UsageError: it is none, or centuries away. Caller.
    """
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(
            f"{text!r} is no day or moment; write 2026-11-01 or 2026-11-01T12:00+01:00"
        ) from None
    if found.year not in _YEARS:
        raise UsageError(f"{text!r} lies outside of the years {_YEARS[0]} to {_YEARS[-1]}")
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def ends_from(text: str) -> tuple[datetime, datetime]:
    """Two moments with `..` between.

    Raises:
        UsageError: they are none. Caller.
    """
    since, dots, until = text.partition("..")
    if not dots:
        raise UsageError(f"{text!r} is no stretch of time; write 2026-11-01..2026-11-08")
    return moment_from(since), moment_from(until)
