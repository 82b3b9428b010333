"""Citations: markers in the text, the passages they mean, and whether those support the sentence."""

from __future__ import annotations

from streamverify.citations.forms import Key
from streamverify.citations.markers import Marker, find_markers
from streamverify.citations.masks import Definition, find_definitions, masked
from streamverify.citations.resolve import Numbering, Resolver

__all__ = [
    "Definition",
    "Key",
    "Marker",
    "Numbering",
    "Resolver",
    "find_definitions",
    "find_markers",
    "masked",
]
