"""Citations: markers in the text, the passages they mean, and whether those support the sentence.

Read in this order: `markers.py` (with `forms.py`, `context.py`, `masks.py`) finds, `resolve.py`
resolves, `attachment.py` says which sentences a marker serves, `check.py` makes the findings,
`annotation.py` writes markers, `removal.py` takes them out, `metrics.py` and `agreement.py` count.
"""

from __future__ import annotations

from streamverify.citations.agreement import (
    Agreement,
    LabelledCitation,
    found_at,
    marker_spans,
    measure_agreement,
)
from streamverify.citations.annotation import (
    Place,
    Style,
    Suggestion,
    annotate,
    apply,
    insertion_point,
    suggest,
)
from streamverify.citations.attachment import Attached, Mode, attach
from streamverify.citations.check import (
    CitationThresholds,
    PartSupport,
    Requirement,
    Support,
    check_citations,
    cited_passages,
    states_number,
)
from streamverify.citations.forms import CitationKey
from streamverify.citations.markers import Form, Marker, find_markers, markup
from streamverify.citations.masks import Definition, find_definitions, masked
from streamverify.citations.metrics import (
    AccuracyScale,
    CitationMetrics,
    citation_accuracy,
    citation_completeness,
    citation_metrics,
    citation_precision,
    citation_quality,
    fabricated_citations,
    multi_source_coverage,
    settle,
)
from streamverify.citations.parts import clauses
from streamverify.citations.provider import combine, native
from streamverify.citations.resolve import Numbering, Resolver
from streamverify.figure import Figure, NotComputed

__all__ = [
    "AccuracyScale",
    "Agreement",
    "Attached",
    "CitationKey",
    "CitationMetrics",
    "CitationThresholds",
    "Definition",
    "Figure",
    "Form",
    "LabelledCitation",
    "Marker",
    "Mode",
    "NotComputed",
    "Numbering",
    "PartSupport",
    "Place",
    "Requirement",
    "Resolver",
    "Style",
    "Suggestion",
    "Support",
    "annotate",
    "apply",
    "attach",
    "check_citations",
    "citation_accuracy",
    "citation_completeness",
    "citation_metrics",
    "citation_precision",
    "citation_quality",
    "cited_passages",
    "clauses",
    "combine",
    "fabricated_citations",
    "find_definitions",
    "find_markers",
    "found_at",
    "insertion_point",
    "marker_spans",
    "markup",
    "masked",
    "measure_agreement",
    "multi_source_coverage",
    "native",
    "settle",
    "states_number",
    "suggest",
]
