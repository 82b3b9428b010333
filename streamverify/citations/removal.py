"""What to take out of a sentence with the markers that mean no passage.

Before: `check.py` found them fabricated. After: a policy takes them out of the text.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamverify.citations.attributions import in_words
from streamverify.citations.markers import find_markers, markup
from streamverify.types import Citation, CitationFinding, Sentence, Span


def meaningless(sentence: Sentence, citations: Sequence[Citation]) -> list[Span]:
    """Where markers stand that mean no passage, in order, with their closing tags and the blank before.

    A marker that names a passage beside what does not exist (`[1, 9]`) stays: it is of use. So does one that
    is words of its sentence (`According to Source 9, …`), which would read wrongly without them.

    Args:
        sentence: closed.
        citations: of the sentence, with their findings.

    Returns:
        Offsets into the answer, without overlap.
    """
    meant = {(c.start, c.end) for c in citations if c.finding is not CitationFinding.FABRICATED}
    fabricated = {(c.start, c.end) for c in citations if not in_words(c.marker)} - meant
    if not fabricated:
        return []
    written = [marker.moved(sentence.start) for marker in find_markers(sentence.text)]
    found = [marker for marker in written if (marker.start, marker.end) in fabricated]
    # Forms that only the passages tell (a title in brackets) stand in no closing tag.
    others = fabricated - {(marker.start, marker.end) for marker in found}
    spans = [*markup(found), *(Span(*place) for place in others)]
    return [_with_blank(sentence, *span) for span in sorted(spans) if span.start < span.end]


def _with_blank(sentence: Sentence, start: int, end: int) -> Span:
    """A marker and the blank before it, which would otherwise stand alone before the full stop."""
    at = start - sentence.start
    return Span(start - 1 if at > 0 and sentence.text[at - 1] == " " else start, end)
