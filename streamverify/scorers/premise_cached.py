"""The default scorer: windows are encoded once, a claim costs only its own tokens.

    prepare   window ── tokenizer ── cache? ── encode (no claim in sight) ── keys and values kept
    renew     windows of a prepared set ── cache? ── encode
    read      window ── tokenizer; encoded while no claim is scored (ahead) or when one asks
    score     claim  ── tokenizer ── choose windows ─┬─ single pass over each     ── NLI, token risks
                                                     └─ joint pass over all of them ── NLI

A product holds the rows of one window, or of one pass of a claim over its windows, and nothing else: the
activation scales of dynamic int8 are taken over all rows, so a neighbour among them would change the scores.
The passes of a claim share a run and its weights (`graphs/packed_passes.py`), but no product. So the same
claim over the same windows scores the same to the last bit, whatever else is going on. On a graphics
processor activations are not quantised, and claims of all streams share a run (`graphs/batched_graph.py`).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from threading import BoundedSemaphore

import numpy as np
from numpy.typing import NDArray

from streamverify.errors import ScoringError, UsageError
from streamverify.scorers.early_exit import beside, enough, first_round
from streamverify.scorers.freed import give_back
from streamverify.scorers.graphs.batched_graph import BatchedGraph
from streamverify.scorers.graphs.premise_graph import PremiseGraph, parted
from streamverify.scorers.graphs.runtime import CPU, on_cpu, sigmoid, softmax
from streamverify.scorers.lanes import Lanes, SharedLanes
from streamverify.scorers.model_files import ModelFiles
from streamverify.scorers.protocol import (
    Abort,
    Claim,
    ClaimScore,
    NliScore,
    Prepared,
    Provider,
    TokenRisk,
    Traits,
    Window,
    WindowScore,
)
from streamverify.scorers.selection import LexicalIndex, related
from streamverify.scorers.tokens import Encoder, TokenReader, Tokens, read_tokenizer
from streamverify.scorers.windows.cache import CacheStatistics
from streamverify.scorers.windows.encoded_windows import EncodedWindows, WindowKey
from streamverify.scorers.windows.keys_values import CachePrecision, Floats, KeysValues
from streamverify.types import Fingerprint, Span

_CALLERS = 32
"""Threads that score at once where their claims share runs: they wait for the device, not for a core."""
_JOINT = 3
"""Windows of the joint pass where the calibration weighs it."""


@dataclass(frozen=True, slots=True)
class _PreparedWindows:
    """A stream's windows as the model reads them, and how to find those that matter to a claim."""

    windows: tuple[Window, ...]
    keys: tuple[WindowKey, ...]
    index: LexicalIndex
    from_cache: int
    asked: set[int]
    """Windows that were asked for on behalf of this stream."""


class PremiseCachedScorer:
    """Scores claims against cached windows with the model that comes with the library, or one of its kind.

    Safe to call from several threads. Memory is the model's (about 160 MB) and the cache's.
    """

    def __init__(
        self,
        model_dir: Path | None = None,
        *,
        provider: Provider = "cpu",
        threads: int | None = None,
        cache_bytes: int | None = None,
        cache_precision: CachePrecision = "float32",
        single_passes: int = 3,
        joint_windows: int | None = None,
        ahead: bool = True,
        early_exit: bool = True,
        packed_passes: bool = True,
        batched: bool | None = None,
        shared_windows: Path | None = None,
    ) -> None:
        """Load and check the model.

        Args:
            model_dir: a folder as `model_files.py` describes; None for the model in the package.
            provider: where to run; `cuda` fails where CUDA is missing.
            threads: windows encoded, and passes over claims run, at once; None for this process's cores, or
                for 32 callers whose claims share runs.
            cache_bytes: bound of the cache of encoded windows; a full window takes 2.4 MB. None for 512 MiB,
                less the more passages are known, 60 MiB at least; 512 MiB where processes share windows.
            cache_precision: `float16` halves that and moves a probability by 0.02 on average.
            single_passes: windows that get a single pass, those that share most with the claim; 1 or more.
                Cited windows (`Claim.focus`) come on top.
            joint_windows: windows the joint pass sees at most, those that share most with the claim; below
                2 there is none. None for 3 where the model's calibration weighs that pass, and none else:
                a pass that decides nothing is not run.
            ahead: encode windows before a claim asks; without it each when the first one does, for a
                scorer that is seldom asked.
            early_exit: leave single passes out where the first ones decide; False runs all of them.
            packed_passes: run several passes of a claim at once, which takes 65 MB more and a fifth less
                processor time; the scores are the same.
            batched: compute in 16 bits, claims of all streams that wait in one run; None where this runs on a
                graphics processor. The cache is in 16 bits then too.
            shared_windows: folder in which several processes keep encoded windows, `cache_bytes` of them all
                together; see `WindowStore`. None for a cache of this process's own.

        Raises:
            UsageError: a number is out of range. Caller.
            ModelNotFoundError, ModelChecksumError, ModelContractError: see `ModelFiles.open`. Operator.
            ProviderError: the provider is not available. Operator.
        """
        negative = [one for one in (cache_bytes, joint_windows) if one is not None and one < 0]
        wrong = single_passes < 1 or bool(negative)
        if wrong or (threads is not None and threads < 1):
            raise UsageError(
                "threads and single_passes must be at least 1, cache_bytes and joint_windows at least 0"
            )
        files = ModelFiles.open(model_dir)
        self._config = files.config
        self._graph = _graph(files.graph, provider, batched=batched, packed_passes=packed_passes)
        shares = isinstance(self._graph, BatchedGraph)
        if shares:
            cache_precision = "float16"
        self._tokenizer = read_tokenizer(files.tokenizer)
        self._encode = Encoder(self._tokenizer)
        self._single_passes, self._early_exit = single_passes, early_exit
        weighed = _JOINT if "joint" in files.calibration.weights else 0
        self._joint_windows = weighed if joint_windows is None else joint_windows
        self._threads, self._ahead = threads or (_CALLERS if shares else cores()), ahead
        self._passes = ThreadPoolExecutor(self._threads, thread_name_prefix="streamverify-pass")
        self._lanes = SharedLanes(self._threads) if shares else Lanes(self._threads)
        self._runs = BoundedSemaphore(self._threads)
        self._encoded = EncodedWindows(
            self._graph,
            cache_precision,
            self._lanes,
            self._threads,
            limit=cache_bytes,
            shared=shared_windows,
        )
        # Processes that share windows may compute and keep them in different precision.
        computed = "float16, batched" if shares else files.config.precision
        self._salt = f"{files.revision} {computed} {cache_precision}".encode()
        self._fingerprint = Fingerprint(
            model=f"{files.config.name} {files.config.version}",
            revision=files.revision,
            precision=computed
            + ("" if shares or cache_precision == "float32" else ", float16 cache")
            + ("" if early_exit else ", every pass"),
            provider=self._graph.provider,
        )
        self._traits = Traits(
            window_tokens=files.config.window_tokens - files.config.special_tokens,
            claim_tokens=files.config.claim_tokens - files.config.special_tokens,
            # One more than passes can run: while a claim is read and weighed in Python, of which one thread
            # runs at a time, the passes of the others keep the cores busy.
            concurrency=self._threads + 1,
            calibration=files.calibration,
            joint=self._joint_windows > 1,
            title_tokens=files.config.title_tokens,
            languages=frozenset({"en"}),
        )
        give_back()

    @property
    def fingerprint(self) -> Fingerprint:
        """Model, revision of its weights, precision and provider in use."""
        return self._fingerprint

    @property
    def traits(self) -> Traits:
        """Limits, abilities and calibration, as the model's files say."""
        return self._traits

    def statistics(self) -> CacheStatistics:
        """Counters of the cache of encoded windows."""
        return self._encoded.statistics()

    def token_spans(self, text: str) -> Sequence[Span]:
        """Where each token of `text` stands, special tokens left out."""
        return self._encode.spans(text)

    @property
    def reader(self) -> TokenReader:
        """What `token_spans` reads with."""
        return TokenReader(self._tokenizer)

    def prepare(self, windows: Sequence[Window], *, abort: Abort) -> Prepared:
        """Tokenise the windows and encode those the cache lacks, several at once.

        Encoding ahead ends where the windows of this call would take more than half of the cache, so that
        a huge document neither delays the first verdict for long nor drives out everybody else's
        windows. What is left is encoded when a claim asks for it.

        Raises:
            ScoringError: the model failed, or `abort` was set.
        """
        return self.renew(self.read(windows, abort=abort), abort=abort)

    def read(self, windows: Sequence[Window], *, abort: Abort) -> _PreparedWindows:
        """Tokenise the windows; each is encoded when a claim first asks for it.

        Raises:
            ScoringError: `abort` was set.
        """
        keys = []
        for window in windows:
            if abort.is_set:  # thousands of windows take seconds to tokenise
                raise ScoringError("stopped: the check was called off")
            keys.append(self._key(self._window_ids(window)))
        index = LexicalIndex([key.ids for key in keys])
        self._encoded.known(index)
        return _PreparedWindows(tuple(windows), tuple(keys), index, self._encoded.held(keys), set())

    def reread(self, prepared: Prepared) -> Prepared:
        """As `read` of the same windows, whose texts are not read again."""
        assert isinstance(prepared, _PreparedWindows), "prepared by another scorer"
        return replace(prepared, from_cache=self._encoded.held(prepared.keys), asked=set())

    def renew(self, prepared: Prepared, *, abort: Abort) -> Prepared:
        """As `prepare` of the same windows: those that left the cache meanwhile are encoded again.

        Raises:
            ScoringError: the model failed, or `abort` was set.
        """
        assert isinstance(prepared, _PreparedWindows), "prepared by another scorer"
        if not self._ahead:
            return self.reread(prepared)
        looked_up, from_cache = self._encoded.encode(prepared.keys, abort)
        return replace(prepared, from_cache=from_cache, asked=set(range(looked_up)))

    def ahead(self, prepared: Prepared, *, abort: Abort) -> None:
        """Encode, while no claim is scored, what none has asked for yet; returns at once."""
        assert isinstance(prepared, _PreparedWindows), "prepared by another scorer"
        if self._ahead:
            self._encoded.ahead(prepared.keys, prepared.asked, abort)

    def expect(self, texts: Sequence[str]) -> AbstractContextManager[None]:
        """Leave room for passages that wait to be prepared, for as long as the context is entered."""
        return self._encoded.expect(texts)

    def score(self, prepared: Prepared, claims: Sequence[Claim], *, abort: Abort) -> list[ClaimScore]:
        """Score each claim on its own, in order.

        Raises:
            ScoringError: the model failed, a claim is too long, or `abort` was set.
        """
        assert isinstance(prepared, _PreparedWindows), "prepared by another scorer"
        found = []
        for claim in claims:
            with self._lanes.claim():
                found.append(self._score(prepared, claim, abort))
        return found

    def close(self) -> None:
        """End the encoding threads and empty the cache."""
        self._passes.shutdown(wait=True, cancel_futures=True)
        self._encoded.close()

    def _score(self, prepared: _PreparedWindows, claim: Claim, abort: Abort) -> ClaimScore:
        encoding = self._encode(claim.text)
        length = len(encoding.ids) - self._config.special_tokens
        if length > self._traits.claim_tokens:
            raise ScoringError(f"the claim has {length} tokens; the model reads {self._traits.claim_tokens}")
        singles = 1 if claim.hurried else self._single_passes
        joint_windows = 0 if claim.hurried else self._joint_windows
        count = max(singles, joint_windows)
        weighed = [] if claim.only_focus else self._ranked(prepared, claim, encoding.ids, count)
        ranked = [window for window, _ in weighed]
        likely, several = ranked[:singles], ranked[:joint_windows]
        near = beside(first_round(weighed), singles, claim.focus) if self._early_exit else likely
        chosen = sorted({*near, *claim.focus})
        later = [window for window in likely if window not in chosen]
        shown = sorted({*chosen, *later, *several, *(window for group in claim.together for window in group)})
        pasts = self._keys_values(prepared, shown, abort)
        groups: list[tuple[int, ...]] = [(window,) for window in chosen]
        if len(several) > 1:
            groups.append(tuple(sorted(several)))

        def read(some: Sequence[tuple[int, ...]]) -> list[tuple[Floats, Floats]]:
            seen = [[pasts[window] for window in group] for group in some]
            with self._runs:
                return self._graph.read_several(encoding.ids, seen, abort=abort)

        def read_all(all_of: list[tuple[int, ...]]) -> dict[tuple[int, ...], tuple[Floats, Floats]]:
            parts = parted(all_of, self._lanes.free)
            # One run needs no other thread: two hand-overs less.
            runs = self._passes.map(read, parts) if len(parts) > 1 else map(read, parts)
            return dict(zip(all_of, chain.from_iterable(runs), strict=True))

        passes = read_all(groups)
        joints = {group: _nli(logits) for group, (logits, _) in passes.items()}
        whole = joints[tuple(sorted(several))] if len(several) > 1 else None
        if later and not enough([joints[window,] for window in chosen], whole):
            passes |= (more := read_all([(window,) for window in later]))
            joints |= {group: _nli(logits) for group, (logits, _) in more.items()}
            chosen = sorted({*chosen, *later})

        def joint(group: Sequence[int]) -> NliScore:
            members = tuple(sorted(set(group)))
            if members not in joints:
                joints[members] = _nli(read([members])[0][0])
            return joints[members]

        together = tuple(joint(group) for group in claim.together)
        single = tuple(
            sorted(
                (WindowScore(window, joints[window,]) for window in chosen),
                key=lambda entry: (-entry.score.entailment, entry.window),
            )
        )
        risks = sigmoid(passes[single[0].window,][1])
        return ClaimScore(
            single=single,
            joint=whole,
            together=together,
            tokens=_risks(encoding, risks),
            tokens_scored=length,
            passes=len(joints),
        )

    def _ranked(
        self, prepared: _PreparedWindows, claim: Claim, ids: Sequence[int], count: int
    ) -> list[tuple[int, float]]:
        """The windows to look at and their weights, best first."""
        hints = [self._encode(hint).ids for hint in claim.hints]
        return related(prepared.index.ranked(ids, count, hints))

    def _keys_values(
        self, prepared: _PreparedWindows, windows: Sequence[int], abort: Abort
    ) -> dict[int, KeysValues]:
        """What the passes read of these windows."""
        wanted = [(prepared.keys[window], window not in prepared.asked) for window in windows]
        prepared.asked.update(windows)
        found = self._encoded.of_claim(wanted, abort, free=self._lanes.encoders)
        return dict(zip(windows, found, strict=True))

    def _window_ids(self, window: Window) -> tuple[int, ...]:
        """Tokens of a window under its passage's title, or without it where both are too long."""
        room = self._config.title_tokens - 1  # one for the colon
        title = self.token_spans(window.title)[: max(room, 0)]
        if title:
            ids = self._encode.ids(f"{window.title[: title[-1].end]}: {window.text}")
            if len(ids) <= self._config.window_tokens:
                return tuple(ids)
        return tuple(self._encode.ids(window.text))

    def _key(self, ids: tuple[int, ...]) -> WindowKey:
        return WindowKey(ids, hashlib.sha256(self._salt + np.array(ids, np.int32).tobytes()).digest())


def _graph(
    path: Path, provider: Provider, *, batched: bool | None, packed_passes: bool
) -> PremiseGraph | BatchedGraph:
    """The model's graph in the form that the provider in use wants, or in the one asked for."""
    if batched or (batched is None and not on_cpu(provider)):
        graph = BatchedGraph(path, provider=provider)
        if batched or graph.provider != CPU:
            return graph
        provider = "cpu"  # CUDA is installed and did not start, and the caller takes either
    return PremiseGraph(path, provider=provider, packed_passes=packed_passes)


def _nli(logits: Floats) -> NliScore:
    entailment, neutral, contradiction = softmax(logits).tolist()
    return NliScore(entailment, neutral, contradiction)


def _risks(encoding: Tokens, risks: NDArray[np.float64]) -> tuple[TokenRisk, ...]:
    rows = zip(encoding.offsets, encoding.special_tokens_mask, risks.tolist(), strict=True)
    return tuple(TokenRisk(start, end, risk) for (start, end), special, risk in rows if not special)


def cores() -> int:
    """Cores this process may use, where the system tells; a container often has fewer than the machine."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
