"""The plain mean of several checkpoints' weights."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors.torch import load_file, save_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


def average(paths: Sequence[Path]) -> dict[str, Tensor]:
    """Mean of each weight; all checkpoints must have the same ones."""
    loaded = [load_file(path) for path in paths]
    return {name: torch.stack([weights[name].float() for weights in loaded]).mean(0) for name in loaded[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    save_file(average(options.weights), options.out)


if __name__ == "__main__":
    main()
