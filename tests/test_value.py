"""Laws of a value's first use: however many threads come at once, each gets the value."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from streamverify.value import Value


def test_a_value_that_one_thread_is_making_ready_is_right_for_the_next_thread_too() -> None:
    building, other_done = Event(), Event()

    class Slow(str):
        """A field whose schema is not ready before the other thread has had its chance to go wrong."""

        __slots__ = ()

        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
            building.set()
            other_done.wait(0.5)  # a thread that waits for the lock does not end; one that went astray does
            return core_schema.str_schema()

    class Made(Value):
        name: Slow

    def second() -> Value:
        assert building.wait(30)
        try:
            return Made.model_validate({"name": "b"})
        finally:
            other_done.set()

    with ThreadPoolExecutor(2) as threads:
        late = threads.submit(second)
        first = Made.model_validate({"name": "a"})
        assert first.name == "a"
        assert late.result(30).model_dump() == {"name": "b"}


def test_a_value_that_many_threads_use_first_at_once_is_right_for_all_of_them() -> None:
    together = Barrier(8)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns often enough to meet while a value is made ready
    try:
        with ThreadPoolExecutor(8) as threads:
            for _ in range(150):

                class Inner(Value):
                    number: int
                    other: str

                class Outer(Value):
                    inner: Inner
                    total: int

                def use(made: type[Value] = Outer) -> Value:
                    together.wait(30)
                    return made.model_validate({"inner": {"number": 1, "other": "x"}, "total": 2})

                ready = [threads.submit(use) for _ in range(8)]
                wanted = Outer(inner=Inner(number=1, other="x"), total=2)
                assert all(one.result(30) == wanted for one in ready)
    finally:
        sys.setswitchinterval(interval)


def test_a_value_within_a_value_is_made_ready_by_the_thread_that_makes_the_outer_one_ready() -> None:
    class Inner(Value):
        number: int

    class Outer(Value):
        inner: Inner

    assert Outer.model_validate({"inner": {"number": 3}}).inner == Inner(number=3)
