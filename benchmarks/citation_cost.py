"""What checking citations costs: the same answers with their markers and with the markers taken out.

python benchmarks/citation_cost.py [LABELLED.jsonl …]     the bundled cases, and any sets of whole answers

python benchmarks/citation_cost.py [LABELLED.jsonl …]     the bundled cases and sets of whole answers
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from labelled import Item, bundled, read
from streamverify import Passage
from streamverify.citations import find_markers, markup
from streamverify.judging.assessor import VerifierConfig
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort
from streamverify.sentences.segmenter import segment


def without_markers(answer: str) -> str:
    """The answer with every marker, and the blank before it, taken out."""
    for span in reversed(markup(find_markers(answer))):
        start = span.start - 1 if answer[span.start - 1 : span.start] == " " else span.start
        answer = answer[:start] + answer[span.end :]
    return answer


def cost(basis: VerifierConfig, items: Sequence[tuple[tuple[Passage, ...], str]]) -> tuple[float, int]:
    """CPU seconds to judge all answers, and runs of the model."""
    seconds, passes = 0.0, 0
    for passages, answer in items:
        assessor = basis.assessor(passages, None, Abort())
        sentences = segment(answer)
        start = time.process_time()
        for index, sentence in enumerate(sentences):
            previous = sentences[max(index - 40, 0) : index]
            passes += assessor.assess(sentence, previous, Abort()).work.passes
        seconds += time.process_time() - start
    return seconds, passes


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="*", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    scorer = PremiseCachedScorer()
    basis = VerifierConfig(scorer, scorer.traits.calibration)
    for dataset in [bundled(), *(read(path) for path in options.datasets)]:
        items: Sequence[Item] = dataset.items
        marked = [(item.passages, item.answer) for item in items]
        plain = [(item.passages, without_markers(item.answer)) for item in items]
        cost(basis, marked)  # warm caches
        pairs = [(cost(basis, marked), cost(basis, plain)) for _ in range(options.repeats)]
        ratio = statistics.median(one[0] / other[0] for one, other in pairs)
        print(
            f"{dataset.name}: CPU with markers / without {ratio:.3f}, "
            f"passes {pairs[0][0][1]} / {pairs[0][1][1]}, n = {options.repeats}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
