"""PostgreSQL from Debian's packages (`apt-get install postgresql`), on a free port of 127.0.0.1."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid
from pathlib import Path
from typing import Self

import psycopg


def _program(name: str) -> str:
    """The server's own directory first: what is in the path may be a stand-in."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    found = str(places[-1]) if places else shutil.which(name)
    assert found is not None, f"{name} is not installed: apt-get install postgresql"
    return found


class Server:
    """A server with a data folder of its own; stopped and started at will."""

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="streamverify-postgres-"))
        self._as: dict[str, object] = {}
        if os.geteuid() == 0:  # the server refuses to run as root
            shutil.chown(self._folder, "postgres", "postgres")
            self._as = {"user": "postgres", "group": "postgres", "extra_groups": []}
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        command = [_program("initdb"), "-A", "trust", "-E", "UTF8", "--no-sync", "-U", "sv", self._data]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder, **self._as)
        self._process: subprocess.Popen[bytes] | None = None
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    @property
    def _data(self) -> str:
        return str(self._folder / "data")

    def start(self) -> None:
        settings = ["-F", "-c", "shared_buffers=16MB", "-c", "listen_addresses=127.0.0.1"]
        command = [_program("postgres"), "-D", self._data, "-p", str(self._port), "-k", str(self._folder)]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, *settings], stdout=log, stderr=log, cwd=self._folder, **self._as
            )
        while not self._answers():
            assert self._process.poll() is None, (self._folder / "log").read_text()

    def stop(self) -> None:
        """At once for who is connected: their transactions end."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()
            self._process = None

    def new_database(self) -> str:
        name = f"test_{uuid.uuid4().hex}"
        with psycopg.connect(self._address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self._address(name)

    def _address(self, database: str) -> str:
        return f"postgresql://sv@127.0.0.1:{self._port}/{database}"

    def _answers(self) -> bool:
        try:
            psycopg.connect(self._address("postgres"), connect_timeout=1).close()
        except psycopg.OperationalError:
            return False
        return True
