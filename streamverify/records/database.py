"""The database: where it is, its schema's version, its transactions.

Before: `store.py`, `reader.py`, the commands. After: SQLAlchemy.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from streamverify._extras import require
from streamverify.errors import UsageError
from streamverify.files.jsonl import encodable
from streamverify.loops.portal import PerProcess

DatabaseError = sa.exc.DBAPIError
"""What a database that cannot be used raises."""

VERSION_TABLE = "streamverify_alembic"
_WRITES = "streamverify_writes"
_BUSY_MS = 5_000
_INIT_LOCK = 7_239_114_001
"""Key of the lock under which PostgreSQL sets up a schema; any number nobody else uses."""


_File = tuple[str, int, int]
"""A file's path, its device, and its number there: of another file at the same place these are others."""
_FILE = "streamverify_file"
"""Under this name a connection of SQLite keeps its `_File`."""


class Database:
    """One database of records. Threads and forked children may share it."""

    def __init__(self, url: str | Path, *, busy_ms: int = _BUSY_MS) -> None:
        """Nothing is connected yet.

        Args:
            url: a file's path for SQLite, or an SQLAlchemy URL of SQLite or PostgreSQL.
            busy_ms: milliseconds that SQLite waits for another writer, above 0.

        Raises:
            UsageError: the URL cannot be read, or names another kind of database. Caller.
            MissingExtraError: PostgreSQL's driver is not installed. Operator.
        """
        self.url = _url(url)
        self._busy_ms = busy_ms
        self._engines = PerProcess(self._engine)

    @property
    def name(self) -> str:
        """The URL, without its password."""
        return self.url.render_as_string(hide_password=True)

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that sees one state of the database and changes nothing."""
        with self._engines.here.connect() as connection, connection.begin():
            if self._is_postgres:
                connection.execute(sa.text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
            yield connection

    def rows(self, asked: sa.Select[Any]) -> list[dict[str, Any]]:
        """What is asked, read in a transaction of its own: a dict a row, column names to values."""
        with self.reading() as connection:
            return [dict(row) for row in connection.execute(asked).mappings()]

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction; on SQLite the only writer, from its first statement on.

        Raises:
            OperationalError: SQLAlchemy's; also where SQLite's file is no longer at its place, and what is
                committed would be gone with the process. Operator.
        """
        with (
            self._engines.here.connect().execution_options(**{_WRITES: True}) as connection,
            connection.begin(),
        ):
            yield connection
            _refuse_another(connection.info.get(_FILE))

    @property
    def exists(self) -> bool:
        """Whether there is a file; a server's database is taken to be there."""
        # Unlike `Path.is_file`, this takes a name that is too long for one that is not there.
        return self._is_postgres or os.path.isfile(self.url.database or "")  # noqa: PTH113

    @property
    def holds_records(self) -> bool:
        """Whether a schema of ours is there; changes nothing.

        The usual connection would leave its settings in a file, be it empty or another program's.
        """
        if self._is_postgres:
            return self.revision is not None
        with sa.create_engine(self.url, poolclass=sa.NullPool).connect() as connection:
            return _revision(connection) is not None

    def prepare(self) -> None:
        """Set the schema up where there is none, and refuse one of another version.

        Raises:
            UsageError: the schema is older or newer than this library. Operator.
        """
        found, wanted = self.revision, self.head
        if found is None:
            self.upgrade()
        elif found != wanted:
            raise UsageError(
                f"{self.name} has records of schema {found}, this version of streamverify writes {wanted}: "
                "run streamverify audit upgrade, with the newest version that uses these records"
            )

    def upgrade(self) -> None:
        """Bring the schema to this version's."""
        with self.writing() as connection:
            if self._is_postgres:
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _INIT_LOCK})
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    @property
    def revision(self) -> str | None:
        """The version of the schema that is there; None where there is none."""
        with self.reading() as connection:
            return _revision(connection)

    @property
    def head(self) -> str:
        """The version of the schema that this library writes."""
        newest = ScriptDirectory.from_config(_config()).get_current_head()
        assert newest is not None
        return newest

    def close(self) -> None:
        """Give the connections back; the next use makes new ones."""
        self._engines.here.dispose()

    def open(self) -> Self:
        """`prepare`; a database that is refused keeps no connection.

        Raises:
            UsageError: the schema is older or newer than this library. Operator.
        """
        try:
            self.prepare()
        except BaseException:
            self.close()
            raise
        return self

    def __enter__(self) -> Self:
        """Open."""
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    @property
    def _is_postgres(self) -> bool:
        return self.url.get_backend_name() == "postgresql"

    def _engine(self) -> sa.Engine:
        if self._is_postgres:
            return sa.create_engine(self.url, pool_pre_ping=True, connect_args={"connect_timeout": 5})
        engine = sa.create_engine(self.url)
        busy = self._busy_ms
        known: _File | None = None  # of the first connection

        def connects(*_of_the_driver: object) -> None:
            _refuse_another(known)  # SQLite would set an empty one up

        def disposed(_engine: sa.Engine) -> None:
            nonlocal known
            known = None

        def connected(connection: Any, record: Any) -> None:
            nonlocal known
            connection.isolation_level = None  # SQLAlchemy's transactions, not the driver's
            for setting in (
                f"busy_timeout={busy}",
                "journal_mode=wal",
                "synchronous=normal",
                "foreign_keys=on",
            ):
                connection.execute(f"PRAGMA {setting}")
            _, _, path = connection.execute("PRAGMA database_list").fetchone()  # whole, whatever the folder
            record.info[_FILE] = found = _file(path)
            known = known or found

        def began(connection: sa.Connection) -> None:
            # A writer that began as a reader could lose to another one and not be able to wait for it.
            writes = connection.get_execution_options().get(_WRITES, False)
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

        sa.event.listen(engine, "do_connect", connects)
        sa.event.listen(engine, "engine_disposed", disposed)
        sa.event.listen(engine, "connect", connected)
        sa.event.listen(engine, "begin", began)
        return engine


def _url(given: str | Path) -> sa.URL:
    if not encodable(str(given)):
        raise UsageError(f"the records' name {str(given)!a} is not valid UTF-8")
    if not str(given).strip():
        raise UsageError("the records' name is empty: name a file, or a database's URL")
    if isinstance(given, Path) or "://" not in given:
        return _of_a_file(sa.URL.create("sqlite", database=str(given)))
    try:
        url = sa.engine.make_url(given)
    except (sa.exc.ArgumentError, ValueError):  # ValueError: of a port that is no number
        raise UsageError(
            "the records' URL cannot be read; write postgresql://user@host/name or a path"
        ) from None
    match url.get_backend_name():
        case "sqlite":
            return _of_a_file(url)
        case "postgresql":
            require("psycopg", extra="postgres", feature="records in PostgreSQL")
            return url.set(drivername="postgresql+psycopg")
        case other:
            raise UsageError(f"records are kept in SQLite or PostgreSQL, not in {other}")


def _refuse_another(file: _File | None) -> None:
    if file is not None and file != _file(file[0]):
        gone = FileNotFoundError("the file was deleted or replaced; restart to set up another one")
        raise sa.exc.OperationalError("", {}, gone)


def _file(path: str) -> _File | None:
    """The file that is there now; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - like `Database.exists`
    except OSError:
        return None
    return path, found.st_dev, found.st_ino


def _of_a_file(url: sa.URL) -> sa.URL:
    """The URL of SQLite.

    Raises:
        UsageError: SQLite would keep the database in memory, each connection one of its own. Caller.
    """
    name = (url.database or "").removeprefix("file:")
    if name in ("", ":memory:") or url.query.get("mode") == "memory":
        raise UsageError("records in memory are no records: name a file")
    return url


def _revision(connection: sa.Connection) -> str | None:
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    return context.get_current_revision()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config
