"""What no scorer could answer is `unverified`, with the reason, and never supported."""

from __future__ import annotations

import pytest

from streamverify.types import FindingKind, Label, Passage
from streamverify.verifier import Verifier

TOWER = [Passage("tower", "The Eiffel Tower was completed in 1889 and stands 330 metres tall. It does.")]


def last(answer, passages=TOWER, question=None):
    with Verifier("lexical") as verifier:
        return verifier.check_sync(answer, passages, question=question).sentences[-1]


@pytest.mark.parametrize("text", ["It does.", "They are not.", "x", "So it is.", "Is the tower tall? It is."])
def test_a_sentence_of_nothing_but_grammar_is_not_checked_by_itself(text):
    sentence = last(text, [*TOWER, Passage("a", "a"), Passage("x", "x")])
    assert sentence.label is Label.UNVERIFIED
    assert sentence.reason == "no_content"
    assert sentence.score is None


@pytest.mark.parametrize("text", ["It stands.", "It is 330.", "The tower has two.", "塔高。", "Paris."])
def test_a_word_or_a_figure_is_enough_to_be_checked(text):
    assert last(text).reason != "no_content"


@pytest.mark.parametrize(
    "answer",
    [
        "La tour mesure 330 mètres.",
        "Der Turm ist 330 Meter hoch.",
        "La torre mide 330 metros.",
        "Да.",
        "نعم.",
    ],
)
def test_a_short_sentence_in_a_language_the_scorer_does_not_cover_is_not_judged(answer):
    sentence = last(answer)
    assert sentence.label is Label.UNVERIFIED
    assert sentence.reason == "language"
    assert [finding.kind for finding in sentence.findings] == [FindingKind.LANGUAGE]


def test_the_sentences_before_tell_the_language_too():
    before = "La tour a été construite en 1889 pour une exposition, et elle est très haute. "
    assert last(f"{before}Gustave Eiffel habitait Dijon.").reason == "language"
    assert last(f"{before}The tower stands 330 metres tall.").reason != "language"
