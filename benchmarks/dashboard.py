"""How long every page of the dashboard takes over a day of recorded answers, and bringing sums up to date.

python benchmarks/dashboard.py [--streams 100000] [--records FILE] [--rounds 9]

Prints for each page the median and the longest of several rounds, as a client on this machine sees them, and
the processor time of the server; once for an auditor, and once for a user who sees a seventh of the answers.
Before them what `streamverify monitor drift` takes over all of it. A file that is there already is used.
"""

from __future__ import annotations

import argparse
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import sqlalchemy as sa

from recorded_day import make_day
from streamverify.records import Database, add_up, hours, schema

TOKEN = "t" * 24
PAGES = (
    "/", "/?window=7d", "/?window=30d", "/?domain=finance", "/answers", "/answers?with=contradicted",
    "/answers?with=failed", "/answers/ONE", "/review", "/review?queue=sample", "/documents", "/runs",
    "/alerts", "/drift",
)  # fmt: skip
"""`failed` is what no answer is, so that the list looks as far as it ever does."""


def processor_seconds(process: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def environment() -> dict[str, str]:
    """Of the programs that are measured."""
    return {"STREAMVERIFY_TOKEN": TOKEN, "PATH": "", "PYTHONPATH": ":".join(filter(None, sys.path))}


def drift(path: Path) -> None:
    """Print what the command takes that compares a day's hours with its first twelve."""
    with Database(path) as database, database.reading() as connection:
        moment = sa.func.max(schema.streams.c.opened_at, type_=schema.Moment())
        last = connection.execute(sa.select(moment)).scalar_one()
    last = last.replace(minute=0, second=0, microsecond=0)  # windows of whole hours, as most are
    noon = last - timedelta(hours=12)
    ends = [
        f"{since:%Y-%m-%dT%H:%M}..{until:%Y-%m-%dT%H:%M}"
        for since, until in ((last - 2 * (last - noon), noon), (noon, last))
    ]
    command = [
        sys.executable,
        "-m",
        "streamverify",
        "monitor",
        "drift",
        "--records",
        str(path),
        "--window",
        "4h",
    ]
    began, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    asked = [*command, "--reference", ends[0], "--now", ends[1]]
    done = subprocess.run(asked, env=environment(), stdout=subprocess.PIPE, check=False)
    whole, now = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    own = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    lines = len(done.stdout.splitlines())
    told = f"{lines} lines, status {done.returncode}"
    print(f"monitor drift, 3 looks: {whole:.1f} s, {own:.1f} s of a processor, {told}", flush=True)


def measure(path: Path, rounds: int, *who: str) -> bool:
    """Print a row a page; whether every median is below 300 ms."""
    command = [sys.executable, "-m", "streamverify", "dashboard", "--records", str(path), "--port", "0", *who]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().partition("/#")[0]
            headers = {"x-streamverify-token": TOKEN}
            with httpx2.Client(base_url=address, headers=headers, timeout=60) as client:
                while "None" in client.get("/api/pulse").json()["pulse"].partition(",")[0]:
                    pass  # alerts are looked at
                found = re.search(r"/answers/([0-9a-f-]{36})", client.get("/view/answers").text)
                assert found is not None
                print("| page | median | longest | processor |\n|---|---|---|---|")
                quick = True
                for page in PAGES:
                    taken, used = [], processor_seconds(server.pid)
                    for _ in range(rounds):
                        began = time.perf_counter()
                        client.get(f"/view{page.replace('ONE', found[1])}").raise_for_status()
                        taken.append((time.perf_counter() - began) * 1e3)
                    own = (processor_seconds(server.pid) - used) * 1e3 / rounds
                    middle = statistics.median(taken)
                    quick = quick and middle < 300
                    print(f"| `{page}` | {middle:.0f} ms | {max(taken):.0f} ms | {own:.0f} ms |", flush=True)
                return quick
        finally:
            server.terminate()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--records", type=Path, help="SQLite file; made if need be, and kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.records or Path(folder) / "day.db"
        if not path.exists():
            began = time.perf_counter()
            make_day(path, options.streams, datetime.now(UTC))
            print(f"made in {time.perf_counter() - began:.0f} s, {path.stat().st_size / 2**30:.2f} GB")
        with Database(path) as database:
            hours.forget(database)
            began, used = time.perf_counter(), time.process_time()
            entries = add_up(database)
            print(
                f"{entries:,} entries summed up in {time.perf_counter() - began:.1f} s, "
                f"{time.process_time() - used:.1f} s of a processor"
            )
        drift(path)
        quick = [measure(path, options.rounds)]
        print("As ann, who is no auditor:")
        quick.append(measure(path, options.rounds, "--as", "ann"))
        return 0 if all(quick) else 1


if __name__ == "__main__":
    sys.exit(main())
