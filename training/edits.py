"""Small edits of a sentence that keep its meaning, or break it in a known place.

Every edit returns the new sentence and the character ranges that the passage
no longer backs; an edit that does not apply returns None.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

MONTHS = ("January February March April May June July August September October November December").split()
_OPPOSITES = """
increase decrease, increased decreased, increases decreases, rose fell, rise fall, higher lower, more fewer,
larger smaller, longer shorter, before after, earlier later, first last, above below, always never,
minimum maximum, enabled disabled, enables disables, allowed forbidden, required optional, included excluded,
includes excludes, accepted rejected, approved rejected, passed failed, won lost, win lose, opened closed,
began ended, begins ends, public private, internal external, import export, buyer seller, landlord tenant,
employer employee, parent child, husband wife, father mother, brother sister, north south, northern southern,
east west, eastern western, inside outside, early late, old new, older younger, fast slow,
faster slower, strong weak, stronger weaker, hot cold, positive negative, possible impossible, legal illegal,
mandatory voluntary, temporary permanent, complete incomplete, successful unsuccessful, similar different,
better worse, best worst, improved worsened, gained lost, supported opposed, agreed refused,
synchronous asynchronous, mutable immutable, encrypted unencrypted, upper lower, ascending descending,
highest lowest, largest smallest, longest shortest, most least, greater lesser, left right, up down,
over under, less more, presence absence, present absent, gross net, daily weekly,
weekly monthly, monthly yearly, active inactive, valid invalid, safe unsafe, deep shallow
"""
OPPOSITES: dict[str, str] = {}
for _pair in _OPPOSITES.replace("\n", " ").split(","):
    _a, _b = _pair.split()
    OPPOSITES.setdefault(_a, _b)
    OPPOSITES.setdefault(_b, _a)
_STRONGER = {
    "may": "will", "might": "will", "could": "will", "can": "must", "should": "must", "some": "all",
    "many": "all", "most": "all", "often": "always", "usually": "always", "sometimes": "always",
    "several": "all", "rarely": "never", "few": "no", "partly": "entirely", "about": "exactly",
    "approximately": "exactly", "suggests": "proves", "suggest": "prove", "suggested": "proved",
    "planned": "completed", "proposed": "adopted", "expected": "confirmed",
}  # fmt: skip
_EXTENT = """
all: few of / hardly any of, every: hardly any / not every, each: hardly any / not every,
both: only one of the / none of the, neither: each / at least one, none: several / most,
most: few / hardly any, many: very few / no, several: no / only two, few: many / most,
some: no / nearly all, always: rarely / seldom, never: sometimes / regularly,
usually: rarely / hardly ever, often: rarely / seldom, rarely: often / mostly, only: not just,
exactly: well over / less than, entirely: partly, fully: only partly, half: a tenth / three quarters,
twice: five times / half, double: a third of, nobody: somebody / most people, anyone: hardly anyone,
everyone: hardly anyone, may: may never, must: need not, cannot: can, unless: if, until: only after,
with: without, without: with, if: even if, because: although
"""
_OTHER_EXTENT = {
    word: tuple(others.split(" / "))
    for word, _, others in (entry.strip().partition(": ") for entry in _EXTENT.replace("\n", " ").split(","))
}
"""Words that say how far a claim reaches, and others that say it reaches elsewhere."""
_UNITS = tuple(
    tuple(group.split())
    for group in (
        "seconds minutes hours days weeks months years decades",
        "millimetres centimetres metres kilometres miles feet inches",
        "mm cm m km",
        "milligrams grams kilograms tonnes pounds ounces",
        "mg g kg t",
        "millilitres litres gallons barrels",
        "kB MB GB TB",
        "hundred thousand million billion",
        "euros dollars pounds francs yen pence cents",
        "watts kilowatts megawatts",
        "percent times degrees points",
    )
)
_UNIT = re.compile(rf"(?<=[\d\w] )(?:{'|'.join(unit for group in _UNITS for unit in group)})\b")
_SYNONYMS = (
    ("approximately", "about"), ("in order to", "to"), ("due to", "because of"), ("such as", "like"),
    ("however, ", ""), ("additionally, ", ""), ("therefore, ", ""), ("a number of", "several"),
    ("prior to", "before"), ("subsequent to", "after"), ("in addition to", "besides"), ("utilize", "use"),
    ("commenced", "began"), ("obtained", "got"), ("purchased", "bought"), ("per cent", "percent"),
    ("is able to", "can"), ("has to", "must"), ("whilst", "while"), ("at least", "no less than"),
    ("located in", "in"), ("is known as", "is called"), ("with the exception of", "except"),
)  # fmt: skip
NUMBER = re.compile(r"(?<![\w.,-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w)|(?<![\w.,-])\d+(?:\.\d+)?(?!\w)")
_MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b")
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][\w’'-]+(?:\s+(?:of\s+(?:the\s+)?|de\s+|van\s+)?[A-Z][\w’'-]+)*")
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|can|will|has|have|had|does|did|should|must|could|would)\b")
_NOT = ("not", "not", "not", "never", "no longer")
_NEGATED = re.compile(rf"({_AUXILIARY.pattern})(?:n['’]t| not)\b")
_LEAD = re.compile(r"^(?:In|On|During|After|Since|By|At|For|From|As|Under|With|Following)\b[^,.;]{3,60},\s+")
_TAIL = re.compile(r"(?:,\s+(?:which|who|where|including|such as|although|whereas|while)\b|;\s+|\s[—–]\s).*$")
_ASIDE = re.compile(r"\s*\([^()]{1,80}\)")
_MIDDLE_OF_LIST = re.compile(r"^\s*(?:,|and|or|&|,\s*and|,\s*or)\s*$")
SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_TEENS = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDED = re.compile(r"(?<![\w.,$€£#-])(?<!\bp\. )[2-9]\d?(?![\w%-]|[.,]\d)(?! (?:%|percent|per cent))")
_COUNT = re.compile(rf"(?:\d|\b(?:{'|'.join((*SMALL[2:], *_TEENS, *_TENS))})) $")
_SMALL_WORD = re.compile(rf"\b(?:{'|'.join(SMALL[2:])})\b")


@dataclass(frozen=True, slots=True)
class Edited:
    """A sentence after an edit."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()
    """What the passage does not back."""


@dataclass(frozen=True, slots=True)
class Material:
    """Where replacements come from."""

    passage: str
    names: tuple[str, ...]
    """Names from many passages."""


Edit = Callable[[str, Material, Random], Edited | None]
"""Sentence, where replacements come from, source of chance."""


def names(text: str) -> list[re.Match[str]]:
    """Capitalised names that do not open a sentence."""
    return list(_NAME.finditer(text))


def _put(text: str, match: re.Match[str], new: str) -> Edited | None:
    if new == match.group():
        return None
    start = match.start()
    return Edited(text[:start] + new + text[match.end() :], ((start, start + len(new)),))


def _in_words(value: int) -> str:
    """A whole number from 2 to 99 as a word."""
    if value < 13:
        return SMALL[value]
    if value < 20:
        return _TEENS[value - 13]
    ten, one = divmod(value, 10)
    return _TENS[ten - 2] + (f"-{SMALL[one]}" if one else "")


def other_number(text: str, random: Random) -> str:
    """A different number written the same way, as near as mistakes usually are."""
    bare = text.replace(",", "")
    if "." in bare:
        places = len(bare.split(".")[1])
        return f"{float(bare) * random.choice((0.5, 0.8, 0.9, 1.1, 1.25, 2, 10)) + 10**-places:.{places}f}"
    value = int(bare)
    if len(bare) == 4 and 1000 < value < 2100 and "," not in text:
        return str(value + random.choice((-20, -10, -5, -2, -1, 1, 2, 3, 4, 10, 30)))
    if value < 13:
        return str(random.choice([n for n in range(1, 15) if n != value]))
    near = (
        value + random.randint(1, 9),
        max(1, value - random.randint(1, 9)),
        value * 2,
        value * 10,
        value // 2 + 1,
    )
    new = random.choice(near)
    return f"{new:,}" if "," in text else str(new)


def change_number(text: str, material: Material, random: Random) -> Edited | None:
    """Another number or month; often one that the passage uses for something else."""
    found = [*NUMBER.finditer(text), *_MONTH.finditer(text), *_SMALL_WORD.finditer(text)]
    if not found:
        return None
    match = random.choice(found)
    old = match.group()
    if old in MONTHS:
        return _put(text, match, random.choice(MONTHS))
    if old in SMALL:
        return _put(text, match, random.choice(SMALL[2:]))
    elsewhere = [n for n in NUMBER.findall(material.passage) if len(n) == len(old) and n not in text]
    if elsewhere and random.random() < 0.5:
        return _put(text, match, random.choice(elsewhere))
    return _put(text, match, other_number(old, random))


def change_name(text: str, material: Material, random: Random) -> Edited | None:
    """Another name, mostly from the same passage, where it is most believable."""
    found = names(text)
    if not found:
        return None
    match = random.choice(found)
    near = [
        n.group() for n in names(material.passage) if n.group() not in text and match.group() not in n.group()
    ]
    pool = (
        near
        if near and random.random() < 0.7
        else [n for n in random.sample(material.names, min(8, len(material.names))) if n not in text]
    )
    return _put(text, match, random.choice(pool)) if pool else None


def swap_roles(text: str, _: Material, random: Random) -> Edited | None:
    """Two names change places; names of one list do not."""
    found = names(text)
    pairs = [
        (a, b)
        for i, a in enumerate(found)
        for b in found[i + 1 :]
        if a.group() != b.group()
        and not _MIDDLE_OF_LIST.match(text[a.end() : b.start()])
        and " and " not in text[a.end() : b.start()]
        and "," not in text[a.end() : b.start()]
    ]
    if not pairs:
        return None
    a, b = random.choice(pairs)
    middle = text[a.end() : b.start()]
    new = text[: a.start()] + b.group() + middle + a.group() + text[b.end() :]
    second = a.start() + len(b.group()) + len(middle)
    return Edited(new, ((a.start(), a.start() + len(b.group())), (second, second + len(a.group()))))


def negate(text: str, _: Material, random: Random) -> Edited | None:
    """A negation more, or the one there is taken away."""
    if negated := _NEGATED.search(text):
        return _put(text, negated, negated.group(1))
    found = [
        m
        for m in _AUXILIARY.finditer(text)
        if not text[m.end() :].startswith((" not", "n't", "n’t", " no ", " to "))
    ]
    if not found:
        return None
    match = found[0] if random.random() < 0.5 else random.choice(found)
    return _put(text, match, f"{match.group()} {random.choice(_NOT)}")


def oppose(text: str, _: Material, random: Random) -> Edited | None:
    """A word becomes its opposite."""
    found = [m for m in re.finditer(r"\b[a-z]+\b", text) if m.group() in OPPOSITES]
    if not found:
        return None
    match = random.choice(found)
    return _put(text, match, OPPOSITES[match.group()])


def overstate(text: str, _: Material, random: Random) -> Edited | None:
    """What may be becomes what is; what holds for some holds for all."""
    found = [m for m in re.finditer(r"\b[a-z]+\b", text) if m.group() in _STRONGER]
    if not found:
        return None
    match = random.choice(found)
    return _put(text, match, _STRONGER[match.group()])


def change_extent(text: str, _: Material, random: Random) -> Edited | None:
    """More, fewer, rarer or under other conditions than the claim says."""
    found = [m for m in re.finditer(r"\b[A-Za-z][a-z]+\b", text) if m.group().lower() in _OTHER_EXTENT]
    if not found:
        return None
    match = random.choice(found)
    new = random.choice(_OTHER_EXTENT[match.group().lower()])
    return _put(text, match, new if match.group().islower() else new.capitalize())


def change_unit(text: str, _: Material, random: Random) -> Edited | None:
    """The same figure in another unit, which is another value."""
    counted = [m for m in _UNIT.finditer(text) if _COUNT.search(text[: m.start()])]
    if not counted:
        return None
    match = random.choice(counted)
    group = next(units for units in _UNITS if match.group() in units)
    return _put(text, match, random.choice([unit for unit in group if unit != match.group()]))


BREAKING: tuple[tuple[Edit, str, int], ...] = (
    (change_number, "number", 6),
    (change_name, "name", 3),
    (swap_roles, "roles", 3),
    (negate, "negation", 2),
    (oppose, "opposite", 3),
    (overstate, "overstated", 2),
    (change_extent, "extent", 3),
    (change_unit, "unit", 2),
)


def rephrase(text: str, random: Random) -> str:
    """The same or less, said a little differently; what remains is still backed."""
    new = text
    if random.random() < 0.4:
        new = _ASIDE.sub("", new)
    if random.random() < 0.35 and (lead := _LEAD.match(new)):
        rest = new[lead.end() :]
        new = rest[:1].upper() + rest[1:]
        # The dropped time or place may also follow.
        if random.random() < 0.6:
            phrase = lead.group().rstrip(", ")
            new = f"{new.rstrip('.')} {phrase[:1].lower()}{phrase[1:]}."
    if random.random() < 0.35 and (tail := _TAIL.search(new)) and len(new[: tail.start()].split()) > 5:
        new = new[: tail.start()] + "."
    for old, other in _SYNONYMS:
        if old in new and random.random() < 0.5:
            new = new.replace(old, other, 1)
    if random.random() < 0.3:
        new = re.sub(r"(\d)\s?%", r"\1 percent", new)
    if random.random() < 0.3:
        new = re.sub(r"(\d),(\d{3})\b", r"\1\2", new)
    if random.random() < 0.3:
        new = _WORDED.sub(lambda m: _in_words(int(m.group())), new)
    if random.random() < 0.2:
        new = re.sub(r"\b(is|are|was|were|does|did|should|could|would|has|have) not\b", r"\1n't", new)
    if random.random() < 0.3 and (day := re.search(rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)})\b", new)):
        new = f"{new[: day.start()]}{day.group(2)} {day.group(1)}{new[day.end() :]}"
    return new[:1].upper() + new[1:]


def lower_first(text: str) -> str:
    """The sentence as a later clause, unless it opens with a name or an acronym."""
    first = text.split(maxsplit=1)[0]
    common = first in {
        "The",
        "A",
        "An",
        "It",
        "In",
        "On",
        "This",
        "These",
        "They",
        "There",
        "For",
        "When",
        "If",
        "As",
    }
    return text[0].lower() + text[1:] if common else text
