"""A pattern that looks at no case finds what `re.IGNORECASE` finds, at the same places."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from streamverify.checks import coverage, negation, quantities
from streamverify.text.caseless import Caseless

PATTERNS: tuple[Caseless, ...] = (
    coverage.CAUSAL,
    coverage.GENERAL,
    coverage.TENTATIVE,
    negation._IDIOMS,
    negation._RESTRICTING,
    quantities._WORDED,
)
_WORDS = (
    "No later than",
    "UNLESS",
    "all",
    "Twenty-One",
    "quarter",
    "because",
    "Most",
    "probably",
    "unſafe",  # the long s is an s to re.IGNORECASE
    "K",  # and the sign for kelvin a k
    "İs",
    "naïve",
    "Straße",
    ".",
)
texts = st.lists(st.sampled_from(_WORDS) | st.text(max_size=8)).map(" ".join)


@given(texts)
@example("LIKELY to reſult IN it, not Only")
def test_it_finds_what_the_flag_finds(text):
    for pattern in PATTERNS:
        flagged = re.compile(pattern.any_case.pattern, re.IGNORECASE)
        places = [match.span() for match in flagged.finditer(text)]
        assert [match.span() for match in pattern.finditer(text)] == places
        assert pattern.search(text) == bool(places)


@given(texts)
def test_what_is_blanked_keeps_every_other_character_in_its_place(text):
    for pattern in PATTERNS:
        blanked = pattern.blanked(text)
        covered = {place for match in pattern.finditer(text) for place in range(*match.span())}
        assert len(blanked) == len(text)
        for place, (was, now) in enumerate(zip(text, blanked, strict=True)):
            assert now == " " if place in covered else now in (was, was.lower())
