"""`streamverify dashboard`.

Before: the shell. After: `app.py`, run by uvicorn.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamverify.console.asking import RecordsOption, RolesOption, TenantOption, UserOption
from streamverify.console.shell import complain

if TYPE_CHECKING:
    from streamverify.dashboard.people import People

_TOKEN = "STREAMVERIFY_TOKEN"  # noqa: S105 - a variable's name


def dashboard(
    *,
    records: RecordsOption,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="0 for any free one.", min=0, max=65535)] = 8378,
    people: Annotated[
        Path | None, typer.Option("--people", help="TOML file: who may look, with tokens and roles.")
    ] = None,
    user: UserOption = None,
    roles: RolesOption = "",
    tenant: TenantOption = "",
    rules: Annotated[
        Path | None, typer.Option("--rules", help="Alert rules; without it those that the guide names.")
    ] = None,
    gates: Annotated[
        Path | None, typer.Option("--gates", help="TOML file: what evaluations are held against.")
    ] = None,
    reference: Annotated[
        str, typer.Option("--reference", help="What later windows are held against: 2026-11-01..2026-11-08.")
    ] = "",
    window: Annotated[str, typer.Option("--window", help="Length of one look at drift: 24h, 7d.")] = "24h",
    state: Annotated[
        Path | None,
        typer.Option("--state", help="File that remembers what is on; beside SQLite records if left out."),
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", help="Show it as of this moment; now if left out.")
    ] = None,
) -> None:
    """Show what is recorded, as it comes: answers, verdicts, alerts, drift, runs, and a queue to judge.

    Whoever shows the token in STREAMVERIFY_TOKEN looks as an auditor, or as the user of --as; it is new each
    time where there is none. With --people everybody has a token and roles of their own. Other machines may
    only reach it with one of the two.
    """
    from streamverify._extras import require  # noqa: PLC0415 - kept out of start-up
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic

    for package in ("uvicorn", "starlette", "jinja2", "sqlalchemy", "alembic"):
        require(package, extra="dashboard", feature="streamverify dashboard")
    import uvicorn  # noqa: PLC0415 - an extra

    from streamverify.console.asking import opened  # noqa: PLC0415 - as above
    from streamverify.dashboard.app import dashboard_app  # noqa: PLC0415 - as above
    from streamverify.dashboard.watching import Watched, utc_now  # noqa: PLC0415 - as above
    from streamverify.evaluate.gates import read_gates  # noqa: PLC0415 - as above
    from streamverify.monitor import alerts  # noqa: PLC0415 - as above
    from streamverify.monitor.moments import ends_from, length_from, moment_from  # noqa: PLC0415 - as above
    from streamverify.monitor.traffic import Window  # noqa: PLC0415 - as above
    from streamverify.records import hours  # noqa: PLC0415 - as above
    from streamverify.server.drain import Drain  # noqa: PLC0415 - as above
    from streamverify.server.listening import listening  # noqa: PLC0415 - as above
    from streamverify.server.process import Process  # noqa: PLC0415 - as above
    from streamverify.server.settings import LOOPBACK  # noqa: PLC0415 - as above

    token = os.environ.get(_TOKEN)
    if host not in LOOPBACK and token is None and people is None:
        raise UsageError(
            f"--host {host} can be reached by other machines: set {_TOKEN} to a secret, or name --people"
        )
    moment = None if at is None else moment_from(at)
    shown = token or secrets.token_urlsafe(24)
    may_look = _people(people, shown, user, roles, tenant)
    held = None if gates is None else read_gates(gates)
    told = alerts.rules_from(alerts.DEFAULTS) if rules is None else alerts.read_rules(rules)
    since = Window(*ends_from(reference)) if reference else None
    length = length_from(window)
    with listening(host, port) as listener, opened(records) as database:
        file = database.url.database if database.url.get_backend_name() == "sqlite" else None
        own = None if file is None or moment is not None else Path(f"{file}.dashboard.json")
        watched = Watched(
            rules=told,
            reference=since,
            length=length,
            memory=own if state is None else state,
            checks=None if file is None or moment is not None else Path(f"{file}.alerts.json"),
            asked="" if rules is None else str(rules.resolve()),
        )
        waiting = hours.behind_by(database)
        if waiting > hours.PORTION:
            complain(f"{waiting:,} entries of the records are summed up first")
            hours.add_up(database)
        drain = Drain()
        config = uvicorn.Config(
            dashboard_app(
                database,
                may_look,
                watched,
                gates=held,
                drain=drain,
                clock=utc_now if moment is None else lambda: moment,
            ),
            log_level="warning",
            access_log=False,
            server_header=False,
        )

        def tell(text: str) -> None:
            typer.echo(f"streamverify: {text}", err=True)
            if text.startswith("serves "):
                typer.echo(text.removeprefix("serves ") + ("/" if people else f"/#{shown}"))

        Process(config, drain, seconds=0.0, tell=tell).run(sockets=[listener])


def _people(file: Path | None, token: str, user: str | None, roles: str, tenant: str) -> People:
    from streamverify.console.asking import requester_of  # noqa: PLC0415 - an extra
    from streamverify.dashboard.people import one_for_all, read_people  # noqa: PLC0415 - as above
    from streamverify.errors import UsageError  # noqa: PLC0415 - as above

    if file is None:
        return one_for_all(token, requester_of(user, roles, tenant))
    if user is not None or roles or tenant:
        raise UsageError("--people says who looks, with which roles: leave out --as, --roles and --tenant")
    return read_people(file)
