"""The graph of a premise-cached model as a graphics processor wants it: claims of all streams in one run.

    encode         window ──────────────────► ┐ a run of windows ─► keys and values of every layer, in 16 bits
    read_several   claim + groups of windows ─► ┘ a run of claims, a row a group ─► logits, token logits

Takes the place of `premise_graph.py`, whose file it reads; `batching.py` gathers the callers. A window that
several rows read is handed over once a run. Rows are filled up to the longest, so a row's scores can differ
from those it has alone by what 16 bits round, never by what another row says.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamverify.errors import ModelContractError, ScoringError
from streamverify.scorers.graphs.batching import Batches
from streamverify.scorers.graphs.device_graph import (
    Network,
    Precision,
    device_graph,
    past_names,
    present_names,
)
from streamverify.scorers.graphs.runtime import OnnxSession
from streamverify.scorers.protocol import Abort, Provider
from streamverify.scorers.windows.blocks import Blocks
from streamverify.scorers.windows.keys_values import Floats, KeysValues

ROWS = 64
"""Rows of a run, passes of claims or windows: each of them waits for all of them."""
_WINDOW, _CLAIM = 0, 1
_JUDGEMENT = ("logits", "token_logits")


class _Window(NamedTuple):
    ids: Sequence[int]
    blocks: Blocks


class _Claim(NamedTuple):
    ids: Sequence[int]
    groups: Sequence[Sequence[KeysValues]]


_Read = list[tuple[Floats, Floats]]


class BatchedGraph:
    """One loaded graph; may be asked from any number of threads at once, and gathers what they ask."""

    def __init__(self, path: Path, *, provider: Provider = "cuda", precision: Precision = "float16") -> None:
        """Make the graph out of the file and load it.

        Args:
            path: a file as `training/graph.py` writes it, for CPUs.
            provider: where to run. A CPU computes the same, and is not quicker for it.
            precision: of weights, activations, keys and values.

        Raises:
            ModelNotFoundError, ModelContractError, ProviderError: as `OnnxSession`, or it is a file of
                another kind. Operator.
        """
        networks: list[Network] = []

        def change(content: bytes) -> bytes:
            try:
                networks.append(Network.read(content))
                return device_graph(networks[0], precision)
            except (ValueError, IndexError, KeyError) as error:
                raise ModelContractError(
                    f"{path} is no graph of 8-bit weights that can be batched ({error!r}); "
                    "run it one claim at a time, with batched=False"
                ) from error

        self._session = OnnxSession(path, provider=provider, change=change)
        self.provider = self._session.provider
        [network] = networks
        self.layers, self.heads, self.size = network.layers, network.heads, network.head_size
        self._type = np.dtype(precision)
        self._pasts, self._presents = past_names(self.layers), present_names(self.layers)
        self._windows = Batches[_Window, KeysValues](self._encode, limit=ROWS, size=lambda _: 1)
        self._claims = Batches[_Claim, _Read](self._read, limit=ROWS, size=lambda claim: len(claim.groups))

    def encode(self, ids: Sequence[int], *, abort: Abort, blocks: Blocks | None = None) -> KeysValues:
        """Keys and values of a window, special tokens included, encoded with others that are asked for.

        Args:
            ids: of the window's tokens.
            abort: when set, the call ends soon.
            blocks: memory they are kept in; None for memory of their own.

        Raises:
            ScoringError: the run failed, or `abort` was set before it ended.
        """
        return self._windows.ask(_Window(ids, blocks or Blocks(0)), abort=abort)

    def read_several(
        self, ids: Sequence[int], groups: Sequence[Sequence[KeysValues]], *, abort: Abort
    ) -> list[tuple[Floats, Floats]]:
        """Logits (3) and token logits (tokens) of a claim for each group of windows that it sees.

        Raises:
            ScoringError: the run failed, or `abort` was set before it ended.
        """
        return self._claims.ask(_Claim(ids, groups), abort=abort)

    def bytes_of(self, tokens: int, precision: str) -> int:
        """Memory of an encoded window of so many tokens."""
        return 2 * self.layers * self.heads * self.size * tokens * np.dtype(precision).itemsize

    def _encode(self, windows: Sequence[_Window], abort: Abort) -> list[KeysValues]:
        inputs = self._rows([window.ids for window in windows], _WINDOW) | self._past([], [[]] * len(windows))
        found = self._session.run(self._presents, inputs, abort=abort)
        return [self._kept(window, [one[row] for one in found]) for row, window in enumerate(windows)]

    def _kept(self, window: _Window, found: Sequence[NDArray[Any]]) -> KeysValues:
        """A window's own keys and values, without what its row was filled up with."""
        size = len(window.ids)
        room = window.blocks.take(self.bytes_of(size, self._type.name)).view(self._type)
        kept = room.reshape(2 * self.layers, self.heads, size, self.size)
        for place, one in enumerate(found):
            kept[place] = one[:, :size]
        if not np.isfinite(kept).all():
            raise ScoringError(f"the model gave keys or values that do not fit {self._type}")
        return KeysValues(tuple(zip(kept[::2], kept[1::2], strict=True)))

    def _read(self, claims: Sequence[_Claim], abort: Abort) -> list[_Read]:
        rows = [(claim.ids, group) for claim in claims for group in claim.groups]
        numbers: dict[int, int] = {}
        windows: list[KeysValues] = []
        for _, group in rows:
            for window in group:
                if id(window) not in numbers:
                    numbers[id(window)] = len(windows)
                    windows.append(window)
        reads = [[numbers[id(window)] for window in group] for _, group in rows]
        inputs = self._rows([ids for ids, _ in rows], _CLAIM) | self._past(windows, reads)
        logits, marks = self._session.run(_JUDGEMENT, inputs, abort=abort)
        if not np.isfinite(logits).all():
            raise ScoringError(f"the model gave logits that do not fit {self._type}")
        found, row = [], 0
        for claim in claims:
            own = slice(row, row := row + len(claim.groups))
            found.append([*zip(logits[own], marks[own, : len(claim.ids)], strict=True)])
        return found

    def _rows(self, texts: Sequence[Sequence[int]], segment: int) -> dict[str, NDArray[Any]]:
        lengths = [len(ids) for ids in texts]
        filled = np.zeros((len(texts), max(lengths)), np.int64)
        for row, ids in zip(filled, texts, strict=True):
            row[: len(ids)] = ids
        return {
            "input_ids": filled,
            "lengths": np.array(lengths, np.int64),
            "segment": np.array([segment], np.int64),
        }

    def _past(self, windows: Sequence[KeysValues], reads: Sequence[Sequence[int]]) -> dict[str, NDArray[Any]]:
        """Windows and who reads them; behind them one without tokens, for rows that read fewer."""
        lengths = [window.layers[0][0].shape[1] for window in windows]
        width, places = max(lengths, default=0), max(map(len, reads))
        filled = [[*read, *[len(windows)] * (places - len(read))] for read in reads]
        found: dict[str, NDArray[Any]] = {
            "reads": np.array(filled, np.int64).reshape(len(reads), places),
            "past_lengths": np.array([*lengths, 0], np.int64),
        }
        for number, name in enumerate(self._pasts):
            layer, part = divmod(number, 2)
            # What a row does not read is masked, but a number that is none would show through.
            joined = np.zeros((len(windows) + 1, self.heads, width, self.size), self._type)
            for place, (window, length) in enumerate(zip(windows, lengths, strict=True)):
                joined[place, :, :length] = window.layers[layer][part]
            found[name] = joined
        return found
