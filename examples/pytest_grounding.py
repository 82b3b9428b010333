"""Tests of a bot's answers; the plugin comes with the library.

pip install . pytest
pytest examples/pytest_grounding.py
"""

from __future__ import annotations

import pytest

PASSAGES = ["The Eiffel Tower was completed in 1889 and stands 330 metres tall."]


def bot(question: str) -> str:
    """Stands for the application under test."""
    return "The Eiffel Tower was completed in 1889." if "When" in question else "It stands 450 metres tall."


def test_a_grounded_answer(grounding):
    report = grounding(bot("When was the tower completed?"), PASSAGES, min_score=0.5)
    assert report.grounding_score > 0.5


def test_an_answer_that_is_not_grounded_is_told_with_its_evidence(grounding):
    with pytest.raises(AssertionError, match="330 metres"):
        grounding(bot("How tall is the tower?"), PASSAGES)
