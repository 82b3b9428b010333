"""What the premise-cached model remembers of a window: keys and values of every layer.

They are kept in half precision, which halves the memory and moves a logit by less than int8 does, and
widened for the run that reads them. Widening by NumPy's own cast takes as long as a fifth of a run, so
it is done on the bits: a half, sign-extended to 32 bits and shifted by 13, is the float of the
same mantissa with an exponent too small by 112 (127 - 15), whatever the half's exponent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamverify.errors import ScoringError

_EXPONENT = np.float32(2.0**112)
_SIGN_AND_HALF = np.int32(0x8FFFE000 - (1 << 32))  # the sign, and the 15 bits moved up by 13


@dataclass(frozen=True, slots=True)
class KeysValues:
    """Keys and values of one window."""

    halves: NDArray[np.float16]
    """(2, layers, 1, heads, tokens, size): keys, then values. Finite."""

    @property
    def nbytes(self) -> int:
        """Memory taken, in bytes."""
        return self.halves.nbytes

    @classmethod
    def pack(cls, keys: NDArray[np.float32], values: NDArray[np.float32]) -> KeysValues:
        """Keep `keys` and `values`, each (layers, 1, heads, tokens, size), in half precision.

        Raises:
            ScoringError: a number is not finite or too large for half precision (65,504). Operator.
        """
        halves = np.empty((2, *keys.shape), np.float16)
        with np.errstate(over="ignore"):
            halves[0], halves[1] = keys, values
        # The largest magnitude is infinite or not a number if any is.
        if not np.isfinite(np.abs(halves.view(np.int16) & 0x7FFF).max().astype(np.int16).view(np.float16)):
            raise ScoringError("the model gave keys or values that are not finite")
        return cls(halves)


def widen(window: KeysValues) -> NDArray[np.float32]:
    """The same numbers in single precision, (2, layers, 1, heads, tokens, size)."""
    bits = window.halves.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= _SIGN_AND_HALF
    floats = bits.view(np.float32)
    floats *= _EXPONENT
    return floats


def join(windows: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Several widened windows side by side along the tokens; (2, layers, 1, heads, all tokens, size)."""
    return windows[0] if len(windows) == 1 else np.concatenate(windows, axis=4)
