"""How long every page of the dashboard takes over a day of recorded answers, and bringing sums up to date.

python benchmarks/dashboard.py [--streams 100000] [--records FILE] [--rounds 9]

Prints for each page the median and the longest of several rounds, as a client on this machine sees them, and
the processor time of the server. A file that is there already is used as it is.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx2

from recorded_day import make_day
from streamverify.records import Database, add_up, hours

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


def measure(path: Path, rounds: int) -> bool:
    """Print a row a page; whether every median is below 300 ms."""
    command = [sys.executable, "-m", "streamverify", "dashboard", "--records", str(path), "--port", "0"]
    environment = {"STREAMVERIFY_TOKEN": TOKEN, "PATH": "", "PYTHONPATH": ":".join(filter(None, sys.path))}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
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
        return 0 if measure(path, options.rounds) else 1


if __name__ == "__main__":
    sys.exit(main())
