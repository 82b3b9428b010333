"""`streamverify demo monitor`.

Before: the shell. After: `replay.py`, shown by `view.py`.
"""

from __future__ import annotations

import tempfile
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

RULES = """\
# What the demo's day is held against; every key is explained in the guide, "Watch it in production".
[defaults]
window = "1h"
min_streams = 10
[alerts]
faithfulness = { min = 0.7 }
grounding = { min = 0.55, on = "value", for = "30m" }
error_rate = { max = 0.05 }
[sinks]
log = false
"""
_LONGEST = 86_400
"""Seconds of a replay, and questions of it: those of a day."""
_NEEDED = "sqlalchemy alembic prometheus_client scipy.stats uvicorn starlette sse_starlette httpx2".split()


def monitor(
    *,
    records: Annotated[
        Path | None,
        typer.Option("--records", help="New SQLite file for the day; a temporary one if left out."),
    ] = None,
    visits: Annotated[
        int, typer.Option("--visits", help="Questions that are asked on the day.", min=1, max=_LONGEST)
    ] = 600,
    seconds: Annotated[
        float, typer.Option("--seconds", help="That the day takes at least; 0 for no pause.")
    ] = 60.0,
    seed: Annotated[int, typer.Option("--seed", help="Another day for each number.")] = 1,
    day: Annotated[str | None, typer.Option("--day", help="Which day it was; yesterday if left out.")] = None,
) -> None:
    """Replay a day of traffic through the proxy, and watch it: records, metrics, alerts, drift.

    At noon a release goes out that says what its passages do not; three hours later it is taken back. In the
    evening the retriever brings twice as many passages. The questions are those of the bundled cases; the
    proxy, the model that judges, the records, the alerts and the drift are the real ones, and only the clock
    is not. No key, no network.
    """
    from streamverify._extras import require  # noqa: PLC0415 - kept out of start-up

    for package in _NEEDED:
        require(package, extra="monitor", feature="streamverify demo monitor")
    import anyio  # noqa: PLC0415 - kept out of start-up

    from streamverify.console.screen import Screen  # noqa: PLC0415 - loads rich
    from streamverify.demo_day.replay import Day, Replay  # noqa: PLC0415 - an extra
    from streamverify.demo_day.view import DayView  # noqa: PLC0415 - as above
    from streamverify.demo_day.visits import visits_of  # noqa: PLC0415 - as above
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.monitor.alerts import read_rules  # noqa: PLC0415 - an extra

    if not 0 <= seconds <= _LONGEST:
        raise UsageError(f"--seconds must be 0 to {_LONGEST:,}, a day of it at its own pace, not {seconds:g}")
    planned = visits_of(_day(day), visits, seed)
    file = _new_file(records)
    rules = file.with_name(f"{file.name}.alerts.toml")
    rules.write_text(RULES, encoding="utf-8")
    view = DayView(Screen(), file, rules, visits)
    replay = Replay(planned, file, read_rules(rules))

    async def live() -> Day:
        return await replay.run(view.tell, seconds=seconds)

    with view.showing():
        found = anyio.run(live)
    view.end(found)


def _day(text: str | None) -> date:
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic

    if text is None:
        return datetime.now(UTC).date() - timedelta(days=1)
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--day: {text!r} is no day; write 2026-11-01") from None


def _new_file(given: Path | None) -> Path:
    """Where the day is recorded: a file that is not there yet."""
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic

    if given is None:
        return Path(tempfile.mkdtemp(prefix="streamverify-day-")) / "answers.db"
    try:
        there, beside = given.exists() or given.is_symlink(), given.parent.is_dir()
    except OSError as error:  # a name that is too long
        raise UsageError(f"{given} cannot be written: {error.strerror or error}") from None
    if there:
        raise UsageError(f"{given} is there already: name a new file, or remove it")
    if not beside:
        raise UsageError(f"there is no folder {given.parent}")
    return given
