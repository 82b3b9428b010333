"""The trained weights as the graph the library runs: float32, then dynamic int8.

`graph.py` writes the graph and tells its inputs and outputs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnxruntime as ort
import torch
from safetensors.torch import load_file, save_file

from training.architecture import CLAIM, PASSAGE, Block, Packed, PremiseCachedEncoder
from training.checkpoints import from_weights
from training.graph import PLACES, graph_of, past_names, present_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    Floats = NDArray[np.float32]
    Kept = Sequence[tuple[Floats, Floats]]
    """Keys and values of one window, layer by layer, each (heads, tokens, head size)."""


def write_float32(model: PremiseCachedEncoder, path: Path) -> None:
    """The float32 graph."""
    onnx.save(graph_of(model, int8=False), path)


def write_int8(model: PremiseCachedEncoder, path: Path) -> None:
    """The graph with 8-bit weights, one scale a channel, and dynamically quantised activations.

    The products' weights are stored unsigned around 128: with signed ones, processors without
    8-bit dot products saturate their sums and give other verdicts.
    """
    onnx.save(graph_of(model, int8=True), path)


class Session:
    """The exported graph, one window or one claim a run, as the library runs it."""

    def __init__(self, path: Path, *, threads: int = 1) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        self._session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        inputs = {value.name: value.shape for value in self._session.get_inputs()}
        heads, _, size = inputs[past_names(1, 0)[0][0]]
        self._layers = sum(name.startswith("past_keys_") for name in inputs) // PLACES
        self._nothing = np.zeros((heads, 0, size), np.float32)

    def _run(
        self, outputs: Sequence[str], ids: Sequence[int], segment: int, windows: Sequence[Kept]
    ) -> list[Floats]:
        feed = {"input_ids": np.array(ids, np.int64), "segment": np.array([segment], np.int64)}
        rest = windows[PLACES - 1 :]
        for place in range(PLACES):
            read = rest if place == PLACES - 1 else windows[place : place + 1]
            for layer, names in enumerate(past_names(self._layers, place)):
                for part, name in enumerate(names):
                    feed[name] = np.concatenate([self._nothing, *(kept[layer][part] for kept in read)], 1)
        found: list[Floats] = self._session.run(list(outputs), feed)
        return found

    def encode(self, ids: Sequence[int]) -> Kept:
        """Keys and values of a window given with its special tokens."""
        names = [name for pair in present_names(self._layers) for name in pair]
        found = self._run(names, ids, PASSAGE, ())
        return list(zip(found[::2], found[1::2], strict=True))

    def read(self, ids: Sequence[int], windows: Sequence[Kept]) -> tuple[Floats, Floats]:
        """Logits (3,) and token logits (tokens,) of a claim that reads encoded windows together."""
        logits, token_logits = self._run(("logits", "token_logits"), ids, CLAIM, windows)
        return logits[0], token_logits


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
    ids = [tokenizer.encode(text).ids for text in REFERENCE_WINDOWS]
    windows = [session.encode(row) for row in ids]
    worst = 0.0
    for text in REFERENCE_CLAIMS:
        claim = tokenizer.encode(text).ids
        with torch.inference_mode():
            expected = model.eval()(_packed(ids, claim))[0][0].numpy()
        found, _ = session.read(claim, windows)
        worst = max(worst, float(np.abs(expected - found).max()))
    return worst


def _packed(windows: Sequence[Sequence[int]], claim: Sequence[int]) -> Packed:
    """One claim that reads all windows, as the network takes it."""
    rows = torch.zeros(len(windows), max(map(len, windows)), dtype=torch.int64)
    for row, ids in zip(rows, windows, strict=True):
        row[: len(ids)] = torch.tensor(ids)
    lengths = torch.tensor([len(ids) for ids in windows])
    own = torch.arange(len(claim))
    return Packed(
        window_ids=rows,
        window_mask=torch.arange(rows.shape[1])[None] < lengths[:, None],
        claim_ids=torch.tensor(claim),
        claim_positions=own,
        claim_of=torch.zeros_like(own),
        claim_starts=torch.zeros(1, dtype=torch.int64),
        blocks=[Block(range(1), range(len(windows)))],
    )


def checksums(folder: Path) -> str:
    """SHA-256 of every file of the folder, in the form `sha256sum --check` reads."""
    files = sorted(p for p in folder.iterdir() if p.is_file() and p.name != "sha256sums")
    return "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in files)


def release(weights: Path, tokenizer_file: Path, tokenizer: Tokenizer, folder: Path) -> dict[str, float]:
    """Write graphs, half-precision weights, tokenizer and reference values; sizes and parity.

    Args:
        weights: of the network, by its names.
        tokenizer_file: copied.
        tokenizer: what it holds.
        folder: made if need be.
    """
    folder.mkdir(parents=True, exist_ok=True)
    model = from_weights(load_file(weights))
    float32, int8 = folder / "model.float32.onnx", folder / "model.int8.onnx"
    write_float32(model, float32)
    write_int8(model, int8)
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
    tokenizer = load_tokenizer(options.tokenizer)
    figures = release(options.weights, options.tokenizer, tokenizer, options.folder)
    (options.folder / "sha256sums").write_text(checksums(options.folder))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
