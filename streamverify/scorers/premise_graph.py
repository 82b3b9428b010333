"""The graph of a premise-cached model: what it must take and give, and a run of it.

    encode   window ──────────────────► keys and values of every layer
    read     claim + encoded windows ─► logits, token logits

A run holds one window or one claim. The graph has `places` for windows that a claim reads, one input a
layer for keys and values each, so that nothing is joined before the run; an empty place costs nothing.
Windows beyond the places are joined in the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamverify.errors import ModelContractError
from streamverify.scorers.keys_values import Floats, Layers, join
from streamverify.scorers.protocol import Abort
from streamverify.scorers.runtime import OnnxSession, Provider, Signature
from streamverify.scorers.signed_weights import turned

_PASSAGE, _CLAIM = 0, 1
_JUDGEMENT = ("logits", "token_logits")
_INTEGERS = ("input_ids", "segment")
_FIRST = "past_keys_0_0"


class PremiseGraph:
    """One loaded graph; may be run from any number of threads at once."""

    def __init__(self, path: Path, *, provider: Provider = "cpu") -> None:
        """Load the graph and check what it takes and gives.

        Raises:
            ModelNotFoundError, ModelContractError, ProviderError: as `OnnxSession`, or it is a graph of
                another kind. Operator.
        """
        self._session = OnnxSession(path, provider=provider, change=turned)
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

    def encode(self, ids: Sequence[int], *, abort: Abort) -> Layers:
        """Keys and values of a window, special tokens included.

        Raises:
            ScoringError: the run failed, or `abort` was set before it ended.
        """
        found = self._session.run(self._presents, self._inputs(ids, _PASSAGE, ()), abort=abort)
        return tuple(zip(found[::2], found[1::2], strict=True))

    def read(self, ids: Sequence[int], windows: Sequence[Layers], *, abort: Abort) -> tuple[Floats, Floats]:
        """Logits (3) and token logits (tokens) of a claim that sees these windows, in this order.

        Raises:
            ScoringError: the run failed, or `abort` was set before it ended.
        """
        logits, token_logits = self._session.run(_JUDGEMENT, self._inputs(ids, _CLAIM, windows), abort=abort)
        return logits[0], token_logits

    def bytes_of(self, tokens: int, precision: str) -> int:
        """Memory of an encoded window of so many tokens."""
        return 2 * self.layers * self.heads * self.size * tokens * np.dtype(precision).itemsize

    def _inputs(self, ids: Sequence[int], segment: int, windows: Sequence[Layers]) -> dict[str, NDArray[Any]]:
        inputs: dict[str, NDArray[Any]] = {
            "input_ids": np.array(ids, np.int64),
            "segment": np.array([segment], np.int64),
        }
        placed = list(windows[: self.places])
        if len(windows) > self.places:
            placed[-1] = join(windows[self.places - 1 :])
        placed += [self._nothing] * (self.places - len(placed))
        for names, layers in zip(self._pasts, placed, strict=True):
            for (keys_name, values_name), (keys, values) in zip(names, layers, strict=True):
                inputs[keys_name], inputs[values_name] = keys, values
        return inputs


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
