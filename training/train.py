"""Train, resumably: `python -m training.train RUN --data DIR --weights START ...`.

The schedule counts tokens, not seconds, so a run may be stopped, paused
(SIGSTOP) or slowed down at will.  The learning rate warms up, stays constant,
and falls to zero over the last tokens.  Files in the run folder steer it:

* `sets/`         sets made for this run (synthetic claims), looked up before the recipe's own `sets/`
                  and the data folder;
* `pid`           the processes, for pausing them;
* `decay`         write a number of tokens into it: the fall begins now and takes so many;
* `stop`          the run saves its state and ends;
* `state.pt`      everything needed to go on; `ema.safetensors` the averaged weights;
* `log.jsonl`     losses and development figures; `best.safetensors` the best averaged weights by them.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from training.architecture import PremiseCachedEncoder, fastest_dtype
from training.batches import OWN_ONLY, Batch, GroupSampler
from training.checkpoints import from_weights
from training.data import (
    Context,
    Group,
    fingerprint,
    load_cached,
    load_set,
    read_mixture,
    read_shares,
    read_taught,
)
from training.evaluate import load_golden, sample_contexts, score, summary
from training.full_attention import FullAttentionEncoder
from training.losses import batch_losses
from training.parallel import MEET_EVERY, Crew, run_crew
from training.plan import Plan, parse_plan
from training.teachers import Teachers
from training.windows import load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tokenizers import Tokenizer
    from torch import Tensor

HELD_OUT = "wanli_part"
"""Sentence-pair set of which some contexts, spread over the whole, are kept for development."""
HELD_OUT_CONTEXTS = 30


@dataclass(slots=True)
class Progress:
    """Where a run is; saved with the weights."""

    step: int = 0
    tokens: int = 0
    decay_from: int = -1
    decay_over: int = 1
    resumed: int = 0
    best: float = 0.0


class Average:
    """Exponential average of the weights, quick to forget at the start."""

    def __init__(self, weights: Mapping[str, Tensor], limit: float = 0.997) -> None:
        self.weights = {name: value.detach().clone() for name, value in weights.items()}
        self._limit = limit

    def update(self, weights: Mapping[str, Tensor], step: int) -> None:
        keep = min(self._limit, (1 + step) / (10 + step))
        for name, value in self.weights.items():
            if name == "word.weight":  # frozen
                continue
            value.lerp_(weights[name].detach(), 1 - keep)


def rate_factor(progress: Progress, warm_up: int = 60_000) -> float:
    """Share of the full learning rate at this point of the run."""
    rise = min(1.0, (progress.tokens + 1) / warm_up)
    if progress.decay_from < 0:
        return rise
    gone = (progress.tokens - progress.decay_from) / progress.decay_over
    return rise * max(0.02, 1.0 - gone)


def load_groups(
    plan: Plan, tokenizer: Tokenizer
) -> tuple[dict[Group, list[tuple[float, list[Context]]]], list[Context]]:
    """Contexts of every group with their weights, and the held-out sentence pairs."""
    groups: dict[Group, list[tuple[float, list[Context]]]] = {}
    held_out: list[Context] = []
    manifest = []
    shares = read_shares(plan.mixture)
    for spec in read_mixture(plan.mixture):
        if not shares.get(spec.group, 0) or not spec.weight:
            continue
        folders = (plan.run / "sets", Path(__file__).with_name("sets"), plan.data / "train")
        path = next(p for f in folders if (p := f / f"{spec.name}.jsonl.gz").exists() or f == folders[-1])
        contexts = load_cached(path, tokenizer, plan.run / "cache")
        if spec.name == HELD_OUT:
            contexts, held_out = held_apart(contexts, HELD_OUT_CONTEXTS)
        if spec.group == "hand":
            contexts = some_of(contexts, plan.data_part)
        groups.setdefault(spec.group, []).append((spec.weight, contexts))
        manifest.append(
            {
                "set": spec.name,
                "group": spec.group,
                "weight": spec.weight,
                "licence": spec.licence,
                "sha256": fingerprint(path),
                "contexts": len(contexts),
                "claims": sum(len(c.claims) for c in contexts),
            }
        )
    (plan.run / "manifest.json").write_text(json.dumps(manifest, indent=1))
    return groups, held_out


def held_apart(contexts: list[Context], count: int) -> tuple[list[Context], list[Context]]:
    """The contexts without some of them, and these: at equal distances, so of all labels in a sorted set."""
    places = range(0, len(contexts), max(len(contexts) // count, 1))[:count]
    return [c for i, c in enumerate(contexts) if i not in places], [contexts[i] for i in places]


def some_of(contexts: list[Context], part: float) -> list[Context]:
    """A share of the contexts; a larger share holds all of a smaller one."""
    order = np.random.default_rng(0).permutation(len(contexts))
    return [contexts[i] for i in sorted(order[: round(part * len(contexts))])]


def mixed(
    samplers: Mapping[Group, Iterator[Batch]], shares: Mapping[Group, float], seed: int
) -> Iterator[tuple[Group, Batch]]:
    """Batches of the groups in random order, by their shares of all tokens."""
    rng = np.random.default_rng(seed)
    names = [name for name in samplers if shares.get(name, 0) > 0]
    used = dict.fromkeys(names, 1.0)
    while True:
        # The group furthest behind its share goes next; jitter keeps steps varied.
        behind = {n: used[n] / shares[n] * rng.uniform(0.9, 1.1) for n in names}
        name = min(behind, key=behind.__getitem__)
        batch = next(samplers[name])
        used[name] += batch.tokens
        yield name, batch


def development(
    model: PremiseCachedEncoder, sets: Mapping[str, Sequence[Context]]
) -> tuple[dict[str, dict[str, float]], float]:
    """Figures of the development sets and the number models are chosen by.

    The mean of the golden cases (joint and single passes) and of the held-out
    hand-written claims (joint), less what claim wording alone explains above 0.58.
    """
    figures = {name: summary(score(model, contexts)) for name, contexts in sets.items()}
    golden, hand = figures["golden"], figures["handwritten_dev"]
    wording = max(0.0, hand["auroc_wrong_passage"] - 0.58)
    mean = (golden["auroc_joint"] + golden["auroc_single"]) / 4 + hand["auroc_joint"] / 2
    return figures, mean - wording / 2


def trained_groups(model: PremiseCachedEncoder, decay: float) -> list[dict[str, object]]:
    """Trained weights with their `part` of the learning rate, which falls by `decay` with each layer down.

    What the lowest layers have learnt is the most general (Howard and Ruder, 2018, "Universal Language Model
    Fine-tuning for Text Classification"). Places and the first norm count as the layer below the first;
    segments, which a published checkpoint may lack, have the full rate, as the heads do.
    """
    count = len(model.layers)
    groups: dict[int, list[Tensor]] = {}
    for name, weights in model.named_parameters():
        if not weights.requires_grad:
            continue
        if name.startswith("layers."):
            depth = count - 1 - int(name.split(".")[1])
        else:
            depth = count if name.startswith(("pos.", "ln.")) else 0
        groups.setdefault(depth, []).append(weights)
    return [{"params": groups[depth], "part": decay**depth} for depth in sorted(groups)]


class Run:
    """One training run in its folder."""

    def __init__(self, plan: Plan, crew: Crew | None = None) -> None:
        self.plan = plan
        self.crew = crew or Crew()
        self.met_at = 0
        """Tokens of all processes when they last met."""
        plan.run.mkdir(parents=True, exist_ok=True)
        self.progress = Progress()
        self.form = FullAttentionEncoder if plan.full_attention else PremiseCachedEncoder
        self.model = from_weights(load_file(plan.weights), dropout=plan.dropout, form=self.form)
        self.model.work_dtype = fastest_dtype()
        # Word vectors stay as they are: half the parameters, and rare words would drift apart.
        self.model.word.weight.requires_grad_(False)
        if plan.frozen:
            lowest = [self.model.pos, self.model.typ, self.model.ln, *self.model.layers[: plan.frozen]]
            for part in lowest:
                part.requires_grad_(False)
        self.optimizer = torch.optim.AdamW(
            trained_groups(self.model, plan.layer_decay),
            lr=plan.rate,
            # An update is small, so its squares are averaged over more of them.
            betas=(0.9, 0.995),
            weight_decay=0.01,
            fused=True,
        )
        self.average = Average(self.model.state_dict())
        self.teachers = Teachers.load(plan.teachers) if plan.teachers else None
        self.taught = read_taught(plan.mixture) if plan.teachers else {}
        self._resume()

    def _resume(self) -> None:
        path = self.plan.run / "state.pt"
        if not path.exists():
            return
        state = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.average.weights = state["average"]
        self.progress = Progress(**state["progress"])
        self.progress.resumed += 1
        self.met_at = self.progress.tokens

    def save(self) -> None:
        """Write state and averaged weights, each complete or not at all."""
        run = self.plan.run
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "average": self.average.weights,
            "progress": {name: getattr(self.progress, name) for name in Progress.__slots__},
        }
        torch.save(state, run / "state.part")
        (run / "state.part").replace(run / "state.pt")
        save_file(self.average.weights, run / "ema.part")
        (run / "ema.part").replace(run / "ema.safetensors")

    def log(self, entry: Mapping[str, object]) -> None:
        with (self.plan.run / "log.jsonl").open("a") as file:
            file.write(
                json.dumps({"step": self.progress.step, "tokens": self.progress.tokens, **entry}) + "\n"
            )

    def step(self, batches: Sequence[tuple[Group, Batch]]) -> dict[str, float]:
        """One update from several batches; the parts' mean losses by group."""
        factor = rate_factor(self.progress)
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.rate * factor * group["part"]
        self.model.train()
        parts: dict[str, list[float]] = {}
        for name, batch in batches:
            with self.model.precision():
                logits, token_logits = self.model(batch.packed)
            share = self.taught.get(name, 0.0)
            said = self.teachers.say(batch.packed) if self.teachers and share else None
            losses = batch_losses(logits, token_logits, batch, said, share)
            (losses.total / len(batches)).backward()  # type: ignore[no-untyped-call]
            parts.setdefault(name, []).append(losses.sentence)
            found = {f"{name} order": losses.order, "token": losses.token, f"{name} taught": losses.taught}
            for part, value in found.items():
                if value is not None:
                    parts.setdefault(part, []).append(value)
            self.progress.tokens += batch.tokens
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.progress.step += 1
        self.average.update(self.model.state_dict(), self.progress.step)
        return {name: float(np.mean(values)) for name, values in parts.items()}

    def evaluate(self, sets: Mapping[str, Sequence[Context]]) -> None:
        """Log development figures of the averaged weights; keep them if they are the best."""
        model = from_weights(self.average.weights, form=self.form)
        model.work_dtype = fastest_dtype()
        figures, chosen = development(model, sets)
        self.log({"development": figures, "chosen_by": round(chosen, 4)})
        if chosen > self.progress.best:
            self.progress.best = chosen
            save_file(self.average.weights, self.plan.run / "best.safetensors")

    def meet(self) -> None:
        """Average the weights with the other processes, and count the tokens of all."""
        self.crew.average(p for p in self.model.parameters() if p.requires_grad)
        self.progress.tokens = self.met_at + self.crew.total(self.progress.tokens - self.met_at)
        self.met_at = self.progress.tokens

    def steer(self) -> bool:
        """Read the steering files; false when the run is to end. Only where all processes meet."""
        run, progress = self.plan.run, self.progress
        told = int((run / "decay").read_text()) if (run / "decay").exists() else 0
        told = self.crew.told(told)
        if told and progress.decay_from < 0:
            progress.decay_from, progress.decay_over = progress.tokens, told
        if progress.decay_from < 0 and progress.tokens >= self.plan.budget - self.plan.decay:
            progress.decay_from, progress.decay_over = progress.tokens, self.plan.decay
        ended = progress.decay_from >= 0 and progress.tokens >= progress.decay_from + progress.decay_over
        return not self.crew.told(int(ended or (run / "stop").exists()))


def train(plan: Plan, crew: Crew | None = None) -> Run:
    """Run until the budget is used or the run is told to stop."""
    crew = crew or Crew()
    torch.set_num_threads(plan.threads)
    run = Run(plan, crew)
    seed = plan.seed + 1000 * run.progress.resumed + 100_000 * crew.rank
    torch.manual_seed(seed)
    tokenizer = load_tokenizer(plan.tokenizer)
    if not crew.leads:
        crew.told(0)  # the first process fills the token cache
    groups, held_out = load_groups(plan, tokenizer)
    if crew.leads:
        crew.told(0)
    sets = development_sets(plan, tokenizer, held_out) if crew.leads else {}
    views = OWN_ONLY if plan.own_only else None
    samplers = {
        name: iter(GroupSampler(name, members, seed, views, scale=plan.batch))
        for name, members in groups.items()
    }
    stream = mixed(samplers, read_shares(plan.mixture), seed)
    next_evaluation = run.progress.tokens + plan.evaluate_every
    saved = logged = time.monotonic()
    window: dict[str, list[float]] = {}
    seen = run.progress.tokens
    while run.steer():
        if crew.leads and run.progress.tokens >= next_evaluation:
            run.evaluate(sets)
            next_evaluation = run.progress.tokens + plan.evaluate_every
        for _ in range(MEET_EVERY):
            for name, value in run.step([next(stream) for _ in range(plan.parts)]).items():
                window.setdefault(name, []).append(value)
        run.meet()
        if not crew.leads:
            continue
        now = time.monotonic()
        means = {name: round(float(np.mean(values)), 4) for name, values in window.items()}
        speed = round((run.progress.tokens - seen) / (now - logged))
        run.log({"losses": means, "tokens_per_second": speed, "rate": round(rate_factor(run.progress), 3)})
        window, logged, seen = {}, now, run.progress.tokens
        if now - saved > plan.checkpoint_seconds:
            run.save()
            saved = now
    if crew.leads:
        run.save()  # what was trained, before minutes of measuring; then what was measured
        run.evaluate(sets)
        run.save()
    return run


def development_sets(
    plan: Plan, tokenizer: Tokenizer, held_out: Sequence[Context]
) -> dict[str, Sequence[Context]]:
    """What models are chosen by: golden cases, held-out hand-written claims, held-out pairs."""
    hand = load_set(plan.data / "dev" / "handwritten_dev.jsonl.gz", tokenizer)
    sets: dict[str, Sequence[Context]] = {
        "golden": load_golden(plan.data / "golden" / "golden.jsonl", tokenizer),
        "handwritten_dev": sample_contexts(hand, 330),
    }
    if held_out:
        sets["pairs"] = held_out
    return sets


def train_in_crew(plan: Plan, crew: Crew) -> None:
    """What one of several processes does."""
    with (plan.run / "pid").open("a") as file:
        file.write(f"{os.getpid()}\n")
    train(plan, crew)


def main() -> None:
    """Train in as many processes as asked for."""
    plan = parse_plan(__doc__ or "")
    plan.run.mkdir(parents=True, exist_ok=True)
    (plan.run / "pid").unlink(missing_ok=True)
    run_crew(partial(train_in_crew, plan), plan.workers, plan.run)
    (plan.run / "pid").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
