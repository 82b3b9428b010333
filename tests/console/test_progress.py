from __future__ import annotations

import io

import anyio

from streamverify.console.progress import with_progress
from streamverify.testing import ScriptedScorer
from streamverify.verifier import Verifier

ANSWER = "The mill is old. The wheel turns. The yard is paved."


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(out: io.StringIO) -> tuple[list[str], list[str]]:
    async def run() -> tuple[list[str], list[str]]:
        async with Verifier(ScriptedScorer({})) as verifier, verifier.stream(ANSWER, ["The mill."]) as stream:
            kinds = [event.kind async for event in with_progress(stream, len(ANSWER), out)]
        return kinds, out.getvalue().split("\r")

    return anyio.run(run)


def test_a_terminal_sees_every_sentence_and_nothing_is_left_of_the_line():
    kinds, lines = told(Terminal())
    assert lines[1:-1][-1] == "checking: 100 % (3 sentences)"
    assert lines[-1] == "\x1b[K"
    assert kinds[-1] == "stream_finished"


def test_a_file_gets_nothing():
    kinds, lines = told(io.StringIO())
    assert lines == [""]
    assert kinds.count("sentence_judged") == 3
