"""Feasts that fall on one day of the year: 24 December is Christmas Eve.

Before: `aliases.py` looks for a name. After: it asks the sources for the day.
"""

from __future__ import annotations

from streamverify.checks.date import Date, DateKind

_FEASTS = """
new year's day 1 1 | new year's eve 31 12 | new year 31 12 | new year 1 1 | hogmanay 31 12 | epiphany 6 1
twelfth night 5 1 | groundhog day 2 2 | valentine's day 14 2 | women's day 8 3 | patrick's day 17 3
april fools' day 1 4 | april fool's day 1 4 | earth day 22 4 | anzac day 25 4 | may day 1 5 | labour day 1 5
labor day 1 5 | workers' day 1 5 | juneteenth 19 6 | midsummer day 24 6 | canada day 1 7
independence day 4 7 | bastille day 14 7 | assumption day 15 8 | assumption 15 8 | unity day 3 10
german unity 3 10 | halloween 31 10 | all hallows' eve 31 10 | all saints' day 1 11 | all souls' day 2 11
bonfire night 5 11 | guy fawkes night 5 11 | armistice day 11 11 | remembrance day 11 11
veterans day 11 11 | andrew's day 30 11 | nicholas day 6 12 | christmas eve 24 12 | christmas day 25 12
boxing day 26 12 | stephen's day 26 12 | christmas 24 12 | christmas 25 12 | christmas 26 12
xmas eve 24 12 | xmas 25 12
"""


def _table() -> dict[str, tuple[Date, ...]]:
    table: dict[str, tuple[Date, ...]] = {}
    for row in _FEASTS.strip().replace("\n", "|").split("|"):
        *words, day, month = row.split()
        name = " ".join(words)
        date = Date(0, 0, name, DateKind.DAY, month=int(month), day=int(day))
        for spelled in {name, name.replace("'", "")}:
            table[spelled] = (*table.get(spelled, ()), date)
    return table


FEASTS = _table()
"""By its name, folded: the days it may fall on."""
