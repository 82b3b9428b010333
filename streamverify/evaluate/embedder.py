"""Vectors of texts from the word table of the embedded model: small, offline, and good for a rough likeness.

    text ► word pieces ► their rows of the table, less the mean row ► weighted sum

The embedded model was trained to tell support, and its own last layer puts all texts close together; the
table of word pieces that it began with (all-MiniLM-L6-v2's) has kept which words mean alike. A piece weighs
the square of the logarithm of its rank: the vocabulary is ordered by frequency, so that common words count
little. Word order and negation are not seen. `benchmarks/embedding.py` measures how good that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from streamverify.errors import ModelContractError, UsageError
from streamverify.scorers.model_files import ModelFiles
from streamverify.text.unicode import encodable

TABLE = "word.weight_quantized"
"""Name of the table in the graph; with `model.` before it where PyTorch wrote the graph."""
WIDTH = 384
"""Numbers a row."""
WORDS_FROM = 1000
"""Rank of the first whole word of the vocabulary, after special entries and single characters."""
NAMES = ("default",)


def embedder_named(name: str) -> WordEmbedder:
    """An embedder by its name.

    Raises:
        UsageError: there is none. Caller.
        ModelError: the embedded model is damaged. Operator.
    """
    if name not in NAMES:
        raise UsageError(
            f"there is no embedder {name!r}; choose from {', '.join(NAMES)}, "
            "or hand one of your own to evaluate()"
        )
    return WordEmbedder()


class WordEmbedder:
    """The embedder that comes with the library; 45 MB of memory, safe to call from several threads."""

    def __init__(self) -> None:
        """Read the table.

        Raises:
            ModelError: the embedded model is missing or damaged. Operator.
        """
        files = ModelFiles.open()
        self._tokenizer = Tokenizer.from_file(str(files.tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        rows = _table(files.graph)
        ranks = np.maximum(np.arange(len(rows)) - WORDS_FROM + 10, 1)
        weights = np.log1p(ranks).astype(np.float32) ** 2
        self._rows: NDArray[np.float32] = (rows - rows[WORDS_FROM:].mean(axis=0)) * weights[:, None]
        self._name = f"words of {files.config.name} {files.config.version} {files.revision}"

    @property
    def name(self) -> str:
        """Model and version."""
        return self._name

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector of 384 numbers and length 1 for each text; zeros where a text has no word."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        ids = self._tokenizer.encode(encodable(text), add_special_tokens=False).ids
        summed = self._rows[ids].sum(axis=0, dtype=np.float64)
        length = float(np.linalg.norm(summed))
        vector: list[float] = (summed / length if length else summed).tolist()
        return vector


def _table(graph: Path) -> NDArray[np.float32]:
    """A graph's word table in int8 steps: scale and zero point cancel out of centred directions."""
    try:
        raw = next(
            raw for name, raw in _tensors(memoryview(graph.read_bytes())) if name in (TABLE, f"model.{TABLE}")
        )
        return np.frombuffer(raw, np.uint8).reshape(-1, WIDTH).astype(np.float32)
    except (StopIteration, IndexError, KeyError, ValueError) as error:
        raise ModelContractError(f"{graph} has no word table {TABLE!r} in int8") from error


_GRAPH, _INITIALIZER, _NAME, _RAW = 7, 5, 8, 9
"""Numbers of the fields in ONNX's `ModelProto`, `GraphProto` and `TensorProto`."""


def _tensors(model: memoryview) -> Iterator[tuple[str, memoryview]]:
    """Name and bytes of each stored tensor: the one thing of a graph that the runtime does not hand out."""
    for graph in _fields(model, _GRAPH):
        for tensor in _fields(graph, _INITIALIZER):
            for name in _fields(tensor, _NAME):
                for raw in _fields(tensor, _RAW):
                    yield bytes(name).decode(), raw


def _fields(message: memoryview, wanted: int) -> Iterator[memoryview]:
    """The contents of each field of one number that has a length, in a protobuf message."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind = key & 7
        if kind == 2:
            size, place = _varint(message, place)
            if key >> 3 == wanted:
                yield message[place : place + size]
            place += size
        elif kind == 0:
            _, place = _varint(message, place)
        else:
            place += {1: 8, 5: 4}[kind]


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 127) << shift
        place += 1
        if byte < 128:
            return value, place
        shift += 7
