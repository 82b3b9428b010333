"""The premise-cached encoder: windows are encoded alone, claims read their keys and values.

One set of six transformer layers does both jobs.  A window row runs through it
without seeing any claim; a claim runs through it attending to the keys and
values of the windows it is shown and to itself.  In training the claims of a
whole batch are packed into one sequence and a boolean mask says which windows
each of them sees, so that a window is encoded once however many claims and
however many different selections of windows use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.attention import attend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HIDDEN = 384
HEADS = 12
LAYERS = 6
HEAD_DIM = HIDDEN // HEADS
VOCABULARY = 30_522
POSITIONS = 512
LABELS = ("entailment", "neutral", "contradiction")
PASSAGE, CLAIM = 0, 1
MASKED = -1e4
QUERY_STEP, KEY_STEP = 32, 64

KeyValues = list[tuple[Tensor, Tensor]]


def fastest_dtype() -> torch.dtype:
    """bfloat16 where the CPU multiplies in it; where it only converts, float32 is twice as fast."""
    known = torch.cpu.get_capabilities()
    return torch.bfloat16 if known["amx_bf16"] or known["avx512_bf16"] else torch.float32


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
    """A block in tokens: query count, window numbers, additive mask."""

    queries: int
    windows: Sequence[int]
    bias: Tensor
    filler: Tensor
    """Masked keys that round the number of keys up."""


class Layer(nn.Module):
    """One post-norm transformer layer with separate query, key and value maps."""

    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(HIDDEN, HIDDEN)
        self.k = nn.Linear(HIDDEN, HIDDEN)
        self.v = nn.Linear(HIDDEN, HIDDEN)
        self.o = nn.Linear(HIDDEN, HIDDEN)
        self.ln1 = nn.LayerNorm(HIDDEN, 1e-12)
        self.f1 = nn.Linear(HIDDEN, 4 * HIDDEN)
        self.f2 = nn.Linear(4 * HIDDEN, HIDDEN)
        self.ln2 = nn.LayerNorm(HIDDEN, 1e-12)

    def rest(self, x: Tensor, attended: Tensor) -> Tensor:
        """The residual stream after attention output and feed-forward block."""
        x = self.ln1(x + self.o(attended))
        return self.ln2(x + self.f2(F.gelu(self.f1(x))))


def split_heads(x: Tensor) -> Tensor:
    """(rows, tokens, hidden) to (rows, heads, tokens, head size)."""
    rows, tokens, _ = x.shape
    return x.view(rows, tokens, HEADS, HEAD_DIM).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """The inverse of `split_heads`."""
    rows, _, tokens, _ = x.shape
    return x.transpose(1, 2).reshape(rows, tokens, HIDDEN)


class PremiseCachedEncoder(nn.Module):
    """Sentence labels and token marks for claims that read cached windows.

    Parameter names are those of version 0 of the model, so its weights load.
    """

    def __init__(self, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.word = nn.Embedding(VOCABULARY, HIDDEN)
        self.pos = nn.Embedding(POSITIONS, HIDDEN)
        self.typ = nn.Embedding(2, HIDDEN)
        self.ln = nn.LayerNorm(HIDDEN, 1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Sequential(nn.Linear(2 * HIDDEN, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, len(LABELS)))
        self.tok = nn.Linear(HIDDEN, 1)
        self.dropout = dropout
        self.work_dtype = torch.float32

    def precision(self) -> torch.autocast:
        """The context its passes run in: products in `work_dtype`, weights in float32."""
        return torch.autocast("cpu", torch.bfloat16, enabled=self.work_dtype is torch.bfloat16)

    def embed(self, ids: Tensor, positions: Tensor, segment: int | Tensor) -> Tensor:
        """Token, position and segment embeddings, normalised; one segment for all tokens, or one each."""
        x: Tensor = self.ln(self.word(ids) + self.pos(positions) + self.typ.weight[segment])
        return F.dropout(x.to(self.work_dtype), self.dropout, self.training)

    def encode_windows(self, ids: Tensor, mask: Tensor) -> KeyValues:
        """Keys and values of every layer, each (windows, heads, length, head size).

        Rows never see each other.  The last layer's output is not computed: no
        claim reads it.
        """
        x = self.embed(ids, torch.arange(ids.shape[1]), PASSAGE)
        bias = torch.zeros(mask.shape, dtype=self.work_dtype).masked_fill_(~mask, MASKED)[:, None, None, :]
        found: KeyValues = []
        for i, layer in enumerate(self.layers):
            k, v = split_heads(layer.k(x)), split_heads(layer.v(x))
            found.append((k, v))
            if i < LAYERS - 1:
                q = split_heads(layer.q(x))
                x = layer.rest(x, join_heads(attend(q, k, v, bias)))
        return found

    def read_claims(self, batch: Packed, windows: KeyValues) -> tuple[Tensor, Tensor]:
        """Logits (claims, 3) and token logits (tokens,) of the packed claims."""
        plans = plan_blocks(batch, self.work_dtype)
        sizes = [plan.queries for plan in plans]
        width = batch.window_ids.shape[1]
        # Real tokens and padding by turns, so that one split gives every window's keys.
        cuts = [n for real in batch.window_mask.sum(1).tolist() for n in (real, width - real)]
        x = self.embed(batch.claim_ids, batch.claim_positions, CLAIM)
        for layer, (k, v) in zip(self.layers, windows, strict=True):
            past_k = k.transpose(1, 2).reshape(-1, HIDDEN).split(cuts)[::2]
            past_v = v.transpose(1, 2).reshape(-1, HIDDEN).split(cuts)[::2]
            parts = zip(*(part(x).split(sizes) for part in (layer.q, layer.k, layer.v)), plans, strict=True)
            attended = [
                _read(
                    q,
                    torch.cat([*(past_k[w] for w in plan.windows), own_k, plan.filler]),
                    torch.cat([*(past_v[w] for w in plan.windows), own_v, plan.filler]),
                    plan.bias,
                )
                for q, own_k, own_v, plan in parts
            ]
            x = layer.rest(x, torch.cat(attended))
        return self.judge(x, batch)

    def judge(self, x: Tensor, batch: Packed) -> tuple[Tensor, Tensor]:
        """Apply both heads to the last layer of the packed claims."""
        claims = len(batch.claim_starts)
        x = x.float()
        sums = torch.zeros(claims, HIDDEN).index_add(0, batch.claim_of, x)
        mean = sums / torch.bincount(batch.claim_of, minlength=claims)[:, None]
        pooled = torch.cat([x[batch.claim_starts], mean], -1)
        pooled = F.dropout(pooled, self.dropout, self.training)
        return self.head(pooled), self.tok(x).squeeze(-1)

    def forward(self, batch: Packed) -> tuple[Tensor, Tensor]:
        return self.read_claims(batch, self.encode_windows(batch.window_ids, batch.window_mask))


def _round_up(count: int, step: int) -> int:
    return -(-count // step) * step


def _read(q: Tensor, k: Tensor, v: Tensor, bias: Tensor) -> Tensor:
    count = len(q)
    q = F.pad(q, (0, 0, 0, len(bias) - count))
    heads = attend(split_heads(q[None]), split_heads(k[None]), split_heads(v[None]), bias)
    return join_heads(heads)[0, :count]


def plan_blocks(batch: Packed, dtype: torch.dtype) -> list[_BlockPlan]:
    """The blocks in tokens, with a mask over (window tokens of the block, claim tokens of the block).

    Padding inside window rows is left out of the keys altogether.
    """
    lengths = batch.window_mask.sum(1)
    counts = torch.bincount(batch.claim_of, minlength=len(batch.claim_starts))
    plans: list[_BlockPlan] = []
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
        filler = torch.zeros(keys - past - queries, HIDDEN, dtype=dtype)
        plans.append(_BlockPlan(queries, block.windows, bias, filler))
    return plans


_PARTS = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "o",
    "attention.output.LayerNorm": "ln1",
    "intermediate.dense": "f1",
    "output.dense": "f2",
    "output.LayerNorm": "ln2",
}
_EMBEDDINGS = {
    "word_embeddings": "word",
    "position_embeddings": "pos",
    "token_type_embeddings": "typ",
    "LayerNorm": "ln",
}


def from_bert_names(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights of a Hugging Face BERT checkpoint under this module's names.

    The pooler and other parts this network has no use for are left out.
    """
    renamed: dict[str, Tensor] = {}
    for name, value in weights.items():
        key = name.removeprefix("0.auto_model.").removeprefix("bert.")
        if key.startswith("embeddings."):
            part, _, leaf = key.removeprefix("embeddings.").rpartition(".")
            if part in _EMBEDDINGS:
                renamed[f"{_EMBEDDINGS[part]}.{leaf}"] = value
        elif key.startswith("encoder.layer."):
            number, _, tail = key.removeprefix("encoder.layer.").partition(".")
            part, _, leaf = tail.rpartition(".")
            renamed[f"layers.{number}.{_PARTS[part]}.{leaf}"] = value
    return renamed


def load_weights(model: PremiseCachedEncoder, weights: Mapping[str, Tensor]) -> None:
    """Load version 0 weights or a plain BERT checkpoint; heads may be missing from the latter.

    Raises:
        ValueError: a weight other than the two heads is missing. Operator.
    """
    own = weights if "word.weight" in weights else from_bert_names(weights)
    result = model.load_state_dict({name: value.float() for name, value in own.items()}, strict=False)
    absent = [name for name in result.missing_keys if not name.startswith(("head.", "tok."))]
    if absent:
        raise ValueError(f"checkpoint lacks {', '.join(absent[:5])}: not a MiniLM-L6 or version 0 checkpoint")
