"""`streamverify monitor …`: drift, alerts and files for other programs.

Before: `program.py` registers the commands. After: `monitor/`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from streamverify._extras import require
from streamverify.console.asking import JsonOption, RecordsOption, TenantOption, opened
from streamverify.console.paths import path_from
from streamverify.console.shell import FAILED, USAGE, complain, write

if TYPE_CHECKING:
    from streamverify.monitor.alerts import Alert, Rules
    from streamverify.monitor.drift import Look, Shift
    from streamverify.monitor.traffic import Answer, Traffic, Window
    from streamverify.records import Database

T = TypeVar("T")

DomainOption = Annotated[str | None, typer.Option("--domain", help="Answers of this domain alone.")]
RunOption = Annotated[str | None, typer.Option("--run", help="Answers of this run alone.")]


def drift(
    *,
    records: RecordsOption,
    reference: Annotated[
        str, typer.Option("--reference", help="What later windows are held against: 2026-11-01..2026-11-08.")
    ],
    now: Annotated[
        str | None, typer.Option("--now", help="Likewise; from the reference's end until now if left out.")
    ] = None,
    window: Annotated[str, typer.Option("--window", help="Length of one look: 24h, 7d.")] = "24h",
    calibration: Annotated[
        Path | None, typer.Option("--calibration", help="Whose guarantee people's judgments should meet.")
    ] = None,
    domain: DomainOption = None,
    run: RunOption = None,
    tenant: TenantOption = "",
    json: JsonOption = False,
) -> None:
    """Say whether answers come about as they did, and whether promises made of them still hold.

    Exit status: 0; 1 when a distribution drifted, scores are no probabilities any more, or a guarantee is
    broken; 2 for bad input, and when nothing was compared: no answers in the reference, too few of them in
    every look, or too few judged sentences for the guarantee of --calibration.
    """
    require("sqlalchemy", extra="records", feature="streamverify monitor drift")
    from streamverify.calibration import Calibration  # noqa: PLC0415 - loads pydantic
    from streamverify.console.drifts import show_drift  # noqa: PLC0415 - loads rich
    from streamverify.console.screen import Screen  # noqa: PLC0415 - as above
    from streamverify.files.jsonl import json_text  # noqa: PLC0415 - loads pydantic
    from streamverify.monitor import drift as drifting  # noqa: PLC0415 - an extra
    from streamverify.monitor.moments import length_from  # noqa: PLC0415 - as above
    from streamverify.monitor.promises import calibration_error, promise  # noqa: PLC0415 - as above

    before, length = _stretch(reference, "--reference"), _said(length_from, window, "--window")
    after = _since(before, now)
    with opened(records) as database:
        traffic = _traffic(database, tenant, domain, run, sums=_summed(database))
        looks = drifting.looks(traffic, before, after, length)
        labels = traffic.human_labels(after)
    error = calibration_error(labels)
    checked = promise(Calibration.read(calibration), labels) if calibration is not None else None
    if json:
        lines = [line for look in looks for line in _lines(look)]
        lines.append({"calibration_error": _plain(error), "drifted": error.drifted})
        lines += [] if checked is None else [{"guarantee": _plain(checked)}]
        for line in lines:
            write(json_text(line))
    else:
        show_drift(Screen(), looks, error, checked)
    broken = checked is not None and checked.status == "broken"
    if broken or error.drifted or any(look.drifted for look in looks):
        raise typer.Exit(FAILED)
    idle = [] if any(look.compared for look in looks) else [_idle(looks, after, window)]
    if checked is not None and checked.status != "not contradicted":
        idle.append(f"the guarantee of --calibration was not checked: {checked.detail}")
    for why in idle:
        complain(why)
    if idle:
        raise typer.Exit(USAGE)


def _since(before: Window, now: str | None) -> Window:
    """What is held against the reference; some of it is over."""
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.monitor.traffic import Window  # noqa: PLC0415 - an extra

    clock = datetime.now(UTC)
    if now is None:
        if before.until >= clock:
            raise UsageError(f"--reference: {before} is not over yet: end it in the past, or name --now")
        return Window(before.until, clock)
    after = _stretch(now, "--now")
    if after.since >= clock:
        raise UsageError(f"--now: {after} lies in the future: name a time whose answers are recorded")
    return Window(after.since, min(after.until, clock))


def _idle(looks: Sequence[Look], after: Window, window: str) -> str:
    """Why nothing was compared with the reference."""
    if not looks:
        return f"nothing was compared: {after} holds no whole window of {window}; see --now and --window"
    most = max((shift for look in looks for shift in look.shifts), key=lambda shift: min(shift.rows))
    return f"nothing was compared: {_plain(most.p)['not_computed']}; see --reference, --now and --window"


def _stretch(text: str, option: str) -> Window:
    from streamverify.monitor.moments import ends_from  # noqa: PLC0415 - an extra
    from streamverify.monitor.traffic import Window  # noqa: PLC0415 - as above

    return _said(lambda given: Window(*ends_from(given)), text, option)


def _said(read: Callable[[str], T], text: str, option: str) -> T:
    """What an option says; where that makes no sense, the option is named."""
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic

    try:
        return read(text)
    except UsageError as error:
        raise UsageError(f"{option}: {error}") from None


def check(
    *,
    records: RecordsOption,
    rules: Annotated[
        Path | None, typer.Option("--rules", help="TOML file; without it those that the guide names.")
    ] = None,
    at: Annotated[str | None, typer.Option("--at", help="Where windows end; now if left out.")] = None,
    state: Annotated[
        Path | None,
        typer.Option("--state", help="File that remembers what is on; beside SQLite records if left out."),
    ] = None,
    domain: DomainOption = None,
    run: RunOption = None,
    tenant: TenantOption = "",
    json: JsonOption = False,
) -> None:
    """Hold the figures of the last hours against alert rules; tell the sinks what has fired or was resolved.

    What is on is remembered, so that the sinks are told once, however often this runs. With --at, and with
    records on a server, nothing is remembered unless --state names a file.

    Exit status: 0; 1 when an alert is on; 2 for bad input, or when a sink could not be told.
    """
    require("sqlalchemy", extra="records", feature="streamverify monitor check")
    from streamverify.files.jsonl import json_text  # noqa: PLC0415 - loads pydantic
    from streamverify.monitor import alerts, sinks  # noqa: PLC0415 - an extra
    from streamverify.monitor.moments import moment_from  # noqa: PLC0415 - as above

    given = alerts.rules_from(alerts.DEFAULTS) if rules is None else alerts.read_rules(rules)
    now = datetime.now(UTC) if at is None else _said(moment_from, at, "--at")
    with opened(records) as database:
        found = alerts.check(lambda own: _traffic(database, tenant, own or domain, run), given, now)
        beside = at is None and database.url.get_backend_name() == "sqlite"
        memory = Path(f"{database.url.database}.alerts.json") if beside and state is None else state
    if memory is None:
        shown, wrong = found, tuple(sinks.send(given.sinks, found))
        told = [sinks.told(alert) for alert in shown]
        heard = set(sinks.names(given.sinks)) - {"log"} and not wrong
        if heard and any(alert.status == "on" for alert in found):
            complain("nothing remembers that the sinks were told; name a file with --state")
    else:
        named = None if rules is None else str(rules.resolve())
        asked = {"rules": named, "domain": domain, "run": run, "tenant": tenant}
        shown, told, wrong = _remembered(memory, asked, given, found, now)
    for alert, fact in zip(shown, told, strict=True):
        since = fact.get("since")
        write(json_text(fact) if json else f"{alert}; since {since}" if since else str(alert))
    for line in wrong:
        complain(line)
    if wrong:
        raise typer.Exit(USAGE)
    if any(alert.status == "on" for alert in shown):
        raise typer.Exit(FAILED)


def _remembered(
    path: Path, asked: dict[str, str | None], rules: Rules, found: Sequence[Alert], now: datetime
) -> tuple[tuple[Alert, ...], list[dict[str, Any]], tuple[str, ...]]:
    """The alerts with what is remembered of them, as values and as JSON, and which sinks failed."""
    from streamverify.monitor import firing, sinks  # noqa: PLC0415 - an extra

    with firing.remembering(path, asked) as memory:
        step = firing.step(memory.firing, found, now, sinks.names(rules.sinks))
        delivered = sinks.deliver(rules.sinks, step.changes)
        memory.firing = firing.remembered(step.firing, delivered.untold)
    since = {one.key: one.since.isoformat() for one in step.firing if one.until is None}
    told = [{**sinks.told(alert), "since": since.get((alert.figure, alert.domain))} for alert in step.alerts]
    return step.alerts, told, delivered.wrong


def files(
    folder: Annotated[Path, typer.Argument(help="Made where there is none.", parser=path_from)],
) -> None:
    """Copy the alert rules for Prometheus and the dashboard for Grafana into a folder."""
    from importlib.resources import files as resources  # noqa: PLC0415 - kept out of start-up

    from streamverify.console.transcript import safe  # noqa: PLC0415 - loads rich
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.files.written import write_whole  # noqa: PLC0415 - as above

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made a folder: {error.strerror or error}") from None
    for found in sorted(resources("streamverify.monitor").joinpath("files").iterdir(), key=lambda f: f.name):
        write_whole(folder / found.name, found.read_bytes())
        write(safe(str(folder / found.name)))


def answers_of_runs(records: str, runs: Sequence[str], window: str | None, tenant: str) -> list[list[Answer]]:
    """The recorded answers of each run, in a stretch of time or at any time; a run without any is refused."""
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.monitor.traffic import Window  # noqa: PLC0415 - an extra

    always = Window(datetime.fromtimestamp(0, UTC), datetime.now(UTC))
    asked = always if window is None else _stretch(window, "--window")
    with opened(records) as database:
        found = {run: _traffic(database, tenant, None, run).answers(asked) for run in runs}
    for run, answers in found.items():
        if not answers:
            when = "" if window is None else f" in {window}"
            raise UsageError(f"no recorded answers of run {run!r}{when}")
    return [found[run] for run in runs]


def _summed(database: Database) -> bool:
    """Whether the sums of hours are up to date: somebody who may only read cannot bring them there."""
    from streamverify.records import add_up  # noqa: PLC0415 - an extra
    from streamverify.records.database import DatabaseError  # noqa: PLC0415 - as above

    try:
        add_up(database)
    except DatabaseError:
        complain("the sums of hours cannot be written here: every answer is read, which takes longer")
        return False
    return True


def _traffic(
    database: Database, tenant: str, domain: str | None, run: str | None, *, sums: bool = False
) -> Traffic:
    from streamverify.monitor.traffic import Traffic  # noqa: PLC0415 - an extra
    from streamverify.records import Requester  # noqa: PLC0415 - as above
    from streamverify.records.requester import AUDITOR  # noqa: PLC0415 - as above

    auditor = Requester(roles=frozenset({AUDITOR}), tenant=tenant)
    return Traffic(database, auditor, domain=domain, run=run, sums=sums)


def _lines(look: Look) -> list[dict[str, Any]]:
    return [{"look": look.number, "window": str(look.window), **_shift(shift)} for shift in look.shifts]


def _shift(shift: Shift) -> dict[str, Any]:
    told: dict[str, Any] = _plain(shift) | {"rows": list(shift.rows)}
    if not shift.psi_means_something:
        told["psi_note"] = "fewer than 500 rows: the index means nothing"
    return told


def _plain(value: Any) -> Any:
    """A result as JSON: a figure that was not computed says why, in its place."""
    from streamverify.figure import NotComputed  # noqa: PLC0415 - kept out of start-up

    if isinstance(value, NotComputed):
        return {"not_computed": value.reason}
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return value if isinstance(value, bool | int | float | list | tuple | None) else str(value)
