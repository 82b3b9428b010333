"""The reference page of the metrics: every one of them, with its range and which way is better."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from streamverify.evaluate import CATALOGUE
from streamverify.evaluate.metrics import USUAL

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
_NAME = re.compile(r"`([a-z0-9_@]+)`")
_RANGE = re.compile(r"(−?\d+)–(\d*)( ↓)?")
_MARKED = re.compile(r"`([a-z0-9_@]+)` ●")
_MEANS = {"pooled": "pooled", "sum": "sum", "mean": ""}


def rows() -> dict[str, tuple[str, str]]:
    """Metric to the cells for its range and for what it is."""
    found: dict[str, tuple[str, str]] = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and _RANGE.fullmatch(cells[1]):
            for name in _NAME.findall(cells[0]):
                assert name not in found, f"{name} has two rows"
                found[name] = (cells[1], cells[2])
    return found


def test_the_page_marks_what_is_computed_by_default():
    marked = [
        name for line in PAGE.read_text(encoding="utf-8").splitlines() for name in _MARKED.findall(line)
    ]
    assert sorted(marked) == sorted(USUAL)


def test_every_metric_has_a_row_and_every_row_a_metric():
    assert set(rows()) == set(CATALOGUE)


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_row_says_range_direction_and_how_cases_are_added_up(name):
    told, meaning = rows()[name]
    found = _RANGE.fullmatch(told)
    assert found is not None
    low, high, down = found.groups()
    metric = CATALOGUE[name]
    assert float(low.replace("−", "-")) == metric.range[0]
    assert (float(high) if high else None) == metric.range[1]
    assert bool(down) is not metric.higher_is_better
    words = _MEANS[metric.combination]
    if words:
        assert re.search(rf"\b{words}\b", meaning), f"{name} is {metric.combination}"
    else:
        assert not re.search(r"; (?:pooled|sum)\b", meaning), f"{name} is a mean"
