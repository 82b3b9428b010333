"""What a run has changed of a plain checkpoint, small enough to keep: 8-bit differences, row by row.

`python -m training.delta pack BASE WEIGHTS --out DELTA.safetensors` and
`python -m training.delta unpack BASE DELTA --out WEIGHTS.safetensors`

A matrix's row is off by up to half a step of 1/127 of its largest change; vectors and heads are kept in half
precision. Weights that did not change are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from training.checkpoints import own_names

_SCALE = ".scale"


def _named(weights: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    return weights if "word.weight" in weights else own_names(weights)


def pack(base: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The differences of `weights` from a base checkpoint, under this package's names."""
    start = _named(base)
    kept: dict[str, Tensor] = {}
    for name, value in weights.items():
        change = value.float() - start[name].float() if name in start else value.float()
        if not bool(change.any()):
            continue
        if name not in start or change.dim() < 2:
            kept[name] = change.half()
            continue
        scale = change.abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
        kept[name] = torch.round(change / scale).to(torch.int8)
        kept[name + _SCALE] = scale.squeeze(1)
    return kept


def unpack(base: Mapping[str, Tensor], delta: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights again: base and differences together, in float32."""
    found = {name: value.float() for name, value in _named(base).items()}
    for name, change in delta.items():
        if name.endswith(_SCALE):
            continue
        wide = change.float()
        if name + _SCALE in delta:
            wide = wide * delta[name + _SCALE][:, None]
        found[name] = found[name] + wide if name in found else wide
    return {name: value.contiguous() for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("pack", "unpack"))
    parser.add_argument("base", type=Path, help="the plain checkpoint that the run started from")
    parser.add_argument("other", type=Path, help="the run's weights, or the differences")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    work = {"pack": pack, "unpack": unpack}[options.what]
    save_file(work(load_file(options.base), load_file(options.other)), options.out)


if __name__ == "__main__":
    main()
