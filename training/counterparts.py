"""Claims beside passages in which one detail is another: the same words, the other label.

A detail broken in the claim alone can be told by the look of the claim.  Here it changes in the
passages and in the claim: what was supported is wrong beside the changed passages, and the changed
claim, wrong beside the passages as written, is right beside the changed ones.  So each claim and each
passage stands with both labels, and only reading one beside the other tells which it is
(counterfactual augmentation: Kaushik et al., 2020, "Learning the Difference that Makes a Difference
with Counterfactually-Augmented Data").
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from training.data import Row, content_words, read_rows
from training.edits import MONTHS, NUMBER, OPPOSITES, SMALL, other_number
from training.windows import sentences

MOST_CHANGES = 6
"""Details that differ between a set of passages and its counterpart."""
ALIKE = 0.4
"""Share of a claim's words that the sentence has which it is taken to tell."""
CLOSE = 0.6
"""The same where a word's meaning depends on what stands around it: negations, opposites, extent."""
TRIES = 40
"""Changes drawn for a context; most do not apply to it."""

_TOKEN = re.compile(r"\w[\w’'-]*\w|\w")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{3,}\b")
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|can|will|has|have|does|did|should|must)\b")
_DENIAL = re.compile(r"\b(?:no|not|never|none|neither|nor|cannot|only)\b|n['’]t\b")
_WEAKER = {
    "all": ("some", "most"), "every": ("nearly every",), "each": ("nearly each",), "never": ("rarely",),
    "always": ("usually", "often"), "must": ("may", "should"), "will": ("may",), "only": ("mainly",),
    "cannot": ("need not",), "entirely": ("partly",), "exactly": ("roughly",), "immediately": ("eventually",),
}  # fmt: skip
"""What is said so of all of a thing is not said any more where the passage has the weaker word."""


@dataclass(frozen=True, slots=True)
class Change:
    """One detail that becomes another."""

    kind: str
    words: Mapping[str, str]
    """What each word becomes; two where they change places."""
    place: str | None = None
    """The only sentence that changes; elsewhere the word may mean something else. None: everywhere."""
    claim: str | None = None
    """The claim that tells this sentence."""
    instead: str | None = None
    """What the claim becomes."""
    sentence: str | None = None
    """What the sentence becomes."""
    both_ways: bool = True
    """Whether the changed claim is wrong beside the passages as written; "some" is not beside "all"."""


@dataclass(slots=True)
class Material:
    """The passages of one context, what they support, and which sentence each claim tells."""

    passages: Sequence[str]
    claims: Sequence[str]
    told: dict[str, tuple[str, float]] = field(default_factory=dict)
    """The sentence closest to a claim, and the share of the claim's words that it has."""

    def __post_init__(self) -> None:
        parts = [part for passage in self.passages for part in sentences(passage)]
        vocabularies = [(part, content_words(part)) for part in parts]
        for claim in self.claims:
            own = content_words(claim)
            if own and vocabularies:
                best = max(vocabularies, key=lambda pair: len(own & pair[1]))
                self.told[claim] = best[0], len(own & best[1]) / len(own)

    @property
    def text(self) -> str:
        """All passages, one after the other."""
        return "\n".join(self.passages)


def _swap(text: str, words: Mapping[str, str]) -> str:
    """Each whole word of a table by its other one, all at once."""
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.sub(rf"(?<![\w.,-])(?:{pattern})(?![\w-]|[.,]\d)", lambda m: words[m.group()], text)


def _has(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w.,-]){re.escape(word)}(?![\w-]|[.,]\d)", text) is not None


def _backed(material: Material, word: str) -> list[str]:
    """The claims that have a word from the sentence which they tell; none if one has it from elsewhere."""
    having = [claim for claim in material.claims if _has(claim, word)]
    for claim in having:
        sentence, alike = material.told.get(claim, ("", 0.0))
        if alike < ALIKE or not _has(sentence, word):
            return []
    return having


def _spelled(word: str, text: str) -> bool:
    """Whether a small number stands in words too, which would stay what it was."""
    if not word.isdigit() or int(word) >= len(SMALL):
        return False
    return re.search(rf"\b{SMALL[int(word)]}\b", text, re.IGNORECASE) is not None


def _number(material: Material, random: Random) -> Change | None:
    """Another number, or two that change places."""
    everything = "\n".join([*material.passages, *material.claims])
    found = sorted({m.group() for claim in material.claims for m in NUMBER.finditer(claim)})
    found = [x for x in found if not _spelled(x, everything) and _backed(material, x)]
    if not found:
        return None
    word = random.choice(found)
    others = sorted({m.group() for m in NUMBER.finditer(material.text)})
    others = [
        other for other in others
        if other != word and len(other) == len(word) and not _spelled(other, everything)
        and not any(_has(claim, word) and _has(claim, other) for claim in material.claims)
        and (_backed(material, other) or not any(_has(claim, other) for claim in material.claims))
    ]  # fmt: skip
    if others and random.random() < 0.6:
        other = random.choice(others)
        return Change("number", {word: other, other: word})
    new = other_number(word, random)
    return None if _has(everything, new) or _spelled(new, everything) else Change("number", {word: new})


def _month(material: Material, random: Random) -> Change | None:
    months = [month for month in MONTHS if month != "May"]
    found = [month for month in months if _backed(material, month)]
    if not found:
        return None
    word = random.choice(found)
    other = random.choice([month for month in months if month != word])
    if any(_has(claim, word) and _has(claim, other) for claim in material.claims):
        return None
    if _has(material.text, other) or any(_has(claim, other) for claim in material.claims):
        return Change("date", {word: other, other: word}) if _backed(material, other) else None
    return Change("date", {word: other})


def _name(material: Material, random: Random) -> Change | None:
    """Two names change places; not where they stand in one sentence, of which both may be told."""
    lower = set(re.findall(r"\b[a-z]{4,}\b", material.text))
    known = sorted({m.group() for m in _NAME.finditer(material.text)} - set(MONTHS))
    known = [name for name in known if name.lower() not in lower and not name.endswith("day")]
    found = [name for name in known if _backed(material, name)]
    if not found:
        return None
    word = random.choice(found)
    parts = [part for passage in material.passages for part in sentences(passage)]
    others = [
        other for other in known
        if other != word
        and not any(_has(part, word) and _has(part, other) for part in (*parts, *material.claims))
        and (_backed(material, other) or not any(_has(claim, other) for claim in material.claims))
    ]  # fmt: skip
    if not others:
        return None
    other = random.choice(others)
    return Change("name", {word: other, other: word})


def _at_place(
    material: Material, random: Random, kind: str, change: Callable[[str, str], tuple[str, str] | None]
) -> Change | None:
    """A change of one sentence and of a claim that tells it."""
    claims = [claim for claim in material.claims if material.told.get(claim, ("", 0.0))[1] >= CLOSE]
    for claim in random.sample(claims, len(claims)):
        sentence = material.told[claim][0]
        if material.text.count(sentence) == 1 and (made := change(claim, sentence)):
            return Change(
                kind, {}, sentence, claim, made[0], sentence=made[1], both_ways=kind != "quantifier"
            )
    return None


def _once(word: str, *texts: str) -> bool:
    return all(len(re.findall(rf"\b{word}\b", text)) == 1 for text in texts)


def _replaced(word: str, new: str, claim: str, sentence: str) -> tuple[str, str]:
    return re.sub(rf"\b{word}\b", new, claim), re.sub(rf"\b{word}\b", new, sentence)


def _opposite(material: Material, random: Random) -> Change | None:
    def change(claim: str, sentence: str) -> tuple[str, str] | None:
        words = [w for w in _TOKEN.findall(claim) if w in OPPOSITES and _once(w, claim, sentence)]
        words = [w for w in words if not _has(claim, OPPOSITES[w]) and not _has(sentence, OPPOSITES[w])]
        if not words:
            return None
        word = random.choice(words)
        return _replaced(word, OPPOSITES[word], claim, sentence)

    return _at_place(material, random, "opposite", change)


def _quantifier(material: Material, random: Random) -> Change | None:
    def change(claim: str, sentence: str) -> tuple[str, str] | None:
        words = [w for w in _TOKEN.findall(claim) if w in _WEAKER and _once(w, claim, sentence)]
        if not words:
            return None
        word = random.choice(words)
        return _replaced(word, random.choice(_WEAKER[word]), claim, sentence)

    return _at_place(material, random, "quantifier", change)


def _negation(material: Material, random: Random) -> Change | None:
    def change(claim: str, sentence: str) -> tuple[str, str] | None:
        words = [m.group() for m in _AUXILIARY.finditer(claim) if _once(m.group(), claim, sentence)]
        for word in random.sample(words, len(words)):
            denied = [f"{word} not " in text for text in (claim, sentence)]
            if all(denied):
                return claim.replace(f"{word} not ", f"{word} "), sentence.replace(f"{word} not ", f"{word} ")
            if not any(_DENIAL.search(text) for text in (claim, sentence)):
                return _replaced(word, f"{word} not", claim, sentence)
        return None

    return _at_place(material, random, "negation", change)


KINDS: tuple[tuple[Callable[[Material, Random], Change | None], int], ...] = (
    (_number, 4),
    (_month, 2),
    (_name, 4),
    (_opposite, 2),
    (_quantifier, 1),
    (_negation, 2),
)


def changes(material: Material, random: Random) -> list[Change]:
    """Up to `MOST_CHANGES` details of a context that can change beside each other."""
    made: list[Change] = []
    taken: set[str] = set()
    places: set[str] = set()
    makers, weights = zip(*KINDS, strict=True)
    for _ in range(TRIES):
        if len(made) == MOST_CHANGES:
            break
        change = random.choices(makers, weights)[0](material, random)
        if change is None:
            continue
        if change.place is None:
            words = {*change.words, *change.words.values()}
            if words & taken or any(_has(place, word) for place in places for word in words):
                continue
            taken |= words
        else:
            if change.place in places or any(_has(change.place, word) for word in taken):
                continue
            places.add(change.place)
        made.append(change)
    return made


def counterpart(text: str, made: Sequence[Change]) -> str:
    """A passage after the changes."""
    for change in made:
        if change.place is not None and change.sentence is not None:
            text = text.replace(change.place, change.sentence)
    words = {word: other for change in made for word, other in change.words.items()}
    return _swap(text, words) if words else text


def changed_claims(material: Material, made: Sequence[Change]) -> Iterator[tuple[str, str, str, bool]]:
    """Claim, what it becomes, kind of change, and whether it is wrong beside the passages as written."""
    at_place = {change.claim: change for change in made if change.claim is not None}
    places = {change.place for change in made if change.place is not None}
    everywhere = {word: (other, change.kind) for change in made for word, other in change.words.items()}
    for claim in material.claims:
        if claim in at_place:
            change = at_place[claim]
            yield claim, str(change.instead), change.kind, change.both_ways
            continue
        if material.told.get(claim, ("", 0.0))[0] in places:
            continue
        touched = [(word, *new) for word, new in everywhere.items() if _has(claim, word)]
        if touched:
            yield claim, _swap(claim, {word: other for word, other, _ in touched}), touched[0][2], True


def rows(own: Sequence[Row], random: Random) -> Iterator[dict[str, object]]:
    """Claims about one context and its counterpart, each once right and once wrong."""
    first = own[0]
    passages = [str(p) for p in first.get("passages") or [first["premise"]]]
    titles = [str(t) for t in first.get("titles") or []]
    claims = list(dict.fromkeys(row["claim"] for row in own if row["label"] == "entail"))
    material = Material([*passages, *titles], claims)
    made = changes(material, random)
    pairs = list(changed_claims(material, made))
    if not pairs:
        return
    other = [counterpart(passage, made) for passage in passages]
    other_titles = [counterpart(title, made) for title in titles]

    def row(
        texts: Sequence[str], heads: Sequence[str], claim: str, label: str, kind: str
    ) -> dict[str, object]:
        found: dict[str, object] = {"premise": "\n".join(texts), "claim": claim, "label": label, "kind": kind}
        return found | {"passages": list(texts)} | ({"titles": list(heads)} if heads else {})

    for claim, instead, kind, wrong in pairs:
        yield row(passages, titles, claim, "entail", "as written")
        if wrong:
            yield row(passages, titles, instead, "not_entail", kind)
    for claim, instead, kind, _ in pairs:
        yield row(other, other_titles, instead, "entail", f"{kind}, changed too")
        yield row(other, other_titles, claim, "not_entail", f"{kind}, passages changed")


def of_file(path: Path, *, seed: int) -> Iterator[dict[str, object]]:
    """The rows of every context of a labelled file."""
    random = Random(seed)
    grouped: dict[str, list[Row]] = {}
    for row in read_rows(path):
        grouped.setdefault(row["premise"], []).append(row)
    for number, own in enumerate(grouped.values()):
        for i, made in enumerate(rows(own, random)):
            yield {"id": f"counterpart-{number}-{i}", "source": own[0].get("source", path.stem), **made}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+", help="labelled files whose passages have their texts")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with gzip.open(options.out, "wt", encoding="utf-8") as file:
        for path in options.files:
            for made in of_file(path, seed=options.seed):
                file.write(json.dumps(made, ensure_ascii=False) + "\n")
                count += 1
    print(f"{count} claims")


if __name__ == "__main__":
    main()
