"""Templates and how values are written on a page.

Before: `overview.py` and its neighbours. After: `app.py` sends the HTML. Every text is escaped where it is
written; control characters are shown by their pictures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime
from importlib import resources
from typing import TYPE_CHECKING, Any

from streamverify._extras import require
from streamverify.evaluate.report.page import LABELS, live_rules, visible
from streamverify.evaluate.report.sentences import FINDINGS, MEANS, SHAPES, WORDS
from streamverify.records.listing import Behind

if TYPE_CHECKING:
    import jinja2

PACKAGE = "streamverify.dashboard"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def percent(share: float | None, places: int = 1) -> str:
    """A share for people; a dash for none."""
    return "–" if share is None else f"{100 * share:.{places}f} %"


def moment(at: datetime) -> str:
    """A moment as markup reads it; the browser writes it in its own zone."""
    return at.isoformat(timespec="seconds")


def excerpt(behind: Behind, around: int) -> tuple[str, str, str]:
    """A passage's part that decided, with what stands before and after it, cut between words.

    Args:
        behind: with its text.
        around: characters before and after, at most.
    """
    text = behind.text or ""
    before, after = text[: behind.start], text[behind.end :]
    if len(before) > around:
        before = "… " + before[len(before) - around :].partition(" ")[2]
    if len(after) > around:
        after = after[:around].rpartition(" ")[0] + " …"
    return before, text[behind.start : behind.end], after


def runs_of(labels: Sequence[str]) -> list[tuple[str, int]]:
    """How often each label occurs, those of claims first."""
    return [(label, count) for label in LABELS if (count := sum(one == label for one in labels))]


def environment() -> jinja2.Environment:
    """The templates of this package.

    Raises:
        MissingExtraError: jinja2 is not installed. Operator.
    """
    jinja = require("jinja2", extra="dashboard", feature="streamverify dashboard")
    made = jinja.Environment(
        loader=jinja.PackageLoader(PACKAGE),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=visible,
    )
    made.globals.update(
        shapes=SHAPES, words=WORDS, means=MEANS, findings=FINDINGS, runs_of=runs_of, excerpt=excerpt
    )
    made.filters.update(percent=percent, moment=moment, number=_number)
    return made  # type: ignore[no-any-return]  # jinja2 was loaded by name


def style() -> bytes:
    """The style sheet: the live element's colours and badges, then the pages' own."""
    own = (resources.files(PACKAGE) / "static" / "dashboard.css").read_text(encoding="utf-8")
    return f"{live_rules()}\n{own}".encode()


def _number(value: Any) -> str:
    """A figure for people: three places, none where it counts."""
    if value is None:
        return "–"
    if isinstance(value, int) or (math.isfinite(value) and abs(value) >= 100):
        return f"{value:,.0f}"
    return f"{value:.3f}"
