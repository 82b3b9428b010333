"""One worker process of `streamverify serve --workers N`: `python -m streamverify.server.worker DESCRIPTOR`.

Before: `supervisor.py` starts it, with its orders as one line of JSON on standard input. After: `launch.py`.

Standard input stays open as long as the supervisor lives; its end is as good as a SIGTERM. Standard output
goes to the supervisor, a line of JSON each; whatever else is printed goes to standard error.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from socket import socket
from typing import Any, Self

from streamverify.errors import StreamVerifyError
from streamverify.scorers.named import Share
from streamverify.server.launch import SERVES, ServeOptions, run_server
from streamverify.server.online import OnlineOptions
from streamverify.server.supervisor import ALIVE, STARTED, TOLD
from streamverify.text.printing import printable

FAILED = 2
"""What a worker ends with that cannot start as it was told to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What a worker is told."""

    options: ServeOptions
    threads: int
    """That score."""
    windows: str | None
    """Folder of the windows that all workers share; None for none."""
    metrics: str | None
    """Folder of the metrics of all workers; None for none."""
    judges: str
    """Token of the judging page."""

    def to_line(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """What `to_line` gave."""
        given = json.loads(line)
        words = given["options"]
        lists = ("metrics", "domains")
        online: dict[str, Any] = {
            name: tuple(one) if name in lists else one for name, one in words["online"].items()
        }
        options = ServeOptions(**{**words, "online": OnlineOptions(**online)})
        return cls(**{**given, "options": options})


def main() -> int:
    """Serve until told to stop; what to exit with."""
    supervisor = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def say(kind: str, text: str) -> None:
        try:
            os.write(supervisor, f"{json.dumps([kind, text])}\n".encode())
        except BrokenPipeError:  # the supervisor was killed
            sys.stderr.write(f"streamverify: {printable(text)}\n")

    def tell(text: str) -> None:
        say(STARTED if text.startswith(SERVES) else TOLD, text)

    line = bytearray()
    while not line.endswith(b"\n"):
        if not (byte := os.read(0, 1)):
            return 0  # the supervisor was killed before it said anything
        line += byte
    orders = Orders.from_line(bytes(line))
    if orders.metrics is not None:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = orders.metrics  # read when prometheus-client is imported
    threading.Thread(target=_watch, args=(orders,), name="streamverify-supervisor", daemon=True).start()
    windows = Path(orders.windows) if orders.windows is not None else None
    try:
        run_server(
            orders.options,
            tell,
            judges=orders.judges,
            sockets=[socket(fileno=int(sys.argv[1]))],
            share=Share(windows=windows, threads=orders.threads),
            beat=partial(_beat, supervisor),
        )
    except StreamVerifyError as error:
        tell(str(error))
        return FAILED
    return 0


def _beat(supervisor: int) -> None:
    """Say that the event loop turns."""
    # A supervisor that is stopped reads nothing, and must not stop this process's event loop with it.
    if select.select([], [supervisor], [], 0)[1]:
        with suppress(BrokenPipeError):  # it was killed, which `_watch` sees
            os.write(supervisor, f"{json.dumps([ALIVE, ''])}\n".encode())


def _watch(orders: Orders) -> None:
    """Stop when the supervisor has gone, and take away what it cannot."""
    with suppress(OSError):
        while os.read(0, 1):  # by the descriptor: a buffered reader would be waited for at the end
            pass
    for folder in filter(None, (orders.windows, orders.metrics)):
        shutil.rmtree(folder, ignore_errors=True)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
