"""What the rules of an answer cost, and the search for personal data: each is to stay below 100 ms.

    python benchmarks/validators.py                       some seconds
    python benchmarks/validators.py --json FILE           also write the figures

Every rule is held to one verified answer of 20 sentences and of 200, each with a citation, against 100
passages; processor time of this thread, the shortest of five runs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from machine import describe
from streamverify import Passage, StreamContext, Verifier
from streamverify.domains import BlockReader, check_answer, company_expert, judge_output
from streamverify.pii import Recognisers
from streamverify.testing import ScriptedScorer
from streamverify.validators import Answer

SIZES = (20, 200)
"""Sentences of the answer."""
RUNS = 5
MOST_MS = 100.0
PASSAGES = [
    Passage(
        f"p{at}",
        f"Employees of the mill have {at} days of leave in every year.",
        title=f"Leave in mill {at}",
        metadata={
            "uri": f"hr/{at}",
            "visibility": "restricted",
            "roles": ["hr"],
            "tags": ["HR"],
            "updated_at": "2026-10-01",
        },
    )
    for at in range(100)
]
OUTPUT = {
    "answer": "So many days.",
    "citations": [{"document": f"hr/{at}"} for at in range(100)],
    "policy_scope": ["HR"],
    "confidentiality": "restricted",
}


def answered(sentences: int) -> Answer:
    """An answer of so many sentences, verified."""
    numbered = (at % len(PASSAGES) for at in range(sentences))
    said = (f"Employees of the mill have {at} days of leave in every year [p{at}]." for at in numbered)
    with Verifier(ScriptedScorer()) as verifier:
        report = verifier.check_sync(" ".join(said), PASSAGES)
    return Answer(
        report=report,
        passages=tuple(PASSAGES),
        requester=StreamContext(user="ann", roles=frozenset({"hr"})),
        question="How many days of leave do employees of the mill have?",
        now=datetime(2026, 11, 1, tzinfo=UTC),
    )


def milliseconds(run: Callable[[], object]) -> float:
    """Of this thread's processor, the shortest of some runs."""
    took = []
    for _ in range(RUNS):
        began = time.thread_time()
        run()
        took.append(time.thread_time() - began)
    return round(min(took) * 1000, 3)


def measured(sentences: int) -> dict[str, float]:
    """Name to milliseconds."""
    answer, domain = answered(sentences), company_expert()
    with Verifier(ScriptedScorer()) as verifier:
        result = check_answer(domain, verifier, json.dumps(OUTPUT), PASSAGES)
    rules: dict[str, Callable[[], object]] = {rule.name: lambda r=rule: r(answer) for rule in domain.rules}
    assert result.output is not None
    for one in domain.output_rules:
        rules[one.name] = lambda r=one: r(result.output, answer)
    rules["all rules and the schema of company_expert"] = lambda: judge_output(domain, result.block, answer)
    rules["personal data in the answer"] = lambda: Recognisers()(answer.report.answer)
    return {name: milliseconds(run) for name, run in rules.items()}


def block_seconds(chars: int) -> float:
    """Processor time to take a block of so many characters out of a stream of pieces of 2,048."""
    text = '{"a": [' + '"x y", ' * (chars // 7)
    began, reader = time.thread_time(), BlockReader()
    for at in range(0, len(text), 2048):
        reader.feed(text[at : at + 2048])
    reader.flush()
    return round(time.thread_time() - began, 3)


def main() -> int:
    """Measure and print; 1 where a rule took longer than it may."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    found: dict[str, Any] = {
        "command": "python benchmarks/validators.py",
        "machine": describe(),
        "milliseconds": {str(size): measured(size) for size in SIZES},
        "block_of_10_mb_seconds": block_seconds(10_000_000),
    }
    for name in found["milliseconds"][str(SIZES[0])]:
        told = ", ".join(f"{found['milliseconds'][str(size)][name]:.2f} ms ({size})" for size in SIZES)
        print(f"{name}: {told}")
    print(f"a block of 10,000,000 characters: {found['block_of_10_mb_seconds']:.2f} s")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return int(any(ms > MOST_MS for one in found["milliseconds"].values() for ms in one.values()))


if __name__ == "__main__":
    sys.exit(main())
