"""Words that the embedded model takes for alike, so that what was learned of one holds of its neighbours.

Before: nothing. After: `features.py` names a word's group and its family of groups. `training/alike.py` made
the groups from the model's table of words ("glad", "pleased", "grateful" are one); the model is not loaded.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from streamverify.claims.arrays import unpacked
from streamverify.claims.released import released
from streamverify.errors import ModelContractError

FILE = "alike.npz"


@dataclass(frozen=True, slots=True)
class Groups:
    """Which group a word is in, by the CRC-32 of its small letters; a few words share one by chance."""

    group: Mapping[int, int]
    family: Sequence[int]
    """Of each group."""

    def of(self, word: str) -> tuple[int, int] | None:
        """Group and family of a word in small letters; None for one that the model does not know whole."""
        found = self.group.get(crc32(word.encode("utf-8", "replace")))
        return None if found is None else (found, self.family[found])


def pack(group: Mapping[int, int], family: Sequence[int]) -> bytes:
    """The groups as a file of arrays, the same bytes for the same groups."""
    words = sorted(group)
    arrays: dict[str, NDArray[Any]] = {
        "words": np.array(words, np.uint32),
        "groups": np.array([group[word] for word in words], np.uint16),
        "families": np.array(family, np.uint8),
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            held = io.BytesIO()
            np.save(held, array, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, held.getvalue(), zipfile.ZIP_DEFLATED)
    return file.getvalue()


def unpack(content: bytes, name: str = FILE) -> Groups:
    """Groups out of a file of arrays.

    Raises:
        ModelContractError: the arrays are missing or do not fit each other. Operator.
    """

    def made(words: NDArray[Any], groups: NDArray[Any], families: NDArray[Any]) -> Groups:
        return Groups(dict(zip(words.tolist(), groups.tolist(), strict=True)), families.tolist())

    found = unpacked(
        content, ("words", "groups", "families"), made, missing=f"{name} holds no groups of words"
    )
    if max(found.group.values(), default=0) >= len(found.family):
        raise ModelContractError(f"{name} holds groups of no family")
    return found


def opened(folder: Traversable) -> Groups:
    """Groups out of a folder, where their checksum lies beside them.

    Raises:
        ModelChecksumError: the file is not the one that was released. Operator.
        ModelContractError: see `unpack`. Operator.
    """
    return unpack(released(folder, FILE))


@cache
def installed() -> Groups:
    """The groups that come with the library, read and checked once.

    Raises:
        ModelChecksumError, ModelContractError: see `opened`. Operator.
    """
    return opened(resources.files("streamverify.claims"))
