"""What was learned and lies beside this room's modules: files that must be those that were released.

Before: `training/`, which writes a file and its checksum. After: `alike.py` and `linear.py` unpack it.
"""

from __future__ import annotations

import hashlib
from importlib.resources.abc import Traversable

from streamverify.errors import ModelChecksumError

LEARNED = "19fe159cfe15"
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
