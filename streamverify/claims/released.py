"""What was learned and lies beside this room's modules: files that must be those that were released.

Before: `training/`, which writes a file and its checksum. After: `alike.py` and `linear.py` unpack it.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable, Sequence
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamverify.errors import ModelChecksumError, ModelContractError

T = TypeVar("T")

LEARNED = "24334ff2c80a"
"""For fingerprints, which the event loop asks for: first 12 hexadecimal digits of the SHA-256 of the SHA-256
sums of `alike.npz`, `claimhood.npz` and `claimhood.int8.onnx`, one behind the other. A test computes it."""


def released(folder: Traversable, name: str) -> bytes:
    """A file's content, as the checksum `NAME.sha256` beside it says it was.

    Raises:
        ModelChecksumError: the file is not the one that was released. Operator.
    """
    content = (folder / name).read_bytes()
    expected = (folder / f"{name}.sha256").read_text(encoding="ascii").split()[0]
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise ModelChecksumError(str(folder / name), expected, found)
    return content


def unpacked(content: bytes, names: Sequence[str], make: Callable[..., T], *, missing: str) -> T:
    """What is made of the arrays of a file, given in the order of their names.

    Args:
        content: an archive of arrays, as numpy writes one.
        names: of those that it must hold.
        make: takes them; may raise ValueError or TypeError where they do not fit each other.
        missing: what an error says before its cause.

    Raises:
        ModelContractError: the file is no such archive, or its arrays are missing or do not fit. Operator.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            found: list[NDArray[Any]] = [arrays[name] for name in names]
        return make(*found)
    except (KeyError, TypeError, ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ModelContractError(f"{missing}: {error}") from error
