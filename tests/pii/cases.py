"""The written cases, as `dev.jsonl` and `held_out.jsonl` hold them: `⟦kind|text⟧` marks what is personal."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from streamverify.pii import KINDS, PiiItem, Recognisers

_MARK = re.compile(r"⟦(\w+)\|(.*?)⟧")


def cases(half):
    """Id, text and items of each case of a half."""
    lines = (Path(__file__).parent / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [(row["id"], *unmarked(row["marked"])) for row in map(json.loads, lines)]


def unmarked(text):
    parts, items, at = [], [], 0
    for found in _MARK.finditer(text):
        parts.append(text[at : found.start()])
        start = sum(map(len, parts))
        items.append(PiiItem(found[1], start, start + len(found[2])))
        parts.append(found[2])
        at = found.end()
    return "".join((*parts, text[at:])), tuple(items)


def figures(half):
    """Kind to (found rightly, found wrongly, missed); an item counts where kind, start and end are right."""
    detector = Recognisers()
    right, wrong, missed = Counter(), Counter(), Counter()
    for _, text, items in cases(half):
        found, wanted = set(detector(text)), set(items)
        right.update(item.kind for item in found & wanted)
        wrong.update(item.kind for item in found - wanted)
        missed.update(item.kind for item in wanted - found)
    return {kind: (right[kind], wrong[kind], missed[kind]) for kind in KINDS}
