"""The second learned part of the reader: a small network, asked where the weighted sum is in doubt.

    sentence ─► tokens ─► vectors of the embedded model's words ─► four layers ─► log odds of a claim

Before: `linear.py` weighs a sentence and finds it close. After: `reader.py` adds both log odds. The network
began as the lower layers of the embedded model and was tuned by `training/claimhood_network.py` on sentences
written for this project, under its licence. Its words are those of the embedded model, whose file has them.
"""

from __future__ import annotations

from functools import cache
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamverify.claims.released import released
from streamverify.errors import ModelContractError
from streamverify.scorers.freed import give_back
from streamverify.scorers.graphs.onnx_fields import held_numbers
from streamverify.scorers.graphs.runtime import OnnxSession
from streamverify.scorers.graphs.signed_weights import turned
from streamverify.scorers.model_files import ModelFiles
from streamverify.scorers.protocol import Abort
from streamverify.scorers.tokens import encoded, read_tokenizer

FILE = "claimhood.int8.onnx"
LONGEST = 96
"""Tokens that are read, those around the sentence left out; what it is there for shows at its beginning."""
_FIRST, _LAST = 101, 102
_LETTERS = 1000
"""Characters beyond which a sentence is not cut into tokens: more than `LONGEST` of them are never longer."""

Floats = NDArray[np.float32]


class Words:
    """The embedded model's table of words, read from its file where it is needed."""

    def __init__(self, graph: Path) -> None:
        """Find the table.

        Raises:
            ModelContractError: the file holds none. Operator.
        """
        parts = [f"word.weight_{part}" for part in ("quantized", "scale", "zero_point")]
        try:
            # Mapped, so that the system keeps one copy for all who read the file, and no heap grows by it.
            with graph.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
                found = held_numbers(content, parts)
                [table, scale, zero] = [found[part] for part in parts]
                rows, width = table.sizes
                self._table = np.memmap(graph, np.uint8, "r", table.start, (rows, width))
                self._step = np.frombuffer(content[scale.start : scale.end], np.float32)[0]
                self._zero = np.float32(content[zero.start])
        except (ValueError, IndexError, KeyError) as error:
            raise ModelContractError(f"{graph} holds no table of words: {error!r}") from error

    def __call__(self, ids: list[int]) -> Floats:
        """The vectors of words: shape (words, width)."""
        rows: Floats = (self._table[ids].astype(np.float32) - self._zero) * self._step
        return rows


class Network:
    """The network, loaded; any number of threads may ask it at once."""

    def __init__(self, folder: Path, files: ModelFiles) -> None:
        """Load it.

        Args:
            folder: with `FILE` and its checksum.
            files: of the embedded model, whose words and tokenizer it reads.

        Raises:
            ModelChecksumError: the file is not the one that was released. Operator.
            ModelContractError: the file is not such a network. Operator.
        """
        content = released(folder, FILE)
        self._session = OnnxSession(folder / FILE, change=lambda _: turned(content))
        signature = self._session.signature
        if [*signature.inputs] != ["words"] or [*signature.outputs] != ["log_odds"]:
            raise ModelContractError(f"{folder / FILE} takes and gives something else: {signature}")
        self._words = Words(files.graph)
        self._tokenizer = read_tokenizer(files.tokenizer)

    def log_odds(self, text: str) -> float:
        """Natural logarithm of the odds that a sentence claims something; blocking, about a millisecond.

        Raises:
            ScoringError: the run failed. Operator.
        """
        ids = encoded(self._tokenizer, text[:_LETTERS], special=False).ids[:LONGEST]
        words = self._words([_FIRST, *ids, _LAST])
        [found] = self._session.run(["log_odds"], {"words": words}, abort=Abort())
        return float(found[0])


@cache
def installed() -> Network:
    """The network that comes with the library, read and checked once.

    Raises:
        ModelNotFoundError, ModelChecksumError, ModelContractError: see `Network`. Operator.
    """
    network = Network(Path(__file__).parent, ModelFiles.open())
    give_back()  # only now is what it was read from let go of
    return network
