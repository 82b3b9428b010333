"""Speaks Bolt 5.4 to Neo4j's driver on loopback: for faults, and for what is sent. It knows no Cypher."""

from __future__ import annotations

import socket
import struct
import threading
from typing import Any, Self

HELLO, LOGON, LOGOFF, GOODBYE, RESET = 0x01, 0x6A, 0x6B, 0x02, 0x0F
RUN, BEGIN, COMMIT, ROLLBACK, DISCARD, PULL = 0x10, 0x11, 0x12, 0x13, 0x2F, 0x3F
TELEMETRY = 0x54
SUCCESS, RECORD, FAILURE, IGNORED = 0x70, 0x71, 0x7F, 0x7E


def packed(value: Any) -> bytes:
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            return b"\xcb" + struct.pack(">q", value)
        case str():
            text = value.encode()
            return b"\xd2" + struct.pack(">I", len(text)) + text
        case list():
            return b"\xd6" + struct.pack(">I", len(value)) + b"".join(map(packed, value))
        case dict():
            inside = b"".join(packed(key) + packed(one) for key, one in value.items())
            return b"\xda" + struct.pack(">I", len(value)) + inside
    raise TypeError(value)


class Unpacker:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, count: int) -> bytes:
        found = self._data[self._at : self._at + count]
        self._at += count
        return found

    def message(self) -> tuple[int, list[Any]]:
        fields = self.take(1)[0] & 0x0F
        return self.take(1)[0], [self.value() for _ in range(fields)]

    def value(self) -> Any:
        (mark,) = self.take(1)
        plain = {0xC0: None, 0xC2: False, 0xC3: True}
        whole = {0xC8: ">b", 0xC9: ">h", 0xCA: ">i", 0xCB: ">q"}
        if mark in plain:
            return plain[mark]
        if mark in whole:
            return self._number(whole[mark])
        if mark == 0xC1:
            return self._number(">d")
        if mark < 0x80 or mark >= 0xF0:
            return mark - 256 if mark >= 0xF0 else mark
        sizes = {0: ">B", 1: ">H", 2: ">I"}
        for tiny, first, kind in ((0x80, 0xD0, str), (0x90, 0xD4, list), (0xA0, 0xD8, dict)):
            if mark & 0xF0 == tiny:
                return self._many(kind, mark & 0x0F)
            if first <= mark <= first + 2:
                return self._many(kind, self._number(sizes[mark - first]))
        raise ValueError(hex(mark))

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def _many(self, kind: type, count: int) -> Any:
        if kind is str:
            return self.take(count).decode()
        if kind is list:
            return [self.value() for _ in range(count)]
        return {self.value(): self.value() for _ in range(count)}


class BoltDouble:
    """Keeps what was committed; remembers the place that a replay leaves behind."""

    def __init__(self, *, password: str | None = None) -> None:
        self._password = password
        self.committed: list[tuple[str, dict[str, Any]]] = []
        self.fail_commit: dict[str, str] | None = None
        """Code and message with which the next commit is refused."""
        self.hang_up_at: int | None = None
        """Statements of the next transaction after which the connection ends."""
        self._place: list[Any] | None = None

    @property
    def url(self) -> str:
        return f"bolt://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join()
        for one in self._sockets:
            one.close()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sockets.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:  # noqa: C901, PLR0912 - a protocol's messages in turn
        with connection, connection.makefile("rb") as incoming:
            incoming.read(20)
            connection.sendall(b"\x00\x00\x04\x05")
            transaction: list[tuple[str, dict[str, Any]]] | None = None
            failed, answer = False, []
            while (message := self._message(incoming)) is not None:
                kind, fields = message
                reply = [(SUCCESS, [{}])]
                if kind == GOODBYE:
                    return
                if kind == RESET:
                    failed, transaction = False, None
                elif failed:
                    reply = [(IGNORED, [])]
                elif kind == HELLO:
                    reply = [(SUCCESS, [{"server": "Neo4j/5.20.0", "connection_id": "bolt-1", "hints": {}}])]
                elif kind == LOGON and fields[0].get("credentials") != self._password:
                    code = "Neo.ClientError.Security.Unauthorized"
                    reply, failed = [(FAILURE, [{"code": code, "message": "wrong password"}])], True
                elif kind == BEGIN:
                    transaction = []
                elif kind == RUN:
                    statement, parameters = fields[0], fields[1]
                    (self.committed if transaction is None else transaction).append((statement, parameters))
                    if transaction is not None and self.hang_up_at == len(transaction):
                        self.hang_up_at = None
                        connection.shutdown(socket.SHUT_RDWR)
                        return
                    asked = "RETURN r.number" in statement
                    answer = [self._place] if asked and self._place is not None else []
                    reply = [(SUCCESS, [{"fields": ["number", "hash", "version"] if asked else []}])]
                elif kind in (PULL, DISCARD):
                    reply = [(RECORD, [row]) for row in answer] if kind == PULL else []
                    reply.append((SUCCESS, [{"type": "rw", "has_more": False}]))
                elif kind == COMMIT and self.fail_commit is not None:
                    reply, failed, self.fail_commit = [(FAILURE, [self.fail_commit])], True, None
                elif kind == COMMIT:
                    assert transaction is not None
                    self._commit(transaction)
                    transaction = None
                for name, values in reply:
                    self._send(connection, name, values)

    def _commit(self, transaction: list[tuple[str, dict[str, Any]]]) -> None:
        self.committed += transaction
        for statement, told in transaction:
            if "SET r.number" in statement:
                self._place = [told["number"], told["hash"], told["version"]]

    def _message(self, incoming: Any) -> tuple[int, list[Any]] | None:
        data = b""
        while True:
            try:
                size = incoming.read(2)
            except OSError:
                return None
            if len(size) < 2:
                return None
            (length,) = struct.unpack(">H", size)
            if length == 0 and data:
                return Unpacker(data).message()
            data += incoming.read(length)

    def _send(self, connection: socket.socket, name: int, values: list[Any]) -> None:
        data = bytes([0xB0 + len(values), name]) + b"".join(map(packed, values))
        connection.sendall(struct.pack(">H", len(data)) + data + b"\x00\x00")
