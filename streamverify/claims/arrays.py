"""What was learned, as a file of arrays; numpy is loaded with it, and so it is with a first check only.

Before: `released.py` reads the file. After: `alike.py` and `linear.py` make of it what they hold.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamverify.errors import ModelContractError

T = TypeVar("T")


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
