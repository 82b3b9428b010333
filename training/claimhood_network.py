"""Tune the reader's network: does a sentence claim anything?

    python -m training.restore streamverify/model/model.int8.onnx --words START --out WEIGHTS.safetensors
    python -m training.claimhood_network WEIGHTS.safetensors --leave varied,more    measured on what is left
    python -m training.claimhood_network WEIGHTS.safetensors                        tuned on all and written

The lower four layers of the embedded model, its words as they are, and on top of them one number: the log
odds that a sentence claims something. Kinds of sentences are learned beside it and thrown away. The rows are
those of `claimhood.py` and of `sets/claimhood_paired.jsonl.gz`; the held-out sets are never read here. Three
passes over them take some two minutes of processor time with bfloat16 products, three to four without.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from streamverify.claims import network
from streamverify.claims.network import LONGEST
from training.architecture import MASKED, Layer, Shape, fastest_dtype, join_heads, split_heads
from training.attention import attend
from training.claimhood import HERE, SETS, Sentence, plain_claims, sentences
from training.graph import OPSETS, Nodes, Writer
from training.windows import load_tokenizer

ALL = SETS | {"paired": HERE / "sets/claimhood_paired.jsonl.gz"}
SHAPE = Shape(layers=4)
PASSES, BATCH, RATE = 3, 32, 8e-5
HEAD_RATE = 5 * RATE
BELOW = 0.9
"""A layer's rate, as a share of that of the layer above."""
DROPOUT = 0.1
OF_KINDS = 0.5
"""What the loss of the kinds weighs."""
WARM_UP, LEAST = 0.06, 0.02
FIRST, LAST = 101, 102
MODEL = Path(network.__file__).parents[1] / "model"


class ClaimNetwork(nn.Module):
    """A few layers over frozen words; parameters are named as in `architecture.py`, whose weights load."""

    def __init__(self, shape: Shape = SHAPE, kinds: int = 1, *, words: int = 30_522) -> None:
        super().__init__()
        self.shape = shape
        self.word = nn.Embedding(words, shape.hidden).requires_grad_(False)
        self.pos = nn.Embedding(512, shape.hidden)
        self.typ = nn.Embedding(2, shape.hidden)
        self.ln = nn.LayerNorm(shape.hidden, shape.epsilon)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.head = nn.Linear(2 * shape.hidden, 1)
        self.kind = nn.Linear(2 * shape.hidden, kinds)

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log odds (rows,) and logits of kinds (rows, kinds)."""
        drop = DROPOUT if self.training else 0.0
        x = self.ln(self.word(ids) + self.pos(torch.arange(ids.shape[1])) + self.typ.weight[1])
        x = F.dropout(x, drop)
        bias = torch.zeros(mask.shape).masked_fill_(~mask, MASKED)[:, None, None, :]
        for layer in self.layers:
            q, k, v = (split_heads(part(x), self.shape.heads) for part in (layer.q, layer.k, layer.v))
            attended = join_heads(attend(q, k, v, bias.to(q.dtype)))
            x = layer.ln1(x + F.dropout(layer.o(attended), drop))
            x = layer.ln2(x + F.dropout(layer.f2(F.gelu(layer.f1(x))), drop))
        x, own = x.float(), mask[..., None].float()
        pooled = F.dropout(torch.cat([x[:, 0], (x * own).sum(1) / own.sum(1)], -1), drop)
        return self.head(pooled).squeeze(-1), self.kind(pooled)


@dataclass(frozen=True)
class Row:
    """A sentence as the network reads it."""

    ids: list[int]
    sentence: Sentence


def rows() -> list[Row]:
    """Every sentence to tune on."""
    tokenizer = load_tokenizer(MODEL / "tokenizer.json")
    found = [*sentences(ALL), *plain_claims()]
    cut = tokenizer.encode_batch([one.text for one in found], add_special_tokens=False)
    return [Row([FIRST, *tokens.ids[:LONGEST], LAST], one) for tokens, one in zip(cut, found, strict=True)]


def padded(rows: Sequence[Row]) -> tuple[Tensor, Tensor]:
    """Ids and what of them is real, each (rows, longest)."""
    ids = torch.zeros(len(rows), -(-max(len(row.ids) for row in rows) // 4) * 4, dtype=torch.int64)
    mask = torch.zeros(ids.shape, dtype=torch.bool)
    for place, row in enumerate(rows):
        ids[place, : len(row.ids)] = torch.tensor(row.ids)
        mask[place, : len(row.ids)] = True
    return ids, mask


def batches(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Without end; the sentences of a batch are about as long as each other."""
    while True:
        order = random.sample(rows, len(rows))
        for start in range(0, len(order), BATCH * 16):
            alike = sorted(order[start : start + BATCH * 16], key=lambda row: len(row.ids))
            parts = [alike[place : place + BATCH] for place in range(0, len(alike), BATCH)]
            yield from random.sample(parts, len(parts))


def tune(model: ClaimNetwork, rows: Sequence[Row], kinds: Sequence[str], *, passes: float = PASSES) -> None:
    """Tune the network in place; the rate rises, then falls to near nothing."""
    groups = []
    for name, value in model.named_parameters():
        if not value.requires_grad:
            continue
        rate = RATE * BELOW**model.shape.layers
        if name.startswith("layers."):
            rate = RATE * BELOW ** (model.shape.layers - 1 - int(name.split(".")[1]))
        elif name.startswith(("head", "kind")):
            rate = HEAD_RATE
        elif name.startswith(("pos", "typ", "ln")):
            rate = 0.0  # they stay as they are, with the words
        decay = 0.01 if value.ndim > 1 else 0.0
        groups.append({"params": [value], "lr": rate, "weight_decay": decay})
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98))
    highest = [group["lr"] for group in optimizer.param_groups]
    steps = int(passes * len(rows) / BATCH)
    half = fastest_dtype() is torch.bfloat16
    model.train()
    for step, batch in zip(range(steps), batches(rows), strict=False):
        share = min(1.0, (step + 1) / (WARM_UP * steps)) * max(LEAST, 1 - step / steps)
        for group, rate in zip(optimizer.param_groups, highest, strict=True):
            group["lr"] = rate * share
        weight = torch.tensor([row.sentence.weight for row in batch])
        wanted = torch.tensor([float(row.sentence.claims) for row in batch])
        kind = torch.tensor([kinds.index(row.sentence.kind) for row in batch])
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            odds, of_kinds = model(*padded(batch))
        loss = F.binary_cross_entropy_with_logits(odds.float(), wanted, reduction="none")
        loss = loss + OF_KINDS * F.cross_entropy(of_kinds.float(), kind, reduction="none")
        optimizer.zero_grad(set_to_none=True)
        (loss * weight).mean().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def log_odds(model: ClaimNetwork, rows: Sequence[Row]) -> np.ndarray:
    """Of each row, in order."""
    model.eval()
    with torch.inference_mode():
        parts = [model(*padded(rows[start : start + 64]))[0] for start in range(0, len(rows), 64)]
    return torch.cat(parts).numpy()


class _ClaimWriter(Writer):
    """The network as a graph that reads `words` (T, hidden) and gives `log_odds` (1,)."""

    def model(self) -> onnx.ModelProto:
        to, shape = Nodes(), self._shape
        x = self._embedded(to)
        for layer in range(shape.layers):
            x = self._rest(to, layer, x, self._attended(to, layer, *self._queries(to, layer, x), None))
        first = to.add("Gather", [x, self._numbers(0)], "first")
        mean = to.add("ReduceMean", [x], "mean", axes=[0], keepdims=1)
        pooled = to.add("Concat", [first, mean], "pooled", axis=1)
        weight = self._hold("head.weight", self._weights["head.weight"].T)
        product = to.add("MatMul", [pooled, weight], "product")
        odds = to.add("Add", [product, self._hold("head.bias", self._weights["head.bias"])], "odds")
        to.add("Reshape", [odds, self._numbers(-1)], "log_odds")
        given = [helper.make_tensor_value_info("words", TensorProto.FLOAT, ["tokens", shape.hidden])]
        found = [helper.make_tensor_value_info("log_odds", TensorProto.FLOAT, [1])]
        graph = helper.make_graph(to.nodes, "claimhood", given, found, list(self._held.values()))
        sets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = helper.make_model(graph, opset_imports=sets, ir_version=8, producer_name="training.claimhood")
        onnx.checker.check_model(model)
        return model

    def _embedded(self, to: Nodes) -> str:
        places = (self._weights["pos.weight"] + self._weights["typ.weight"][1])[: LONGEST + 2]
        size = to.add("Shape", ["words"], "size")
        length = to.add("Gather", [size, self._numbers(0)], "length")
        held = self._hold("places", places)
        own = to.add("Slice", [held, self._numbers(0), length], "own_places")
        return self._norm(to, to.add("Add", ["words", own], "embedded"), "ln")

    def _queries(self, to: Nodes, layer: int, x: str) -> list[str]:
        return self._queries_keys_values(to, layer, x, "qkv")


def graph_of(model: ClaimNetwork, *, int8: bool) -> onnx.ModelProto:
    """The network as a graph, its weights in 8 bits or in float32."""
    return _ClaimWriter(model, int8=int8).model()


def main() -> None:
    """Tune, and measure or write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("weights", type=Path, help="safetensors to start from")
    parser.add_argument("--leave", default="", help="sets to leave out and measure on: nothing is written")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tuned", action="store_true", help="the weights are tuned already: only write")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    random.seed(options.seed)
    left = set(filter(None, options.leave.split(",")))
    everything = rows()
    kinds = sorted({row.sentence.kind for row in everything})
    model = ClaimNetwork(SHAPE, len(kinds))
    start, own = load_file(options.weights), model.state_dict()
    fitting = {name: value.float() for name, value in start.items() if name in own}
    model.load_state_dict({n: v for n, v in fitting.items() if own[n].shape == v.shape}, strict=False)
    if not options.tuned:
        tune(model, [row for row in everything if row.sentence.set not in left], kinds)
    for name in sorted(left):
        of_set = [row for row in everything if row.sentence.set == name]
        claims = np.array([row.sentence.claims for row in of_set])
        found = log_odds(model, of_set) > 0
        lost, judged = (~found)[claims].mean(), found[~claims].mean()
        print(f"{name}: {(found == claims).mean():.3f} right, {lost:.3f} claims lost, {judged:.3f} judged")
    if not left:
        content = graph_of(model, int8=True).SerializeToString(deterministic=True)
        folder = Path(network.__file__).parent
        (folder / network.FILE).write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        (folder / f"{network.FILE}.sha256").write_text(f"{digest}  {network.FILE}\n", encoding="ascii")
        save_file(model.state_dict(), options.weights.with_name("claimhood.safetensors"))
        print(f"{len(content)} bytes, sha256 {digest}")


if __name__ == "__main__":
    main()
