"""What one run is told on the command line."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import cast


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one run is told on the command line."""

    run: Path
    data: Path
    mixture: Path
    tokenizer: Path
    weights: Path
    budget: int
    decay: int
    rate: float
    dropout: float
    parts: int
    evaluate_every: int
    checkpoint_seconds: float
    threads: int
    workers: int
    seed: int
    full_attention: bool = False
    own_only: bool = False
    frozen: int = 0
    """Lowest layers that stay as they are, with the embeddings: their backward pass is not computed."""
    layer_decay: float = 1.0
    """Learning rate of a layer beside that of the layer above it."""
    batch: float = 1.0
    """Size of a batch beside the usual one."""
    teachers: tuple[Path, ...] = ()
    """Networks whose mean the student is taught; empty: labels alone."""
    data_part: float = 1.0
    """Share of the contexts of each hand-written set that is used: for a curve over the amount of data."""


def parse_plan(about: str) -> Plan:
    """The plan from the command line, whose help begins with what it is about."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of the run; holds state, logs and the token cache")
    parser.add_argument("--data", type=Path, required=True, help="folder with train/, dev/ and golden/")
    parser.add_argument("--mixture", type=Path, default=Path(__file__).with_name("mixture.toml"))
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True, help="safetensors to start from")
    parser.add_argument("--budget", type=int, default=14_000_000, help="tokens to train on")
    parser.add_argument("--decay", type=int, default=3_000_000, help="last tokens, over which the rate falls")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--dropout", type=float, default=0.05)
    parser.add_argument("--parts", type=int, default=2, help="batches an update is the mean of")
    parser.add_argument("--evaluate-every", type=int, default=750_000, help="tokens between evaluations")
    parser.add_argument("--checkpoint-seconds", type=float, default=300)
    parser.add_argument("--threads", type=int, default=1, help="of each process")
    parser.add_argument("--workers", type=int, default=2, help="processes that average their weights")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--full-attention", action="store_true", help="train a cross-encoder instead")
    parser.add_argument("--own-only", action="store_true", help="show claims their own windows only")
    parser.add_argument("--frozen", type=int, default=0, help="lowest layers that are not trained")
    parser.add_argument("--layer-decay", type=float, default=1.0, help="rate of a layer beside the one above")
    parser.add_argument("--batch", type=float, default=1.0, help="size of a batch beside the usual one")
    parser.add_argument(
        "--teachers", type=Path, nargs="+", default=(), help="safetensors of networks to learn from as well"
    )
    parser.add_argument("--data-part", type=float, default=1.0, help="share of the hand-written contexts")
    told = vars(parser.parse_args())
    told["teachers"] = tuple(told["teachers"])
    return Plan(**cast("dict[str, object]", told))  # type: ignore[arg-type]
