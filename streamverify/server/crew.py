"""`streamverify serve --workers N`: what the workers share is made here, and taken away at the end.

Before: `cli.py`. After: `supervisor.py` runs the workers.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from streamverify.errors import UsageError
from streamverify.scorers.premise_cached import cores
from streamverify.scorers.windows.window_room import SHARED_BYTES
from streamverify.server.drain import LAST_WORDS
from streamverify.server.launch import ServeOptions, Tell
from streamverify.server.listening import listening
from streamverify.server.supervisor import Supervisor
from streamverify.server.worker import Orders
from streamverify.verifier import Verifier

_AFTER_LAST_WORDS = 15.0
"""Seconds in which a worker that stops in order has ended, once its answers have."""
_NAME = "streamverify-windows-"
_OWNED = "owned"
"""File on which whoever made a folder holds a lock as long as it lives."""
_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it


def run_crew(options: ServeOptions, count: int, tell: Tell, *, judges: str) -> int:
    """Serve with several processes until told to stop; blocking, in the main thread.

    Args:
        options: of the command line; every worker's.
        count: workers, 2 or more.
        tell: what the operator may want to know, a line each.
        judges: token of the judging page.

    Returns:
        What to exit with; see `Supervisor.run`.

    Raises:
        UsageError: as `ServeOptions.settings`; the port is taken, the records cannot be opened, or the demo
            page is asked for. Operator.
    """
    Verifier(model=options.model, preset=options.settings().preset)  # refused once, not by every worker
    if options.demo:
        raise UsageError(
            "--demo is one person's page: leave --workers out, or serve it beside on another port"
        )
    with ExitStack() as stack:
        if options.records is not None:
            from streamverify.records import Database  # noqa: PLC0415 - an extra

            Database(options.records).open().close()  # set up by one, before several write
        marked: Callable[[int], object] = _nothing
        folder = None
        if options.metrics:
            from streamverify._extras import require  # noqa: PLC0415 - kept out of start-up

            require("prometheus_client", extra="prometheus", feature="streamverify serve --metrics")
            from prometheus_client.multiprocess import mark_process_dead  # noqa: PLC0415 - an extra

            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="streamverify-metrics-"))
            marked = partial(mark_process_dead, path=folder)
        windows = stack.enter_context(windows_folder(SHARED_BYTES, tell))
        listener = stack.enter_context(listening(options.host, options.port))
        orders = Orders(
            options=options,
            threads=threads_of_each(cores(), count),
            windows=str(windows),
            metrics=folder,
            judges=judges,
        )
        supervisor = Supervisor(
            listener,
            lambda _number: orders.to_line(),
            count,
            stop_seconds=options.drain_seconds + LAST_WORDS + _AFTER_LAST_WORDS,
            tell=tell,
            ended=marked,
        )
        return supervisor.run()


def _nothing(_process: int) -> None:
    """What is to be done about a worker that ended, where there are no metrics."""


def threads_of_each(machine: int, workers: int) -> int:
    """Threads that score in each of some workers on so many cores.

    Twice a worker's share, and no more than the machine has: connections spread unevenly, and a core that one
    worker leaves idle is another's.
    """
    return min(machine, 2 * -(-machine // workers))


@contextmanager
def windows_folder(room: int, tell: Tell) -> Iterator[Path]:
    """A folder for shared windows: in memory where there is room for so many bytes, on disk elsewhere.

    One that a supervisor which was killed left behind is taken away first.
    """
    places = [place for place in (_MEMORY, Path(tempfile.gettempdir())) if place.is_dir()]
    for place in places:
        _sweep(place)
    roomy = [place for place in places if shutil.disk_usage(place).free >= 2 * room]
    if not roomy:
        needed = f"{2 * room // 2**20} MiB"
        raise UsageError(
            f"--workers keeps encoded passages in a folder: make {needed} free in {_MEMORY} or TMPDIR"
        )
    place = roomy[0]
    if place != _MEMORY:
        tell(f"encoded passages are shared in {place}: {_MEMORY} has no room for them")
    folder = Path(tempfile.mkdtemp(prefix=_NAME, dir=place))
    owned = os.open(folder / _OWNED, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(owned, fcntl.LOCK_EX)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(owned)


def _sweep(place: Path) -> None:
    for folder in place.glob(f"{_NAME}*"):
        with suppress(OSError):  # not ours, or another one takes it away just now
            owned = os.open(folder / _OWNED, os.O_RDWR)
            try:
                fcntl.flock(owned, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
            finally:
                os.close(owned)
