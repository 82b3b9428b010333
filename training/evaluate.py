"""Scores of labelled claims under a model: joint, single and wrong-passage passes.

* single: the claim reads one window at a time; the best window counts;
* joint: it reads all windows of its passages at once;
* wrong: it reads the passages of another case.  A model that still separates
  supported from other claims there judges their wording, not the evidence.
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors.torch import load_file

from training.architecture import Block, PremiseCachedEncoder, fastest_dtype
from training.batches import TOKEN_STEP, context_windows, pack_claims, window_rows
from training.checkpoints import from_weights
from training.data import LABEL_IDS, Context, Row, load_set, tokenise_claims, tokenise_titles
from training.full_attention import FullAttentionEncoder
from training.metrics import auroc, balanced_accuracy, best_threshold, span_f1
from training.windows import load_tokenizer, sentences, tokenise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from training.metrics import Scores

WINDOW = 118
"""Tokens of an evaluation window without `[CLS]` and `[SEP]`."""
MAX_WINDOWS = 20
GOLDEN_LABELS = {"supported": "entail", "unsupported": "neutral", "contradicted": "contradict"}


@dataclass(frozen=True, slots=True)
class Scored:
    """Probabilities for every claim of a list of contexts, in order."""

    joint: NDArray[np.float64]
    """(claims, 3)."""
    single: NDArray[np.float64]
    """(claims,) largest entailment probability over windows."""
    wrong: NDArray[np.float64]
    """(claims,) entailment probability, joint, with another context's windows."""
    labels: NDArray[np.int64]
    marks: list[NDArray[np.bool_]]
    """Tokens judged unsupported in the joint pass, special tokens left out."""
    gold_marks: list[NDArray[np.bool_] | None]


def load_golden(path: Path, tokenizer: Tokenizer, *, titles: bool = True) -> list[Context]:
    """The golden cases as contexts; sentences that claim nothing are left out.

    Args:
        path: `golden.jsonl`.
        tokenizer: the model's.
        titles: put "title:" before every window of a passage.
    """
    contexts = []
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        rows: list[Row] = []
        for sentence in case["sentences"]:
            if sentence["label"] not in GOLDEN_LABELS:
                continue
            found = [(sentence["text"].find(s), len(s)) for s in sentence["unsupported_spans"]]
            spans = [[start, start + length] for start, length in found if start >= 0]
            label = GOLDEN_LABELS[sentence["label"]]
            rows.append({"claim": sentence["text"], "label": label, "spans": spans})
        texts = [p["text"] for p in case["passages"]]
        passages = [[t for t in tokenise(tokenizer, sentences(text)) if len(t)] for text in texts]
        headed = tokenise_titles(tokenizer, [p["title"] for p in case["passages"]]) if titles else ()
        contexts.append(Context(case["id"], passages, tokenise_claims(tokenizer, rows), headed))
    return contexts


def score(model: PremiseCachedEncoder, contexts: Sequence[Context], *, window: int = WINDOW) -> Scored:
    """Run all three passes over every claim; windows are encoded once a context."""
    model.eval()
    joint, single, wrong, labels = [], [], [], []
    marks: list[NDArray[np.bool_]] = []
    gold: list[NDArray[np.bool_] | None] = []
    cut = [context_windows(context, window)[:MAX_WINDOWS] for context in contexts]
    for i, context in enumerate(contexts):
        own = cut[i]
        other = cut[(i + 1) % len(contexts)][: max(len(own), 2)]
        windows = own + other
        count, claims = len(own), context.claims
        rows, mask = window_rows(windows, step=64)
        shown = [c.ids for c in claims]
        blocks = [
            Block(range(len(claims)), range(count)),
            Block(range(len(claims), 2 * len(claims)), range(count, len(windows))),
        ]
        ids = shown * 2
        if count > 1:
            for w in range(count):
                blocks.append(Block(range(len(ids), len(ids) + len(claims)), [w]))
                ids = ids + shown
        packed = pack_claims(rows, mask, ids, blocks, step=TOKEN_STEP)
        with torch.inference_mode(), model.precision():
            logits, token_logits = model(packed)
        p = torch.softmax(logits[: len(ids)].float(), -1).double().numpy().reshape(-1, len(claims), 3)
        joint.append(p[0])
        wrong.append(p[1, :, 0])
        single.append(p[2:, :, 0].max(0) if count > 1 else p[0, :, 0])
        labels += [c.label for c in claims]
        said = (token_logits.float() > 0).numpy()
        end = 0
        for claim in claims:
            marks.append(said[end + 1 : end + len(claim.ids) - 1])
            gold.append(None if claim.marks is None else claim.marks[1:-1])
            end += len(claim.ids)
    return Scored(
        np.concatenate(joint), np.concatenate(single), np.concatenate(wrong), np.array(labels), marks, gold
    )


def joint_among(
    model: PremiseCachedEncoder, contexts: Sequence[Context], total: int, *, window: int = WINDOW
) -> Scores:
    """Entailment probability of the joint pass among `total` windows, (claims,).

    A context's own windows all stay; windows of the contexts after it fill up.
    """
    cut = [context_windows(context, window) for context in contexts]
    found = []
    for i, context in enumerate(contexts):
        windows = list(cut[i])
        step = 1
        while len(windows) < total and step < len(contexts):
            windows += cut[(i + step) % len(contexts)]
            step += 1
        windows = windows[: max(total, len(cut[i]))]
        rows, mask = window_rows(windows, step=64)
        ids = [c.ids for c in context.claims]
        blocks = [Block(range(len(ids)), range(len(windows)))]
        packed = pack_claims(rows, mask, ids, blocks, step=TOKEN_STEP)
        with torch.inference_mode(), model.precision():
            logits, _ = model(packed)
        found.append(torch.softmax(logits[: len(ids)].float(), -1)[:, 0].double().numpy())
    return np.concatenate(found)


def summary(scored: Scored) -> dict[str, float]:
    """The figures of one set."""
    truth = scored.labels == LABEL_IDS["entail"]
    figures = {
        "claims": float(len(truth)),
        "auroc_joint": auroc(scored.joint[:, 0], truth),
        "auroc_single": auroc(scored.single, truth),
        "auroc_wrong_passage": auroc(scored.wrong, truth),
        "balanced_joint_at_half": balanced_accuracy(scored.joint[:, 0], truth, 0.5),
        "balanced_joint_best": best_threshold(scored.joint[:, 0], truth)[0],
        "balanced_single_best": best_threshold(scored.single, truth)[0],
    }
    if LABEL_IDS["not_entail"] not in scored.labels:
        figures["three_way"] = float((scored.joint.argmax(1) == scored.labels).mean())
    known = [(m, g) for m, g in zip(scored.marks, scored.gold_marks, strict=True) if g is not None]
    if known:
        figures["span_f1"] = span_f1([m for m, _ in known], [g for _, g in known])
    return {name: round(value, 4) for name, value in figures.items()}


def sample_contexts(contexts: Sequence[Context], claims: int, seed: int = 1) -> list[Context]:
    """Whole contexts drawn until there are `claims` claims; the draw depends on the seed alone."""
    order = list(contexts)
    random.Random(seed).shuffle(order)
    taken: list[Context] = []
    count = 0
    for context in order:
        if count >= claims:
            break
        taken.append(replace(context, claims=context.claims[: claims - count]))
        count += len(taken[-1].claims)
    return taken


def load_model(path: Path, *, full_attention: bool = False) -> PremiseCachedEncoder:
    """A model in evaluation mode from a safetensors file."""
    form = FullAttentionEncoder if full_attention else PremiseCachedEncoder
    model = from_weights(load_file(path), form=form)
    model.work_dtype = fastest_dtype()
    return model.eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path)
    parser.add_argument("files", type=Path, nargs="+", help="labelled JSON Lines; golden.jsonl is recognised")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--claims", type=int, default=400, help="sample size a file, 0 for all")
    parser.add_argument("--no-titles", action="store_true", help="golden cases: windows without titles")
    parser.add_argument("--among", type=int, nargs="*", help="joint AUROC with this many windows instead")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--full-attention", action="store_true", help="the weights are a cross-encoder's")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    tokenizer = load_tokenizer(options.tokenizer)
    model = load_model(options.weights, full_attention=options.full_attention)
    for path in options.files:
        if path.name.startswith("golden"):
            contexts = load_golden(path, tokenizer, titles=not options.no_titles)
        else:
            contexts = load_set(path, tokenizer)
        if options.claims:
            contexts = sample_contexts(contexts, options.claims)
        if options.among:
            truth = np.array([c.label == LABEL_IDS["entail"] for x in contexts for c in x.claims])
            figures = {str(n): round(auroc(joint_among(model, contexts, n), truth), 4) for n in options.among}
            print(json.dumps({"set": path.name.split(".")[0], "auroc_joint_among": figures}), flush=True)
            continue
        print(json.dumps({"set": path.name.split(".")[0], **summary(score(model, contexts))}), flush=True)


if __name__ == "__main__":
    main()
