"""Are the right windows looked at? `python benchmarks/windows.py SET.jsonl [--amid WORDS]`.

A claim is shown the few windows of its passages that promise most. For each labelled claim that names the
passages it rests on, this counts whether all of them, and whether any, are among the windows that may get a
pass of their own: passes that the first ones make needless are run here too. `--amid 2000` puts the passages
of other cases around those of a case until they hold so many words, in an order drawn with a fixed seed. The
set is in the form of the golden cases.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

from streamverify import Passage, Sentence
from streamverify.judging.assessor import VerifierConfig
from streamverify.passages import cut
from streamverify.scorers.installed import EMBEDDED, installed_folder
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort


def passages_of(row: dict[str, Any]) -> list[Passage]:
    """The passages of a case, their ids those of the labels."""
    return [Passage(p["id"], p["text"], p.get("title")) for p in row["passages"]]


def amid(own: list[Passage], others: Sequence[Passage], words: int, seed: int) -> list[Passage]:
    """A case's passages among others, until all hold so many words."""
    draw = random.Random(seed)
    held = sum(len(passage.text.split()) for passage in own)
    found = list(own)
    for number, passage in enumerate(draw.sample(others, len(others))):
        if held >= words:
            break
        found.append(Passage(f"other {number}", passage.text, passage.title))
        held += len(passage.text.split())
    draw.shuffle(found)
    return found


def sentences_of(row: dict[str, Any]) -> Iterator[tuple[Sentence, frozenset[str]]]:
    """The sentences of a case in order, with the ids of the passages each rests on."""
    at = 0
    for index, labelled in enumerate(row["sentences"]):
        start = row["answer"].index(labelled["text"], at)
        at = start + len(labelled["text"])
        sentence = Sentence(index=index, text=labelled["text"], start=start, end=at)
        yield sentence, frozenset(labelled.get("evidence", ()))


def looked_at(
    config: VerifierConfig, row: dict[str, Any], passages: list[Passage]
) -> Iterator[tuple[bool, bool]]:
    """For each claim that names its evidence: whether all of it was looked at, and any."""
    assessor = config.assessor(passages, row.get("question"), Abort())
    traits = config.scorer.traits
    windows = cut(passages, config.scorer.token_spans, traits.window_tokens, title_tokens=traits.title_tokens)
    previous: list[Sentence] = []
    for sentence, evidence in sentences_of(row):
        _, reading = assessor.read(sentence, previous)
        previous.append(sentence)
        if evidence and reading.claim is not None:
            score = assessor.measure(reading.claim, (), Abort()).score
            shown = {passages[windows[entry.window].passage].id for entry in score.single}
            yield evidence <= shown, bool(evidence & shown)


def told(found: Sequence[bool]) -> str:
    """A share with its Wilson interval at 95 %."""
    bounds = binomtest(sum(found), len(found)).proportion_ci(method="wilson")
    return f"{sum(found) / len(found):.3f} [{bounds.low:.3f}, {bounds.high:.3f}]"


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--amid", type=int, default=0, metavar="WORDS")
    parser.add_argument("--model", default="fast", help="an installed model or a folder")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.dataset.read_text(encoding="utf-8").splitlines() if line]
    everything: list[bool] = []
    something: list[bool] = []
    folder = None if options.model == EMBEDDED else installed_folder(options.model) or Path(options.model)
    with closing(PremiseCachedScorer(folder, early_exit=False)) as scorer:
        config = VerifierConfig(scorer, scorer.traits.calibration)
        for number, row in enumerate(rows):
            others = [passage for other in rows if other is not row for passage in passages_of(other)]
            passages = amid(passages_of(row), others, options.amid, number)
            for all_of_it, any_of_it in looked_at(config, row, passages):
                everything.append(all_of_it)
                something.append(any_of_it)
    print(f"{len(everything)} claims; all of the evidence {told(everything)}, any of it {told(something)}")


if __name__ == "__main__":
    main()
