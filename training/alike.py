"""Group words by what the embedded model takes them for, for the learned part of the reader.

    python -m training.alike

The rows of the model's table of words, centred and turned to their first 96 directions, fall into 512
groups by spherical k-means, and the groups' middles into 64; `streamverify/claims/alike.npz` keeps them.
No sentence is read, so nothing that is measured on sentences has been seen.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from streamverify.claims import alike

MODEL = Path(alike.__file__).parents[1] / "model"
DIRECTIONS = 96
GROUPS, FAMILIES = 512, 64

Floats = NDArray[np.float32]


def main() -> None:
    """Write the groups and their checksum."""
    words, vectors = table()
    group, middles = grouped(directed(vectors), GROUPS, steps=15)
    family, _ = grouped(middles, FAMILIES, steps=30)
    content = alike.pack(
        {crc32(word.encode()): int(one) for word, one in zip(words, group, strict=True)}, family.tolist()
    )
    folder = Path(alike.__file__).parent
    (folder / alike.FILE).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    (folder / f"{alike.FILE}.sha256").write_text(f"{digest}  {alike.FILE}\n", encoding="ascii")
    print(f"{len(words)} words, {len(content)} bytes, sha256 {digest}")


def table() -> tuple[list[str], Floats]:
    """The model's whole words in small letters, and the row of each: shape (words, 384)."""
    import onnx
    from onnx import numpy_helper

    held = {one.name: one for one in onnx.load(MODEL / "model.int8.onnx").graph.initializer}
    steps, zero, step = (
        numpy_helper.to_array(held[f"word.weight_{name}"]).astype(np.float32)
        for name in ("quantized", "zero_point", "scale")
    )
    known: dict[str, Any] = json.loads((MODEL / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    words = [w for w in known if len(w) > 1 and w.isascii() and w.isalpha() and w.islower()]
    return words, ((steps - zero) * step)[[known[word] for word in words]]


def directed(vectors: Floats) -> Floats:
    """The vectors about their mean, each of length 1, in their first directions."""
    unit = _unit(vectors - vectors.mean(0))
    turned, _, _ = np.linalg.svd(unit.T @ unit)
    return _unit(unit @ turned[:, :DIRECTIONS])


def grouped(vectors: Floats, count: int, *, steps: int) -> tuple[NDArray[np.int64], Floats]:
    """The group of each vector of length 1, by its cosine with the groups' middles; and the middles."""
    random = np.random.default_rng(0)
    middles = vectors[random.choice(len(vectors), count, replace=False)]
    group = np.zeros(len(vectors), np.int64)
    for _ in range(steps):
        group = (vectors @ middles.T).argmax(1)
        sums = np.zeros_like(middles)
        np.add.at(sums, group, vectors)
        empty = np.linalg.norm(sums, axis=1) < 1e-6
        sums[empty] = vectors[random.choice(len(vectors), int(empty.sum()))]
        middles = _unit(sums)
    return group, middles


def _unit(vectors: Floats) -> Floats:
    lengths: Floats = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)


if __name__ == "__main__":
    main()
