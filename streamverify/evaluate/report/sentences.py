"""A judged sentence as a page shows it: its text cut where marks begin, and what decided about it.

Before: a report. After: `page.py`. The words, signs and choices are those of the live element
(`static/make.js`, `static/evidence-panel.js`), which a test holds against this file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from streamverify.text.styled import Style, styled
from streamverify.types import Action, Citation, Evidence, FindingKind, JudgedSentence, Label, SentenceKind

WORDS = {
    "supported": "supported",
    "contradicted": "contradicted",
    "unsupported": "not in sources",
    "unverified": "not checked",
    "no_claim": "no claim",
}

SHAPES = {
    "supported": "M8 1a7 7 0 1 0 0 14a7 7 0 1 0 0-14M4.7 8.3l2.3 2.3l4.3-4.8",
    "contradicted": "M5 1h6l4 4v6l-4 4H5l-4-4V5zM5.4 5.4l5.2 5.2M10.6 5.4l-5.2 5.2",
    "unsupported": "M8 1.2L15.4 14.6H.6zM8 6v4M8 12v.6",
    "unverified": "M2 2h12v12H2zM5 8h6",
}

MEANS = {
    "supported": "The sources say this.",
    "contradicted": "The sources say otherwise.",
    "unsupported": "No source says this.",
    "no_claim": "Nothing here to check.",
    "unverified": "This was not checked.",
}

RELATION = {"supported": "Says so", "contradicted": "Says otherwise", "unsupported": "Nearest text"}

FINDINGS = {
    "correct": "the source supports this",
    "partial": "the source supports part of this",
    "wrong_passage": "the source does not say this",
    "fabricated": "there is no such source",
    "missing": "no source is named",
    "unsupported": "no source says this",
    "unverified": "not checked",
}

ACTIONS = {
    Action.REDACT: "Removed from what readers saw",
    Action.HALT: "The answer was stopped here",
    Action.REPAIR: "Rewritten from the sources",
}

MARGIN = 0.15
"""Evidence this much weaker than the best is not shown beside it."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a sentence that is marked in one way."""

    text: str
    styles: tuple[Style, ...]
    """Elements around it, outermost first."""
    risk: bool
    """Whether the passages do not back it."""
    cite: str
    """Finding of the citation it is; empty where it is none."""


def parts(sentence: JudgedSentence) -> Iterator[Part]:
    """The sentence as shown, its Markdown as styles, cut where a style or a mark begins or ends."""
    length = len(sentence.text.rstrip())

    def inside(point: int) -> int:
        return min(max(point - sentence.start, 0), length)

    risks = [(inside(start), inside(end)) for start, end in sentence.unsupported_spans]
    cites = [(inside(one.start), inside(one.end), one) for one in sentence.citations]
    edges = {point for pair in risks for point in pair} | {p for c in cites for p in c[:2]}
    for run in styled(sentence.text, code=sentence.kind is SentenceKind.CODE, cuts=edges):
        risk = any(low <= run.start and run.end <= high for low, high in risks)
        found = next((cite for low, high, cite in cites if low <= run.start and run.end <= high), None)
        yield Part(run.text, run.styles, risk, found.finding.value if found is not None else "")


def deciding(sentence: JudgedSentence) -> list[Evidence]:
    """The evidence that decided, best first: of the verdict's own label at most two, nearly as good.

    Where nothing supports the sentence, the nearest text alone; where sources conflict, the other side too.
    """
    if sentence.label not in (Label.SUPPORTED, Label.CONTRADICTED):
        return list(sentence.evidence[:1])
    same = [one for one in sentence.evidence if one.label == sentence.label] or list(sentence.evidence[:1])
    chosen = same[:1]
    second = (
        one for one in same[1:] if one.passage != same[0].passage and one.score >= same[0].score - MARGIN
    )
    chosen += list(second)[:1]
    if any(one.kind is FindingKind.SOURCE_CONFLICT for one in sentence.findings):
        other = (e for e in sentence.evidence if e.label not in (sentence.label, Label.UNSUPPORTED))
        chosen += [one for one in other if one not in chosen][:1]
    return chosen


def relation(sentence: JudgedSentence, evidence: Evidence) -> str:
    """What a piece of evidence is to its sentence."""
    return RELATION.get("unsupported" if sentence.label is Label.UNSUPPORTED else evidence.label, "")


def details(sentence: JudgedSentence) -> list[str]:
    """The reason and the findings, each once."""
    told = [sentence.reason_text or sentence.reason, *(finding.detail for finding in sentence.findings)]
    return [line for line in dict.fromkeys(told) if line]


def cited(citation: Citation) -> str:
    """What is known about a citation, in words."""
    return FINDINGS[citation.finding.value]
