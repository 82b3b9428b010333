"""What a run of the model costs, and what share of it is the 8-bit product at the machine's limit.

    python benchmarks/kernels.py [MODEL_DIR]

CPU time of one thread, the smallest and the median of interleaved runs. The limit is the bare product of the
model's largest matrices, in the sign of weights that the library takes on this processor: what runs of the
same sizes cannot go below on this machine. The product with unsigned weights is shown beside it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

from machine import describe
from streamverify.scorers.graphs.premise_graph import PremiseGraph
from streamverify.scorers.graphs.signed_weights import exact
from streamverify.scorers.model_files import ModelFiles
from streamverify.scorers.protocol import Abort

ROUNDS = 40
WINDOW, CLAIM = 128, 30
_PRODUCTS = 20


def limit(rows: int, hidden: int, wide: int, *, signed: bool) -> Callable[[], float]:
    """A run of bare 8-bit products of `rows` activations; gives its operations."""
    kind, zero = (np.int8, 0) if signed else (np.uint8, 128)
    rng = np.random.default_rng(0)
    nodes, held = [], [numpy_helper.from_array(np.array(120, np.uint8), "zero")]
    for number in range(_PRODUCTS):
        weight = (rng.integers(1, 255, (hidden, wide)) - 128 + zero).astype(kind)
        held.append(numpy_helper.from_array(weight, f"w{number}"))
        held.append(numpy_helper.from_array(np.full(wide, zero, kind), f"z{number}"))
        inputs = ["x", f"w{number}", "zero", f"z{number}"]
        nodes.append(helper.make_node("MatMulInteger", inputs, [f"y{number}"]))
    given = [helper.make_tensor_value_info("x", TensorProto.UINT8, [rows, hidden])]
    found = [
        helper.make_tensor_value_info(f"y{number}", TensorProto.INT32, [rows, wide])
        for number in range(_PRODUCTS)
    ]
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(
        helper.make_graph(nodes, "g", given, found, held), opset_imports=opsets, ir_version=8
    )
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feed = {"x": rng.integers(0, 255, (rows, hidden)).astype(np.uint8)}

    def run() -> float:
        session.run(None, feed)
        return 2.0 * _PRODUCTS * rows * hidden * wide

    return run


def main() -> None:
    """Print the table."""
    files = ModelFiles.open(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    graph = PremiseGraph(files.graph)
    held = onnx.load(files.graph).graph.initializer
    shapes = {value.name: tuple(value.dims) for value in held if value.name.endswith(".weight_quantized")}
    inner = [shape for name, shape in shapes.items() if name.startswith("layers.")]
    hidden, wide = next(shape for name, shape in shapes.items() if name.endswith(".f1.weight_quantized"))
    per_token: float = 2.0 * sum(rows * columns for rows, columns in inner)
    unread: float = 2.0 * (2 * hidden * hidden + 2 * hidden * wide)  # the last layer, but for keys and values
    rng, abort = np.random.default_rng(1), Abort()
    ids = [rng.integers(1000, 20_000, WINDOW).tolist() for _ in range(3)]
    claim = rng.integers(1000, 20_000, CLAIM).tolist()
    windows = [graph.encode(row, abort=abort) for row in ids]

    def encoded() -> float:
        graph.encode(ids[0], abort=abort)
        return (per_token - unread) * WINDOW

    def read(count: int) -> Callable[[], float]:
        def run() -> float:
            graph.read(claim, windows[:count], abort=abort)
            return per_token * CLAIM

        return run

    signed = exact()
    runs = {
        "bare product, 30 rows": limit(CLAIM, hidden, wide, signed=signed),
        "bare product, 128 rows": limit(WINDOW, hidden, wide, signed=signed),
        "30 rows, unsigned weights": limit(CLAIM, hidden, wide, signed=False),
        "128 rows, unsigned weights": limit(WINDOW, hidden, wide, signed=False),
        "window of 128 tokens": encoded,
        "claim of 30 tokens, 1 window": read(1),
        "claim of 30 tokens, 3 windows": read(3),
    }
    took: dict[str, list[float]] = {name: [] for name in runs}
    done: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            start = time.thread_time()
            done[name] = run()
            took[name].append(time.thread_time() - start)
    rate = {name: done[name] / min(times) / 1e9 for name, times in took.items()}
    print(describe())
    print("\n| run | CPU ms, least | median | product GFLOP/s | share of the limit |\n|---|---|---|---|---|")
    for name, times in took.items():
        bar = rate["bare product, 128 rows" if "128" in name else "bare product, 30 rows"]
        figures = f"{min(times) * 1e3:.1f} | {median(times) * 1e3:.1f} | {rate[name]:.0f}"
        print(f"| {name} | {figures} | {rate[name] / bar:.0%} |")


if __name__ == "__main__":
    main()
