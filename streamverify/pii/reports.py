"""A report without personal data, every character else in its place.

Before: a report of the live half, with the passages it quotes. After: pages, notes and files that are passed
on. `showing/quoting.py` hides what is quoted, here as in a stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeVar

from streamverify.pii.items import BLOCK, PiiDetector, blocked
from streamverify.showing.quoting import Quoting, hidden_words, without
from streamverify.types import Citation, Finding, JudgedSentence, Passage, Replacement, Report, Verdict

V = TypeVar("V", bound=Verdict)

_LABELS = (
    "Tel.: ",
    "Passport: ",
    "Driving licence: ",
    "Date of birth: ",
    "SSN: ",
    "BSN: ",
    "Tax ID: ",
    "Name: ",
)
"""What may stand before a quotation of a passage that is not at hand.

Not `Address:`, behind which any sentence with a figure may be one."""


def redacted_report(report: Report, detector: PiiDetector, passages: Sequence[Passage] = ()) -> Report:
    """The report with blocks in place of the items in its texts; spans keep pointing at the same places.

    Args:
        report: of a stream.
        detector: is given the whole answer, and each quotation of a passage with what stands around it.
        passages: that the report may quote. A quotation of another one is searched as if each of several
            labels stood before it, and loses what would be an item behind any.
    """
    return _Hiding(report, detector, passages).report()


class _Hiding:
    def __init__(self, report: Report, detector: PiiDetector, passages: Sequence[Passage]) -> None:
        self._report, self._hide = report, partial(blocked, detector=detector)
        self._quoting = Quoting(self._hide, passages, alone=self._behind_any_label)
        self._answer = self._hide(report.answer)
        self._words = hidden_words(report.answer, self._answer)

    def report(self) -> Report:
        error = self._report.error
        return self._report.model_copy(
            update={
                "answer": self._answer,
                "released": self._hide(self._report.released),
                "sentences": tuple(map(self._sentence, self._report.sentences)),
                "error": error and without(self._hide(error), self._words),
            }
        )

    def _sentence(self, one: JudgedSentence) -> JudgedSentence:
        update = {
            "text": self._answer[one.start : one.end],
            "replacement": one.replacement and self._replacement(one.replacement),
        }
        return self._verdict(one, self._report.answer, self._answer).model_copy(update=update)

    def _replacement(self, one: Replacement) -> Replacement:
        text = self._hide(one.text)
        verdicts = tuple(self._verdict(verdict, one.text, text) for verdict in one.verdicts)
        return one.model_copy(update={"text": text, "verdicts": verdicts})

    def _verdict(self, verdict: V, text: str, hidden: str) -> V:
        """A verdict on a part of a text that is shown as `hidden`."""

        def detail(finding: Finding) -> Finding:
            # Blocks alone where it tells of an item: it may quote a part of it, which has no form of its own.
            whole = text[finding.start : finding.end] == hidden[finding.start : finding.end]
            told = without(finding.detail, self._words) if whole else BLOCK * len(finding.detail)
            return finding.model_copy(update={"detail": told})

        def marker(citation: Citation) -> Citation:
            written = citation.marker == text[citation.start : citation.end]
            shown = hidden[citation.start : citation.end] if written else self._hide(citation.marker)
            return citation.model_copy(update={"marker": shown})

        quoted = self._quoting.verdict(verdict)
        return quoted.model_copy(
            update={
                "findings": tuple(map(detail, quoted.findings)),
                "citations": tuple(map(marker, quoted.citations)),
                "reason_text": without(quoted.reason_text, self._words),
            }
        )

    def _behind_any_label(self, text: str) -> str:
        text = self._hide(text)
        for label in _LABELS:
            text = self._hide(label + text)[len(label) :]
        return text
