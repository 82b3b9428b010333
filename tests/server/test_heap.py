"""What is large does not stay in the heap of a process that serves."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from streamverify.server.heap import LARGE

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library's heap")

PROGRAM = """
import ctypes, sys
from streamverify.server.heap import give_large_blocks_back

class Heap(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]

library = ctypes.CDLL(None)
library.mallinfo2.restype = Heap
done = sys.argv[1] == "asked" and give_large_blocks_back()
bytearray(24 * 2**20)  # glibc learns from it that such blocks come and go
before = library.mallinfo2().hblkhd
held = bytearray(int(sys.argv[2]))
print(int(done), int(library.mallinfo2().hblkhd - before >= len(held)))
"""


def by_itself(asked: str, size: int, **settings: str) -> str:
    """Whether it was done, and whether a block of this size is then taken from the system by itself."""
    around = {name: value for name, value in os.environ.items() if "MALLOC" not in name.upper()}
    arguments = [sys.executable, "-c", PROGRAM, asked, str(size)]
    return subprocess.run(
        arguments, env=around | settings, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_without_it_a_large_block_comes_from_the_heap() -> None:
    assert by_itself("not asked", 8 * LARGE) == "0 0"


def test_a_large_block_is_taken_from_the_system_by_itself() -> None:
    assert by_itself("asked", 8 * LARGE) == "1 1"


def test_a_smaller_one_is_not() -> None:
    assert by_itself("asked", LARGE // 2) == "1 0"


@pytest.mark.parametrize(
    "settings",
    [
        {"MALLOC_MMAP_THRESHOLD_": str(64 * LARGE)},
        {"GLIBC_TUNABLES": f"glibc.malloc.mmap_threshold={64 * LARGE}"},
    ],
)
def test_a_bound_that_is_set_stays(settings: dict[str, str]) -> None:
    assert by_itself("asked", 8 * LARGE, **settings) == "0 0"
