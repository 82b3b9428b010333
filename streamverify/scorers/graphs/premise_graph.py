"""The graph of a premise-cached model: what it must take and give, and a run of it.

    encode         window ──────────────────► keys and values of every layer
    read           claim + encoded windows ─► logits, token logits
    read_several   claim + several such groups of windows ─► the same for each group

A run holds one window, or one claim, or a claim several times, each time for itself (`packed_passes.py`).
The graph has `places` for windows that a claim reads, one input a layer for keys and values each, so that
nothing is joined before the run; an empty place costs nothing. Windows beyond the places are joined in the
last one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamverify.errors import ModelContractError
from streamverify.scorers.graphs.packed_passes import SIZES, choice, of_pass, packed, results
from streamverify.scorers.graphs.runtime import OnnxSession, Signature, on_cpu
from streamverify.scorers.graphs.signed_weights import turned
from streamverify.scorers.protocol import Abort, Provider
from streamverify.scorers.windows.blocks import Blocks
from streamverify.scorers.windows.keys_values import Floats, KeysValues, Layers, join

_PASSAGE, _CLAIM = 0, 1
_JUDGEMENT = ("logits", "token_logits")
_INTEGERS = ("input_ids", "segment")
_FIRST = "past_keys_0_0"
_Part = TypeVar("_Part")


class PremiseGraph:
    """One loaded graph; may be run from any number of threads at once."""

    def __init__(self, path: Path, *, provider: Provider = "cpu", packed_passes: bool = True) -> None:
        """Load the graph and check what it takes and gives.

        Args:
            path: the file.
            provider: where to run.
            packed_passes: load it for several passes of a claim too, where that is quicker (on the CPU).

        Raises:
            ModelNotFoundError, ModelContractError, ProviderError: as `OnnxSession`, or it is a graph of
                another kind. Operator.
        """
        loaded: list[bytes] = []

        def change(content: bytes) -> bytes:
            loaded.append(turned(content))
            return loaded[0]

        self._session = OnnxSession(path, provider=provider, change=change if on_cpu(provider) else None)
        self.provider = self._session.provider
        signature = self._session.signature
        self.layers, self.places = _counts(signature)
        self.heads, self.size = _geometry(signature, path, self.layers, self.places)
        self._pasts = [
            [_names("past", f"{layer}_{place}") for layer in range(self.layers)]
            for place in range(self.places)
        ]
        self._presents = [name for layer in range(self.layers) for name in _names("present", str(layer))]
        empty = np.empty((self.heads, 0, self.size), np.float32)
        self._nothing: Layers = ((empty, empty),) * self.layers
        self._several = self._packed(path, loaded.pop()) if loaded and packed_passes else None

    def _packed(self, path: Path, content: bytes) -> OnnxSession | None:
        """The graph that runs several passes at once, made of the other's content, where it can be."""
        several = packed(content, self.heads, self.size)
        return OnnxSession(path, change=lambda _: several, as_written=True) if several else None

    def encode(self, ids: Sequence[int], *, abort: Abort, blocks: Blocks | None = None) -> KeysValues:
        """Keys and values of a window, special tokens included.

        Args:
            ids: of the window's tokens.
            abort: when set, the run ends soon.
            blocks: memory they are computed into; None for memory of their own.

        Raises:
            ScoringError: the run failed, or `abort` was set before it ended.
        """
        room = (blocks or Blocks(0)).take(self.bytes_of(len(ids), "float32")).view(np.float32)
        found = room.reshape(2 * self.layers, self.heads, len(ids), self.size)
        presents = dict(zip(self._presents, found, strict=True))
        self._session.run_into(presents, self._inputs(ids, _PASSAGE, ()), abort=abort)
        return KeysValues(tuple(zip(found[::2], found[1::2], strict=True)))

    def read(
        self, ids: Sequence[int], windows: Sequence[KeysValues], *, abort: Abort
    ) -> tuple[Floats, Floats]:
        """Logits (3) and token logits (tokens) of a claim that sees these windows, in this order.

        Raises:
            ScoringError: the run failed, or `abort` was set before it ended.
        """
        [found] = self.read_several(ids, [windows], abort=abort)
        return found

    def read_several(
        self, ids: Sequence[int], groups: Sequence[Sequence[KeysValues]], *, abort: Abort
    ) -> list[tuple[Floats, Floats]]:
        """Logits and token logits for each group, to the last bit as alone, in as few runs as may be.

        Raises:
            ScoringError: a run failed, or `abort` was set before it ended.
        """
        found: list[tuple[Floats, Floats]] = []
        wide = {id(window): window.wide() for group in groups for window in group}
        seen = [[wide[id(window)] for window in group] for group in groups]
        for some in parted(seen, -(-len(seen) // SIZES[-1])):
            if self._several is None or len(some) not in SIZES:
                found += [self._read(ids, windows, abort) for windows in some]
                continue
            inputs = _claim_ids(ids, _CLAIM) | {choice(len(some)): np.array([True])}
            for number, windows in enumerate(some):
                inputs |= {of_pass(name, number): part for name, part in self._past(windows)}
            logits, marks = self._several.run(results(len(some)), inputs, abort=abort)
            found += zip(logits, marks.reshape(len(some), -1), strict=True)
        return found

    def _read(self, ids: Sequence[int], windows: Sequence[Layers], abort: Abort) -> tuple[Floats, Floats]:
        logits, token_logits = self._session.run(_JUDGEMENT, self._inputs(ids, _CLAIM, windows), abort=abort)
        return logits[0], token_logits

    def bytes_of(self, tokens: int, precision: str) -> int:
        """Memory of an encoded window of so many tokens."""
        return 2 * self.layers * self.heads * self.size * tokens * np.dtype(precision).itemsize

    def _inputs(self, ids: Sequence[int], segment: int, windows: Sequence[Layers]) -> dict[str, NDArray[Any]]:
        empty = [self._nothing] * (self.places - len(windows))
        return _claim_ids(ids, segment) | dict(self._past([*windows, *empty]))

    def _past(self, windows: Sequence[Layers]) -> Iterator[tuple[str, Floats]]:
        """Keys and values of windows under the names of their places; the last place takes all the rest."""
        placed = list(windows[: self.places])
        if len(windows) > self.places:
            placed[-1] = join(windows[self.places - 1 :])
        for names, layers in zip(self._pasts, placed, strict=False):
            for (keys_name, values_name), (keys, values) in zip(names, layers, strict=True):
                yield keys_name, keys
                yield values_name, values


def parted(whole: Sequence[_Part], parts: int) -> list[Sequence[_Part]]:
    """The sequence in so many parts, in order, whose lengths differ by one at most; none is empty."""
    parts = max(1, min(parts, len(whole)))
    ends = [len(whole) * number // parts for number in range(parts + 1)]
    return [whole[start:end] for start, end in pairwise(ends)]


def _claim_ids(ids: Sequence[int], segment: int) -> dict[str, NDArray[Any]]:
    return {"input_ids": np.array(ids, np.int64), "segment": np.array([segment], np.int64)}


def _names(when: str, of: str) -> tuple[str, str]:
    return f"{when}_keys_{of}", f"{when}_values_{of}"


def _counts(signature: Signature) -> tuple[int, int]:
    """Layers and places, as many as the graph names; 1 at least, so that what lacks is told by name."""
    layers = places = 1
    while f"past_keys_{layers}_0" in signature.inputs:
        layers += 1
    while f"past_keys_0_{places}" in signature.inputs:
        places += 1
    return layers, places


def _geometry(signature: Signature, graph: Path, layers: int, places: int) -> tuple[int, int]:
    """Heads and size of a head, read from the graph's own inputs."""
    inputs, outputs = signature.inputs, signature.outputs
    pasts = {
        name
        for layer in range(layers)
        for place in range(places)
        for name in _names("past", f"{layer}_{place}")
    }
    presents = {name for layer in range(layers) for name in _names("present", str(layer))}
    if set(inputs) != {*_INTEGERS, *pasts}:
        raise ModelContractError(
            f"{graph}: expected inputs {sorted({*_INTEGERS, *pasts})}, found {sorted(inputs)}"
        )
    if missing := {*presents, *_JUDGEMENT} - set(outputs):
        raise ModelContractError(
            f"{graph}: expected outputs {sorted(missing)} beside the others, found {sorted(outputs)}"
        )
    for names, kind, rank in ((_INTEGERS, "tensor(int64)", 1), (sorted(pasts), "tensor(float)", 3)):
        for name in names:
            if inputs[name].type != kind or len(inputs[name].shape) != rank:
                raise ModelContractError(
                    f"{graph}: expected {name} as {kind} with {rank} axes, "
                    f"found {inputs[name].type} {list(inputs[name].shape)}"
                )
    match inputs[_FIRST].shape:
        case (int(heads), _, int(size)):
            pass
        case shape:
            raise ModelContractError(
                f"{graph}: expected {_FIRST} [heads, past, size] with fixed heads and size, "
                f"found {list(shape)}"
            )
    if (classes := outputs["logits"].shape[-1:]) != (3,):
        raise ModelContractError(f"{graph}: expected logits [1, 3], found a last axis of {list(classes)}")
    return heads, size
