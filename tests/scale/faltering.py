"""Scorers that tell a test, through named pipes, what becomes of them in a replica."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from streamverify import Verifier
from streamverify.errors import ScoringError
from streamverify.scorers import PremiseCachedScorer
from streamverify.scorers.protocol import Abort, Claim, ClaimScore, Prepared


class FalteringScorer(PremiseCachedScorer):
    """The model; a claim with a word of ours has it wait until it is aborted, or fail."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def score(self, prepared: Prepared, claims: Sequence[Claim], *, abort: Abort) -> list[ClaimScore]:
        text = " ".join(claim.text for claim in claims)
        if "falters" in text and not (self._folder / "faltered").exists():
            (self._folder / "faltered").touch()
            self._wait("asked", abort)
        if "lingers" in text:
            self._wait("asked", abort)
        if "fails" in text:
            raise ScoringError("it failed, as it was told")
        if "raises" in text:
            raise RuntimeError("an error of its own\nwith a second line")
        return super().score(prepared, claims, abort=abort)

    def _wait(self, pipe: str, abort: Abort) -> None:
        (self._folder / pipe).write_text(str(os.getpid()))
        aborted = threading.Event()
        abort.attach(aborted.set)
        aborted.wait()
        (self._folder / "aborted").write_text("yes")
        raise ScoringError("stopped")


@dataclass(frozen=True)
class Faltering:
    """Makes one; is sent to replicas."""

    folder: Path

    def __call__(self) -> FalteringScorer:
        return FalteringScorer(self.folder)


def lexical() -> Verifier:
    """Is sent to workers of an evaluation."""
    return Verifier("lexical")
