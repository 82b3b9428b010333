"""What a process takes that imports the library and opens a verifier: time, memory, and a core while idle."""

from __future__ import annotations

import statistics
import subprocess
import sys

_IMPORT = "import time; t = time.perf_counter(); import streamverify; print(time.perf_counter() - t)"
_MEMORY = """
import os
def rss():
    with open('/proc/self/statm') as f:
        return int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE') / 2**20
import streamverify
before = rss()
verifier = streamverify.Verifier().open()
verifier.check_sync('The tower is tall.', ['The tower is 330 metres tall.'])
print(rss() - before)
"""
_IDLE = """
import time, streamverify
verifier = streamverify.Verifier().open()
verifier.check_sync('The tower is tall.', ['The tower is 330 metres tall.'])
cpu, wall = time.process_time(), time.perf_counter()
import threading; threading.Event().wait(2)
print((time.process_time() - cpu) / (time.perf_counter() - wall))
"""


def footprint() -> dict[str, float]:
    """Seconds of the import; megabytes of a verifier that has checked once; its share of a core, idle."""
    return {
        "import_seconds": _median_of(_IMPORT),
        "verifier_mb": _median_of(_MEMORY),
        "idle_cpu_share": _median_of(_IDLE),
    }


def _median_of(code: str) -> float:
    """Median over five fresh processes of what the code prints."""
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    ]
    return statistics.median(runs)
