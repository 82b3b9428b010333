"""Names, acronyms and identifiers of a claim that no source mentions.

A name is a capitalised word that does not merely open a sentence, or a token whose form says it is
one (CVE-2021-1234, max_retries, v2.1). A part of a name found (the surname, the stem of an adjective)
counts as found: the check looks for names from nowhere, not for wrong spellings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from streamverify.checks.aliases import has_other_name, of_an_age, renamed, written_with_sign
from streamverify.checks.index import SourceView
from streamverify.checks.namesakes import namesake
from streamverify.checks.roman import forms, number_of
from streamverify.checks.source_text import BEGINNING
from streamverify.checks.units import UNITS, unit_named
from streamverify.text.calendar import DAYS, MONTHS, SHORT_DAYS, SHORT_MONTHS
from streamverify.text.sentence_ends import opens_sentence
from streamverify.text.words import STOP_WORDS, fold, listed, stem, strip_possessive

_ONE = r"United (?:States(?: of America)?|Kingdom|Nations|Arab Emirates)\b"
"""Words that are one name, though some of them alone are none."""
_TOKEN = re.compile(
    r"--?[A-Za-z][\w-]+"  # an option of a command line
    rf"|{_ONE}"
    r"|[^\W\d_][\w'’]*(?:[-./_@:&+#]+\w+)*(?:\(\))?"  # words, joined ones included
    r"|\d[\w.-]*"  # 4x4, 2.0-beta, and plain numbers, which are no names
)
_IDENTIFIER = re.compile(r"[_@]|\(\)$|\w\.\w|[A-Za-z][-./]?\d|\d[A-Za-z]|[a-z][A-Z]|^--?[a-z]|/")
_HYPHEN_NUMBER = re.compile(r"^(?:\d+|[a-z]+)(?:-[a-z]+)+$")
_OF_CODE = re.compile(r"[_@/]|\(\)$|[a-z][A-Z]")
"""What of identifiers only code has, and addresses."""
_ORDERS = frozenset(
    listed("""
    add call check choose connect delete disable download enable enter export import insert install open
    press pull push put read remove replace run see select send set start stop switch take turn unset update
    use write
    """)
)
_ORDINAL = re.compile(r"^\d+(?:st|nd|rd|th|s)$")
_UNIT_TAIL = re.compile(r"^\d+(?:[.,]\d+)*[A-Za-zµ°%]{1,3}$")
_MEASURE = re.compile(
    r"^\d[\d.,]*([A-Za-zµ°%]*)(?:[-–]\d[\d.,]*([A-Za-zµ°%]+))?(?:-[a-z]{2,})?$|^(?:mid|early|late|pre|post)-\d{4}s?$"
)
"""What may be a value with its unit, or two: 5-10mg, 12months, 1.5m-long, mid-2019."""
_SCALES = frozenset(listed("k m bn x"))
_OF_A_DATE = re.compile(
    r"^(?:Q[1-4](?:[-/](?:FY)?\d{2,4})?|(?:CY|FY)(?:\d{2,4}(?:[-/]\d{2,4})?)?|\d{4}-\d\d-\d\dT\d.*)$"
)
"""Q4, FY2023/24 and 2016-04-12T14 are compared as dates."""
_PART = re.compile(rf"{_ONE}|[^\W_][\w'’]*(?:\.[^\W_]\w*)*")
_SIMPLE = re.compile(r"[^\W_][\w'’.]*")
_DOTTED = re.compile(r"^(?:[A-Z]\.)+[A-Z]$")
_SYMBOL = re.compile(
    r"^(?:[numµμkMGTP]?(?:Wh?|Wp|Ah?|Hz|V|J|Pa|eV|B|b|bps|Sv|Bq|mol|cal|N|Nm)|[KMGT]iB|[KMGT]?B|dBA?|mmHg)"
    r"(?:/(?:h|s|m|kg|km|l|L|day|year|min))?$"
)
_THE = re.compile(r"(?<![\w'’])[A-Z][\w'’]*+ the $")
_LONGEST_OPENING = 24
_WORD = re.compile(r"\w+")
_UMLAUTS = {ord(letter): f"{base}e" for letter, base in zip("äöüÄÖÜ", "aouAOU", strict=True)}
_DIGRAPH = re.compile("([aou])e")
_SMALL_ACRONYM = re.compile(
    r"US\b(?!\$|[ \u00a0](?:\$|[A-Z]{2}|(?:dollar|cent|gallon|pint|quart|ton|ounce|cup|size)s?\b|fl\b))"
    r"|(?<=\b[Tt]he )WHO\b(?! [A-Z]{2})"
)
"""Names whose letters make a small word; not where they tell a unit or all is written in capitals."""
_CAPITALS_BEFORE = re.compile(r"[A-Z]{2}\W$")
_PARTICLES = frozenset(listed("of the and for de la le du van von der den di da al bin el y e &"))
_LEGAL_FORMS = frozenset(
    listed(
        "inc incorporated corp corporation co company ltd limited llc llp plc ag gmbh kg se sa nv bv ab oy as"
        " spa srl pty group holding holdings"
    )
)
"""What a firm is by law: sources leave it out or write it otherwise."""
_COMMON = frozenset(
    listed("""
    i mr mrs ms dr prof sir
    yes no ok e.g i.e etc vs am pm a.m p.m north south east west northern southern eastern western english
    internet earth moon sun god bible state states government act law section chapter article figure table
    source document passage result doc
    fyi asap tl dr tl;dr nb n.b ps p.s q&a faq faqs aka tba tbc tbd btw imo imho iirc afaik rsvp diy
    fy utc gmt
    """)
) | {*DAYS, *(f"{day}s" for day in DAYS), *SHORT_DAYS, *MONTHS, *SHORT_MONTHS}
"""Capitalised by rule, or so common that their absence from a source says nothing."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a text; `start` and `end` are its offsets."""

    start: int
    end: int
    text: str
    identifier: bool = False
    """Its form says that it is a name, wherever it stands."""
    wider: str = ""
    """This name and those that "and" joins to it: the long form of one acronym may hold an "and"."""


def names(text: str) -> tuple[Name, ...]:
    """Names and identifiers of a text, in order; neighbouring capitalised words make one name."""
    found: list[Name] = []
    for match in _TOKEN.finditer(text):
        token = match[0].rstrip("-./:&'’")
        start, end = match.start(), match.start() + len(token)
        if not token or _OF_A_DATE.match(token) or _is_symbol(text, token, start):
            continue
        if _is_identifier(token):
            found.append(Name(start, end, token, identifier=True))
        elif token[0].isupper() and _is_name(text, token, start):
            before = found[-1] if found else None
            if before and not before.identifier and _joined(text[before.end : start]):
                found[-1] = Name(before.start, end, text[before.start : end])
            else:
                start = _numbered_from(text, token, start)
                found.append(Name(start, end, text[start:end]))
    return tuple(_widened(text, found))


def _numbered_from(text: str, token: str, start: int) -> int:
    """Where a name begins that a sentence opens with and an ordinal closes: Henry the Eighth."""
    opening = _THE.search(text, max(start - _LONGEST_OPENING, 0), start) if number_of(token) else None
    return opening.start() if opening else start


def _widened(text: str, found: list[Name]) -> list[Name]:
    """The names, each that stands beside an "and" with its neighbour's words."""
    joined = [text[one.end : other.start] == " and " for one, other in pairwise(found)]
    before, after = [False, *joined], [*joined, False]
    return [
        replace(name, wider=text[found[place - before[place]].start : found[place + after[place]].end])
        for place, name in enumerate(found)
    ]


def _is_symbol(text: str, token: str, start: int) -> bool:
    """Whether a token names a unit: kWh anywhere, kWp behind a figure."""
    if len(token) > 1 and token in UNITS:
        return True
    figure = text[max(start - 2, 0) : start].rstrip("\u00a0 -")
    return figure[-1:].isdecimal() and not token.isupper() and _SYMBOL.match(token) is not None


def _is_identifier(token: str) -> bool:
    if _ORDINAL.match(token) or _UNIT_TAIL.match(token) or _HYPHEN_NUMBER.match(token) or len(token) < 2:
        return False
    if not any(char.isalpha() for char in token) or _is_measure(token):
        return False
    if token.count("/") and not re.search(r"[\d_.]", token) and not token.startswith("/"):
        return False  # and/or
    if _DOTTED.match(token) or token.lower().rstrip(".") in {"e.g", "i.e", "a.m", "p.m", "ph.d"}:
        return False
    return _IDENTIFIER.search(token) is not None


def _is_measure(token: str) -> bool:
    measure = _MEASURE.match(token)
    return measure is not None and all(
        len(unit) < 3 or unit in _SCALES or unit_named(unit) is not None for unit in measure.groups("")
    )


def _is_name(text: str, token: str, start: int) -> bool:
    folded = strip_possessive(fold(token))
    if folded in STOP_WORDS:
        return _is_small_acronym(text, start)
    if folded in _COMMON or len(token) == 1 or unit_named(token) is not None:
        return False
    if (token.isupper() and len(token) > 1) or " " in token:
        return True
    return not opens_sentence(text, start) or _next_capitalised(text, token, start + len(token))


def _is_small_acronym(text: str, start: int) -> bool:
    """Whether a small word here is a name, as in "the US"; other capitals (NOT, ALL) only stress a word."""
    if _SMALL_ACRONYM.match(text, start) is None:
        return False
    return _CAPITALS_BEFORE.search(text[max(start - 3, 0) : start]) is None


def _next_capitalised(text: str, opening: str, end: int) -> bool:
    """Whether a sentence's first word belongs to a name of several words."""
    follower = re.compile(r"\s([A-Z][\w'’-]+)").match(text, end)
    if follower is None or fold(follower[1]) in _COMMON:
        return False
    if follower[1].isupper() and unit_named(follower[1]) is not None:
        return False  # "Ask HR": what may be a unit is no name
    token = _TOKEN.match(text, follower.start(1))
    return token is None or not _is_code(token[0], opening)


def _is_code(token: str, opening: str) -> bool:
    """Whether a token is code, so that what opens the sentence tells what to do with it: "Set MAX_CONN".

    One with a figure may be a product, which belongs to its maker's name, unless that is a plain order.
    """
    if not _is_identifier(token.rstrip("-./:&'’")):
        return False
    return _OF_CODE.search(token) is not None or fold(opening) in _ORDERS


def _joined(gap: str) -> bool:
    return gap == " " or gap.strip().lower() in _PARTICLES - {"and"} or gap in {"-", " & "}


def missing(name: Name, view: SourceView) -> list[tuple[int, int]]:
    """Ranges of the name (offsets in the claim's text) that the sources do not mention; empty when found.

    Of a name of several words each word is looked up, titles and particles aside; an acronym and its
    expansion stand for each other.
    """
    if name.identifier:
        return [] if _holds_identifier(name.text, view) else [(name.start, name.end)]
    parts = [
        (match[0], name.start + match.start(), name.start + match.end())
        for match in _PART.finditer(name.text)
    ]
    # A firm's legal form is no part of its name: what is left may be the one word that must be there.
    parts = [parts[0], *(one for one in parts[1:] if fold(one[0]).rstrip(".") not in _LEGAL_FORMS)]
    befores = [""]
    for part, _, _ in parts:  # Henry stands before Eighth, too
        befores.append(befores[-1] if part == "the" else part)
    absent = [
        (start, end)
        for before, (part, start, end) in zip(befores, parts, strict=False)
        if fold(part) not in _PARTICLES
        and not (_holds_word(part, view) or _holds_numbered(before, part, view))
    ]
    if absent:
        held = [(name.start + start, name.start + end) for start, end in renamed(name.text, view)]
        absent = [gap for gap in absent if not any(start <= gap[0] < end for start, end in held)]
    # "Hamish Hamilton" may be "Mr Hamilton" in the source, and "Old Windows programs" a mere adjective.
    if not absent or (len(parts) > 1 and absent == [parts[0][1:]]):
        return [(name.start, name.end)] if _is_another(name.text, view) else []
    if _holds_initials(name.text, 2, view) or _holds_initials(name.wider, 3, view):
        return []
    if view.mentions(re.sub(r"[\W_]+", "", fold(name.text))):
        return []  # Wi-Fi and wifi
    return [] if written_with_sign(name.wider, view) else absent


def _is_another(text: str, view: SourceView) -> bool:
    """Whether the sources know another person of this surname alone."""
    if _reads(strip_possessive(fold(text)), view):
        return False
    return namesake(text, (source.text for source in view.sources)) is not None


def _holds_initials(text: str, least: int, view: SourceView) -> bool:
    """Whether the sources have the acronym of these words; one like "us" must stand there as an acronym."""
    capitalised = [word for word in _SIMPLE.findall(text) if word[0].isupper()]
    initials = fold("".join(word[0] for word in capitalised))
    if len(initials) >= least and (view.mentions(initials) or view.mentions(f"{initials}s")):
        return True
    # The US Food and Drug Administration is the FDA.
    return len(initials) > least and _is_acronym(capitalised[0]) and view.mentions(initials[1:])


def _reads(folded: str, view: SourceView) -> bool:
    return any(folded in source for source in view.folded)


def _holds_numbered(before: str, part: str, view: SourceView) -> bool:
    """Whether a number stands behind the same word in the sources in another form: Apollo XI, Apollo 11."""
    value = number_of(part) if before else 0
    if not value:
        return False
    words = _WORD.findall(strip_possessive(fold(before)))
    if not words or words[-1] not in view.words:
        return False
    return any((words[-1], number) in view.counted for number in forms(value))


def _holds_spelling(part: str, view: SourceView) -> bool:
    """Whether the sources write the word otherwise: without its apostrophe, or ue for ü."""
    folded = strip_possessive(fold(part))
    if {folded.replace("'", ""), fold(part.translate(_UMLAUTS))} & view.words:
        return True
    collapsed = _DIGRAPH.sub(r"\1", folded)
    if collapsed != folded and collapsed in view.words:
        return any(not source.text.isascii() for source in view.sources)
    return folded in view.unmarked


def _holds_word(part: str, view: SourceView) -> bool:
    folded = strip_possessive(fold(part))
    if folded in STOP_WORDS:
        return not _is_acronym(part) or _holds_alias(part, folded, view)
    if folded in view.words or folded in _COMMON or stem(folded) in view.stems:
        return True
    return _holds_alias(part, folded, view) or _holds_beginning(part, folded, view)


def _holds_alias(part: str, folded: str, view: SourceView) -> bool:
    """Whether the sources have other names of the word: an acronym's expansion, a land's people."""
    bare = folded.replace(".", "")
    if view.mentions(bare) or has_other_name(part, view):
        return True
    if bare in STOP_WORDS:  # any text has words that begin with u and s
        return bare in view.initials or (len(bare) > 2 and bare in view.acronyms)
    return _is_acronym(part) and (bare.rstrip("s") in view.words or _expands(bare, view))


def _holds_beginning(part: str, folded: str, view: SourceView) -> bool:
    """Whether the sources have the word in another spelling or form; of several words, all in a row."""
    if " " in folded:
        return _reads(folded.removesuffix(" of america"), view)
    if _holds_spelling(part, view):
        return True
    # Norway and Norwegian, Canada and Canadian: an adjective keeps most of the name.
    lengths = range(max(len(folded) - 4, BEGINNING), len(folded) + 5)
    return len(folded) >= BEGINNING and any(
        (folded[:BEGINNING], length) in view.beginnings for length in lengths
    )


def _is_acronym(part: str) -> bool:
    letters = [char for char in part.removesuffix("s") if char.isalpha()]
    return len(letters) > 1 and all(char.isupper() for char in letters)


def _expands(acronym: str, view: SourceView) -> bool:
    """Whether words with these initials follow each other somewhere, small words left out or not."""
    plural = acronym.removesuffix("s")
    return any(
        len(initials) > 1 and (initials in view.acronyms or initials in view.initials)
        for initials in {acronym, plural}
    )


def _holds_identifier(text: str, view: SourceView) -> bool:
    folded = strip_possessive(fold(text)).strip("-").removesuffix("()")
    if folded in view.words or _reads(folded, view) or has_other_name(text, view):
        return True
    if (age := of_an_age(folded)) and not view.words.isdisjoint(forms(int(age))):
        return True
    parts = [part for part in re.split(r"[\W_]+", folded) if part]
    if folded[0] == "v" and folded[1:2].isdecimal():
        return _reads(folded[1:], view)
    joined = "".join(parts)
    if joined in view.words or joined in view.joined:
        return True
    if folded.isalpha() and (stem(folded) in view.stems or _holds_spelling(folded, view)):
        return True  # McDonalds and OBrien
    # Wi-Fi and wifi, e-mail and email; a hyphenated word is found when its parts are.
    return len(parts) > 1 and all(part in view.words or stem(part) in view.stems for part in parts)
