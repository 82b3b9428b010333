"""The same network as an ordinary cross-encoder, to see what reading cached windows costs.

Same parameters, inputs, positions and heads.  The one difference: window tokens see the
claim too, so that every (claim, windows) pair has to be computed anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from training.architecture import (
    CLAIM,
    MASKED,
    PASSAGE,
    Layer,
    Packed,
    PremiseCachedEncoder,
    join_heads,
    split_heads,
)
from training.attention import attend

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROW_STEP = 32
"""Rows are padded to a multiple of this, so that few matrix shapes are compiled."""
CHUNK_TOKENS = 4096
"""Padded tokens that run at once."""


class FullAttentionEncoder(PremiseCachedEncoder):
    """Sentence labels and token marks from full attention over claim and windows together."""

    def forward(self, batch: Packed) -> tuple[Tensor, Tensor]:
        """Logits (claims, 3) and token logits (tokens,), as `PremiseCachedEncoder` gives them."""
        lengths = torch.bincount(batch.claim_of, minlength=len(batch.claim_starts)).tolist()
        starts = batch.claim_starts.tolist()
        shown = _windows_of(batch)
        window_sizes = batch.window_mask.sum(1).tolist()
        sizes = [n + sum(window_sizes[w] for w in shown[i]) for i, n in enumerate(lengths)]
        read: list[Tensor] = [torch.empty(0)] * len(lengths)
        for chunk in _chunks(sizes):
            found = self._run([self._row(batch, starts[i], lengths[i], shown[i]) for i in chunk])
            for row, i in zip(found, chunk, strict=True):
                read[i] = row[: lengths[i]]
        return self.judge(torch.cat(read), batch)

    def _row(
        self, batch: Packed, start: int, length: int, windows: Sequence[int]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Token ids, positions and segments: the claim, then its windows."""
        texts = [batch.window_ids[w][batch.window_mask[w]] for w in windows]
        own = slice(start, start + length)
        ids = torch.cat([batch.claim_ids[own], *texts])
        positions = torch.cat([batch.claim_positions[own], *(torch.arange(len(t)) for t in texts)])
        segments = torch.full((len(ids),), PASSAGE)
        segments[:length] = CLAIM
        return ids, positions, segments

    def _run(self, rows: Sequence[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
        """The last layer of padded rows, (rows, width, hidden)."""
        width = -(-max(len(ids) for ids, _, _ in rows) // ROW_STEP) * ROW_STEP
        ids, positions, segments = (torch.zeros(len(rows), width, dtype=torch.long) for _ in range(3))
        bias = torch.full((len(rows), 1, 1, width), MASKED, dtype=self.work_dtype)
        for number, (row_ids, row_positions, row_segments) in enumerate(rows):
            count = len(row_ids)
            ids[number, :count], positions[number, :count] = row_ids, row_positions
            segments[number, :count] = row_segments
            bias[number, ..., :count] = 0
        if self.shape.buckets:
            own = self.position_bias(positions[:, None, :] - positions[:, :, None])
            apart = segments[:, None, :] != segments[:, :, None]
            own = torch.where(apart, self.far_bias()[:, None, None, None], own)
            bias = bias + own.transpose(0, 1).to(self.work_dtype)
        x = self.embed(ids, positions, segments)
        for layer in self.layers:
            assert isinstance(layer, Layer)
            heads = [split_heads(part(x), self.shape.heads) for part in (layer.q, layer.k, layer.v)]
            x = layer.rest(x, join_heads(attend(heads[0], heads[1], heads[2], bias)))
        return x


def _windows_of(batch: Packed) -> list[list[int]]:
    """Numbers of the windows that each claim reads."""
    found: list[list[int]] = []
    for block in batch.blocks:
        for place in range(len(block.claims)):
            shown = [True] * len(block.windows) if block.visible is None else block.visible[place].tolist()
            found.append([w for w, seen in zip(block.windows, shown, strict=True) if seen])
    return found


def _chunks(sizes: Sequence[int]) -> Iterator[list[int]]:
    """Indices of rows of similar size, few enough to run at once."""
    chunk: list[int] = []
    for i in sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True):
        if chunk and (len(chunk) + 1) * (sizes[chunk[0]] + ROW_STEP) > CHUNK_TOKENS:
            yield chunk
            chunk = []
        chunk.append(i)
    if chunk:
        yield chunk
