"""Which risk marks a token: what is counted, and which threshold is chosen."""

import pytest

token_risk = pytest.importorskip("training.token_risk", reason="it needs the library: pip install -e .")
from streamverify.scorers.protocol import Claim, TokenRisk  # noqa: E402
from streamverify.types import Span  # noqa: E402


def reading(text, *risks, start=0):
    """A sentence whose words have these risks."""
    tokens, at = [], 0
    for word, risk in zip(text.split(), risks, strict=True):
        at = text.index(word, at)
        tokens.append(TokenRisk(at, at + len(word), risk))
    whole = Span(start, start + len(text))
    return token_risk.Reading(Claim(text, tuple(range(*whole))), tuple(tokens), (), whole)


def places(text, part, start=0):
    at = start + text.index(part)
    return frozenset(range(at, at + len(part)))


TEXT = "The lift is closed on Mondays"
RISKS = (0.1, 0.3, 0.1, 0.6, 0.1, 0.9)


def test_what_both_marked_counts_against_all_that_either_did():
    seen = token_risk.Marked(places(TEXT, "Mondays"), reading(TEXT, *RISKS))
    assert token_risk.f1([seen], 0.8) == 1.0
    assert token_risk.f1([seen], 0.5) == pytest.approx(2 * 7 / (len("closed on Mondays") + 7))
    whole = len(TEXT)  # nothing stands out, so all of it is marked
    assert token_risk.f1([seen], 0.95) == pytest.approx(2 * 7 / (whole + 7))


def test_a_sentence_that_passed_marks_nothing_and_misses_what_it_should_have_marked():
    seen = token_risk.Marked(places(TEXT, "Mondays"), reading(TEXT, *RISKS))
    assert token_risk.f1([seen, token_risk.Marked(frozenset(range(7)))], 0.8) == pytest.approx(2 * 7 / 21)
    assert token_risk.f1([], 0.5) == 0.0


def test_the_highest_mean_over_sets_is_chosen_and_of_equals_the_higher():
    one = [token_risk.Marked(places(TEXT, "Mondays"), reading(TEXT, *RISKS))]
    other = [token_risk.Marked(places(TEXT, "closed on Mondays"), reading(TEXT, *RISKS))]
    assert token_risk.best({"one": one})[0] == 0.8
    assert token_risk.best({"other": other})[0] == 0.6
    threshold, means = token_risk.best({"one": one, "other": other})
    assert means[threshold] == max(means.values())


def test_places_are_counted_in_the_answer():
    claims = [
        {"claim": "The lift is open.", "label": "entail", "spans": []},
        {"claim": "The lift is closed.", "label": "contradict", "spans": ["closed"]},
    ]
    case = {"id": "a", "passages": [{"title": "T", "text": "Open."}], "claims": claims}
    answer = "The lift is open. The lift is closed."
    assert token_risk.known_places(case) == [frozenset(), places(answer, "closed")]
    sentences = [
        {"text": "The lift is open.", "label": "supported"},
        {"text": "The lift is closed.", "label": "contradicted", "unsupported_spans": ["lift", "closed"]},
    ]
    whole = {"id": "a", "passages": [], "answer": answer, "sentences": sentences}
    second = places(answer, "closed") | places(answer, "lift is closed") - places(answer, " is closed")
    assert token_risk.known_places(whole) == [frozenset(), second]
    row = {"id": "a-0", "premise": "Open.", "claim": "It is shut.", "label": "contradict", "spans": [[6, 10]]}
    assert token_risk.known_places(row) == [frozenset(range(6, 10))]
