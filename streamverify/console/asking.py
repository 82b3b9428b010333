"""What all commands that ask records share: options, opening, printing.

    @asks
    def cited(reader: Reader, *, limit: LimitOption = 50) -> Sequence[object]:
        \"\"\"Documents by how often they are cited correctly.\"\"\"
        return reader.cited(limit=limit)

Before: `audit.py`, `audit_graph.py`, `audit_runs.py`. After: `records/`.

Whoever runs these can read the database anyway, so they ask as an auditor unless told otherwise.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, cast, get_type_hints

import typer

from streamverify.console.shell import complain, write

if TYPE_CHECKING:
    from streamverify.records import Database, Reader, Requester

MOST = 1_000_000
"""Rows that one answer may have: they are held in memory."""
_LONGEST = 48
"""Characters of a text that a row of a list shows; `--json` has all of it."""
_TEXTS = frozenset({"question", "released", "text", "replacement", "output"})
LAST = 2**31 - 1
"""The greatest number of a sentence that a database can hold."""

RecordsOption = Annotated[str, typer.Option("--records", help="SQLite file, or URL of a database.")]
UserOption = Annotated[str | None, typer.Option("--as", help="Ask as this user, not as an auditor.")]
RolesOption = Annotated[str, typer.Option("--roles", help="Of that user, with commas between.")]
TenantOption = Annotated[str, typer.Option("--tenant", help="Whose data it is.")]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON Lines in place of a table.")]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=MOST, help="How many at most.")]
SinceOption = Annotated[str | None, typer.Option("--since", help="Opened then or later: 2026-11-01.")]
UntilOption = Annotated[str | None, typer.Option("--until", help="Opened before.")]

_REQUESTER: Mapping[str, tuple[Any, Any]] = MappingProxyType(
    {
        "records": (RecordsOption, inspect.Parameter.empty),
        "user": (UserOption, None),
        "roles": (RolesOption, ""),
        "tenant": (TenantOption, ""),
    }
)
"""Options of every question, and their defaults: where the records are, and who asks."""


def asks(question: Callable[..., Sequence[object] | None]) -> Callable[..., None]:
    """A command that asks a question of records for a requester, and shows the rows.

    Args:
        question: is given a `Reader`, and its own arguments and options by name. Its last option is `json`
            where it shows something itself; that, and no rows, it may return None for.
    """
    # What only type checkers import stands for nothing here; the options are read with all they say.
    kinds = get_type_hints(question, localns={"Reader": object, "Sequence": Sequence}, include_extras=True)
    own = [
        parameter.replace(annotation=kinds[name])
        for name, parameter in list(inspect.signature(question).parameters.items())[1:]
    ]
    shows = "json" in kinds

    @functools.wraps(question)
    def command(**given: Any) -> None:
        asked = {parameter.name: given[parameter.name] for parameter in own}
        most = asked.get("limit")
        if most is not None:
            asked["limit"] = most + 1  # one more tells whether there are more
        with reading(*(given[name] for name in _REQUESTER)) as reader:
            found = question(reader, **asked)
        if found is not None and most is not None and len(found) > most:
            found = found[:most]
            complain(f"these are {most}, and there are more: --limit takes a larger number")
        if found is not None:
            show_rows(found, json=given["json"])

    def option(name: str, kind: Any, default: Any) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)

    common = [option(name, kind, default) for name, (kind, default) in _REQUESTER.items()]
    arguments = [one for one in own if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    options = [one for one in own if one.kind is inspect.Parameter.KEYWORD_ONLY]
    told = [] if shows else [option("json", JsonOption, False)]
    command.__annotations__ = {
        **{one.name: one.annotation for one in (*arguments, *common, *options, *told)},
        "return": None,
    }
    command.__signature__ = inspect.Signature([*arguments, *common, *options, *told])  # type: ignore[attr-defined] # read by typer
    return command


@contextmanager
def opened(records: str, *, empty: bool = False) -> Iterator[Database]:
    """Records that are there: a question must make neither a file nor tables.

    Args:
        records: as `--records` names them.
        empty: whether tables may be made where there are none, since something is added.
    """
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.records import Database  # noqa: PLC0415 - an extra

    database = Database(records)
    if not database.exists:
        raise UsageError(f"there are no records at {database.name}")
    with usable(database):
        if not empty and not database.holds_records:
            database.close()
            raise UsageError(
                f"{database.name} holds no records: nothing was recorded there yet, or it is another "
                "database. Name the one that Records or serve --records wrote, or make its tables with "
                "streamverify audit upgrade"
            )
        with database:
            yield database


_DAMAGED = ("decode to UTF-8", "user-defined function raised")
"""What SQLite says where a single value is at fault and not the database."""


@contextmanager
def usable(database: Database) -> Iterator[None]:
    """What goes wrong with the database itself, as one line about it."""
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.records.database import DatabaseError  # noqa: PLC0415 - an extra

    try:
        yield
    except DatabaseError as error:
        cause = str(error.orig or error).partition("\n")[0]
        if any(sign in cause for sign in _DAMAGED):
            raise UsageError(
                f"{database.name} holds a value that cannot be read ({cause}): streamverify audit verify "
                "says which"
            ) from None
        raise UsageError(f"{database.name} cannot be used: {cause}") from None
    except UnicodeEncodeError:
        raise UsageError("what was asked for is no text: it holds half of a character") from None


@contextmanager
def reading(records: str, user: str | None, roles: str, tenant: str) -> Iterator[Reader]:
    """Records that are there, asked for one requester."""
    from streamverify.records import Reader  # noqa: PLC0415 - an extra

    with opened(records) as database:
        yield Reader(database, requester_of(user, roles, tenant))


def requester_of(user: str | None, roles: str, tenant: str) -> Requester:
    """Who asks: an auditor, or the user that was named."""
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.records import Requester  # noqa: PLC0415 - an extra
    from streamverify.records.requester import AUDITOR  # noqa: PLC0415 - as above

    named = frozenset(role.strip() for role in roles.split(",") if role.strip())
    if user is not None and not user.strip():
        raise UsageError("--as is empty: name a user, or leave it out to ask as an auditor")
    if user is None and named:
        raise UsageError("--roles are those of a user: name one with --as")
    return Requester(user=user, roles=named if user is not None else frozenset({AUDITOR}), tenant=tenant)


def id_of(text: str, what: str = "stream") -> uuid.UUID:
    """The id in an argument."""
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic

    try:
        return uuid.UUID(text)
    except ValueError:
        raise UsageError(f"{text!r} is no id of a {what}") from None


def moment(text: str | None) -> datetime | None:
    """The moment in an option."""
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic

    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):  # OverflowError: before the first year, or behind the last
        raise UsageError(
            f"{text!r} is no day or moment; write 2026-11-01 or 2026-11-01T12:00+01:00"
        ) from None


def plain(row: object) -> Mapping[str, Any]:
    """A row as values that JSON knows."""

    def value_of(value: object) -> Any:
        return value if isinstance(value, int | float | list | tuple | dict | None) else str(value)

    return {field.name: value_of(getattr(row, field.name)) for field in dataclasses.fields(cast("Any", row))}


def told(row: object, *, whole: bool = False) -> Mapping[str, str]:
    """A row for people: seconds, few decimals, the beginning of a long text.

    Args:
        row: of an answer of the records.
        whole: whether texts are told to their end.
    """
    from streamverify.console.transcript import one_line  # noqa: PLC0415 - loads rich

    def cell(name: str, value: object) -> str:
        match value:
            case None | "" | ():
                return "-"
            case datetime():
                text = value.isoformat(" ", "seconds")
            case float():
                text = f"{value:.2f}" if name.endswith("score") else f"{value:.3f}"
            case tuple() | list():
                text = ", ".join(map(str, value))
            case Mapping():
                text = "; ".join(f"{key}: {one}" for key, one in value.items()) or "-"
            case _:
                text = str(value)
        text = one_line(text)
        cut = name in _TEXTS and not whole and len(text) > _LONGEST
        return f"{text[: _LONGEST - 1]}…" if cut else text

    fields = dataclasses.fields(cast("Any", row))
    return {field.name: cell(field.name, getattr(row, field.name)) for field in fields}


def show_rows(rows: Sequence[object], *, json: bool, whole: bool = False) -> None:
    """One line a row: JSON, or the fields with tabs between under their names; see `told`."""
    from streamverify.files.jsonl import json_text  # noqa: PLC0415 - loads pydantic

    if json:
        for row in rows:
            write(json_text(plain(row)))
    elif rows:
        write("\t".join(plain(rows[0])))
        for row in rows:
            write("\t".join(told(row, whole=whole).values()))
    else:
        complain("nothing found")
