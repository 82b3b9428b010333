"""Are the verdicts right? Labelled sets through the same verifier that serves streams.

    python benchmarks/quality.py DATASET.jsonl[.gz] …    one row a set, then a table by kind of error
    python benchmarks/quality.py --quick                 the bundled cases: a sanity run, not a measurement
    python benchmarks/quality.py … --limit 600 --json FILE

A set holds whole answers with labelled sentences, or claims with a premise and a label. Claims go
through the verifier as an answer of their own. `balanced_accuracy` is at the shipped threshold;
`best_balanced_accuracy` at the threshold that suits that very set, which nobody knows in advance.
`overlap_auroc` ranks the same claims by the share of their content words that stand in their passages, and
`above_overlap` is what the verdict adds to that.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio

from figures import BAD, FIGURES, Row, interval
from labelled import Dataset, Gold, Item, bundled, read
from machine import describe
from streamverify import Calibration, Observe, Passage, Report, Scorer, Verifier
from streamverify.citations import LabelledCitation, found_at, measure_agreement
from streamverify.citations.metrics import NotComputed
from streamverify.text.words import STOP_WORDS, tokens
from streamverify.types import JudgedSentence

AT_ONCE = 4
SEVERITY = ("missing", "no_claim", "supported", "unverified", "unsupported", "contradicted")


def covering(report: Report, gold: Sequence[Gold]) -> list[list[JudgedSentence]]:
    """For each labelled stretch the judged sentences that overlap it more than any other."""
    found: list[list[JudgedSentence]] = [[] for _ in gold]
    for sentence in report.sentences:
        overlaps = [min(sentence.end, g.end) - max(sentence.start, g.start) for g in gold]
        best = max(range(len(gold)), key=overlaps.__getitem__)
        if overlaps[best] > 0:
            found[best].append(sentence)
    return found


def shared_words(claim: str, passages: Sequence[Passage]) -> float:
    """Share of the claim's content words that stand in its passages, 0 to 1; 1 where it has none."""
    known = {word for passage in passages for word in tokens(f"{passage.title or ''} {passage.text}")}
    own = {word for word in tokens(claim) if word not in STOP_WORDS}
    return len(own & known) / len(own) if own else 1.0


def row_for(item: Item, gold: Gold, sentences: Sequence[JudgedSentence]) -> Row:
    """One labelled stretch with the worst of what was said of it."""
    labels = [str(sentence.label) for sentence in sentences] or ["missing"]
    scores = [sentence.score for sentence in sentences if sentence.score is not None]
    overlap = None
    if gold.spans is not None and gold.label in BAD:
        given = {at for s in sentences for span in s.unsupported_spans for at in range(*span)}
        known = {at for span in gold.spans for at in range(*span)}
        overlap = (len(given & known), len(given), len(known))
    return Row(
        item=item.id,
        gold=gold.label,
        kind=gold.kind,
        label=max(labels, key=SEVERITY.index),
        score=min(scores) if scores else None,
        overlap=overlap,
        shared=shared_words(item.answer[gold.start : gold.end], item.passages),
    )


async def judge(verifier: Verifier, dataset: Dataset) -> tuple[list[Row], list[LabelledCitation]]:
    """Every labelled stretch of a set, and every labelled citation."""
    rows: dict[str, list[Row]] = {}
    citations: dict[str, list[LabelledCitation]] = {}
    limiter = anyio.CapacityLimiter(AT_ONCE)

    async def one(item: Item) -> None:
        async with limiter:
            report = await verifier.check(
                item.answer, item.passages, policy=Observe(), question=item.question
            )
        covered = covering(report, item.gold)
        rows[item.id] = [row_for(item, gold, found) for gold, found in zip(item.gold, covered, strict=True)]
        written = [citation for sentence in report.sentences for citation in sentence.citations]
        citations[item.id] = [
            LabelledCitation(
                label.finding, gold.label == "supported", found_at(written, label.start, label.end)
            )
            for gold in item.gold
            for label in gold.citations
        ]

    async with anyio.create_task_group() as group:
        for item in dataset.items:
            group.start_soon(one, item)
    ids = [item.id for item in dataset.items]
    return [row for id_ in ids for row in rows[id_]], [c for id_ in ids for c in citations[id_]]


def figure_table(results: Sequence[dict[str, object]]) -> str:
    """Markdown, one set a line."""
    names = list(FIGURES)
    lines = [
        "| set | n | unscored | " + " | ".join(name.replace("_", " ") for name in names) + " |",
        "|---|---|---|" + "---|" * len(names),
    ]
    for result in results:
        cells = [str(result["set"]), str(result["n"]), str(result["unscored"])]
        for name in names:
            value, bounds = result[name], result.get(f"{name}_interval")
            digits = 1 if name.endswith("per_100") else 3
            cell = "–" if value is None else f"{value:.{digits}f}"
            if bounds is not None:
                cell += f" [{bounds[0]:.{digits}f}, {bounds[1]:.{digits}f}]"
            cells.append(cell)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def by_kind(rows: Sequence[Row]) -> str:
    """Markdown: for each kind and gold label how many were labelled what."""
    lines = [
        "| kind | gold | n | supported | unsupported | contradicted | no claim | unverified |",
        "|---|" * 1 + "---|" * 7,
    ]
    kinds = sorted({(row.kind, row.gold) for row in rows})
    for kind, gold in kinds:
        chosen = [row.label for row in rows if (row.kind, row.gold) == (kind, gold)]
        counts = [
            chosen.count(label)
            for label in ("supported", "unsupported", "contradicted", "no_claim", "unverified")
        ]
        lines.append(f"| {kind} | {gold} | {len(chosen)} | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines)


def citation_table(labelled: Sequence[LabelledCitation]) -> tuple[str, dict[str, object]]:
    """Markdown and the same as data."""
    agreement = measure_agreement(labelled)

    def shown(value: float | NotComputed) -> str:
        return f"not computed ({value.reason})" if isinstance(value, NotComputed) else f"{value:.3f}"

    lines = [
        f"citations: {len(labelled)} labelled, agreement {shown(agreement.accuracy)}",
        f"  on supported sentences {shown(agreement.on_supported)}, on others {shown(agreement.on_others)}",
        *(f"  {finding}: {shown(value)}" for finding, value in agreement.per_finding.items()),
        "confusion on supported sentences (label, finding: count)",
        *(f"  {a} → {b}: {n}" for (a, b), n in sorted(agreement.confusion.items(), key=str)),
        "confusion on others",
        *(f"  {a} → {b}: {n}" for (a, b), n in sorted(agreement.confusion_others.items(), key=str)),
    ]
    record = {
        "n": len(labelled),
        "accuracy": None if isinstance(agreement.accuracy, NotComputed) else agreement.accuracy,
        "on_supported": None if isinstance(agreement.on_supported, NotComputed) else agreement.on_supported,
        "per_finding": {
            str(k): None if isinstance(v, NotComputed) else v for k, v in agreement.per_finding.items()
        },
        "confusion": [[str(a), str(b), n] for (a, b), n in sorted(agreement.confusion.items(), key=str)],
    }
    return "\n".join(lines), record


def lexical_scorer() -> Scorer:
    """The scorer without a model."""
    from streamverify.scorers.lexical import LexicalScorer

    return LexicalScorer()


def batched_scorer(model: str | None) -> Scorer:
    """A model of the premise-cached kind as a graphics processor reads it, in 16 bits."""
    from streamverify.scorers import PremiseCachedScorer
    from streamverify.scorers.installed import installed_folder

    folder = None if model is None else installed_folder(model) or Path(model)
    return PremiseCachedScorer(folder, batched=True)


def chosen(options: argparse.Namespace) -> dict[str, object]:
    """What of a verifier's arguments says who judges."""
    if options.lexical:
        return {"scorer": lexical_scorer}
    return {"scorer": lambda: batched_scorer(options.model)} if options.batched else {"model": options.model}


async def run(options: argparse.Namespace) -> dict[str, object]:
    """Measure every set and print as it goes."""
    datasets = [bundled()] if options.quick else [read(path, options.limit) for path in options.datasets]
    calibration = Calibration.read(options.calibration) if options.calibration else None
    results: list[dict[str, object]] = []
    async with Verifier(**chosen(options), calibration=calibration, verdict_timeout=60) as verifier:
        for dataset in datasets:
            rows, citations = await judge(verifier, dataset)
            result: dict[str, object] = {
                "set": dataset.name,
                "n": len([row for row in rows if row.gold != "no_claim"]),
                "unscored": sum(row.score is None for row in rows if row.gold != "no_claim"),
            }
            for name, figure in FIGURES.items():
                result[name] = figure(rows)
                if options.intervals and name in ("auroc", "above_overlap", "balanced_accuracy"):
                    result[f"{name}_interval"] = interval(rows, figure)
            results.append(result)
            print(figure_table([result]), flush=True)
            if any(row.kind for row in rows) and options.kinds:
                print(by_kind(rows), flush=True)
            if citations:
                text, record = citation_table(citations)
                result["citations"] = record
                print(text, flush=True)
    print("\n" + figure_table(results))
    command = [Path(part).name if Path(part).is_absolute() else part for part in sys.argv]
    return {"machine": describe(), "command": command, "results": results}


def main() -> int:
    """Measure, print, optionally write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="*", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--limit", type=int, help="items per set, chosen by a fixed seed")
    parser.add_argument("--kinds", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--intervals", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--calibration", type=Path, help="a calibration file in place of the model's own")
    parser.add_argument("--model", help="an installed model or a folder; the embedded one if none")
    parser.add_argument("--batched", action="store_true", help="in 16 bits, as on a graphics processor")
    parser.add_argument("--lexical", action="store_true", help="the scorer without a model, as a baseline")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not options.quick and not options.datasets:
        parser.error("name at least one dataset, or --quick")
    record = anyio.run(run, options)
    if options.json is not None:
        options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
