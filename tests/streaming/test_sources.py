from __future__ import annotations

import contextvars
import threading

import anyio
import pytest

from streamverify.errors import PieceError, UsageError
from streamverify.streaming.sources import checked, close_source, pieces_of, slices

pytestmark = pytest.mark.anyio


async def read(source):
    return [piece async for piece in pieces_of(source)]


async def asynchronous():
    yield "a"
    yield "b"


def synchronous():
    yield "a"
    yield "b"


@pytest.mark.parametrize(
    "make",
    [lambda: "ab", lambda: ["a", "b"], lambda: ("a", "b"), asynchronous, synchronous, lambda: iter("ab")],
)
async def test_any_source_gives_its_text(make):
    assert "".join(await read(make())) == "ab"


@pytest.mark.parametrize("source", [b"ab", 7, None, {"a": 1}.values])
async def test_what_is_no_source_is_refused(source):
    with pytest.raises(UsageError, match="iterable of str"):
        await read(source)


@pytest.mark.parametrize(
    ("piece", "hint"), [(b"x", "decode bytes"), (None, "NoneType"), (3, "int"), ("\ud800", "surrogate")]
)
def test_a_piece_that_is_no_text_is_refused_with_its_position(piece, hint):
    with pytest.raises(PieceError, match=f"piece 4.*{hint}"):
        checked(piece, 4)


def test_long_pieces_are_sliced_and_nothing_is_lost():
    text = "x" * 10_001
    assert "".join(slices(text)) == text
    assert max(map(len, slices(text))) <= 2048
    assert list(slices("")) == [""]


async def test_a_synchronous_source_runs_in_one_thread_and_keeps_its_context():
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("outside")
    seen = []

    def source():
        assert variable.get() == "outside"
        variable.set("inside")
        for _ in range(5):
            seen.append((threading.get_ident(), variable.get()))
            yield "x"

    assert await read(source()) == ["x"] * 5
    assert {value for _, value in seen} == {"inside"}
    assert len({thread for thread, _ in seen} | {threading.get_ident()}) == 2


async def test_a_synchronous_source_raises_its_own_error_after_its_pieces():
    def source():
        yield "a"
        raise KeyError("mine")

    got = []
    with pytest.raises(KeyError, match="mine"):
        async for piece in pieces_of(source()):
            got.append(piece)
    assert got == ["a"]


async def test_a_synchronous_source_is_never_far_ahead():
    produced = []

    def source():
        for number in range(100):
            produced.append(number)
            yield "x"

    pieces = pieces_of(source())
    await anext(pieces)
    for _ in range(50):
        await anyio.lowlevel.checkpoint()
    assert len(produced) < 12
    await close_source(None, pieces)


async def test_closing_ends_a_synchronous_generator_in_its_own_thread():
    closed = threading.Event()

    def source():
        try:
            while True:
                yield "x"
        finally:
            closed.set()

    pieces = pieces_of(source())
    await anext(pieces)
    await close_source(None, pieces)
    assert await anyio.to_thread.run_sync(closed.wait, 20)


async def test_closing_reaches_the_generator_even_when_cancelled():
    closed = anyio.Event()

    async def source():
        try:
            while True:
                yield "x"
        finally:
            await anyio.lowlevel.checkpoint()
            closed.set()

    generator = source()
    pieces = pieces_of(generator)
    await anext(pieces)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await close_source(generator, pieces)
    assert closed.is_set()


async def test_a_provider_stream_that_names_it_close_is_closed():
    class Provider:
        closed = False

        def __aiter__(self):
            return asynchronous()

        async def close(self):
            self.closed = True

    provider = Provider()
    pieces = pieces_of(provider)
    await anext(pieces)
    await close_source(provider, pieces)
    assert provider.closed


class FailsToClose:
    """Two pieces, and an iterator that cannot be closed."""

    def __init__(self, close):
        self.close = close
        self._rest = iter("ab")

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._rest)


def broken():
    raise OSError("reset while closing")


async def test_a_source_that_fails_in_closing_ends_with_its_error():
    found = []
    with anyio.fail_after(20), pytest.raises(OSError, match="reset while closing"):
        async for piece in pieces_of(FailsToClose(broken)):
            found.append(piece)
    assert found == ["a", "b"]


async def test_a_close_that_is_no_function_is_none():
    with anyio.fail_after(20):
        assert await read(FailsToClose(False)) == ["a", "b"]
