"""How far two or more annotators agree beyond chance.

Before: labels, grades or numbers of the same rows. After: `agreement.py` and `grading.py` add intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from streamverify.errors import UsageError
from streamverify.figure import Figure, NotComputed, share


def cohens_kappa(a: Sequence[str], b: Sequence[str]) -> Figure:
    """Agreement of two annotators beyond chance (Cohen 1960)."""
    if len(a) != len(b):
        raise UsageError(f"two annotators of the same rows are needed, found {len(a)} and {len(b)} labels")
    if not a:
        return NotComputed("no row")
    chance = sum((a.count(label) / len(a)) * (b.count(label) / len(b)) for label in sorted({*a, *b}))
    if len({*a, *b}) == 1:
        return NotComputed("only one label occurs")
    agreed = sum(x == y for x, y in zip(a, b, strict=True)) / len(a)
    return (agreed - chance) / (1 - chance)


def weighted_kappa(a: Sequence[str], b: Sequence[str], grades: Sequence[str]) -> Figure:
    """Agreement of two annotators on ordered grades beyond chance, squared distances weighing (Cohen 1968).

    1 - sum of w * observed / sum of w * expected, w being the square of how many grades lie between two; the
    share of a pair that chance expects is the product of how often each annotator gives its grade.

    Args:
        a: of one annotator.
        b: of the other, for the same rows.
        grades: worst first, equally far apart.

    Raises:
        UsageError: as many labels are needed of each, all of them grades. Caller.
    """
    if len(a) != len(b) or not {*a, *b} <= set(grades):
        raise UsageError(f"two annotators of the same rows are needed, by the grades {', '.join(grades)}")
    if not a:
        return NotComputed("no row")
    if len({*a, *b}) == 1:
        return NotComputed("only one grade occurs")
    place = {grade: number for number, grade in enumerate(grades)}
    return concordance([place[grade] for grade in a], [place[grade] for grade in b])


def concordance(a: Sequence[float], b: Sequence[float]) -> Figure:
    """How alike two annotators' numbers are, beyond chance (Lin 1989): the weighted kappa of values.

    1 - E(x-y)^2 of the pairs / E(x-y)^2 of every number of one with every number of the other; below 1 where
    one of them is higher throughout, unlike a correlation.

    Args:
        a: of one annotator, finite.
        b: of the other, for the same rows.

    Raises:
        UsageError: as many numbers are needed of each. Caller.
    """
    if len(a) != len(b):
        raise UsageError(f"two annotators of the same rows are needed, found {len(a)} and {len(b)} numbers")
    if not a:
        return NotComputed("no row")
    if len({*a, *b}) == 1:
        return NotComputed("only one value occurs")
    # Of squares the sums are all it takes: E(x-y)^2 over all pairs is E x^2 + E y^2 - 2 Ex Ey.
    seen = math.fsum((x - y) ** 2 for x, y in zip(a, b, strict=True)) / len(a)
    squares = (math.fsum(x * x for x in a) + math.fsum(y * y for y in b)) / len(a)
    chance = squares - 2 * (math.fsum(a) / len(a)) * (math.fsum(b) / len(b))
    return share(chance - seen, chance, "chance alone would agree")


def fleiss_kappa(rows: Sequence[Sequence[str]]) -> Figure:
    """Agreement of several annotators beyond chance (Fleiss 1971).

    Args:
        rows: the labels given to each row, equally many and at least two.
    """
    if not rows:
        return NotComputed("no row")
    raters = len(rows[0])
    if raters < 2 or any(len(row) != raters for row in rows):
        raise UsageError("every row needs the same number of labels, at least two")
    labels = sorted({label for row in rows for label in row})
    if len(labels) == 1:
        return NotComputed("only one label occurs")
    shares = [sum(list(row).count(label) for row in rows) / (len(rows) * raters) for label in labels]
    chance = math.fsum(one * one for one in shares)
    agreed = math.fsum(
        (sum(list(row).count(label) ** 2 for label in labels) - raters) / (raters * (raters - 1))
        for row in rows
    )
    return (agreed / len(rows) - chance) / (1 - chance)
