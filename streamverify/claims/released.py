"""What was learned and lies beside this room's modules: files that must be those that were released.

Before: `training/`, which writes a file and its checksum. After: `alike.py` and `linear.py` unpack it.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from streamverify.errors import ModelChecksumError


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


_ALL = ("alike.npz", "claimhood.npz", "claimhood.int8.onnx")


@cache
def revision() -> str:
    """First 12 hexadecimal digits of a digest of the checksums of all that was learned; nothing is loaded."""
    folder = resources.files("streamverify.claims")
    sums = "".join((folder / f"{name}.sha256").read_text(encoding="ascii").split()[0] for name in _ALL)
    return hashlib.sha256(sums.encode("ascii")).hexdigest()[:12]
