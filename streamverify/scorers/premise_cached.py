"""The default scorer: windows are encoded once, a claim costs only its own tokens.

    prepare   window ── tokenizer ── cache? ── encode (no claim in sight) ── keys and values kept
    score     claim  ── tokenizer ── choose windows ─┬─ single pass over each     ── NLI, token risks
                                                     └─ joint pass over all of them ── NLI

A run holds one window, or one claim with its windows, and nothing else: the activation scales of dynamic
int8 are taken over the whole batch, so a neighbour in the batch would change the scores. Run this way,
the same claim over the same windows scores the same to the last bit, whatever else is going on.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from streamverify._unicode import printable
from streamverify.errors import ModelContractError, ScoringError, UsageError
from streamverify.scorers.cache import ByteBoundedCache, CacheStatistics
from streamverify.scorers.keys_values import CachePrecision, Floats, KeysValues, join, pack
from streamverify.scorers.model_files import ModelFiles
from streamverify.scorers.protocol import (
    Abort,
    Claim,
    ClaimScore,
    NliScore,
    Prepared,
    TokenRisk,
    Traits,
    Window,
    WindowScore,
)
from streamverify.scorers.runtime import Provider, Session, sigmoid, softmax
from streamverify.scorers.selection import LexicalIndex
from streamverify.types import Fingerprint, Span

_PASSAGE, _CLAIM = 0, 1
_KEYS_VALUES = ("present_keys", "present_values")
_JOINT = 3
"""Windows of the joint pass where the calibration weighs it."""
_JUDGEMENT = ("logits", "token_logits")
_INTEGERS = ("input_ids", "attention_mask", "segment", "past_mask")
_PASTS = ("past_keys", "past_values")


@dataclass(frozen=True, slots=True)
class _PreparedWindows:
    """Token ids and cache keys of a stream's windows, and how to find those that matter to a claim."""

    windows: tuple[Window, ...]
    ids: tuple[tuple[int, ...], ...]
    keys: tuple[bytes, ...]
    index: LexicalIndex
    from_cache: int


class PremiseCachedScorer:
    """Scores claims against cached windows with the model that comes with the library, or one of its kind.

    Safe to call from several threads. Memory is the model's (about 100 MB) and the cache's.
    """

    def __init__(
        self,
        model_dir: Path | None = None,
        *,
        provider: Provider = "cpu",
        threads: int | None = None,
        cache_bytes: int = 512 * 2**20,
        cache_precision: CachePrecision = "float32",
        single_passes: int = 3,
        joint_windows: int | None = None,
    ) -> None:
        """Load and check the model.

        Args:
            model_dir: a folder as `model_files.py` describes; None for the model in the package.
            provider: where to run; `cuda` fails where CUDA is missing.
            threads: how many windows are encoded at once, and how many claims may usefully be scored at
                once; None for the cores this process may use.
            cache_bytes: bound of the cache of encoded windows; a full window takes 2.4 MB.
            cache_precision: `float16` halves that and moves a probability by 0.02 on average.
            single_passes: windows that get a single pass, those that share most with the claim; 1 or more.
                Cited windows (`Claim.focus`) come on top.
            joint_windows: windows the joint pass sees at most, those that share most with the claim; below
                2 there is none. None for 3 where the model's calibration weighs that pass, and none else:
                a pass that decides nothing is not run.

        Raises:
            UsageError: a number is out of range. Caller.
            ModelNotFoundError, ModelChecksumError, ModelContractError: see `ModelFiles.open`. Operator.
            ProviderError: the provider is not available. Operator.
        """
        wrong = single_passes < 1 or cache_bytes < 0 or (joint_windows is not None and joint_windows < 0)
        if wrong or (threads is not None and threads < 1):
            raise UsageError(
                "threads and single_passes must be at least 1, cache_bytes and joint_windows at least 0"
            )
        files = ModelFiles.open(model_dir)
        self._config = files.config
        self._session = Session(files.graph, provider=provider)
        self._layers, self._heads, self._size = _geometry(self._session, files.graph)
        self._tokenizer = _tokenizer(files.tokenizer)
        self._cache_precision = cache_precision
        self._single_passes = single_passes
        weighed = _JOINT if "joint" in files.calibration.weights else 0
        self._joint_windows = weighed if joint_windows is None else joint_windows
        self._threads = threads or _cores()
        self._lane = ThreadPoolExecutor(self._threads, thread_name_prefix="streamverify-encode")
        self._passes = ThreadPoolExecutor(self._threads, thread_name_prefix="streamverify-pass")
        self._cache = ByteBoundedCache[KeysValues](cache_bytes, lambda entry: entry.nbytes)
        self._salt = files.revision.encode()
        self._fingerprint = Fingerprint(
            model=f"{files.config.name} {files.config.version}",
            revision=files.revision,
            precision=files.config.precision + ("" if cache_precision == "float32" else ", float16 cache"),
            provider=self._session.provider,
        )
        self._traits = Traits(
            window_tokens=files.config.window_tokens - files.config.special_tokens,
            claim_tokens=files.config.claim_tokens - files.config.special_tokens,
            concurrency=self._threads,
            calibration=files.calibration,
            joint=self._joint_windows > 1,
            title_tokens=files.config.title_tokens,
            languages=frozenset({"en"}),
        )

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
        return self._cache.statistics()

    def token_spans(self, text: str) -> Sequence[Span]:
        """Where each token of `text` stands, special tokens left out."""
        return [Span(*offsets) for offsets in self._encode(text, special=False).offsets]

    def prepare(self, windows: Sequence[Window], *, abort: Abort) -> Prepared:
        """Tokenise the windows and encode those the cache lacks, several at once.

        Encoding ahead ends where the windows of this call would take more than half of the cache, so that
        a huge document neither delays the first verdict for long nor drives out everybody else's
        windows. What is left is encoded when a claim asks for it.

        Raises:
            ScoringError: the model failed, or `abort` was set.
        """
        ids = []
        for window in windows:
            if abort.is_set:  # thousands of windows take seconds to tokenise
                raise ScoringError("stopped: the check was called off")
            ids.append(self._window_ids(window))
        keys = tuple(self._key(window_ids) for window_ids in ids)
        index = LexicalIndex(ids)
        ahead: dict[bytes, tuple[int, ...]] = {}
        budget = self._cache.limit // 2
        for key, window_ids in zip(keys, ids, strict=True):
            if key not in ahead:
                budget -= self._bytes(len(window_ids))
                if budget < 0:
                    break
                ahead[key] = window_ids
        running = [self._lane.submit(self._fetch, key, ids_, abort) for key, ids_ in ahead.items()]
        try:
            held = {key for key, future in zip(ahead, running, strict=True) if future.result()[1]}
        finally:
            for future in running:
                future.cancel()
        return _PreparedWindows(tuple(windows), tuple(ids), keys, index, sum(key in held for key in keys))

    def score(self, prepared: Prepared, claims: Sequence[Claim], *, abort: Abort) -> list[ClaimScore]:
        """Score each claim on its own, in order.

        Raises:
            ScoringError: the model failed, a claim is too long, or `abort` was set.
        """
        assert isinstance(prepared, _PreparedWindows), "prepared by another scorer"
        return [self._score(prepared, claim, abort) for claim in claims]

    def close(self) -> None:
        """End the encoding threads and empty the cache."""
        self._lane.shutdown(wait=True, cancel_futures=True)
        self._passes.shutdown(wait=True, cancel_futures=True)
        self._cache.clear()

    def _score(self, prepared: _PreparedWindows, claim: Claim, abort: Abort) -> ClaimScore:
        encoding = self._encode(claim.text)
        length = len(encoding.ids) - self._config.special_tokens
        if length > self._traits.claim_tokens:
            raise ScoringError(f"the claim has {length} tokens; the model reads {self._traits.claim_tokens}")
        count = max(self._single_passes, self._joint_windows)
        ranked = [] if claim.only_focus else prepared.index.best(encoding.ids, count)
        likely, several = ranked[: self._single_passes], ranked[: self._joint_windows]
        chosen = sorted({*likely, *claim.focus})
        pasts = {
            window: self._fetch(prepared.keys[window], prepared.ids[window], abort)[0].wide()
            for window in sorted(
                {*chosen, *several, *(window for group in claim.together for window in group)}
            )
        }
        groups: list[tuple[int, ...]] = [(window,) for window in chosen]
        if len(several) > 1:
            groups.append(tuple(sorted(several)))
        # The passes of one claim share the cores: a verdict on an idle machine comes that much sooner.
        judged = self._passes.map(
            lambda group: self._judge(encoding.ids, [pasts[window] for window in group], abort), groups
        )
        passes = dict(zip(groups, judged, strict=True))
        joints = {group: _nli(logits) for group, (logits, _) in passes.items()}

        def joint(group: Sequence[int]) -> NliScore:
            members = tuple(sorted(set(group)))
            if members not in joints:
                joints[members] = _nli(
                    self._judge(encoding.ids, [pasts[window] for window in members], abort)[0]
                )
            return joints[members]

        together = tuple(joint(group) for group in claim.together)
        whole = joint(several) if len(several) > 1 else None
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

    def _judge(
        self, ids: Sequence[int], pasts: Sequence[tuple[Floats, Floats]], abort: Abort
    ) -> tuple[Floats, Floats]:
        """Logits (3) and token logits (tokens) of a claim that sees these windows."""
        inputs = self._inputs(ids, _CLAIM, *join(pasts))
        logits, token_logits = self._session.run(_JUDGEMENT, inputs, abort=abort)
        return logits[0], token_logits[0]

    def _fetch(self, key: bytes, ids: Sequence[int], abort: Abort) -> tuple[KeysValues, bool]:
        """A window's keys and values, and whether they cost nothing."""

        def encode() -> KeysValues:
            empty = np.empty((self._layers, 1, self._heads, 0, self._size), np.float32)
            inputs = self._inputs(ids, _PASSAGE, empty, empty)
            keys, values = self._session.run(_KEYS_VALUES, inputs, abort=abort)
            return pack(keys, values, self._cache_precision)

        return self._cache.fetch(key, encode, abort=abort)

    def _inputs(
        self, ids: Sequence[int], segment: int, past_keys: Floats, past_values: Floats
    ) -> dict[str, NDArray[Any]]:
        return {
            "input_ids": np.array([ids], np.int64),
            "attention_mask": np.ones((1, len(ids)), np.int64),
            "segment": np.full((1, len(ids)), segment, np.int64),
            "past_keys": past_keys,
            "past_values": past_values,
            "past_mask": np.ones((1, past_keys.shape[3]), np.int64),
        }

    def _encode(self, text: str, *, special: bool = True) -> Encoding:
        # The tokenizer refuses lone surrogates; what replaces one is as long, so offsets stay right.
        return self._tokenizer.encode(printable(text), add_special_tokens=special)

    def _window_ids(self, window: Window) -> tuple[int, ...]:
        """Tokens of a window under its passage's title, or without it where both are too long."""
        room = self._config.title_tokens - 1  # one for the colon
        title = self.token_spans(window.title)[: max(room, 0)]
        if title:
            ids = self._encode(f"{window.title[: title[-1].end]}: {window.text}").ids
            if len(ids) <= self._config.window_tokens:
                return tuple(ids)
        return tuple(self._encode(window.text).ids)

    def _key(self, ids: Sequence[int]) -> bytes:
        return hashlib.sha256(self._salt + np.array(ids, np.int32).tobytes()).digest()

    def _bytes(self, tokens: int) -> int:
        """Memory of an encoded window of so many tokens."""
        return 2 * self._layers * self._heads * self._size * tokens * np.dtype(self._cache_precision).itemsize


def _nli(logits: Floats) -> NliScore:
    entailment, neutral, contradiction = softmax(logits).tolist()
    return NliScore(entailment, neutral, contradiction)


def _risks(encoding: Encoding, risks: NDArray[np.float64]) -> tuple[TokenRisk, ...]:
    rows = zip(encoding.offsets, encoding.special_tokens_mask, risks.tolist(), strict=True)
    return tuple(TokenRisk(start, end, risk) for (start, end), special, risk in rows if not special)


def _cores() -> int:
    # What the process may use, where the system tells; a container often has fewer than the machine.
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _tokenizer(path: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the tokenizers package raises bare Exception
        raise ModelContractError(f"{path} is not a tokenizer: {error}") from error
    # The file carries the padding and truncation of the model it came from.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _geometry(session: Session, graph: Path) -> tuple[int, int, int]:
    """Layers, heads and size of a head, read from the graph's own inputs."""
    inputs, outputs = session.signature.inputs, session.signature.outputs
    wanted = {*_INTEGERS, *_PASTS}
    if set(inputs) != wanted:
        raise ModelContractError(f"{graph}: expected inputs {sorted(wanted)}, found {sorted(inputs)}")
    if missing := {*_KEYS_VALUES, *_JUDGEMENT} - set(outputs):
        raise ModelContractError(
            f"{graph}: expected outputs {sorted(missing)} beside the others, found {sorted(outputs)}"
        )
    for names, kind, rank in ((_INTEGERS, "tensor(int64)", 2), (_PASTS, "tensor(float)", 5)):
        for name in names:
            if inputs[name].type != kind or len(inputs[name].shape) != rank:
                raise ModelContractError(
                    f"{graph}: expected {name} as {kind} with {rank} axes, "
                    f"found {inputs[name].type} {list(inputs[name].shape)}"
                )
    match inputs["past_keys"].shape:
        case (int(layers), _, int(heads), _, int(size)):
            pass
        case shape:
            raise ModelContractError(
                f"{graph}: expected past_keys [layers, batch, heads, past, size] with fixed layers, heads "
                f"and size, found {list(shape)}"
            )
    if (classes := outputs["logits"].shape[-1:]) != (3,):
        raise ModelContractError(f"{graph}: expected logits [batch, 3], found a last axis of {list(classes)}")
    return layers, heads, size
