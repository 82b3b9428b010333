"""How often the laws of reading hold, through the library: `python benchmarks/reading.py [LAW...]`.

Each law is a change to a claim or its passages and what it must do to the label: see
`tests/laws_of_reading/laws.py`. A rate stands with its n and its Wilson interval at 95 %.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from laws_of_reading.rates import Rate, held

from streamverify import Verifier


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("laws", nargs="*", default=list("abcdefg"))
    parser.add_argument("--scorer", default="default", help="as `streamverify check --scorer` takes it")
    parser.add_argument("--cases", type=int, default=300, help="cases a law")
    parser.add_argument("--show", type=int, default=0, help="print so many cases where a law fails")
    parser.add_argument("--out", type=Path, help="write the figures here")
    options = parser.parse_args()
    found: dict[str, dict[str, object]] = {}
    with Verifier(scorer=options.scorer) as verifier:
        for law in options.laws:
            kept: dict[str, list[bool]] = defaultdict(list)
            shown = 0
            for outcome in held(verifier, law, options.cases):
                kept[outcome.pair.law].append(outcome.holds)
                kept[f"  {outcome.pair.law[0]} {outcome.pair.kind}"].append(outcome.holds)
                if not outcome.holds and shown < options.show:
                    shown += 1
                    before, after = outcome.before, outcome.after
                    print(f"    {before} -> {after}: {outcome.pair.after.claim}", file=sys.stderr)
            for name, values in kept.items():
                rate = Rate.of(values)
                found[name.strip()] = {"n": rate.n, "rate": rate.value, "low": rate.low, "high": rate.high}
                print(f"{name:28} {rate}", flush=True)
    if options.out:
        options.out.write_text(json.dumps({"model": options.scorer, "laws": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
