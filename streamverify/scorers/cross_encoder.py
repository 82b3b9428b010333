"""Any ONNX sequence-classification model in the Hugging Face layout, run as a cross-encoder.

A cross-encoder reads window and claim together, so each claim costs a full run for each window it is
shown: more accurate models of this kind exist, and none is cheap. It has no joint pass and does
not judge tokens. One pair a run, for the reason given in `premise_cached.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from streamverify.calibration import Calibration
from streamverify.errors import ModelContractError, ScoringError, UsageError
from streamverify.scorers.graphs.runtime import OnnxSession
from streamverify.scorers.hub import Located, locate
from streamverify.scorers.labels import LabelMap, label_map
from streamverify.scorers.protocol import (
    Abort,
    Claim,
    ClaimScore,
    NliScore,
    Prepared,
    Provider,
    Traits,
    Window,
    WindowScore,
)
from streamverify.scorers.selection import LexicalIndex
from streamverify.text.unicode import encodable
from streamverify.types import Fingerprint, Span

_INTEGERS: Mapping[str, type[np.integer[Any]]] = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_KNOWN_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
# Models of this family count positions from the padding id plus one.
_OFFSET_POSITIONS = ("roberta", "camembert", "longformer", "mpnet")
_SLACK = 4  # tokens; a window cut from a text may have a few more alone than it had in its place


@dataclass(frozen=True, slots=True)
class _PreparedWindows:
    windows: tuple[Window, ...]
    index: LexicalIndex
    from_cache: int = 0


class CrossEncoderScorer:
    """Scores claims with a cross-encoder from a folder or from the hub. Safe to call from several threads."""

    def __init__(
        self,
        source: Path | str,
        *,
        revision: str | None = None,
        graph: str | None = None,
        sha256: str | None = None,
        labels: Sequence[str] | None = None,
        max_tokens: int | None = None,
        window_tokens: int | None = None,
        claim_tokens: int = 128,
        provider: Provider = "cpu",
        threads: int | None = None,
        single_passes: int = 5,
        calibration: Calibration | None = None,
        languages: frozenset[str] | None = None,
        cache_dir: Path | None = None,
        local_files_only: bool = False,
    ) -> None:
        """Find, check and load the model.

        Args:
            source: a folder with `config.json`, `tokenizer.json` and an ONNX file, or a hub id `owner/name`.
            revision: see `hub.locate`, likewise `graph`, `sha256`, `cache_dir` and `local_files_only`.
            graph: path of the ONNX file in the folder.
            sha256: of the graph.
            labels: what the outputs mean, in order, where the model's own names do not say.
            max_tokens: longest input; None takes what the model's files say.
            window_tokens: longest window; None takes what the input leaves beside a claim.
            claim_tokens: longest claim. A window and a claim of these lengths always fit together.
            provider: where to run; `cuda` fails where CUDA is missing.
            threads: how many claims may usefully be scored at once; None for the cores of the machine.
            single_passes: windows a claim is shown, those that share most with it; cited ones come on top.
            calibration: None takes the folder's `calibration.json`, or else the probability as it is.
            languages: ISO 639-1 codes the model covers; None for any.
            cache_dir: the hub's cache.
            local_files_only: never ask the network.

        Raises:
            UsageError: a number is out of range. Caller.
            MissingExtraError: a hub id without the extra `hub`. Caller.
            ModelNotFoundError, ModelChecksumError: see `hub.locate`. Operator.
            ModelContractError: the files do not make up a classifier this scorer can read. Operator.
            ProviderError: the provider is not available. Operator.
        """
        if single_passes < 1 or claim_tokens < 1 or (window_tokens is not None and window_tokens < 1):
            raise UsageError("single_passes, claim_tokens and window_tokens must be at least 1")
        located = locate(
            source,
            revision=revision,
            graph=graph,
            sha256=sha256,
            cache_dir=cache_dir,
            local_files_only=local_files_only,
        )
        config = _json(located.folder / "config.json")
        self._label_map = _label_map(config, labels)
        self._session = OnnxSession(located.graph, provider=provider)
        self._inputs, self._output = _signature(self._session, located, len(self._label_map.roles))
        longest = max_tokens if max_tokens is not None else _longest(located.folder, config)
        self._tokenizer, self._pairs, special = _tokenizers(located.folder / "tokenizer.json", longest)
        room = longest - special - claim_tokens - _SLACK
        if room < 1 or (window_tokens is not None and window_tokens > room):
            raise UsageError(
                f"the model reads {longest} tokens, {special} of them special; beside a claim of "
                f"{claim_tokens} a window has at most {max(room, 0)}"
            )
        self._single_passes = single_passes
        self._fingerprint = Fingerprint(
            model=located.name,
            revision=located.revision,
            precision=located.graph.stem,
            provider=self._session.provider,
        )
        self._traits = Traits(
            window_tokens=window_tokens or room,
            claim_tokens=claim_tokens,
            concurrency=threads or os.cpu_count() or 1,
            calibration=calibration or _calibration(located.folder),
            contradiction=self._label_map.contradiction,
            languages=languages,
        )

    @property
    def fingerprint(self) -> Fingerprint:
        """Name, commit and checksum, the graph file's stem as precision, and the provider in use."""
        return self._fingerprint

    @property
    def traits(self) -> Traits:
        """Limits, abilities and calibration."""
        return self._traits

    def token_spans(self, text: str) -> Sequence[Span]:
        """Where each token of `text` stands, special tokens left out."""
        encoding = self._tokenizer.encode(encodable(text), add_special_tokens=False)
        return [Span(*offsets) for offsets in encoding.offsets]

    def prepare(self, windows: Sequence[Window], *, abort: Abort) -> Prepared:
        """Index the windows by their tokens.

        Raises:
            ScoringError: `abort` was set.
        """
        ids = []
        for window in windows:
            if abort.is_set:
                raise ScoringError("stopped: the check was called off")
            ids.append(self._tokenizer.encode(encodable(window.text), add_special_tokens=False).ids)
        return _PreparedWindows(tuple(windows), LexicalIndex(ids))

    def score(self, prepared: Prepared, claims: Sequence[Claim], *, abort: Abort) -> list[ClaimScore]:
        """Score each claim on its own, in order.

        Raises:
            ScoringError: the model failed, a claim is too long, or `abort` was set.
        """
        assert isinstance(prepared, _PreparedWindows), "prepared by another scorer"
        return [self._score(prepared, claim, abort) for claim in claims]

    def close(self) -> None:
        """Nothing to end: the session goes with the scorer."""

    def _score(self, prepared: _PreparedWindows, claim: Claim, abort: Abort) -> ClaimScore:
        ids, *hints = (
            self._tokenizer.encode(encodable(text), add_special_tokens=False).ids
            for text in (claim.text, *claim.hints)
        )
        if len(ids) > self._traits.claim_tokens:
            raise ScoringError(f"the claim has {len(ids)} tokens; {self._traits.claim_tokens} are allowed")
        count = 1 if claim.hurried else self._single_passes
        likely = [] if claim.only_focus else prepared.index.best(ids, count, hints)
        chosen = sorted({*likely, *claim.focus})
        single = [
            WindowScore(window, self._judge(prepared.windows[window].text, claim.text, abort))
            for window in chosen
        ]
        single.sort(key=lambda entry: (-entry.score.entailment, entry.window))
        return ClaimScore(single=tuple(single), tokens_scored=len(ids), passes=len(single))

    def _judge(self, premise: str, claim: str, abort: Abort) -> NliScore:
        encoding: Encoding = self._pairs.encode(encodable(premise), encodable(claim))
        given = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        inputs: dict[str, NDArray[Any]] = {
            name: np.array([given[name]], kind) for name, kind in self._inputs.items()
        }
        (logits,) = self._session.run([self._output], inputs, abort=abort)
        if logits.shape != (1, len(self._label_map.roles)):
            raise ScoringError(
                f"the model gave {logits.shape} where (1, {len(self._label_map.roles)}) was expected"
            )
        return self._label_map.score(logits[0])


def _label_map(config: Mapping[str, Any], labels: Sequence[str] | None) -> LabelMap:
    """What the classes mean: as the caller says, or as the model's own names say."""
    if labels is not None:
        return label_map(labels)
    names = config.get("id2label")
    if not isinstance(names, dict):
        inverse = config.get("label2id")
        names = {str(number): name for name, number in inverse.items()} if isinstance(inverse, dict) else {}
    ordered = [names.get(str(number)) for number in range(len(names))]
    if not ordered or not all(isinstance(name, str) for name in ordered):
        raise ModelContractError("config.json does not name the model's classes (id2label); pass labels=(…)")
    return label_map([str(name) for name in ordered])


def _signature(
    session: OnnxSession, located: Located, classes: int
) -> tuple[dict[str, type[np.integer[Any]]], str]:
    """Input names with the integers they take, and the name of the logits."""
    inputs, outputs = session.signature.inputs, session.signature.outputs
    if "input_ids" not in inputs or not set(inputs) <= set(_KNOWN_INPUTS):
        raise ModelContractError(
            f"{located.graph}: expected inputs among {_KNOWN_INPUTS}, found {list(inputs)}"
        )
    kinds = {}
    for name, tensor in inputs.items():
        if tensor.type not in _INTEGERS:
            raise ModelContractError(f"{located.graph}: {name} is {tensor.type}, expected integers")
        kinds[name] = _INTEGERS[tensor.type]
    name = "logits" if "logits" in outputs else next(iter(outputs))
    if "logits" not in outputs and len(outputs) != 1:
        raise ModelContractError(f"{located.graph}: expected an output called logits, found {list(outputs)}")
    last = outputs[name].shape[-1:]
    if isinstance(last and last[0], int) and last != (classes,):
        raise ModelContractError(f"{located.graph}: {last[0]} outputs, but {classes} labels")
    return kinds, name


def _longest(folder: Path, config: Mapping[str, Any]) -> int:
    """Tokens the model reads, special tokens counted."""
    limits = []
    if (folder / "tokenizer_config.json").is_file():
        stated = _json(folder / "tokenizer_config.json").get("model_max_length")
        # Tokenizers without a limit state an astronomical number.
        if isinstance(stated, (int, float)) and 0 < stated < 1_000_000:
            limits.append(int(stated))
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and positions > 0:
        offset = any(family in str(config.get("model_type", "")) for family in _OFFSET_POSITIONS)
        limits.append(positions - (int(config.get("pad_token_id") or 0) + 1 if offset else 0))
    if not limits:
        raise ModelContractError(f"{folder} does not say how long an input may be; pass max_tokens=…")
    return min(limits)


def _tokenizers(path: Path, longest: int) -> tuple[Tokenizer, Tokenizer, int]:
    """One that cuts nothing, for counting; one for pairs; and the special tokens of a pair."""
    try:
        plain, pairs = Tokenizer.from_file(str(path)), Tokenizer.from_file(str(path))
    except Exception as error:  # the tokenizers package raises bare Exception
        raise ModelContractError(f"{path} is not a tokenizer: {error}") from error
    for tokenizer in (plain, pairs):
        tokenizer.no_padding()
        tokenizer.no_truncation()
    special = pairs.num_special_tokens_to_add(is_pair=True)
    if longest > special:
        # The last resort, should a window grow by more than the slack: the claim stays whole.
        pairs.enable_truncation(longest, strategy="only_first")
    return plain, pairs, special


def _calibration(folder: Path) -> Calibration:
    path = folder / "calibration.json"
    return Calibration.read(path) if path.is_file() else Calibration()


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelContractError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # UnicodeDecodeError is one too
        raise ModelContractError(f"{path} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise ModelContractError(f"{path} is not a JSON object")
    return content
