"""Batches: a few contexts, their claims, and what each claim is shown.

A claim appears in several *views* of one batch:

* own: it reads the windows of its own passages;
* joint: it reads those and windows of other passages of the batch, so that the
  pass over many windows is what is trained;
* wrong: it reads other passages only, and is then not supported, whatever its
  wording suggests.

Contexts of one source are kept together, so that some of the other passages
are about similar things.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from training.architecture import Block, Packed
from training.data import ENTAIL, NOT_ENTAIL, Claim, Context
from training.windows import CLS, MAX_WINDOW, SEP, pack_windows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from training.data import Group
    from training.windows import Tokens

TOKEN_STEP = 64
"""Claim tokens of a batch are rounded up to a multiple of this."""
SHARED_BLOCK_TOKENS = 130
"""Claim tokens of one-window contexts that share an attention block."""
NO_TITLE = np.empty(0, dtype=np.uint16)
MAX_CLAIMS = 10
"""Claims of one context in one batch; the others wait for a later epoch."""


@dataclass(frozen=True, slots=True)
class Views:
    """How often a claim is shown in each way."""

    own: float
    """Probability of the own view; a claim with no other view always gets it."""
    joint: float
    wrong_supported: float
    """Probability that a supported claim is also shown the wrong passages."""
    wrong_other: float
    """The same for other claims."""
    window_tokens: int
    """Window tokens to fill a batch with."""
    sizes: tuple[int, ...]
    """Window sizes to draw from."""


VIEWS: dict[Group, Views] = {
    "hand": Views(0.35, 0.85, 0.45, 0.1, 1600, (46, 62, 78, 94, 118, 118, 126)),
    "synthetic": Views(0.6, 0.55, 0.1, 0.02, 900, (46, 62, 94, 118, 126)),
    "ground": Views(0.4, 0.7, 0.25, 0.05, 950, (62, 94, 118, 126)),
    "pairs": Views(1.0, 0.0, 0.0, 0.0, 1100, (126,)),
}
TITLED = 0.7
"""Share of the times that passages which have titles are shown with them."""
OWN_ONLY = Views(1.0, 0.0, 0.0, 0.0, 900, (126,))
"""Every claim with its own windows and nothing else: for comparing networks at little cost."""
MAX_CLAIM_TOKENS = 1400
"""Claim tokens of all views of a batch, checked context by context."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A packed batch and its targets."""

    packed: Packed
    labels: Tensor
    """(claims,) class ids; 3 means not entailed."""
    weights: Tensor
    """(claims,) weight of each view in the sentence loss."""
    shown: Tensor
    """(claims,) number of the selection of windows each view reads; -1 where that tells nothing."""
    marks: Tensor
    """(tokens,) 1 unsupported, 0 supported, -1 not labelled."""
    tokens: int
    """Tokens really encoded, padding left out."""


@dataclass(frozen=True, slots=True)
class _View:
    """A claim shown some windows, with what is then true of it."""

    claim: Claim
    label: int
    weight: float
    marked: bool


@dataclass(frozen=True, slots=True)
class _Showing:
    """Views of one context's claims that read the same windows."""

    windows: tuple[int, ...]
    views: list[_View]


class GroupSampler:
    """Endless batches of one group of sets, an epoch after the other."""

    def __init__(
        self,
        group: Group,
        sets: Sequence[tuple[float, Sequence[Context]]],
        seed: int,
        views: Views | None = None,
        *,
        scale: float = 1.0,
    ) -> None:
        self._views = views or VIEWS[group]
        self._window_tokens = scale * self._views.window_tokens
        self._claim_tokens = scale * MAX_CLAIM_TOKENS
        self._by_source = group in ("hand", "synthetic")
        self._by_length = group == "pairs"
        self._sets = sets
        self._rng = np.random.default_rng([seed, len(group)])

    def __iter__(self) -> Iterator[Batch]:
        while True:
            yield from self._epoch()

    def _epoch(self) -> Iterator[Batch]:
        contexts: list[Context] = []
        for weight, members in self._sets:
            whole, part = int(weight), weight % 1
            contexts += list(members) * whole
            contexts += [c for c in members if self._rng.random() < part]
        for run in self._runs(contexts):
            yield build_batch(run, self._views, self._rng)

    def _runs(self, contexts: list[Context]) -> Iterator[list[Context]]:
        """Contexts of one batch at a time."""
        rng = self._rng
        rng.shuffle(contexts)  # type: ignore[arg-type]
        if self._by_source:
            contexts = _neighbours(contexts, rng)
        chunks: list[list[Context]] = []
        if self._by_length:
            for start in range(0, len(contexts), 4000):
                part = sorted(contexts[start : start + 4000], key=lambda c: _length(c) // 6)
                chunks += list(self._fill(part))
            rng.shuffle(chunks)  # type: ignore[arg-type]
            yield from chunks
        else:
            yield from self._fill(contexts)

    def _fill(self, contexts: Sequence[Context]) -> Iterator[list[Context]]:
        views = self._views
        copies = views.own + views.joint + 0.5 * views.wrong_supported + 0.5 * views.wrong_other
        run: list[Context] = []
        windows = claims = 0.0
        for context in contexts:
            length = _length(context)
            shown = sum(len(c.ids) for c in context.claims[:MAX_CLAIMS]) * copies
            full = windows + length > self._window_tokens or claims + shown > self._claim_tokens
            if full and len(run) > 1:
                yield run
                run, windows, claims = [], 0.0, 0.0
            run.append(context)
            windows += length
            claims += shown
        if run:
            yield run


def _length(context: Context) -> int:
    return sum(len(part) for passage in context.passages for part in passage)


def _neighbours(contexts: Sequence[Context], rng: np.random.Generator) -> list[Context]:
    """The contexts with pairs of one source next to each other, in random order."""
    of_source: dict[str, list[Context]] = defaultdict(list)
    for context in contexts:
        of_source[context.source].append(context)
    pairs = [members[i : i + 2] for members in of_source.values() for i in range(0, len(members), 2)]
    rng.shuffle(pairs)  # type: ignore[arg-type]
    return [context for pair in pairs for context in pair]


def context_windows(context: Context, size: int, *, titled: bool = True) -> list[Tokens]:
    """Windows of all passages of a context; no window spans two passages.

    A passage's title, where it has one and `titled`, stands before each of its windows and counts for
    their size.
    """
    titles = (titled and context.titles) or (NO_TITLE,) * len(context.passages)
    return [
        np.concatenate([title, window])
        for title, passage in zip(titles, context.passages, strict=True)
        for window in pack_windows(passage, size - len(title))
    ]


def build_batch(contexts: Sequence[Context], views: Views, rng: np.random.Generator) -> Batch:
    """One batch from a few contexts: cut windows, choose views, pack."""
    size = int(rng.choice(views.sizes))
    windows: list[Tokens] = []
    owned: list[range] = []
    for context in contexts:
        cut = context_windows(context, size, titled=bool(rng.random() < TITLED))
        owned.append(range(len(windows), len(windows) + len(cut)))
        windows += cut
    showings = [
        showing
        for context, own in zip(contexts, owned, strict=True)
        for showing in _show(context, own, len(windows), views, rng)
    ]
    return _pack(windows, showings)


def _show(
    context: Context, own: range, count: int, views: Views, rng: np.random.Generator
) -> Iterator[_Showing]:
    """The ways this context's claims are shown windows in this batch."""
    others = np.array([w for w in range(count) if w not in own], dtype=np.int64)
    claims = context.claims
    if len(claims) > MAX_CLAIMS:
        claims = [claims[j] for j in rng.choice(len(claims), MAX_CLAIMS, replace=False)]
    joint, alone, wrong = [], [], []
    for claim in claims:
        view = _View(claim, claim.label, 1.0, marked=True)
        together = len(others) > 0 and rng.random() < views.joint
        if together:
            joint.append(view)
        if not together or rng.random() < views.own:
            alone.append(view)
        often = views.wrong_supported if claim.label == ENTAIL else views.wrong_other
        if len(others) and rng.random() < often:
            wrong.append(_View(claim, NOT_ENTAIL, 0.5, marked=False))
    if joint:
        yield _Showing(tuple(sorted([*own, *_some(others, rng)])), joint)
    if alone:
        yield _Showing(tuple(own), alone)
    if wrong:
        yield _Showing(tuple(sorted(_some(others, rng))), wrong)


def _some(others: NDArray[np.int64], rng: np.random.Generator) -> list[int]:
    """One to all of the windows; small and large numbers equally often."""
    count = int(np.exp(rng.uniform(0, np.log(len(others) + 1))))
    return [int(w) for w in rng.choice(others, min(count, len(others)), replace=False)]


def _pack(windows: Sequence[Tokens], showings: Sequence[_Showing]) -> Batch:
    merged: list[list[_Showing]] = []
    room = 0
    for showing in showings:
        size = sum(len(v.claim.ids) for v in showing.views)
        # Several short premises share a block: many tiny ones cost more than masked pairs.
        if size <= room and len(showing.windows) == 1 and len(merged[-1][-1].windows) == 1:
            merged[-1].append(showing)
            room -= size
        else:
            merged.append([showing])
            room = SHARED_BLOCK_TOKENS - size if len(showing.windows) == 1 else 0
    blocks: list[Block] = []
    ordered: list[_View] = []
    for group in merged:
        start = len(ordered)
        ordered += [view for showing in group for view in showing.views]
        claims = range(start, len(ordered))
        if len(group) == 1:
            blocks.append(Block(claims, group[0].windows))
        else:
            owner = torch.tensor([i for i, showing in enumerate(group) for _ in showing.views])
            visible = owner[:, None] == torch.arange(len(group))[None, :]
            blocks.append(Block(claims, [showing.windows[0] for showing in group], visible))
    rows, mask = window_rows(windows)
    packed = pack_claims(rows, mask, [v.claim.ids for v in ordered], blocks, step=TOKEN_STEP)
    shown = [number for number, showing in enumerate(showings) for _ in showing.views]
    marks = np.concatenate([_marks(v) for v in ordered])
    filler = len(packed.claim_ids) - len(marks)
    padding = len(packed.claim_starts) - len(ordered)
    return Batch(
        packed,
        torch.tensor([v.label for v in ordered] + [NOT_ENTAIL] * padding),
        torch.tensor([v.weight for v in ordered] + [0.0] * padding),
        torch.tensor(shown + [-1] * padding),
        torch.from_numpy(np.concatenate([marks, np.full(filler, -1, dtype=np.float32)])),
        int(mask.sum()) + len(marks),
    )


def _marks(view: _View) -> NDArray[np.float32]:
    marks = np.full(len(view.claim.ids), -1, dtype=np.float32)
    if view.marked and view.claim.marks is not None:
        marks[1:-1] = view.claim.marks[1:-1]
    return marks


def window_rows(windows: Sequence[Tokens], *, step: int = 8) -> tuple[Tensor, Tensor]:
    """Padded rows `[CLS] window [SEP]` and their mask, each (windows, longest rounded up to `step`)."""
    width = max(len(w) for w in windows) + 2
    if width > MAX_WINDOW:
        raise ValueError(f"window of {width} tokens; the model takes {MAX_WINDOW}")
    rows = torch.zeros(len(windows), -(-width // step) * step, dtype=torch.long)
    for row, window in zip(rows, windows, strict=True):
        row[0] = CLS
        row[1 : len(window) + 1] = torch.from_numpy(window.astype(np.int64))
        row[len(window) + 1] = SEP
    return rows, rows > 0


def pack_claims(
    rows: Tensor, mask: Tensor, claims: Sequence[Tokens], blocks: Sequence[Block], *, step: int = 1
) -> Packed:
    """Window rows and claims as the network reads them.

    With a `step`, a last claim of padding that reads nothing rounds the number of tokens up to it:
    matrix kernels are compiled once a shape, and a few shapes are soon compiled.
    """
    filler = -sum(len(c) for c in claims) % step
    if filler:
        last = len(claims)
        claims = [*claims, np.zeros(filler, dtype=np.uint16)]
        blocks = [*blocks, Block(range(last, last + 1), [])]
    lengths = np.array([len(c) for c in claims])
    starts = lengths.cumsum() - lengths
    claim_of = np.repeat(np.arange(len(claims)), lengths)
    return Packed(
        rows,
        mask,
        torch.from_numpy(np.concatenate(claims).astype(np.int64)),
        torch.from_numpy(np.arange(lengths.sum()) - starts[claim_of]),
        torch.from_numpy(claim_of),
        torch.from_numpy(starts),
        blocks,
    )
