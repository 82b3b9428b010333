"""Laws of properties that are computed on first use."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from streamverify._lazy import cached_property


def test_threads_that_ask_first_at_once_all_have_the_same_value():
    both = Barrier(2)

    class Text:
        @cached_property
        def words(self):
            """Those of the text."""
            both.wait(30)  # both compute it
            return object()

    text = Text()
    with ThreadPoolExecutor(2) as threads:
        found = [one.result(30) for one in [threads.submit(lambda: text.words) for _ in range(2)]]
    assert found[0] is found[1] is text.words
    assert Text.words.__doc__ == "Those of the text."


def test_it_is_computed_once_for_each_instance_and_again_where_it_was_taken_away():
    made = []

    class Text:
        @cached_property
        def length(self):
            made.append(self)
            return len(made)

    one, other = Text(), Text()
    assert (one.length, one.length, other.length) == (1, 1, 2)
    del one.length
    assert one.length == 3
