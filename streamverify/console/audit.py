"""`streamverify audit …`: questions to the records, judgments, erasures.

Before: `program.py` registers the commands. After: `asking.py`, `records/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from streamverify.console.asking import (
    LAST,
    JsonOption,
    LimitOption,
    RecordsOption,
    RolesOption,
    SinceOption,
    TenantOption,
    UntilOption,
    UserOption,
    asks,
    id_of,
    moment,
    opened,
    requester_of,
    show_rows,
    told,
    usable,
)
from streamverify.console.shell import FAILED, complain, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamverify.records import Reader
    from streamverify.records.changes import Opinion, Severity

StreamArgument = Annotated[str, typer.Argument(metavar="STREAM", help="Id, as `audit list` shows it.")]


@asks
def listed(
    reader: Reader,
    *,
    of: Annotated[str | None, typer.Option("--user", help="Streams that this user asked for.")] = None,
    domain: Annotated[str | None, typer.Option("--domain", help="Of this domain.")] = None,
    run: Annotated[str | None, typer.Option("--run", help="Of this run.")] = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: LimitOption = 50,
) -> Sequence[object]:
    """The recorded streams, the latest first.

    A stream without an outcome never ended: its process was killed, or its end was not stored.
    """
    return reader.streams(
        limit=limit, user=of, domain=domain, run=run, since=moment(since), until=moment(until)
    )


@asks
def show(reader: Reader, stream: StreamArgument, *, json: JsonOption = False) -> None:
    """One stream: who asked what, and each sentence with its verdict and what became of it."""
    found = reader.stream(id_of(stream))
    sentences = reader.sentences(found.id)
    if json:
        show_rows([found], json=True)
    else:
        for name, value in told(found, whole=True).items():
            if value != "-":
                write(f"{name}: {value}")
        write("")
    show_rows(sentences, json=json, whole=True)


@asks
def documents(
    reader: Reader,
    stream: StreamArgument,
    sentence: Annotated[
        int | None, typer.Argument(metavar="SENTENCE", min=0, max=LAST, help="Its number, from 0.")
    ] = None,
) -> Sequence[object]:
    """The documents behind a sentence, as evidence or cited; without a sentence all that were retrieved."""
    return reader.documents(reader.stream(id_of(stream)).id, sentence)


@asks
def access(reader: Reader, stream: StreamArgument) -> Sequence[object]:
    """Who could see what was retrieved for a stream, when it was retrieved."""
    return reader.who_could_see(reader.stream(id_of(stream)).id)


@asks
def withheld(reader: Reader, *, limit: LimitOption = 50) -> Sequence[object]:
    """Sentences that were not shown as they were generated, the latest streams first."""
    return reader.withheld(limit=limit)


@asks
def failed(
    reader: Reader,
    *,
    criterion: Annotated[
        str | None, typer.Option("--criterion", help="grounding, number_mismatch, must_cite …")
    ] = None,
    limit: LimitOption = 50,
) -> Sequence[object]:
    """The judgments that count and say that something failed, the latest first."""
    return reader.judgments(criterion=criterion, failed=True, limit=limit)


def judge(
    stream: StreamArgument,
    sentence: Annotated[int, typer.Argument(metavar="SENTENCE", min=0, max=LAST, help="Its number, from 0.")],
    opinion: Annotated[str, typer.Argument(metavar="OPINION", help="correct or incorrect.")],
    *,
    records: RecordsOption,
    by: Annotated[str, typer.Option("--by", help="Who says so.")],
    severity: Annotated[str | None, typer.Option("--severity", help="minor, major or critical.")] = None,
    note: Annotated[str, typer.Option("--note", help="Why.")] = "",
    criterion: Annotated[str, typer.Option("--criterion", help="What is judged.")] = "grounding",
    user: UserOption = None,
    roles: RolesOption = "",
    tenant: TenantOption = "",
) -> None:
    """Add a person's judgment of a sentence; it counts from now on, and the one before stays."""
    from streamverify.records import judge as add  # noqa: PLC0415 - an extra

    with opened(records) as database:
        identity = add(
            database,
            requester_of(user, roles, tenant),
            id_of(stream),
            sentence,
            cast("Opinion", opinion),
            by=by,
            criterion=criterion,
            severity=cast("Severity | None", severity),
            note=note,
        )
    write(str(identity))


def verify(
    *,
    records: RecordsOption,
    head: Annotated[
        str | None, typer.Option("--head", help="One that was kept elsewhere: 1234:9f2c…")
    ] = None,
) -> None:
    """Look for anything that was changed, taken out or put in; prints the head to keep elsewhere.

    Exit status: 0; 1 when something is not as it was written; 2 for bad input.
    """
    from streamverify.records import verify as walk  # noqa: PLC0415 - an extra

    with opened(records) as database:
        found = walk(database, _head(head))
    for problem in found.problems:
        complain(str(problem))
    write(f"{found.entries} entries, {len(found.problems)} problems, head {found.head}")
    if not found.passed:
        raise typer.Exit(FAILED)


def erase(
    *,
    records: RecordsOption,
    reason: Annotated[str, typer.Option("--reason", help="Why, for the record.")],
    user: Annotated[str | None, typer.Option("--user", help="Whose streams.")] = None,
    before: Annotated[str | None, typer.Option("--before", help="Streams opened before: 2026-08-01.")] = None,
    by: Annotated[str | None, typer.Option("--by", help="Who does it.")] = None,
    tenant: TenantOption = "",
) -> None:
    """Take texts and names out of streams: a user's, or those before a day. Figures and hashes stay.

    A user's name goes out of the judgments that they made, too.
    """
    from streamverify.records import erase as take_out  # noqa: PLC0415 - an extra
    from streamverify.records.changes import erase_judge  # noqa: PLC0415 - as above

    asked: dict[str, Any] = {"reason": reason, "before": moment(before), "tenant": tenant, "by": by}
    with opened(records) as database:
        # Before the streams, so that a judge who asked nothing is told of too.
        judged = 0 if user is None else erase_judge(database, user=user, **asked)
        count = take_out(database, user=user, **asked)
    write(f"{count} streams lost their texts")
    if judged:
        write(f"{judged} judgments lost the name of who made them")
    if not count and not judged:
        complain("nothing was erased: no stream with texts is theirs or that old")


def upgrade(*, records: RecordsOption) -> None:
    """Set the tables up, or bring them to this version's."""
    from streamverify.records import Database  # noqa: PLC0415 - an extra

    database = Database(records)
    try:
        with usable(database):
            before = database.revision
            database.upgrade()
            write(f"{database.name}: schema {before or 'none'} -> {database.revision}")
    finally:
        database.close()


def _head(text: str | None) -> Any:
    from streamverify.errors import UsageError  # noqa: PLC0415 - loads pydantic
    from streamverify.records import Head  # noqa: PLC0415 - an extra

    if text is None:
        return None
    number, _, hashed = text.partition(":")
    if not (number.isdecimal() and number.isascii() and len(number) < 20 and len(hashed) == 64):
        raise UsageError(f"{text!r} is no head; `audit verify` prints one, as 1234:9f2c…")
    return Head(int(number), hashed)
