"""Memory for encoded windows: nobody writes into another's; what nobody holds is used again or given back."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort, Claim, Window
from streamverify.scorers.windows.blocks import SPARE, Blocks, _Held

MOST = 200_000
sizes = st.integers(1, MOST)


@given(
    st.lists(st.tuples(sizes, st.integers(0, 9), st.booleans()), max_size=40),
    st.integers(0, 3),
)
def test_what_was_written_stays_as_long_as_somebody_holds_any_of_it(steps, spare):
    blocks, held = Blocks(spare), []
    for number, (size, goes, part) in enumerate(steps):
        array = blocks.take(size)
        assert (array.shape, array.dtype) == ((size,), np.uint8)
        assert array.flags.writeable
        array[:] = number % 251
        held.append((array[size // 2 :] if part else array.view(), number % 251))
        del array
        if goes < len(held):
            held.pop(goes)
        assert all((known == value).all() for known, value in held)
        assert blocks.spare <= spare * 2 * MOST


@given(sizes)
def test_a_block_that_was_let_go_of_is_given_again(size):
    blocks = Blocks()
    first = blocks.take(size)
    place = first.ctypes.data
    assert blocks.spare == 0
    del first
    assert blocks.spare >= size
    again = blocks.take(size)
    assert (again.ctypes.data, blocks.spare) == (place, 0)


def test_no_more_are_kept_than_are_likely_to_be_wanted():
    blocks = Blocks()
    held = [blocks.take(MOST) for _ in range(3 * SPARE)]
    del held
    assert blocks.spare <= SPARE * 2 * MOST
    small = blocks.take(1)
    assert small.nbytes == 1
    assert blocks.spare >= (SPARE - 1) * MOST  # one byte takes no large block


def test_what_goes_in_a_circle_comes_back_when_it_is_collected():
    blocks = Blocks()
    circle = [blocks.take(MOST)]
    circle.append(circle)
    del circle
    gc.collect()
    assert blocks.spare >= MOST


def test_threads_never_get_the_same_memory():
    blocks = Blocks()

    def write(number):
        for turn in range(300):
            array = blocks.take(4096 * (1 + (number + turn) % 7))
            array[:] = number
            if not (array == number).all():
                return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(write, range(8)))


CHILD = """
import os
from streamverify.scorers.windows.blocks import Blocks
array = Blocks().take(4096)
array[:] = 1
if not (child := os.fork()):
    array[:] = 2
    os._exit(0)
os.waitpid(child, 0)
print(set(array.tolist()))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX")
def test_a_forked_child_writes_into_memory_of_its_own():
    done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True)
    assert done.stdout == "{1}\n"


def owner(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return array


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_encoded_windows_lie_in_blocks_and_not_in_the_runtimes_heap(precision):
    texts = [f"The mill number {number} was built in {1800 + number}." for number in range(30)]
    scorer = PremiseCachedScorer(threads=1, cache_bytes=2_000_000, cache_precision=precision)
    owners = []
    fetch = scorer._encoded._cache.fetch

    def watched(*given, **named):
        value, held = fetch(*given, **named)
        owners.extend(owner(numbers) for pair in value.layers for numbers in pair)
        return value, held

    scorer._encoded._cache.fetch = watched
    for number, text in enumerate(texts):
        prepared = scorer.prepare([Window(0, text, 0, len(text))], abort=Abort())
        scorer.score(prepared, [Claim(f"The mill was built in {1800 + number}.")], abort=Abort())
    assert {type(one) for one in owners} == {_Held}
    assert scorer.statistics().evicted > 0
    owners.clear()
    scorer.close()
    assert scorer._encoded._blocks.spare > 0
