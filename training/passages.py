"""Cases whose passages are named, with their texts.

`python -m training.passages CASES --passages FILE... --out OUT`

Passages of public sets stay where they were published: a case names them (`{"id": "clapnq_wikipedia-7"}`),
and the texts come from the files of passages each time a run's sets are made.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.jsonl import json_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def with_texts(cases: Iterable[Mapping[str, Any]], texts: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The cases, each passage with its text.

    Args:
        cases: lines of a file in `sets/`, whose passages have an `id`.
        texts: text of each passage by its id.

    Raises:
        ValueError: a passage is in none of the files. Operator.
    """
    for case in cases:
        passages = case["passages"]
        absent = [passage["id"] for passage in passages if passage["id"] not in texts]
        if absent:
            raise ValueError(f"case {case['id']}: no file of passages holds {absent[0]!r}")
        yield {**case, "passages": [{**passage, "text": texts[passage["id"]]} for passage in passages]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", type=Path, nargs="+", help="JSON Lines of cases whose passages are named")
    parser.add_argument("--passages", type=Path, nargs="+", required=True, help="JSON Lines with id and text")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    texts = {row["id"]: row["text"] for path in options.passages for row in json_lines(path)}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with gzip.open(options.out, "wt", encoding="utf-8") as file:
        for path in options.cases:
            for case in with_texts(json_lines(path), texts):
                file.write(json.dumps(case, ensure_ascii=False) + "\n")
                count += 1
    print(f"{count} cases")


if __name__ == "__main__":
    main()
