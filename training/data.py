"""Labelled claims grouped by the passages they are about.

Every public set and the hand-written ones come as JSON Lines with `premise`,
`claim` and `label`.  Here claims that share a premise become one `Context`:
its windows are encoded once for all its claims.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, cast

import numpy as np

from training.jsonl import json_lines
from training.windows import MAX_CLAIM, clean_claim, sentences, token_marks, tokenise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from training.windows import Tokens

Group = Literal["hand", "pairs", "ground", "synthetic"]
ENTAIL, NEUTRAL, CONTRADICT, NOT_ENTAIL = range(4)
LABEL_IDS = {"entail": ENTAIL, "neutral": NEUTRAL, "contradict": CONTRADICT, "not_entail": NOT_ENTAIL}
CONTEXT_TOKENS = 480
"""Longest context kept; of longer ones, the sentences closest to the claims."""

TITLE_TOKENS = 16
"""Tokens of a window that a title may take, its colon counted."""
CACHE_FORMAT = 2

_WORD = re.compile(r"\w+")


class Row(TypedDict, total=False):
    """One line of a labelled file, as far as it is read here."""

    source: str
    premise: str
    passages: list[str]
    titles: list[str]
    claim: str
    label: str
    kind: str
    spans: list[list[int]]


class CaseClaim(TypedDict):
    """A claim of a hand-written case; `spans` are the words that nothing backs."""

    claim: str
    label: str
    kind: str
    spans: list[str]


class Case(TypedDict):
    """One line of a file in `sets/`: passages with titles and claims about them."""

    id: str
    domain: str
    question: str
    passages: list[dict[str, str]]
    claims: list[CaseClaim]


@dataclass(frozen=True, slots=True)
class Claim:
    """One tokenised claim with its label."""

    ids: Tokens
    """With `[CLS]` and `[SEP]`."""
    label: int
    marks: NDArray[np.bool_] | None
    """Unsupported tokens, or None where the set has no spans."""


@dataclass(frozen=True, slots=True)
class Context:
    """Passages and the claims made about them."""

    source: str
    passages: list[list[Tokens]]
    """Tokenised sentences of each passage."""
    claims: list[Claim]
    titles: tuple[Tokens, ...] = ()
    """Titles of the passages, where the source has them."""


@dataclass(frozen=True, slots=True)
class SetSpec:
    """One file of the mixture."""

    name: str
    group: Group
    weight: float
    """Times an epoch of its group shows each context, on average."""
    licence: str


def read_mixture(path: Path) -> list[SetSpec]:
    """The sets to train on, from a TOML table of groups."""
    table = tomllib.loads(path.read_text())
    return [
        SetSpec(name, cast("Group", group), float(entry["weight"]), entry["licence"])
        for group, sets in table["sets"].items()
        for name, entry in sets.items()
    ]


def read_rows(path: Path) -> Iterator[Row]:
    """Rows of a JSON Lines file, gzipped or not; a line may hold a whole case with its claims."""
    for record in json_lines(path):
        if "claims" in record:
            yield from case_rows(cast("Case", record))
        else:
            yield cast("Row", record)


def case_rows(case: Case) -> Iterator[Row]:
    """A row for every claim of a hand-written case.

    Raises:
        ValueError: a span is not part of its claim, or a passage is only named. Operator.
    """
    if any("text" not in passage for passage in case["passages"]):
        raise ValueError(f"case {case['id']} only names its passages: `training.passages` puts the texts in")
    texts = [passage["text"] for passage in case["passages"]]
    titles = [passage.get("title", "") for passage in case["passages"]]
    for claim in case["claims"]:
        text = claim["claim"]
        absent = [span for span in claim["spans"] if span not in text]
        if absent:
            raise ValueError(f"case {case['id']}: {absent[0]!r} is not in the claim {text!r}")
        yield {
            "source": case["domain"],
            "premise": "\n".join(texts),
            "passages": texts,
            "titles": titles if all(titles) else [],
            "claim": text,
            "label": claim["label"],
            "kind": claim["kind"],
            "spans": [[text.index(span), text.index(span) + len(span)] for span in claim["spans"]],
        }


def content_words(text: str) -> set[str]:
    """Lower-case words of three letters or more, and numbers."""
    return {w for w in _WORD.findall(text.lower()) if len(w) > 2 or w.isdigit()}


def nearest_sentences(
    parts: Sequence[str], lengths: Sequence[int], claims: Sequence[str], limit: int
) -> list[int]:
    """Indices, in order, of the sentences that share most words with the claims.

    Each pick brings its neighbours, since evidence is rarely one sentence long.
    """
    if sum(lengths) <= limit:
        return list(range(len(parts)))
    words = [content_words(p) for p in parts]
    asked = [content_words(c) for c in claims]
    score = [max(len(w & a) / (len(a) + 1) for a in asked) for w in words]
    kept: set[int] = set()
    used = 0
    for best in sorted(range(len(parts)), key=lambda i: (-score[i], i)):
        for i in (best, best - 1, best + 1):
            if 0 <= i < len(parts) and i not in kept and used + lengths[i] <= limit:
                kept.add(i)
                used += lengths[i]
    return sorted(kept)


def tokenise_claims(tokenizer: Tokenizer, rows: Sequence[Row]) -> list[Claim]:
    """Claims of the rows, cleaned and cut at the model's limit."""
    cleaned = [clean_claim(row["claim"]) for row in rows]
    claims: list[Claim] = []
    for row, clean, encoded in zip(
        rows, cleaned, tokenizer.encode_batch([c.text for c in cleaned]), strict=True
    ):
        ids = np.array(encoded.ids, dtype=np.uint16)
        marks = None
        if "spans" in row:
            marks = token_marks(encoded.offsets, clean, row["spans"])[:MAX_CLAIM]
        claims.append(Claim(ids[:MAX_CLAIM], LABEL_IDS[row["label"]], marks))
    return claims


def tokenise_titles(tokenizer: Tokenizer, titles: Sequence[str]) -> tuple[Tokens, ...]:
    """Each title with a colon behind it, cut at `TITLE_TOKENS`."""
    if not titles:
        return ()
    *names, colon = tokenise(tokenizer, [*titles, ":"])
    return tuple(np.concatenate([name[: TITLE_TOKENS - 1], colon]) for name in names)


def load_set(path: Path, tokenizer: Tokenizer) -> list[Context]:
    """Contexts of one file.  Rows without a claim to judge are left out."""
    grouped: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in read_rows(path):
        if row["label"] in LABEL_IDS and row["premise"].strip() and clean_claim(row["claim"]).text:
            grouped[tuple(row.get("passages") or [row["premise"]])].append(row)
    contexts: list[Context] = []
    for passages, rows in grouped.items():
        claims = tokenise_claims(tokenizer, rows)
        texts = [clean_claim(row["claim"]).text for row in rows]
        tokenised: list[list[Tokens]] = []
        names = tokenise_titles(tokenizer, rows[0].get("titles", ()))
        for passage in passages:
            parts = sentences(passage)
            ids = tokenise(tokenizer, parts)
            kept = nearest_sentences(parts, [len(i) for i in ids], texts, CONTEXT_TOKENS)
            tokenised.append([ids[i] for i in kept if len(ids[i])])
        if not names:
            tokenised = [p for p in tokenised if p]
        if tokenised:
            contexts.append(Context(rows[0].get("source", path.stem), tokenised, claims, names))
    return contexts


def fingerprint(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def load_cached(path: Path, tokenizer: Tokenizer, cache: Path) -> list[Context]:
    """`load_set`, kept on disk under the file's hash."""
    stored = cache / f"{path.name.split('.')[0]}-{fingerprint(path)[:16]}-{CACHE_FORMAT}.pickle"
    if stored.exists():
        with stored.open("rb") as file:
            return cast("list[Context]", pickle.load(file))  # our own cache, never downloaded
    contexts = load_set(path, tokenizer)
    cache.mkdir(parents=True, exist_ok=True)
    with stored.open("wb") as file:
        pickle.dump(contexts, file)
    return contexts


def read_shares(path: Path) -> dict[Group, float]:
    """Share of the training tokens that each group gets."""
    return cast("dict[Group, float]", tomllib.loads(path.read_text())["share"])


def read_taught(path: Path) -> dict[Group, float]:
    """Part of each group's loss that teachers have, 0 where the table `taught` does not name it.

    Raises:
        ValueError: a part is not between 0 and 1. Operator.
    """
    table = tomllib.loads(path.read_text()).get("taught", {})
    for group, part in table.items():
        if not 0 <= part <= 1:
            raise ValueError(f"{path}: taught.{group} is {part}; it is a part of the loss, from 0 to 1")
    return cast("dict[Group, float]", table)
