"""Claims made by rule from passages nobody labelled.

Of every few sentences of a passage come claims that it backs (the sentence
rephrased, two sentences joined) and claims that it does not: one detail
changed, a clause from a sentence that was then held out of the passage, or the
held-out sentence itself.  Broken claims start from rephrased sentences too, so
that rephrasing is no sign of support.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from training.data import Row, read_rows
from training.edits import BREAKING, Edited, Material, lower_first, names, rephrase
from training.windows import sentences

MAX_SENTENCES = 9
"""Sentences of a passage that become the premise; a longer passage is cut at random."""
_ONLY_UNSAID = frozenset({"name", "roles", "extent"})
"""Kinds of edits after which a claim may still be true: all that is sure is that it is not said."""
_LINKS = (", and ", ", while ", "; ", ", and also ")


def usable(sentence: str) -> bool:
    """Whether a sentence is a plain statement that can stand alone."""
    words = sentence.split()
    return (
        7 <= len(words) <= 40
        and sentence.endswith(".")
        and not re.search(r"[|{}<>=\[\]]|https?:|\.\.\.", sentence)
        and words[0]
        not in {"It", "He", "She", "They", "This", "These", "That", "Those", "But", "And", "However,"}
        and sum(c.isalpha() for c in sentence) > 0.6 * len(sentence)
    )


def broken(sentence: str, material: Material, random: Random) -> tuple[Edited, str] | None:
    """The sentence with one detail changed so that the passage does not say it."""
    order = list(BREAKING)
    while order:
        chosen = random.choices(order, [weight for _, _, weight in order])[0]
        order.remove(chosen)
        edit, kind, _ = chosen
        made = edit(sentence, material, random)
        if made is not None and made.text != sentence and made.text not in material.passage:
            return made, kind
    return None


def claims(text: str, pool: tuple[str, ...], random: Random) -> Iterator[dict[str, object]]:
    """Labelled claims about one passage, with the premise they are about."""
    parts = sentences(re.sub(r"[ \t]+", " ", text))
    if len(parts) > MAX_SENTENCES:
        start = random.randrange(len(parts) - MAX_SENTENCES + 1)
        parts = parts[start : start + MAX_SENTENCES]
    good = [p for p in parts if usable(p)]
    if len(good) < 3 or len(parts) < 4:
        return
    random.shuffle(good)
    hidden, rest = good[0], good[1:]
    premise = " ".join(p for p in parts if p != hidden)
    material = Material(premise, pool)

    def row(claim: str, label: str, kind: str, spans: Sequence[tuple[int, int]] = ()) -> dict[str, object]:
        return {
            "premise": premise,
            "claim": claim,
            "label": label,
            "kind": kind,
            "spans": [list(s) for s in spans],
        }

    for sentence in rest[:4]:
        if random.random() < 0.6:
            yield row(rephrase(sentence, random), "entail", "rephrased")
        base = rephrase(sentence, random) if random.random() < 0.7 else sentence
        if random.random() < 0.75 and (made := broken(base, material, random)):
            edited, kind = made
            label = "neutral" if kind == "overstated" else "contradict"
            yield row(edited.text, "not_entail" if kind in _ONLY_UNSAID else label, kind, edited.spans)
    first = rephrase(rest[0], random).rstrip(".")
    link = random.choice(_LINKS)
    if random.random() < 0.5:
        yield row(f"{first}{link}{lower_first(rephrase(rest[1], random))}", "entail", "joined")
    if random.random() < 0.6:
        tail = lower_first(rephrase(hidden, random))
        start = len(first) + len(link)
        yield row(first + link + tail, "neutral", "appended", [(start, start + len(tail))])
    if random.random() < 0.4:
        claim = rephrase(hidden, random)
        yield row(claim, "neutral", "held out", [(0, len(claim))])


def edited(rows: Sequence[Row], material: Material, random: Random) -> Iterator[dict[str, object]]:
    """Supported claims written by people about one context, and the same claims with a detail broken.

    The wording is a person's either way, so only the passage tells which is which.
    """
    for row in rows:
        claim = row["claim"]
        if row["label"] != "entail":
            continue
        yield {
            "premise": row["premise"],
            "claim": claim,
            "label": "entail",
            "kind": "as written",
            "spans": [],
        }
        for _ in range(2):
            if made := broken(claim, material, random):
                found, kind = made
                label = "not_entail" if kind in {*_ONLY_UNSAID, "overstated"} else "contradict"
                spans = [list(span) for span in found.spans]
                text = found.text
                yield {"premise": row["premise"], "claim": text, "label": label, "kind": kind, "spans": spans}


def edit_claims(path: Path, *, seed: int) -> Iterator[dict[str, object]]:
    """`edited` for every context of a labelled file, each edited claim once."""
    random = Random(seed)
    grouped: dict[str, list[Row]] = {}
    for row in read_rows(path):
        grouped.setdefault(row["premise"], []).append(row)
    sample = random.sample(sorted(grouped), min(600, len(grouped)))
    pool = tuple(dict.fromkeys(m.group() for text in sample for m in names(text)[:5]))
    for number, (premise, rows) in enumerate(grouped.items()):
        seen: set[str] = set()
        for i, made in enumerate(edited(rows, Material(premise, pool), random)):
            if str(made["claim"]) not in seen:
                seen.add(str(made["claim"]))
                yield {"id": f"edited-{number}-{i}", "source": rows[0].get("source", path.stem), **made}


def generate(files: Sequence[Path], *, passages: int, seed: int) -> Iterator[dict[str, object]]:
    """Claims from up to `passages` passages of each file, files one after the other."""
    random = Random(seed)
    texts = [(path.name.split(".")[0], [str(row["text"]) for row in _texts(path)]) for path in files]
    seen: dict[str, None] = {}
    for _, members in texts:
        for text in random.sample(members, min(300, len(members))):
            seen.update(dict.fromkeys(m.group() for m in names(text)[:5]))
    pool = tuple(seen)
    for source, members in texts:
        for number, text in enumerate(random.sample(members, min(passages, len(members)))):
            for i, found in enumerate(claims(text, pool, random)):
                yield {"id": f"rules-{source}-{number}-{i}", "source": f"rules:{source}", **found}


def _texts(path: Path) -> Iterator[dict[str, object]]:
    yield from (dict(row) for row in read_rows(path))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="*", help="JSON Lines of passages with a text")
    parser.add_argument("--edit", type=Path, help="edit the supported claims of this labelled file instead")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--passages", type=int, default=600, help="passages of each file at most")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with gzip.open(options.out, "wt", encoding="utf-8") as file:
        made = (
            edit_claims(options.edit, seed=options.seed)
            if options.edit
            else generate(options.files, passages=options.passages, seed=options.seed)
        )
        for row in made:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    print(f"{count} claims")


if __name__ == "__main__":
    main()
