"""Which windows deserve a run of the model: those that share rare tokens with the claim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


class LexicalIndex:
    """Windows by the tokens they hold; building and asking are linear in the tokens."""

    def __init__(self, windows: Iterable[Sequence[int]]) -> None:
        """Index token ids, one sequence a window."""
        distinct = [np.unique(np.asarray(ids, np.int64)) for ids in windows]
        self.size = len(distinct)
        owners = np.repeat(np.arange(self.size), [len(ids) for ids in distinct])
        tokens = np.concatenate(distinct) if distinct else np.empty(0, np.int64)
        order = np.argsort(tokens, kind="stable")
        self._tokens, self._owners = tokens[order], owners[order]

    def weights(self, claim: Iterable[int]) -> NDArray[np.float64]:
        """For each window the sum over shared distinct tokens of log(1 + windows / windows that hold it)."""
        wanted = np.unique(np.fromiter(claim, np.int64))
        starts = np.searchsorted(self._tokens, wanted, "left")
        ends = np.searchsorted(self._tokens, wanted, "right")
        weights = np.zeros(self.size)
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            if end > start:
                weights[self._owners[start:end]] += np.log1p(self.size / (end - start))
        return weights

    def best(self, claim: Iterable[int], count: int) -> list[int]:
        """The `count` windows that share most with the claim, best first, earlier ones first where equal."""
        if self.size <= count:
            return list(range(self.size))
        ranked: list[int] = np.argsort(-self.weights(claim), kind="stable")[:count].tolist()
        return ranked
