"""The premise-cached encoder: windows are encoded alone, claims read their keys and values.

One set of transformer layers does both jobs.  A window row runs through it
without seeing any claim; a claim runs through it attending to the keys and
values of the windows it is shown and to itself.  In training the claims of a
whole batch are packed into one sequence and a boolean mask says which windows
each of them sees, so that a window is encoded once however many claims and
however many different selections of windows use it.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.attention import attend

if TYPE_CHECKING:
    from collections.abc import Sequence

VOCABULARY = 30_522
POSITIONS = 512
LABELS = ("entailment", "neutral", "contradiction")
PASSAGE, CLAIM = 0, 1
MASKED = -1e4
QUERY_STEP, KEY_STEP = 32, 64

KeyValues = list[tuple[Tensor, Tensor]]


def fastest_dtype() -> torch.dtype:
    """bfloat16 where this machine multiplies faster in it, else float32.

    Measured, since what a processor says of itself does not tell: on an EPYC with AVX-512 BF16 bfloat16 is
    more than twice as fast, on a Xeon that has it too, without AMX, half as fast.
    """
    return min((torch.float32, torch.bfloat16), key=_seconds_of_a_product)


def _seconds_of_a_product(dtype: torch.dtype, *, rows: int = 256, width: int = 768, times: int = 5) -> float:
    """The shortest of a few products of a layer's size, in seconds."""
    left, right = torch.ones(rows, width, dtype=dtype), torch.ones(width, width, dtype=dtype)
    taken = []
    for _ in range(times + 1):  # the first one compiles the kernel
        start = time.perf_counter()
        torch.nn.functional.linear(left, right)
        taken.append(time.perf_counter() - start)
    return min(taken[1:])


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of a network; `shape_of` reads them off a checkpoint."""

    layers: int = 6
    hidden: int = 384
    heads: int = 12
    epsilon: float = 1e-12
    """Of the layer norms."""
    buckets: int = 0
    """Buckets of relative positions whose bias is added to the attention scores; 0: none."""

    @property
    def head_size(self) -> int:
        return self.hidden // self.heads


MINILM_L6 = Shape()
MPNET_BASE = Shape(layers=12, hidden=768, epsilon=1e-5, buckets=32)


@dataclass(frozen=True, slots=True)
class Block:
    """Claims that read from the same few windows.

    Attention is computed block by block, so that a claim does not pay for
    windows of the batch that it is not shown.
    """

    claims: range
    """Indices of the claims, neighbours in the packed order."""
    windows: Sequence[int]
    """Indices of the windows they read."""
    visible: Tensor | None = None
    """(claims, windows), true where the claim reads the window; None: all read all."""


@dataclass(frozen=True, slots=True)
class Packed:
    """One batch as the network reads it: padded window rows and packed claims."""

    window_ids: Tensor
    """(windows, length) token ids, zero where padded."""
    window_mask: Tensor
    """(windows, length), true at real tokens."""
    claim_ids: Tensor
    """(tokens,) the claims one after the other, `[CLS] ... [SEP]` each."""
    claim_positions: Tensor
    """(tokens,) position inside the claim, from 0."""
    claim_of: Tensor
    """(tokens,) index of the claim a token belongs to."""
    claim_starts: Tensor
    """(claims,) index of each claim's first token."""
    blocks: Sequence[Block]
    """What the claims may read; the blocks' claims follow each other and cover all."""


@dataclass(frozen=True, slots=True)
class _BlockPlan:
    """A block in tokens: where its queries start, how many, past keys, window numbers, additive mask."""

    start: int
    queries: int
    past: int
    windows: Sequence[int]
    bias: Tensor
    """(queries rounded up, keys), or one a head."""
    filler: Tensor
    """Masked keys that round the number of keys up."""


class Layer(nn.Module):
    """One post-norm transformer layer with separate query, key and value maps."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        hidden = shape.hidden
        self.q = nn.Linear(hidden, hidden)
        self.k = nn.Linear(hidden, hidden)
        self.v = nn.Linear(hidden, hidden)
        self.o = nn.Linear(hidden, hidden)
        self.ln1 = nn.LayerNorm(hidden, shape.epsilon)
        self.f1 = nn.Linear(hidden, 4 * hidden)
        self.f2 = nn.Linear(4 * hidden, hidden)
        self.ln2 = nn.LayerNorm(hidden, shape.epsilon)

    def rest(self, x: Tensor, attended: Tensor) -> Tensor:
        """The residual stream after attention output and feed-forward block."""
        x = self.ln1(x + self.o(attended))
        return self.ln2(x + self.f2(F.gelu(self.f1(x))))


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(rows, tokens, hidden) to (rows, heads, tokens, head size)."""
    rows, tokens, hidden = x.shape
    return x.view(rows, tokens, heads, hidden // heads).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """The inverse of `split_heads`."""
    rows, heads, tokens, size = x.shape
    return x.transpose(1, 2).reshape(rows, tokens, heads * size)


def position_buckets(distance: Tensor, buckets: int, furthest: int = 128) -> Tensor:
    """Bucket of each distance key minus query, as T5 and MPNet number them.

    Half of the buckets are for keys behind the query.  Of each half, the first half
    holds one distance each, and the rest grow with the logarithm up to `furthest`
    (Raffel et al., 2020, "Exploring the Limits of Transfer Learning", section 2.1).
    """
    half = buckets // 2
    exact = half // 2
    size = distance.abs()
    log = torch.log(size.clamp(min=1).float() / exact) / math.log(furthest / exact) * (half - exact)
    large = (exact + log.long()).clamp(max=half - 1)
    return torch.where(distance > 0, half, 0) + torch.where(size < exact, size, large)


class PremiseCachedEncoder(nn.Module):
    """Sentence labels and token marks for claims that read cached windows.

    Parameter names are those of version 0 of the model, so its weights load.
    """

    def __init__(self, shape: Shape = MINILM_L6, *, dropout: float = 0.0) -> None:
        super().__init__()
        hidden = shape.hidden
        self.shape = shape
        self.word = nn.Embedding(VOCABULARY, hidden)
        self.pos = nn.Embedding(POSITIONS, hidden)
        self.typ = nn.Embedding(2, hidden)
        self.ln = nn.LayerNorm(hidden, shape.epsilon)
        if shape.buckets:
            # Frozen: attention's own backward pass gives its bias no gradient.
            self.relative = nn.Parameter(torch.zeros(shape.buckets, shape.heads), requires_grad=False)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.head = nn.Sequential(nn.Linear(2 * hidden, hidden), nn.GELU(), nn.Linear(hidden, len(LABELS)))
        self.tok = nn.Linear(hidden, 1)
        self.dropout = dropout
        self.work_dtype = torch.float32

    def precision(self) -> torch.autocast:
        """The context its passes run in: products in `work_dtype`, weights in float32."""
        return torch.autocast("cpu", torch.bfloat16, enabled=self.work_dtype is torch.bfloat16)

    def embed(self, ids: Tensor, positions: Tensor, segment: int | Tensor) -> Tensor:
        """Token, position and segment embeddings, normalised; one segment for all tokens, or one each."""
        x: Tensor = self.ln(self.word(ids) + self.pos(positions) + self.typ.weight[segment])
        return F.dropout(x.to(self.work_dtype), self.dropout, self.training)

    def position_bias(self, distance: Tensor) -> Tensor:
        """What is added to the attention scores at each distance key minus query: (heads, *distance)."""
        return self.relative.T[:, position_buckets(distance, self.shape.buckets)]

    def far_bias(self) -> Tensor:
        """What is added where a claim reads a window, which stands far before it: (heads,)."""
        return self.relative[self.shape.buckets // 2 - 1]

    def encode_windows(self, ids: Tensor, mask: Tensor) -> KeyValues:
        """Keys and values of every layer, each (windows, heads, length, head size).

        Rows never see each other.  The last layer's output is not computed: no
        claim reads it.
        """
        x = self.embed(ids, torch.arange(ids.shape[1]), PASSAGE)
        bias = torch.zeros(mask.shape, dtype=self.work_dtype).masked_fill_(~mask, MASKED)[:, None, None, :]
        if self.shape.buckets:
            place = torch.arange(ids.shape[1])
            bias = bias + self.position_bias(place[None, :] - place[:, None]).to(self.work_dtype)
        heads = self.shape.heads
        found: KeyValues = []
        for i, layer in enumerate(self.layers):
            k, v = split_heads(layer.k(x), heads), split_heads(layer.v(x), heads)
            found.append((k, v))
            if i < len(self.layers) - 1:
                q = split_heads(layer.q(x), heads)
                x = layer.rest(x, join_heads(attend(q, k, v, bias)))
        return found

    def read_claims(self, batch: Packed, windows: KeyValues) -> tuple[Tensor, Tensor]:
        """Logits (claims, 3) and token logits (tokens,) of the packed claims."""
        hidden, heads = self.shape.hidden, self.shape.heads
        plans = [self._placed(plan, batch) for plan in plan_blocks(batch, hidden, self.work_dtype)]
        sizes = [plan.queries for plan in plans]
        width = batch.window_ids.shape[1]
        # Real tokens and padding by turns, so that one split gives every window's keys.
        cuts = [n for real in batch.window_mask.sum(1).tolist() for n in (real, width - real)]
        x = self.embed(batch.claim_ids, batch.claim_positions, CLAIM)
        for layer, (k, v) in zip(self.layers, windows, strict=True):
            past_k = k.transpose(1, 2).reshape(-1, hidden).split(cuts)[::2]
            past_v = v.transpose(1, 2).reshape(-1, hidden).split(cuts)[::2]
            parts = zip(*(part(x).split(sizes) for part in (layer.q, layer.k, layer.v)), plans, strict=True)
            attended = [
                _read(
                    q,
                    torch.cat([*(past_k[w] for w in plan.windows), own_k, plan.filler]),
                    torch.cat([*(past_v[w] for w in plan.windows), own_v, plan.filler]),
                    plan.bias,
                    heads,
                )
                for q, own_k, own_v, plan in parts
            ]
            x = layer.rest(x, torch.cat(attended))
        return self.judge(x, batch)

    def _placed(self, plan: _BlockPlan, batch: Packed) -> _BlockPlan:
        """The plan with the bias of relative positions, where the network has one, in its mask."""
        if not self.shape.buckets:
            return plan
        rows, keys = plan.bias.shape
        own = torch.zeros(rows, dtype=torch.long)
        own[: plan.queries] = batch.claim_positions[plan.start : plan.start + plan.queries]
        placed = self.far_bias()[:, None, None].repeat(1, rows, keys)
        placed[:, :, plan.past : plan.past + rows] = self.position_bias(own[None, :] - own[:, None])[
            :, :, : keys - plan.past
        ]
        return replace(plan, bias=plan.bias + placed.to(plan.bias.dtype))

    def judge(self, x: Tensor, batch: Packed) -> tuple[Tensor, Tensor]:
        """Apply both heads to the last layer of the packed claims."""
        claims = len(batch.claim_starts)
        x = x.float()
        sums = torch.zeros(claims, self.shape.hidden).index_add(0, batch.claim_of, x)
        mean = sums / torch.bincount(batch.claim_of, minlength=claims)[:, None]
        pooled = torch.cat([x[batch.claim_starts], mean], -1)
        pooled = F.dropout(pooled, self.dropout, self.training)
        return self.head(pooled), self.tok(x).squeeze(-1)

    def forward(self, batch: Packed) -> tuple[Tensor, Tensor]:
        return self.read_claims(batch, self.encode_windows(batch.window_ids, batch.window_mask))


def _round_up(count: int, step: int) -> int:
    return -(-count // step) * step


def _read(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, heads: int) -> Tensor:
    count = len(q)
    q = F.pad(q, (0, 0, 0, bias.shape[-2] - count))
    attended = attend(*(split_heads(part[None], heads) for part in (q, k, v)), bias)
    return join_heads(attended)[0, :count]


def plan_blocks(batch: Packed, hidden: int, dtype: torch.dtype) -> list[_BlockPlan]:
    """The blocks in tokens, with a mask over (window tokens of the block, claim tokens of the block).

    Padding inside window rows is left out of the keys altogether.
    """
    lengths = batch.window_mask.sum(1)
    counts = torch.bincount(batch.claim_of, minlength=len(batch.claim_starts))
    plans: list[_BlockPlan] = []
    start = 0
    for block in batch.blocks:
        own = counts[block.claims.start : block.claims.stop]
        claim_of = torch.arange(len(block.claims)).repeat_interleave(own)
        spans = lengths[list(block.windows)]
        past, queries = int(spans.sum()), len(claim_of)
        # Matrix kernels are compiled once a shape: rounding keeps the number of shapes small.
        keys = _round_up(past + queries, KEY_STEP)
        bias = torch.zeros(_round_up(queries, QUERY_STEP), keys, dtype=dtype)
        if block.visible is not None:
            window_of = torch.arange(len(block.windows)).repeat_interleave(spans)
            bias[:queries, :past].masked_fill_(~block.visible[claim_of][:, window_of], MASKED)
        bias[:queries, past : past + queries].masked_fill_(claim_of[:, None] != claim_of[None, :], MASKED)
        bias[:, past + queries :] = MASKED
        filler = torch.zeros(keys - past - queries, hidden, dtype=dtype)
        plans.append(_BlockPlan(start, queries, past, block.windows, bias, filler))
        start += queries
    return plans
