"""The trained weights as the graph the library runs: float32, then dynamic int8.

Inputs: `input_ids`, `attention_mask`, `segment` (B, T); `past_keys`,
`past_values` (layers, B, heads, P, head size), P may be 0; `past_mask` (B, P).
Outputs: `logits` (B, 3), `token_logits` (B, T), `present_keys` and
`present_values` of this run's tokens, `embedding` (B, hidden).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnxruntime as ort
import torch
import torch.nn.functional as F
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from training.architecture import (
    CLAIM,
    HEAD_DIM,
    HEADS,
    HIDDEN,
    LAYERS,
    MASKED,
    PASSAGE,
    PremiseCachedEncoder,
    load_weights,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

INPUTS = ("input_ids", "attention_mask", "segment", "past_keys", "past_values", "past_mask")
OUTPUTS = ("logits", "token_logits", "present_keys", "present_values", "embedding")
_AXES = {
    "input_ids": {0: "batch", 1: "tokens"},
    "attention_mask": {0: "batch", 1: "tokens"},
    "segment": {0: "batch", 1: "tokens"},
    "past_keys": {1: "batch", 3: "past"},
    "past_values": {1: "batch", 3: "past"},
    "past_mask": {0: "batch", 1: "past"},
    "logits": {0: "batch"},
    "token_logits": {0: "batch", 1: "tokens"},
    "present_keys": {1: "batch", 3: "tokens"},
    "present_values": {1: "batch", 3: "tokens"},
    "embedding": {0: "batch"},
}


class Graph(nn.Module):
    """The network as one function of tokens and an optional past.

    Query, key and value maps are joined into one product a layer: fewer and
    larger matrix products, and one quantization scale for what all three read.
    """

    def __init__(self, model: PremiseCachedEncoder) -> None:
        super().__init__()
        self.model = model
        self.joined = nn.ModuleList()
        for layer in model.layers:
            joined = nn.Linear(HIDDEN, 3 * HIDDEN)
            joined.weight.data = torch.cat([layer.q.weight, layer.k.weight, layer.v.weight])
            joined.bias.data = torch.cat([layer.q.bias, layer.k.bias, layer.v.bias])
            self.joined.append(joined)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        segment: Tensor,
        past_keys: Tensor,
        past_values: Tensor,
        past_mask: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        model = self.model
        batch, tokens = input_ids.shape
        x = model.ln(model.word(input_ids) + model.pos(torch.arange(tokens)) + model.typ(segment))
        seen = torch.cat([past_mask, attention_mask], 1).to(torch.float32)
        bias = (1.0 - seen)[:, None, None, :] * MASKED
        keys, values = [], []
        for i, layer in enumerate(model.layers):
            joined = self.joined[i](x).view(batch, tokens, 3, HEADS, HEAD_DIM).permute(2, 0, 3, 1, 4)
            q, k, v = joined.unbind(0)
            keys.append(k)
            values.append(v)
            k = torch.cat([past_keys[i], k], 2)
            v = torch.cat([past_values[i], v], 2)
            weights = torch.softmax(torch.matmul(q, k.transpose(2, 3)) * HEAD_DIM**-0.5 + bias, -1)
            attended = torch.matmul(weights, v).permute(0, 2, 1, 3).reshape(batch, tokens, HIDDEN)
            x = layer.ln1(x + layer.o(attended))
            x = layer.ln2(x + layer.f2(F.gelu(layer.f1(x))))
        real = attention_mask.to(torch.float32).unsqueeze(-1)
        mean = (x * real).sum(1) / real.sum(1)
        logits = model.head(torch.cat([x[:, 0], mean], -1))
        return logits, model.tok(x).squeeze(-1), torch.stack(keys), torch.stack(values), mean


def write_float32(model: PremiseCachedEncoder, path: Path) -> None:
    """The float32 graph."""
    batch, tokens, past = 2, 7, 5
    ids = torch.randint(1000, 2000, (batch, tokens))
    ones = torch.ones(batch, tokens, dtype=torch.int64)
    kept = torch.randn(LAYERS, batch, HEADS, past, HEAD_DIM)
    example = (ids, ones, ones, kept, kept.clone(), torch.ones(batch, past, dtype=torch.int64))
    with warnings.catch_warnings():
        # The tracing exporter is deprecated, but the newer one writes a graph the quantizer splits badly.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Graph(model.eval()).eval(),
            example,
            str(path),
            input_names=list(INPUTS),
            output_names=list(OUTPUTS),
            dynamic_axes=_AXES,
            opset_version=17,
            dynamo=False,
        )


def write_int8(source: Path, path: Path, *, keep_float: Sequence[str] = ()) -> None:
    """Dynamic int8 weights, one scale a channel; nodes named in `keep_float` stay float32."""
    quantize_dynamic(
        source,
        path,
        weight_type=QuantType.QInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul", "Gemm", "Gather"],
        nodes_to_exclude=list(keep_float),
        extra_options={"MatMulConstBOnly": True},
    )


class Session:
    """The exported graph, one window or one claim a run, as the library runs it."""

    def __init__(self, path: Path, *, threads: int = 1) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        self._session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def _run(
        self, outputs: Sequence[str], ids: Sequence[int], segment: int, past: tuple[NDArray[np.float32], ...]
    ) -> list[NDArray[np.float32]]:
        row = np.array([ids], dtype=np.int64)
        keys, values = past
        feed = {
            "input_ids": row,
            "attention_mask": np.ones_like(row),
            "segment": np.full_like(row, segment),
            "past_keys": keys,
            "past_values": values,
            "past_mask": np.ones((1, keys.shape[3]), dtype=np.int64),
        }
        found: list[NDArray[np.float32]] = self._session.run(list(outputs), feed)
        return found

    def encode(self, ids: Sequence[int]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Keys and values of a window given with its special tokens."""
        nothing = np.zeros((LAYERS, 1, HEADS, 0, HEAD_DIM), dtype=np.float32)
        keys, values = self._run(OUTPUTS[2:4], ids, PASSAGE, (nothing, nothing))
        return keys, values

    def read(
        self, ids: Sequence[int], windows: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Logits (3,) and token logits (tokens,) of a claim that reads encoded windows together."""
        keys = np.concatenate([k for k, _ in windows], 3)
        values = np.concatenate([v for _, v in windows], 3)
        logits, token_logits = self._run(OUTPUTS[:2], ids, CLAIM, (keys, values))
        return logits[0], token_logits[0]


REFERENCE_WINDOWS = (
    "The lighthouse at Carrow Point was first lit in 1874 and rises 41 metres above the rocks.",
    (
        "Ferries to the island run every two hours from April to October. In winter there is one crossing a "
        "day, and none at all when the wind exceeds 35 knots."
    ),
)
REFERENCE_CLAIMS = (
    "The lighthouse has stood since 1874.",
    "The lighthouse is 60 metres tall.",
    "In January you can cross once a day, unless the wind is too strong.",
    "The ferry was built in 1874.",
)


def reference(path: Path, tokenizer: Tokenizer) -> dict[str, object]:
    """Inputs and outputs of the graph for a parity test on another machine."""
    session = Session(path)
    window_ids = [tokenizer.encode(text).ids for text in REFERENCE_WINDOWS]
    windows = [session.encode(ids) for ids in window_ids]

    def rounded(values: NDArray[np.float32]) -> list[float]:
        return [round(float(v), 4) for v in values]

    claims = []
    for text in REFERENCE_CLAIMS:
        ids = tokenizer.encode(text).ids
        logits, marks = session.read(ids, windows)
        single = [rounded(session.read(ids, [w])[0]) for w in windows]
        claims.append(
            {
                "claim": text,
                "claim_ids": ids,
                "single": single,
                "joint": rounded(logits),
                "joint_token_logits": rounded(marks),
            }
        )
    note = (
        f"logits of {path.name}, one row a run, on a processor with int8 dot products; "
        "expect 0.05 absolute elsewhere"
    )
    return {"windows": list(REFERENCE_WINDOWS), "window_ids": window_ids, "claims": claims, "note": note}


def parity(model: PremiseCachedEncoder, path: Path, tokenizer: Tokenizer) -> float:
    """Largest difference of joint logits between the PyTorch network in float32 and a graph."""
    session = Session(path)
    graph = Graph(model.eval()).eval()
    rows = [torch.tensor([tokenizer.encode(text).ids]) for text in REFERENCE_WINDOWS]
    empty = torch.zeros(LAYERS, 1, HEADS, 0, HEAD_DIM)
    worst = 0.0
    with torch.inference_mode():
        none = torch.zeros(1, 0, dtype=torch.int64)
        kept = [graph(r, torch.ones_like(r), torch.zeros_like(r), empty, empty, none)[2:4] for r in rows]
        keys, values = (torch.cat([pair[i] for pair in kept], 3) for i in (0, 1))
        windows = [session.encode(r[0].tolist()) for r in rows]
        for text in REFERENCE_CLAIMS:
            row = torch.tensor([tokenizer.encode(text).ids])
            ones = torch.ones_like(row)
            past_mask = torch.ones(1, keys.shape[3], dtype=torch.int64)
            expected = graph(row, ones, ones, keys, values, past_mask)[0][0].numpy()
            found, _ = session.read(row[0].tolist(), windows)
            worst = max(worst, float(np.abs(expected - found).max()))
    return worst


def checksums(folder: Path) -> str:
    """SHA-256 of every file of the folder, in the form `sha256sum --check` reads."""
    files = sorted(p for p in folder.iterdir() if p.is_file() and p.name != "sha256sums")
    return "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in files)


def release(weights: Path, tokenizer_file: Path, tokenizer: Tokenizer, folder: Path) -> dict[str, float]:
    """Write graphs, half-precision weights, tokenizer and reference values; sizes and parity."""
    folder.mkdir(parents=True, exist_ok=True)
    model = PremiseCachedEncoder()
    load_weights(model, load_file(weights))
    float32, int8 = folder / "model.float32.onnx", folder / "model.int8.onnx"
    write_float32(model, float32)
    write_int8(float32, int8)
    halves = {name: value.half().contiguous() for name, value in model.state_dict().items()}
    save_file(halves, folder / "model.fp16.safetensors")
    (folder / "tokenizer.json").write_bytes(tokenizer_file.read_bytes())
    (folder / "reference.json").write_text(json.dumps(reference(int8, tokenizer), indent=1) + "\n")
    return {
        "float32_parity": round(parity(model, float32, tokenizer), 6),
        "int8_difference": round(parity(model, int8, tokenizer), 4),
        "int8_megabytes": round(int8.stat().st_size / 1e6, 2),
    }


def main() -> None:
    from training.windows import load_tokenizer

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("weights", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tokenizer", type=Path, required=True)
    options = parser.parse_args()
    figures = release(options.weights, options.tokenizer, load_tokenizer(options.tokenizer), options.folder)
    (options.folder / "sha256sums").write_text(checksums(options.folder))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
