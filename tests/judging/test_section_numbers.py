"""The number of a section may be a figure: where all of a sentence is rejected, it is marked and goes too."""

from __future__ import annotations

import pytest

from streamverify import Label, Redact, Verifier
from streamverify.scorers import FunctionScorer


@pytest.mark.parametrize("scope", ["sentence", "span"])
@pytest.mark.parametrize("answer", ["3.5 Stars were given.", "3.5. Stars were given."])
def test_a_figure_that_reads_as_a_section_is_withheld(scope, answer):
    with Verifier(FunctionScorer(lambda *_: 0.01)) as verifier:
        report = verifier.check_sync(answer, ["The hotel opened in May."], policy=Redact(scope=scope))
    assert report.sentences[0].label is Label.UNSUPPORTED
    assert "3.5" not in report.released
