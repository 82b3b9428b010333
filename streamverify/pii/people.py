"""Items that a label, a title or a street's name gives away: papers, birthdays, names, addresses.

Before: a text. After: `recognisers.py` puts all kinds together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from streamverify.pii.items import PiiItem, barriers

_TO_VALUE = (
    r"(?:[ -]{0,2}(?i:numbers?|nummer|num[eé]ro|number|no\.?|nr\.?|n[°º]\.?|#|id))?"
    r"[ \t*_]{0,3}(?i:is|was|ist|est|es)?[ \t:=*_]{0,4}\n?[ \t]{0,4}"
)
"""Between a label and its value: `no.`, `is`, a colon, the end of a line."""

_PASSPORT = re.compile(
    rf"(?<!\w)(?i:passport|reisepass|passeport|pasaporte|paspoort){_TO_VALUE}([A-Z0-9]{{6,9}})(?![\w-])"
)
_LICENCE = re.compile(
    r"(?<!\w)(?i:driv(?:er['’]?s?|ing) licen[cs]e|f(?:ü|ue)hrerschein|permis de conduire|permiso de conducir|"
    rf"rijbewijs){_TO_VALUE}([A-Z0-9]{{5,18}})(?![\w-])"
)

_MONTH = (
    r"(?i:jan|feb|f[eé]v|m[aä]r|apr|avr|abr|ma[iy]|mei|jun|jui|jul|ago|aug|ao[uû]|sep|okt|oct|ott|nov|dez|dec|"
    r"d[eé]c|dic|ene|gen)[^\W\d_]{0,8}+\.?"
)
_DATE = (
    r"(?:[0-9]{1,2}[./-] ?[0-9]{1,2}[./-] ?[0-9]{2,4}|[0-9]{4}-[0-9]{2}-[0-9]{2}"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th|er|\.|º)? (?:of |de )?{_MONTH},? (?:de |del )?[0-9]{{4}}"
    rf"|{_MONTH} [0-9]{{1,2}}(?:st|nd|rd|th)?,? [0-9]{{4}})(?![\w])"
)
_BIRTH = re.compile(
    r"(?<!\w)(?i:date of birth|birth ?date|birthday|d\.?o\.?b\.?|born(?: on)?|geburtsdatum|geb\.?(?: am)?|"
    r"geboren(?: am| op)?|n[ée]e? le|date de naissance|fecha de nacimiento|nacid[oa] el|geboortedatum|"
    rf"data di nascita|nat[oa] il)[ \t]{{0,3}}(?:is|was|ist|est|es|on)?"
    rf"[ \t:=*_]{{0,4}}\n?[ \t]{{0,4}}({_DATE})"
)
_THEN_BORN = re.compile(rf"(?<![\w.])({_DATE})(?= (?:[^\W\d_]{{2,20}} ){{0,3}}geboren)")

_TITLE = re.compile(
    r"(?<!\w)(?:(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Sir|Lady|Herrn?|Frau|Monsieur|Madame|Mme|Mlle|Se[ñn]ora?|Se[ñn]orita|"
    r"Sra|Sr(?=\.)|Srta|Signora?|Dhr|Mevr)\.? (?:(?:Dr|Prof|med|jur|Ing|h\.c)\.? ){0,3})"
)
_PERSON = (
    r"(?P<two>patient(?:in)?|employee|customer|client|applicant|beneficiary|contact(?: person)?|"
    r"ansprechpartner(?:in)?|mitarbeiter(?:in)?|kundin|kunde|signed(?: by)?|account holder|"
    r"kontoinhaber(?:in)?|(?:full |employee |customer |patient |client |contact |applicant )?name|"
    r"nombre|naam)"
    r"|(?P<one>(?:first|last|family|given|middle) name|surname|vorname|nachname|familienname|pr[ée]nom|nom|"
    r"apellidos?)"
)
_NAMED = re.compile(rf"(?<!\w)(?i:{_PERSON})[*_]{{0,2}} ?:[ \t*_]{{0,4}}\n?[ \t]{{0,4}}(?=[^\W\d_])")
_WORD = re.compile(r"[^\W\d_](?>(?:[^\W\d_]|['’\u2010\u2011-](?=[^\W\d_])){0,30})")
_INITIAL = re.compile(r"[^\W\d_]\.")
_PARTICLES = frozenset("von van de del della der den di da dos la le zu zur ten ter bin al y".split())
_NO_NAMES = frozenset(
    "No Who Pac-Man Bean Robot Universe President Chairman Minister Speaker Prime Vice".split()
)
"""Behind a title, and nobody's name."""
_BEFORE_LABEL = frozenset("\n.;,(|•>!?:/")
WORDS = 4
"""Of a name."""

_EN_WORD = r"[A-ZÀ-ÖØ-Þ][\w'’-]{0,20}\.?"
_ZIP = (
    r"(?:\.?,? (?:Apt|Apartment|Suite|Unit|Flat|Floor)\.? [0-9A-Za-z]{1,5})?"
    r"(?:\.?, [A-ZÀ-Þ][\w'’-]{1,20}(?: [A-ZÀ-Þ][\w'’-]{1,20}){0,2},?(?: [A-Z]{2})? "
    r"(?:[0-9]{5}(?:-[0-9]{4})?|[A-Z]{1,2}[0-9][0-9A-Z]? [0-9][A-Z]{2}))?"
)
_TOWN = r"(?:, (?:[A-Z]{1,2}-)?[0-9]{4,5} [A-ZÀ-Þ][\w'’-]{1,25}(?: [A-ZÀ-Þ][\w'’-]{1,20}){0,2})?"
_EN_STREET = re.compile(
    rf"(?<![\w.,/-])[0-9]{{1,5}}[A-Za-z]?,? (?:{_EN_WORD} ){{1,4}}"
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Place|Pl|Square|Sq|Terrace|"
    rf"Crescent|Close|Gardens|Row|Mews|Parkway|Pkwy)(?!\w){_ZIP}"
)
_FR_STREET = re.compile(
    r"(?<![\w.,/-])[0-9]{1,4}(?: ?(?:bis|ter|quater))?,? (?i:rue|avenue|av\.|boulevard|bd|place|chemin|"
    r"impasse|allée|quai|cours) (?:(?:de|du|des|la|le|les) |[ld]['’]){0,3}"
    rf"[A-ZÀ-Þ][\w'’-]{{0,25}}(?: [A-ZÀ-Þ][\w'’-]{{0,25}}){{0,3}}{_TOWN}"
)
_ES_STREET = re.compile(
    r"(?<!\w)(?:Calle|C/|Avenida|Avda\.|Plaza|Paseo) ?(?:(?:de|del|la|las|los) ){0,2}[A-ZÀ-Þ][\w'’-]{0,25}"
    rf"(?: [A-ZÀ-Þ][\w'’-]{{0,25}}){{0,2}},? [0-9]{{1,4}}(?!\w){_TOWN}"
)
_WORD_NUMBER = re.compile(
    rf"(?<![\w-])((?>(?:[^\W\d_]|-){{3,32}}))(\.?) "
    rf"([0-9]{{1,4}}(?: ?[a-z](?!\w))?(?:-[0-9]{{1,4}})?)(?!\w){_TOWN}"
)
_STREETS = (
    "straße strasse str allee gasse weg platz ring damm ufer chaussee straat laan gracht plein kade".split()
)
_NO_STREETS = frozenset(
    "arbeitsplatz parkplatz sitzplatz stellplatz spielplatz stehplatz tabellenplatz liegeplatz startplatz "
    "ausweg umweg rückweg heimweg hinweg arbeitsweg schulweg postweg lösungsweg rechtsweg ohrring boxring "
    "hering".split()
)
_GERMAN_PLACE = re.compile(
    r"(?<![\w-])(?:Am|An der|An den|Im|In der|Zum|Zur|Unter den|Auf dem|Auf der) "
    r"(?:[A-ZÄÖÜ][\w-]{1,25} ){1,3}[0-9]{1,4}[a-z]?, "
    r"[0-9]{5} [A-ZÄÖÜ][\w-]{1,25}(?: [A-ZÄÖÜ][\w-]{1,20}){0,2}"
)
_LABELLED_ADDRESS = re.compile(
    r"(?<!\w)(?i:address|anschrift|adresse|dirección|domicilio|wohnhaft|adres)[*_]{0,2} ?:"
    r"[ \t*_]{0,4}\n?[ \t]{0,4}([^\W_][^\n;@█\[\]]{5,99})"
)
_NO_POSTAL = re.compile(r"(?i:mail|ip|web|mac|url|internet)[ -]?\Z")


def papers(text: str) -> Iterator[PiiItem]:
    """Numbers of passports and driving licences behind their label."""
    for kind, pattern, digits in (("passport", _PASSPORT, 2), ("driving_licence", _LICENCE, 3)):
        for match in pattern.finditer(text):
            if sum(char.isdigit() for char in match[1]) >= digits:
                yield PiiItem(kind, *match.span(1))


def birth_dates(text: str) -> Iterator[PiiItem]:
    """Dates that are said to be of a birth; a year alone is none."""
    for pattern in (_BIRTH, _THEN_BORN):
        yield from (PiiItem("birth_date", *match.span(1)) for match in pattern.finditer(text))


def persons(text: str) -> Iterator[PiiItem]:
    """Names behind a title, or behind a label with a colon."""
    for match in _TITLE.finditer(text):
        yield from _name(text, match.end(), least=1)
    for match in _NAMED.finditer(text):
        before = text[max(match.start() - 4, 0) : match.start()].rstrip(" \t*_-")
        if not before or before[-1] in _BEFORE_LABEL:
            yield from _name(text, match.end(), least=1 if match["one"] else 2)


def _name(text: str, start: int, least: int) -> Iterator[PiiItem]:
    at = end = start
    words = 0
    while words < WORDS:
        found = _INITIAL.match(text, at) or _WORD.match(text, at)
        if found is None:
            break
        word = found[0]
        if word[0].isupper() and word not in _NO_NAMES:
            words, end = words + 1, found.end()
        elif word not in _PARTICLES or (at == start and word in ("der", "den", "y", "al")):
            break
        if text[found.end() : found.end() + 1] != " ":
            break
        at = found.end() + 1
    if text[end - 1 : end] == "." and not (end >= 2 and words):
        end -= 1
    if words >= least:
        yield PiiItem("person", start, end)


def addresses(text: str) -> Iterator[PiiItem]:
    """Streets with their number, in English, German, Dutch, French and Spanish; what is labelled so."""
    for pattern in (_EN_STREET, _FR_STREET, _ES_STREET, _GERMAN_PLACE):
        yield from (PiiItem("address", *match.span()) for match in pattern.finditer(text))
    for match in _WORD_NUMBER.finditer(text):
        start = _street(text, match)
        if start is not None:
            yield PiiItem("address", start, match.end())
    for match in _LABELLED_ADDRESS.finditer(text):
        if not _NO_POSTAL.search(text, max(match.start() - 12, 0), match.start()):
            yield from _labelled(match)


def _street(text: str, match: re.Match[str]) -> int | None:
    """Where the street begins whose last word and number these are; None where it is none."""
    word = match[1].casefold()
    if not match[1][0].isupper() or word in _NO_STREETS or (match[2] and not word.endswith("str")):
        return None
    suffix = next((suffix for suffix in _STREETS if word.endswith(suffix)), None)
    if suffix is None:
        return None
    if len(word) >= len(suffix) + 3:
        return match.start()
    before = re.search(
        r"(?<![\w-])([A-ZÄÖÜ][^\W\d_]{3,25}) \Z", text[max(match.start() - 30, 0) : match.start()]
    )
    return None if before is None else match.start() - len(before[0])


def _labelled(match: re.Match[str]) -> Iterator[PiiItem]:
    value = match[1]
    if ends := barriers(value):
        value = value[: ends[0]]
    value = value.rstrip(" \t.,:;!?)*_")
    if len(value) >= 6 and any(map(str.isdigit, value)) and any(map(str.isalpha, value)):
        yield PiiItem("address", match.start(1), match.start(1) + len(value))
