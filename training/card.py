"""The model card, written from what the run and the measurements left behind."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypedDict

import onnx

from training.export import checksums

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "sv-minilm-premise-cache"


class Set(TypedDict):
    """One line of a run's `manifest.json`."""

    set: str
    group: str
    weight: float
    licence: str
    sha256: str
    contexts: int
    claims: int


INTRODUCTION = """# {name}, version {version}

Do these passages support this claim? A grounding model of {parameters} million parameters for English.
Passages are encoded in windows without the claim; a claim reads their cached keys and values. It was
fine-tuned from {start}, on {tokens:,} tokens.

| file | what it is |
|---|---|
| `model.int8.onnx` | the graph, dynamically quantised to int8, {megabytes} MB |
| `tokenizer.json` | WordPiece, uncased, 30,522 entries |
| `config.json` | name, version, longest window, title and claim |
| `calibration.json` | from scores and signals to P(supported); thresholds; fitted on development data |
| `reference.json` | token ids and logits for the parity test |
| `sha256sums` | SHA-256 of each |

## Intended use

Telling, sentence by sentence, whether an answer in English is backed by the passages it was made from, as
one signal beside deterministic checks and with a person behind decisions that matter. It judges support by
the passages, not truth. Not for other languages, not for judging people, and not as the only guard where a
wrong answer does harm.

## Inputs and outputs

| input | shape | meaning |
|---|---|---|
| `input_ids` | (tokens,) int64 | `[CLS] … [SEP]`; window ≤ 128, claim ≤ 96 |
| `segment` | (1,) int64 | 0 for a window, 1 for a claim |
| `past_keys_L_W`, `past_values_L_W` | ({heads}, past, {size}) float32 | layer L of window W, 0 to 2 |

| output | shape | meaning |
|---|---|---|
| `logits` | (1, 3) | entailment, neutral, contradiction; no row for a window |
| `token_logits` | (tokens,) | sigmoid: probability that the token is unsupported; empty for a window |
| `present_keys_L`, `present_values_L` | ({heads}, tokens, {size}) | of the tokens of this run, in layer L |
| `embedding` | (1, {width}) | mean of the last layer; no row for a window |

Positions count from 0 in every window and in the claim; `past` is 0 for a window. A title stands before each
window of its passage as `title:`, at most 16 tokens. Claims are given without citation markers and markdown.
One window, or one claim, a run: padding and batch-mates change what dynamic int8 computes.
"""


HOW_MEASURED = """Weights before quantization, windows of 118 tokens, at most 20 a case.
*single*: the best of the single passes; *joint*: one pass over all windows; *best*: balanced accuracy at the
threshold that suits the set most, for comparison only. `golden` and `handwritten_dev` are development sets:
models and thresholds were chosen on them. The others were measured once, at the end.
"""
FUSED = """int8, titles read with their windows, claims read in context, deterministic checks beside the
model; cross-validated by case over the golden cases with `training/fuse.py`; *as fitted*: the shipped verdict
on claims that it was not fitted on. By chance these move by about 0.03.

| features | AUROC | balanced accuracy | false alarms / 100 supported | calibration error |
|---|---|---|---|---|
"""
CALIBRATED_HEAD = """
| map, set | AUROC | balanced accuracy | false alarms / 100 supported | missed / 100 others | ECE |
|---|---|---|---|---|---|
"""


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def measured(lines: list[dict[str, float]]) -> str:
    """A table of the sets measured, in the order given."""
    head = (
        "| set | n | AUROC joint | AUROC single | balanced at 0.5 | best | three-way | span F1 |\n"
        "|---|---|---|---|---|---|---|---|\n"
    )
    rows = []
    for line in lines:
        columns = ("auroc_joint", "auroc_single", "balanced_joint_at_half", "balanced_joint_best")
        cells = [_number(line.get(c)) for c in (*columns, "three_way", "span_f1")]
        rows.append(f"| {line['set']} | {int(line['claims'])} | {' | '.join(cells)} |\n")
    return head + "".join(rows)


def trained_on(manifest: list[Set]) -> str:
    """A table of the training sets with licence and hash."""
    rows = [
        f"| {s['set']} | {s['group']} | {s['claims']:,} | {s['weight']:g} | {s['licence']} "
        f"| `{s['sha256'][:12]}` |\n"
        for s in manifest
    ]
    return "| set | group | claims | weight | licence | SHA-256 |\n|---|---|---|---|---|---|\n" + "".join(
        rows
    )


def as_run(figures: Mapping[str, Mapping[str, float]]) -> str:
    """A table of what `fuse.py` wrote, one set of features a line."""
    rows = [
        f"| {name} | {f['auroc']:.3f} | {f['balanced_accuracy']:.3f} | {f['missed_per_100']:.1f} "
        f"| {f['calibration_error']:.3f} |\n"
        for name, f in figures.items()
    ]
    return FUSED + "".join(rows)


def calibrated(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """A table of what `calibrate.py` wrote, one map and set a line."""
    rows = []
    for name, entry in figures.items():
        per_set = {"": entry} if "auroc" in entry else entry
        for key, f in per_set.items():
            if not isinstance(f, dict) or "balanced_accuracy" not in f:
                continue
            cells = (
                f"{f['auroc']:.3f} | {f['balanced_accuracy']:.3f} | {f['false_alarms_per_100_supported']} | "
                f"{f['missed_per_100_others']} | {f['calibration_error']:.3f}"
            )
            rows.append(f"| {name}{', ' if key else ''}{key} | {cells} |\n")
    return CALIBRATED_HEAD.lstrip() + "".join(rows)


class Shape(NamedTuple):
    """Of a graph, as the card tells it."""

    parameters: int
    """In millions."""
    heads: int
    size: int
    """Of a head."""
    width: int

    @classmethod
    def of(cls, path: Path) -> Self:
        """Read off a graph's file."""
        graph = onnx.load(path).graph
        past = next(value for value in graph.input if value.name.startswith("past_keys"))
        heads, _, size = (dimension.dim_value for dimension in past.type.tensor_type.shape.dim)
        weights = sum(math.prod(one.dims) for one in graph.initializer if len(one.dims) > 1)
        return cls(round(weights / 1e6), heads, size, heads * size)


def card(
    *,
    name: str,
    shape: Shape,
    version: str,
    start: str,
    tokens: int,
    megabytes: float,
    lines: list[dict[str, float]],
    library: tuple[str, str],
    manifest: list[Set],
    limits: str,
) -> str:
    """The whole card."""
    introduction = INTRODUCTION.format(
        **shape._asdict(), name=name, version=version, start=start, tokens=tokens, megabytes=megabytes
    )
    unlicensed = ", ".join(s["set"] for s in manifest if s["licence"] == "none stated") or "none"
    return "\n".join(
        [
            introduction,
            *(("## Measured\n", HOW_MEASURED, measured(lines)) if lines else ()),
            f"## {library[0]}\n",
            library[1],
            "## Limits\n",
            limits.strip() + "\n",
            "## Training data\n",
            "What the last run was trained on; for the versions before it, see their cards.",
            f"Sets whose source states no licence: {unlicensed}.\n",
            trained_on(manifest),
        ]
    )


def _lines(figures: Path | None) -> list[dict[str, float]]:
    if figures is None:
        return []
    return [json.loads(line) for line in figures.read_text().splitlines() if line.strip()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folder", type=Path, help="release folder; README.md, config.json and sha256sums go here"
    )
    parser.add_argument("--run", type=Path, required=True, help="training run with manifest.json")
    parser.add_argument(
        "--tokens", type=int, required=True, help="tokens the released weights were trained on"
    )
    parser.add_argument("--figures", type=Path, help="output of training.evaluate")
    parser.add_argument(
        "--limits", type=Path, required=True, help="Markdown: what the model is known to do badly"
    )
    parser.add_argument(
        "--fused", type=Path, help="figures of training.fuse; else those of calibrate are shown"
    )
    parser.add_argument("--version", required=True)
    parser.add_argument("--name", default=NAME)
    parser.add_argument("--start", default="all-MiniLM-L6-v2 (Apache-2.0) through version 0 of this model")
    options = parser.parse_args()
    folder: Path = options.folder
    text = card(
        name=options.name,
        shape=Shape.of(folder / "model.int8.onnx"),
        version=options.version,
        start=options.start,
        tokens=options.tokens,
        megabytes=round((folder / "model.int8.onnx").stat().st_size / 1e6, 1),
        lines=_lines(options.figures),
        library=(
            ("As the library runs it", as_run(json.loads(options.fused.read_text())))
            if options.fused is not None
            else (
                "Calibrated, int8, threshold 0.5",
                calibrated(json.loads((folder / "calibration.figures.json").read_text())),
            )
        ),
        manifest=json.loads((options.run / "manifest.json").read_text()),
        limits=options.limits.read_text(),
    )
    (folder / "README.md").write_text(text)
    config = {
        "kind": "premise-cached-nli",
        "name": options.name,
        "version": options.version,
        "precision": "int8",
        "graph": "model.int8.onnx",
        "window_tokens": 128,
        "title_tokens": 16,
        "claim_tokens": 96,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (folder / "sha256sums").write_text(checksums(folder))


if __name__ == "__main__":
    main()
