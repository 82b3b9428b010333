"""Items that numbers and signs give away: addresses of mail, accounts, cards, ids, telephones, hosts.

Before: a text. After: `recognisers.py` puts all kinds together.

Every pattern is bounded and its alternatives begin differently, so that none takes longer than its text.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator

from streamverify.pii import checksums
from streamverify.pii.items import PiiItem

_BLANK = " \u00a0\u2009\u202f"
_DASH = "\\-\u2010\u2011\u2013"
_IN_PHONE = f"[{_BLANK}{_DASH}./()]"
_GAP = r"(?:[^\W\d_]{0,10}+[^0-9(+\n\[\]█]{0,24}+)"
"""Between a label and its number: words, and no digit, bracket or line's end."""

_EMAIL = re.compile(
    r"(?<![^\W_]|[.+%@'-])(?<!(?<!█)/)(?!_)[\w.+%'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,12}\.[^\W\d_]{2,24}"
    r"(?![^\W_]|_+[^\W_]|[@-]|\.\w|:[\w/~])"
)
_IBAN = re.compile(r"(?<!\w)([A-Za-z]{2})[0-9]{2}")
_CARD = re.compile(r"(?<![\w.,-])(?<![0-9] )[2-6][0-9]{3}")
_INTERNATIONAL = re.compile(
    rf"(?<![\w+.])(?<![0-9][ -])(?:\+[1-9]|00[1-9][0-9]{{0,2}}{_IN_PHONE})"
    rf"(?:{_IN_PHONE}{{0,3}}[0-9]){{6,14}}(?!\w)"
)
_AMERICAN = re.compile(
    rf"(?<![\w.+-])(?:\([2-9][0-9]{{2}}\)[{_BLANK}]?|[2-9][0-9]{{2}}[{_BLANK}{_DASH}.])"
    rf"[2-9][0-9]{{2}}[{_DASH}.][0-9]{{4}}(?![\w-]|\.\w)"
)
_LABELLED_PHONE = re.compile(
    r"(?<!\w)(?i:t[eé]l|phone|fax|mobil|cell|handy|portable|ruf|hotline|call|dial|ring|text|whatsapp|m[oó]vil|tlf)"
    rf"{_GAP}(\(?0[1-9](?:{_IN_PHONE}{{0,3}}[0-9]){{5,12}})(?!\w)"
)
_LOCAL_PHONE = re.compile(
    r"(?<!\w)(?i:tel|t[eé]l[eé](?:ph|f)on[eo]?|phone|(?:tele)?fax|mobile|m[oó]vil|tlf)(?!\w)"
    rf"[.:{_BLANK}]{{0,4}}(?i:(?:number|no|nr|num)(?!\w)[.:{_BLANK}]{{0,4}})?(?i:(?:is|at)(?!\w)[{_BLANK}]{{1,2}})?"
    rf"([1-9][0-9]{{2}}[{_BLANK}{_DASH}.]?[0-9]{{4}})(?![\w{_DASH}]|[.,]\w|[{_BLANK}][0-9])"
)
"""Seven digits right behind such a word; any word between makes them a count."""
_IPV4 = re.compile(r"(?<![\w.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![\w]|\.\w)")
_IPV6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])")
_NO_HOST = re.compile(
    r"(?<!\w)(?i:v|ver|version|release|build|firmware|kernel|driver|update|upgrade|software|"
    r"section|sec|article|art|chapter|clause|paragraph|rule|figure|table|item)"
    r"(?i:[ .:]{0,2}(?:to|is|no|number))?[ .:]{0,2}\Z|§ ?\Z"
)
"""Before four numbers with dots between that are no host: a version, a place in a text."""

_SSN = re.compile(r"(?<![\w-])(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![\w-])")
_LABELLED_SSN = re.compile(
    rf"(?<!\w)(?i:ssn|social security){_GAP}"
    r"((?!000|666|9)[0-9]{3} ?(?!00)[0-9]{2} ?(?!0000)[0-9]{4})(?!\w)"
)
_NINO = re.compile(
    r"(?<!\w)(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?: ?[0-9]{2}){3} ?[A-D](?!\w)"
)
_TAX_GROUPED = re.compile(r"(?<!\w)([0-9]{2}(?: [0-9]{3}){3})(?!\w| [0-9])")
_LABELLED_TAX = re.compile(
    rf"(?<!\w)(?i:steuer|idnr|identifikationsn|tax id|tin){_GAP}"
    r"([0-9]{2} ?(?:[0-9]{3} ?){2}[0-9]{3})(?!\w)"
)
_NIR = re.compile(r"(?<!\w)[12] ?[0-9]{2} ?[0-9]{2} ?(?:[0-9]{2}|2[AB]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}(?!\w)")
_LABELLED_BSN = re.compile(rf"(?<!\w)(?i:bsn|burgerservice|sofi){_GAP}([0-9](?:[. ]?[0-9]){{8}})(?!\w)")
_DNI = re.compile(r"(?<![\w-])(?:[0-9]{8}|[XYZ]-?[0-9]{7})-?[A-HJ-NP-TV-Z](?!\w)")


def emails(text: str) -> Iterator[PiiItem]:
    """Addresses of mail; `git@host:path` is none."""
    if "@" in text:
        yield from (PiiItem("email", *match.span()) for match in _EMAIL.finditer(text))


def ibans(text: str) -> Iterator[PiiItem]:
    """Account numbers with right check digits, in one piece or in groups."""
    for match in _IBAN.finditer(text):
        length = checksums.IBAN_LENGTHS.get(match[1].upper())
        if length is not None:
            number, end = _taken(text, match.start(), length)
            if number.isalnum() and number.isascii() and checksums.iban(number):
                yield PiiItem("iban", match.start(), end)


def cards(text: str) -> Iterator[PiiItem]:
    """Numbers of cards: an issuer's beginning and length, and Luhn's check digit."""
    for match in _CARD.finditer(text):
        for length in _card_lengths(match[0]):
            number, end = _taken(text, match.start(), length)
            if number.isdigit() and number.isascii() and checksums.luhn(number):
                yield PiiItem("card", match.start(), end)
                break


def _card_lengths(beginning: str) -> tuple[int, ...]:
    known = (checksums.CARD_LENGTHS.get(beginning[:size]) for size in (4, 3, 2, 1))
    return next(filter(None, known), ())


def _taken(text: str, at: int, count: int) -> tuple[str, int]:
    """So many letters and digits from a place on, and where they end; nothing where they go on behind that.

    One blank or hyphen may stand between two.
    """
    taken: list[str] = []
    for place in range(at, min(at + 2 * count, len(text))):
        char = text[place]
        if char.isalnum():
            taken.append(char)
            if len(taken) == count:
                goes_on = text[place + 1 : place + 2].isalnum()
                return ("" if goes_on else "".join(taken).upper()), place + 1
        elif char not in _BETWEEN or not text[place - 1].isalnum():
            break
    return "", at


_BETWEEN = frozenset(_BLANK + "-\u2010\u2011")


def phones(text: str) -> Iterator[PiiItem]:
    """Numbers with their country, American ones, and others behind a word such as `Tel.`."""
    for pattern in (_INTERNATIONAL, _AMERICAN):
        yield from (PiiItem("phone", *match.span()) for match in pattern.finditer(text))
    for pattern in (_LABELLED_PHONE, _LOCAL_PHONE):
        yield from (PiiItem("phone", *match.span(1)) for match in pattern.finditer(text))


def hosts(text: str) -> Iterator[PiiItem]:
    """IP addresses that can be somebody's: neither loopback nor a mask, and no version."""
    for pattern in (_IPV4, _IPV6):
        for match in pattern.finditer(text):
            if _is_host(match[0]) and not _NO_HOST.search(text, max(match.start() - 24, 0), match.start()):
                yield PiiItem("ip_address", *match.span())


def _is_host(address: str) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if found.version == 6 and not any(char.isdigit() for char in address):
        return False
    return not (found.is_loopback or found.is_unspecified or found.is_multicast or address.startswith("255."))


_IDS: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = (
    (_SSN, lambda _: True),
    (_LABELLED_SSN, lambda _: True),
    (_NINO, lambda _: True),
    (_TAX_GROUPED, checksums.german_tax),
    (_LABELLED_TAX, checksums.german_tax),
    (_NIR, checksums.french_nir),
    (_LABELLED_BSN, checksums.dutch_bsn),
    (_DNI, checksums.spanish_dni),
)


def national_ids(text: str) -> Iterator[PiiItem]:
    """Numbers of persons: US, UK, Germany, France, the Netherlands, Spain."""
    for pattern, valid in _IDS:
        for match in pattern.finditer(text):
            span = match.span(pattern.groups)
            if valid(re.sub(r"[ .-]", "", text[slice(*span)])):
                yield PiiItem("national_id", *span)
