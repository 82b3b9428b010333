"""Presidio's analyzer as a detector: names and places too, by a model of its own.

Before: `pip install 'streamverify[presidio]'`. After: whoever takes a detector.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from streamverify._extras import require
from streamverify.errors import UsageError
from streamverify.pii.items import PiiItem

_KINDS = {
    "CREDIT_CARD": "card",
    "EMAIL_ADDRESS": "email",
    "IBAN_CODE": "iban",
    "IP_ADDRESS": "ip_address",
    "LOCATION": "address",
    "PERSON": "person",
    "PHONE_NUMBER": "phone",
    "UK_NINO": "national_id",
    "US_DRIVER_LICENSE": "driving_licence",
    "US_PASSPORT": "passport",
    "US_SSN": "national_id",
}
"""Presidio's words to those of the own recognisers; any other is told in small letters."""


class PresidioDetector:
    """What an `AnalyzerEngine` of Presidio finds; slower than the own recognisers by the model's time."""

    def __init__(
        self,
        analyzer: Any = None,
        *,
        language: str = "en",
        entities: Collection[str] | None = None,
        threshold: float = 0.35,
    ) -> None:
        """Make the engine, unless one is given.

        Args:
            analyzer: an `AnalyzerEngine`; None for Presidio's default, which loads a model of spaCy.
            language: of the texts.
            entities: Presidio's words for what to look for; None for all.
            threshold: least score, 0-1.

        Raises:
            MissingExtraError: Presidio is not installed. Caller.
            UsageError: the threshold is no score. Caller.
        """
        if not 0 <= threshold <= 1:
            raise UsageError(f"threshold must be from 0 to 1, not {threshold!r}")
        presidio = require("presidio_analyzer", extra="presidio", feature="PresidioDetector")
        self._analyzer = analyzer if analyzer is not None else presidio.AnalyzerEngine()
        self._language, self._threshold = language, threshold
        self._entities = None if entities is None else list(entities)

    @property
    def name(self) -> str:
        """`presidio`."""
        return "presidio"

    def __call__(self, text: str, /) -> Sequence[PiiItem]:
        """The items in a text, in its order; of two that overlap the longer."""
        results = self._analyzer.analyze(
            text=text, language=self._language, entities=self._entities, score_threshold=self._threshold
        )
        found: list[PiiItem] = []
        for result in sorted(results, key=lambda one: (one.start - one.end, one.start)):
            if all(result.end <= item.start or item.end <= result.start for item in found):
                kind = _KINDS.get(result.entity_type, str(result.entity_type).lower())
                found.append(PiiItem(kind, result.start, result.end))
        return tuple(sorted(found, key=lambda item: item.start))
