"""Names, acronyms and identifiers of a claim that no source mentions.

A name is a capitalised word that does not merely open a sentence, or a token whose form says it is
one (CVE-2021-1234, max_retries, v2.1). A part of a name found (the surname, the stem of an adjective)
counts as found: the check looks for names from nowhere, not for wrong spellings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from streamverify.checks.index import SourceView
from streamverify.checks.units import unit_named
from streamverify.text.sentence_ends import opens_sentence
from streamverify.text.words import STOP_WORDS, fold, listed, stem, strip_possessive

_BEGINNING = 5
"""Letters of a beginning that a name and its adjective share."""
_TOKEN = re.compile(
    r"--?[A-Za-z][\w-]+"  # an option of a command line
    r"|[^\W\d_][\w'’]*(?:[-./_@:&+#]+\w+)*(?:\(\))?"  # words, joined ones included
    r"|\d[\w.-]*"  # 4x4, 2.0-beta, and plain numbers, which are no names
)
_IDENTIFIER = re.compile(r"[_@]|\(\)$|\w\.\w|[A-Za-z][-./]?\d|\d[A-Za-z]|[a-z][A-Z]|^--?[a-z]|/")
_HYPHEN_NUMBER = re.compile(r"^(?:\d+|[a-z]+)(?:-[a-z]+)+$")
_ORDINAL = re.compile(r"^\d+(?:st|nd|rd|th|s)$")
_UNIT_TAIL = re.compile(r"^\d+(?:[.,]\d+)*[A-Za-zµ°%]{1,3}$")
_PARTICLES = frozenset(listed("of the and for de la le du van von der den di da al bin el y e &"))
_COMMON = frozenset(
    listed("""
    i january february march april may june july august september october november december jan feb mar apr
    jun
    jul aug sept sep oct nov dec monday tuesday wednesday thursday friday saturday sunday mr mrs ms dr prof
    sir
    yes no ok e.g i.e etc vs am pm a.m p.m north south east west northern southern eastern western english
    internet earth moon sun god bible state states government act law section chapter article figure table
    """)
)
"""Capitalised by rule, or so common that their absence from a source says nothing."""
_DEMONYMS = {
    "french": "france", "dutch": "netherlands", "spanish": "spain", "british": "britain", "english":
        "england",
    "polish": "poland", "danish": "denmark", "swedish": "sweden", "finnish": "finland", "irish": "ireland",
    "greek": "greece", "turkish": "turkey", "welsh": "wales", "scottish": "scotland", "swiss": "switzerland",
    "norwegian": "norway",
    "chinese": "china", "german": "germany", "thai": "thailand", "american": "us usa america states",
    "us": "american america u.s u.s.a usa", "usa": "american america us u.s", "u.s":
        "american america us usa",
    "uk": "britain british kingdom", "eu": "europe european", "european": "europe eu", "uae": "emirates",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a text; `start` and `end` are its offsets."""

    start: int
    end: int
    text: str
    identifier: bool = False
    """Its form says that it is a name, wherever it stands."""


def names(text: str) -> tuple[Name, ...]:
    """Names and identifiers of a text, in order; neighbouring capitalised words make one name."""
    found: list[Name] = []
    for match in _TOKEN.finditer(text):
        token = match[0].rstrip("-./:&'’")
        start, end = match.start(), match.start() + len(token)
        if not token:
            continue
        if _is_identifier(token):
            found.append(Name(start, end, token, identifier=True))
        elif token[0].isupper() and unit_named(token) is None and _is_name(text, token, start):
            before = found[-1] if found else None
            if before and not before.identifier and _joined(text[before.end : start]):
                found[-1] = Name(before.start, end, text[before.start : end])
            else:
                found.append(Name(start, end, token))
    return tuple(found)


def _is_identifier(token: str) -> bool:
    if _ORDINAL.match(token) or _UNIT_TAIL.match(token) or _HYPHEN_NUMBER.match(token) or len(token) < 2:
        return False
    if not any(char.isalpha() for char in token):
        return False
    if token.count("/") and not re.search(r"[\d_.]", token) and not token.startswith("/"):
        return False  # and/or
    if token.lower().rstrip(".") in {"e.g", "i.e", "a.m", "p.m", "u.s", "u.k", "u.s.a", "d.c", "ph.d"}:
        return False
    return _IDENTIFIER.search(token) is not None


def _is_name(text: str, token: str, start: int) -> bool:
    folded = strip_possessive(fold(token))
    if folded in _COMMON or folded in STOP_WORDS or (len(token) == 1):
        return False
    if token.isupper() and len(token) > 1:
        return True
    return not opens_sentence(text, start) or _next_capitalised(text, start + len(token))


def _next_capitalised(text: str, end: int) -> bool:
    """Whether a sentence's first word belongs to a name of several words."""
    follower = re.compile(r"\s([A-Z][\w'’-]+)").match(text, end)
    return follower is not None and fold(follower[1]) not in _COMMON


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
        for match in re.finditer(r"[^\W_][\w'’]*(?:\.[^\W_]\w*)*", name.text)
    ]
    absent = [
        (start, end)
        for part, start, end in parts
        if fold(part) not in _PARTICLES and not _holds_word(part, view)
    ]
    if not absent:
        return []
    initials = "".join(part[0] for part, _, _ in parts if part[0].isupper()).lower()
    if len(initials) > 1 and initials in view.words:
        return []
    if re.sub(r"[\W_]+", "", fold(name.text)) in view.words:
        return []  # Wi-Fi and wifi
    # "Hamish Hamilton" may be "Mr Hamilton" in the source, and "Old Windows programs" a mere adjective.
    first = (parts[0][1], parts[0][2])
    return [] if len(parts) > 1 and absent == [first] else absent


def _holds_word(part: str, view: SourceView) -> bool:
    folded = strip_possessive(fold(part))
    if folded in view.words or folded in STOP_WORDS or folded in _COMMON or stem(folded) in view.stems:
        return True
    bare = folded.replace(".", "")
    if bare in view.words or any(other in view.words for other in _DEMONYMS.get(bare, "").split()):
        return True
    if _is_acronym(part) and (bare.rstrip("s") in view.words or _expands(bare, view)):
        return True
    # Norway and Norwegian, Canada and Canadian: an adjective keeps most of the name.
    return len(folded) >= _BEGINNING and any(
        abs(len(other) - len(folded)) <= 4 for other in view.by_prefix(folded[:_BEGINNING])
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
    if folded in view.words or any(folded in source for source in view.folded):
        return True
    pieces = [piece for piece in re.split(r"[\W_]+", folded) if piece]
    if folded[0] == "v" and folded[1:2].isdecimal():
        return any(folded[1:] in source for source in view.folded)
    joined = "".join(pieces)
    if joined in view.words:
        return True
    # Wi-Fi and wifi, e-mail and email; a hyphenated word is found when its parts are.
    return len(pieces) > 1 and all(piece in view.words or stem(piece) in view.stems for piece in pieces)
