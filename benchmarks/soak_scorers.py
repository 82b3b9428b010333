"""Scorers that go wrong on request: by the words of a claim, or because somebody kills their process."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from streamverify.errors import ScoringError
from streamverify.scorers.protocol import Abort, Claim, ClaimScore, Prepared
from streamverify.testing import ScriptedScorer
from streamverify.types import Label

WRONG = "untrue"
"""A claim that holds this word is not supported."""
RAISES, FOREIGN, HANGS, DEAF = "raising", "foreign", "hanging", "deaf"
FAULTS = (RAISES, FOREIGN, HANGS, DEAF)
KILLS = "killing"


class DoubleScorer(ScriptedScorer):
    """Fast; a claim's words say what becomes of it."""

    def __init__(self) -> None:
        super().__init__({WRONG: Label.UNSUPPORTED}, concurrency=4)

    def score(self, prepared: Prepared, claims: Sequence[Claim], *, abort: Abort) -> list[ClaimScore]:
        for claim in claims:
            if RAISES in claim.text:
                raise ScoringError("told to fail")
            if FOREIGN in claim.text:
                raise RuntimeError("an error that no scorer should raise")
            if HANGS in claim.text:
                called_off = threading.Event()
                abort.attach(called_off.set)
                called_off.wait(30)
                raise ScoringError("called off")
            if DEAF in claim.text:
                time.sleep(0.7)  # noqa: TID251 - deaf: longer than its deadline, whoever calls it off
        found = super().score(prepared, claims, abort=abort)
        # The double remembers for tests what it was asked; a hundred thousand streams would fill the memory.
        self.claims.clear()
        self.prepared.clear()
        return found


_PROGRAM = f"""
import sys
for line in sys.stdin:
    print({WRONG!r} in line, flush=True)
"""


class KilledScorer(ScriptedScorer):
    """Asks a process; a claim that says so has it killed first. Whoever asks next starts another."""

    def __init__(self) -> None:
        super().__init__({WRONG: Label.UNSUPPORTED}, concurrency=4)
        self.deaths = 0
        self._one = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def score(self, prepared: Prepared, claims: Sequence[Claim], *, abort: Abort) -> list[ClaimScore]:
        with self._one:
            for claim in claims:
                self._ask(claim.text)
        found = super().score(prepared, claims, abort=abort)
        self.claims.clear()
        self.prepared.clear()
        return found

    def rest(self) -> None:
        """Have no process until somebody asks."""
        with self._one:
            self._end()

    def close(self) -> None:
        super().close()
        self.rest()

    def _ask(self, text: str) -> None:
        if self._process is None:
            pipe = subprocess.PIPE
            command = [sys.executable, "-S", "-c", _PROGRAM]
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        process = self._process
        if KILLS in text:
            process.kill()
            self.deaths += 1
        try:
            process.stdin.write(" ".join(text.split()) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            answer = ""
        if not answer:
            self._end()
            raise ScoringError("the scorer's process has ended")

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.stdout.close()
            with suppress(OSError):  # what was written to it is lost with it
                process.stdin.close()
            process.wait()
