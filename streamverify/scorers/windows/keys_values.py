"""What the premise-cached model remembers of a window: keys and values of every layer.

They are kept as computed, or in half precision at half the memory. Dynamic int8 rounds activations to 255
steps, so that the smallest change of a key can tip roundings in every layer above it: half precision
moves a probability by 0.02 on average, in neither direction (docs/decisions/window-cache-precision.md).

NumPy widens halves one by one, which would take a fifth of a run's time, so it is done on the bits: a
half, sign-extended to 32 bits and shifted by 13, is a float with the same sign and mantissa and an exponent
too small by 112 (127 - 15), and multiplying by 2^112 mends that for subnormal numbers too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamverify.errors import ScoringError
from streamverify.scorers.windows.blocks import Blocks

CachePrecision = Literal["float32", "float16"]

Floats = NDArray[np.float32]

_EXPONENT = np.float32(2.0**112)
_SIGN_AND_HALF = np.int32(0x8FFFE000 - (1 << 32))  # the sign, and the other 15 bits moved up by 13
_MAGNITUDE, _INFINITE = 0x7FFF, 0x7C00


Layers = tuple[tuple[Floats, Floats], ...]
"""Keys and values of every layer, from the first, each (heads, tokens, size)."""


@dataclass(frozen=True, slots=True)
class KeysValues:
    """What is kept of one window: keys and values of every layer, in single or half precision."""

    layers: tuple[tuple[NDArray[Any], NDArray[Any]], ...]

    @property
    def nbytes(self) -> int:
        """Memory taken, in bytes."""
        return sum(keys.nbytes + values.nbytes for keys, values in self.layers)

    def wide(self) -> Layers:
        """Keys and values in single precision; not copied where they are kept so."""
        return tuple((_wide(keys), _wide(values)) for keys, values in self.layers)


def pack(found: KeysValues, precision: CachePrecision, blocks: Blocks | None = None) -> KeysValues:
    """What to keep of a window.

    Args:
        found: keys and values, as computed.
        precision: to keep them in; what is in it already is not copied.
        blocks: memory for halves; None for memory of their own.

    Raises:
        ScoringError: a number does not fit half precision (65,504), or is none. Operator.
    """
    numbers = [one for pair in found.layers for one in pair]
    if precision == "float32" or all(one.dtype == np.float16 for one in numbers):
        return found
    room = (blocks or Blocks(0)).take(2 * sum(one.size for one in numbers) or 1)
    halves, start = [], 0
    for one in numbers:
        end = start + 2 * one.size
        halves.append(_halved(one, room[start:end].view(np.float16).reshape(one.shape)))
        start = end
    return KeysValues(tuple(zip(halves[::2], halves[1::2], strict=True)))


def join(windows: Sequence[Layers]) -> Layers:
    """Several windows side by side along the tokens, in order."""
    if len(windows) == 1:
        return windows[0]
    return tuple(
        (
            np.concatenate([keys for keys, _ in of_layer], axis=1),
            np.concatenate([values for _, values in of_layer], axis=1),
        )
        for of_layer in zip(*windows, strict=True)
    )


def _halved(floats: Floats, halves: NDArray[np.float16]) -> NDArray[np.float16]:
    with np.errstate(over="ignore"):
        np.copyto(halves, floats, casting="same_kind")
    if halves.size and (halves.view(np.uint16) & _MAGNITUDE).max() >= _INFINITE:
        raise ScoringError("the model gave keys or values that do not fit half precision")
    return halves


def _wide(numbers: NDArray[Any]) -> Floats:
    if numbers.dtype == np.float32:
        return numbers
    bits = numbers.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= _SIGN_AND_HALF
    floats = bits.view(np.float32)
    floats *= _EXPONENT
    return floats
