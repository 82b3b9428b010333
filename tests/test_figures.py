"""The figures of quality that pages show are those that were measured and kept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def measured(*names: str) -> dict[str, dict[str, float]]:
    """Set to its figures, of result files."""
    found = [json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8")) for name in names]
    return {row["set"]: row for one in found for row in one["results"]}


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the table whose heading begins so, a list a row."""
    text = (ROOT / page).read_text(encoding="utf-8")
    table = re.search(rf"^\| {re.escape(heading)}.*\n\|[-| ]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert table is not None, heading
    return [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in table[1].splitlines()]


def agree(figure: dict[str, float], *shown: str) -> None:
    """Hold claims, AUROC, balanced accuracy, false alarms and misses, as shown, to what was measured."""
    claims, auroc, *others = shown
    assert (claims, auroc.split()[0]) == (str(figure["n"]), f"{figure['auroc']:.3f}"), figure["set"]
    assert others == [
        f"{figure['balanced_accuracy']:.3f}",
        f"{figure['false_alarms_per_100']:.0f}",
        f"{figure['misses_per_100']:.0f}",
    ], figure["set"]


def test_the_readme_has_what_was_measured():
    found = measured("quality_eval", "quality_dev")
    shown = rows("README.md", "set | claims | AUROC")
    assert [row[0] for row in shown][:3] == ["golden", "ordinary_dev", "handwritten_dev"]
    for name, claims, auroc, balanced, best, alarms, misses, *_ in shown:
        agree(found[name], claims, auroc, balanced, alarms, misses)
        assert best == f"{found[name]['best_balanced_accuracy']:.3f}", name


@pytest.mark.parametrize(
    ("model", "files"),
    [
        ("fast", ("quality_dev", "quality_public")),
        ("accurate", ("quality_accurate",)),
        ("cascade", ("quality_cascade",)),
    ],
)
def test_the_page_on_quality_has_what_was_measured(model, files):
    found = measured(*files)
    shown = [row for row in rows("docs/quality.md", "answers | claims | model") if row[2] == model]
    assert len(shown) == len(found)
    for name, claims, _, auroc, balanced, alarms, misses, *_ in shown:
        agree(found[name], claims, auroc, balanced, alarms, misses)
