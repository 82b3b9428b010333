"""What stands around a bracket or a superscript and says that it is no citation."""

from __future__ import annotations

import re
from dataclasses import dataclass

from streamverify.text.list_marks import is_item, marks_end

_BEHIND = 64
"""How far before a bracket its context is read, in characters."""

_NAME = re.compile(r"(?<![\w.$])([A-Za-z_$][\w$]*(?:\.[\w$]+)*)\Z")
_CONTAINERS = frozenset(
    re.findall(
        r"\w+",
        "array arr list lst tuple dict vec vector matrix args argv kwargs buf buffer items elems params ptr",
    )
)
_OPERATION = re.compile(r"[ \t]*(?:[+\-*/%|&^]?=(?![=>])|==|\+\+|--)|\.[a-z_]\w*[(\[=]?|\((?!\s*https?:)")
_CALL = re.compile(r"\w\([^()\n]*\)\Z")
_VALUE = re.compile(r"(?:=|[\"']\s*:|[A-Za-z0-9_]\()[ \t]*\Z")
_SET = re.compile(r"(?:[∈∉⊂⊆]|\\in|\bintervals?|\brange|\bdomain|\bsegment)(?: of)?[ \t]*\Z", re.IGNORECASE)
_BOUNDS = re.compile(r"\b(?:in|into|on|over|within|to|from|between|of)[ \t]+\Z", re.IGNORECASE)
_PAIR = re.compile(r"(\d+)\s*[,;]\s*(\d+)")
_WORD = re.compile(r"[^\W\d_]+\Z")
_AUTHORS = re.compile(
    r"(?<!\w)([A-ZÀ-ÖØ-Þ][\w'’-]{1,40})(?:( et al\.?,?)| (?:and|&) [A-ZÀ-ÖØ-Þ][\w'’-]{1,40})?[ \u00a0]\Z"
)
_QUANTITIES = frozenset(
    re.findall(
        r"\w+",
        "mol rad deg sec min hr sq lb kg log ln sin cos tan exp chi rho inch inches foot feet yards miles"
        " metre metres meter meters kilometre kilometres kilometer kilometers centimetre centimetres",
    )
)


def is_checkbox(text: str, start: int, content: str) -> bool:
    """A list item's `[x]` or `[ ]`."""
    line = text[max(0, start - _BEHIND) : start].rpartition("\n")[2]
    return content in {"x", "X", ""} and is_item(f"{line}x") and marks_end(f"{line}x") == len(line)


def is_index(text: str, start: int, end: int) -> bool:
    """`array[1]`, `x[0]`, `row_2[1]`, `f(x)[1]`, `a = [1]`, `"ids": [1, 2]`, `sum([1, 2])`.

    Models also glue citations to words (`revenue grew[1].`), so a word before the bracket alone
    decides nothing: it must look like code (a lower-case letter, an underscore, a dollar, a usual
    name of a container) or what follows must (`[1] = 5`, `[1].name`, `[1](x)`).
    """
    before = text[max(0, start - _BEHIND) : start]
    if _VALUE.search(before):
        return True
    if not before or not (before[-1].isalnum() or before[-1] in "_$)"):
        return False
    if before[-1] == ")":
        return bool(_CALL.search(before))
    name = _NAME.search(before)
    if name is None:
        return False
    word = name[1]
    variable = (len(word) == 1 and word.islower()) or (word[0] == "$" and word[1:2].isalpha())
    looks_like_code = variable or "_" in word or word in _CONTAINERS
    return looks_like_code or bool(_OPERATION.match(text, end))


def is_interval(text: str, start: int, content: str, *, counted: bool) -> bool:
    """`x ∈ [0, 1]`, `the range [1, 5]`, `values in [0, 1]`.

    After a word that names a set two numbers are always bounds. After a mere preposition they are
    when they rise from 0, unless both are passages (`counted`): `as shown in [1, 2]` is a citation.
    """
    pair = _PAIR.fullmatch(content)
    if pair is None:
        return False
    before = text[max(0, start - _BEHIND) : start]
    if _SET.search(before):
        return True
    return pair[1] == "0" and not counted and bool(_BOUNDS.search(before) or text[start - 1 : start] == "(")


def is_exponent(text: str, start: int) -> bool:
    """`m²`, `x²`, `10³`, `mc²`, `(a+b)²`: digits that belong to the formula before them."""
    before = text[max(0, start - _BEHIND) : start]
    if not before:
        return False
    last = before[-1]
    if last.isdigit() or last in ")]}⁻⁺⁽^":
        return last != ")" or bool(re.search(r"\([^()\n]*[+\-*/·=^][^()\n]*\)\Z", before))
    word = _WORD.search(before)
    if word is None:
        return False
    letters = word[0]
    return letters.isascii() and (len(letters) <= 2 or letters.lower() in _QUANTITIES)


@dataclass(frozen=True, slots=True)
class Names:
    """Who is named right before `(2021)`."""

    name: str
    """The first surname."""
    certain: bool
    """Whether `et al.` leaves no doubt."""


def names_before(text: str, start: int) -> Names | None:
    """The authors of `Smith et al. (2021)`, `Smith and Lee (2020)`, `Smith (2019)`, when there are any."""
    match = _AUTHORS.search(text[max(0, start - _BEHIND) : start])
    return Names(match[1], certain=bool(match[2])) if match else None
