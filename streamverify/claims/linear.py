"""The learned part of the reader: whether a sentence claims anything, as a weighted sum of what it shows.

Before: `features.py` names what stands out in a sentence. After: `reader.py` lets the sum overrule its rules.
The weights were fitted by `training/claimhood.py` (logistic regression) on sentences written for this
project, under its licence, and lie beside this file.

A feature's weight is found by the CRC-32 of its name, modulo the number of weights; two names may share one.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from streamverify.claims.arrays import unpacked
from streamverify.claims.features import features
from streamverify.claims.nonclaims import Reason
from streamverify.claims.released import released
from streamverify.errors import ModelContractError
from streamverify.types import SentenceKind

BUCKETS = 1 << 17
"""Weights for claim or no claim."""
REASON_BUCKETS = 1 << 12
"""Weights for each reason."""
REASONS = (
    Reason.ABSTENTION,
    Reason.ADVICE,
    Reason.GREETING,
    Reason.HEADING,
    Reason.LEAD_IN,
    Reason.META,
    Reason.OFFER,
    Reason.QUESTION,
    Reason.REFERENCE,
)
"""What the learned part can give as the reason why a sentence claims nothing."""
_FILE = "claimhood.npz"


@dataclass(frozen=True, slots=True)
class Linear:
    """Weights in eight bits, with what a step is worth."""

    claim: NDArray[np.int8]
    """Shape (BUCKETS,)."""
    claim_step: float
    reasons: NDArray[np.int8]
    """Shape (len(REASONS), REASON_BUCKETS)."""
    reason_steps: NDArray[np.float32]

    def log_odds(self, text: str, kind: SentenceKind = SentenceKind.PROSE, before: str = "") -> float:
        """Natural logarithm of the odds that a sentence claims something; takes some 0.5 ms.

        Args:
            text: as it stands in the answer, with its markup.
            kind: as the segmenter closed it.
            before: the sentence before it; empty where there is none.
        """
        places, amounts = hashed(features(text, kind, before))
        return float(self.claim[places % BUCKETS].astype(np.float32) @ amounts) * self.claim_step

    def reason(self, text: str, kind: SentenceKind = SentenceKind.PROSE, before: str = "") -> Reason:
        """The likeliest reason, should a sentence claim nothing; takes as long, and is seldom asked."""
        places, amounts = hashed(features(text, kind, before))
        likely = (self.reasons[:, places % REASON_BUCKETS].astype(np.float32) @ amounts) * self.reason_steps
        return REASONS[int(likely.argmax())]


def hashed(found: Mapping[str, float]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The CRC-32 of each feature's name, and its amount."""
    places = [crc32(name.encode("utf-8", "replace")) for name in found]
    return np.array(places, np.int64), np.array([*found.values()], np.float32)


def pack(weights: Linear) -> bytes:
    """The weights as a file of arrays, the same bytes for the same weights."""
    arrays: dict[str, NDArray[Any]] = {
        "claim": weights.claim,
        "claim_step": np.array(weights.claim_step, np.float32),
        "reasons": weights.reasons,
        "reason_steps": weights.reason_steps,
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            held = io.BytesIO()
            np.save(held, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), held.getvalue())
    return file.getvalue()


def unpack(content: bytes, name: str = _FILE) -> Linear:
    """Weights out of a file of arrays.

    Raises:
        ModelContractError: the arrays are missing or have another shape. Operator.
    """

    def made(claim: NDArray[Any], step: NDArray[Any], reasons: NDArray[Any], steps: NDArray[Any]) -> Linear:
        return Linear(claim, float(step), reasons, steps)

    weights = unpacked(
        content,
        ("claim", "claim_step", "reasons", "reason_steps"),
        made,
        missing=f"{name} holds no weights for the reader",
    )
    shapes = (weights.claim.shape, weights.reasons.shape, weights.reason_steps.shape)
    if shapes != ((BUCKETS,), (len(REASONS), REASON_BUCKETS), (len(REASONS),)):
        raise ModelContractError(f"{name} holds arrays of the shapes {shapes}")
    return weights


def opened(folder: Traversable) -> Linear:
    """Weights out of a folder, where their checksum lies beside them.

    Raises:
        ModelChecksumError: the file is not the one that was released. Operator.
        ModelContractError: see `unpack`. Operator.
    """
    return unpack(released(folder, _FILE))


@cache
def installed() -> Linear:
    """The weights that come with the library, read and checked once.

    Raises:
        ModelChecksumError, ModelContractError: see `opened`. Operator.
    """
    return opened(resources.files("streamverify.claims"))
