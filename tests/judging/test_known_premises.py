from __future__ import annotations

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Passage, Verifier
from streamverify.checks.versions import Versions
from streamverify.judging.known_premises import KnownPremises
from streamverify.judging.premises import PreparedPremises
from streamverify.judging.score_cache import ScoreCache
from streamverify.scorers.lexical import LexicalScorer
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort, Claim

texts = st.text("ab ", min_size=1, max_size=4)
passages = st.lists(st.builds(Passage, id=texts, text=texts, title=st.none() | texts), max_size=3)
asked = st.none() | texts


@given(st.lists(st.tuples(passages, asked), max_size=12))
def test_only_what_is_equal_is_known_and_the_bound_holds(sets):
    known = KnownPremises(40)
    for given_, question in sets:
        wanted = ([(one.id, one.title, one.text) for one in given_], question)
        told = known.knows(given_, question)
        found, before = known.get(given_, question, lambda wanted=wanted: wanted)
        assert found == wanted
        assert told == before
        assert known.characters <= 40


def test_the_set_used_longest_ago_goes_first_and_a_huge_one_is_not_kept():
    known = KnownPremises(40)
    one, two, three = ([Passage("p", letter * 14)] for letter in "abc")
    for given_ in (one, two, one, three):
        known.get(given_, None, object)
    assert known.get(one, None, object)[1]
    assert not known.get(two, None, object)[1]
    huge = [Passage("p", "x" * 30)]
    known.get(huge, None, object)
    assert not known.get(huge, None, object)[1]


@given(st.lists(st.sampled_from([None, "2019-03-01", "2022-01-15"]), min_size=2, max_size=2), st.booleans())
def test_what_dates_tell_of_versions_is_never_that_of_other_dates(dates, other):
    rule = "Parking permits cost {} euros a year. They are sold at the town hall on weekdays."
    texts = (rule.format(60), rule.format(90))
    plain = [Passage(name, text) for name, text in zip("ab", texts, strict=True)]
    dated = [
        Passage(name, text, metadata={"date": date} if date else {"page": 3})
        for name, text, date in zip("ab", texts, dates, strict=True)
    ]
    known = KnownPremises()
    for given_ in (plain, dated) if other else (dated, plain):
        found, _ = known.get(given_, None, lambda given_=given_: Versions(given_))
        assert [(a.passage, b.passage) for a, b in found.pairs] == [
            (a.passage, b.passage) for a, b in Versions(given_).pairs
        ]
    assert known.knows(plain, None)
    assert known.knows([Passage(one.id, one.text, metadata={"page": 1}) for one in plain], None)


def test_what_fails_is_not_kept():
    known = KnownPremises()

    def fail():
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        known.get([Passage("p", "text")], None, fail)
    assert known.get([Passage("p", "text")], None, lambda: 1) == (1, False)


def test_threads_that_ask_at_once_get_one_and_the_same_afterwards():
    known, both = KnownPremises(), threading.Barrier(2)

    def make():
        both.wait(60)
        return object()

    given_ = [Passage("p", "text")]
    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(known.get, given_, None, make) for _ in range(2)]
        made = {one.result()[0] for one in found}
    assert known.get(given_, None, object)[0] in made


def verdicts(report):
    return [judged.model_dump(exclude={"latency_ms"}) for judged in report.sentences]


ANSWER = "The bridge was opened in 1890 [a]. It is 40 metres long. Paris is in France."
SETS = (
    [
        Passage("a", "The bridge was opened in 1890.", metadata={"page": 1}),
        Passage("b", "It is 30 metres long."),
    ],
    [Passage("b", "It is 30 metres long."), Passage("a", "The bridge was opened in 1890.")],
    [Passage("a", "The bridge was opened in 1901."), Passage("b", "It is 30 metres long.")],
    [Passage("a", "The bridge was opened in 1890.", "Bridges"), Passage("b", "It is 40 metres long.")],
)


def test_verdicts_are_those_of_a_verifier_that_knows_nothing():
    with Verifier(LexicalScorer()) as long_lived:
        for question in (None, "How long is the bridge of 40 metres?"):
            for given_ in (*SETS, *SETS):
                again = long_lived.check_sync(ANSWER, given_, question=question)
                with Verifier(LexicalScorer()) as fresh:
                    assert verdicts(again) == verdicts(fresh.check_sync(ANSWER, given_, question=question))


@pytest.mark.model
def test_windows_that_left_the_cache_are_encoded_again_and_score_the_same():
    scorer = PremiseCachedScorer(threads=1, cache_bytes=1_000_000)
    with Verifier(scorer) as verifier:
        first = verifier.check_sync("The bridge of 30 metres was opened in 1890.", SETS[0])
        again = verifier.check_sync("The bridge of 30 metres was opened in 1890 indeed.", SETS[0])
        assert (first.work.windows_from_cache, again.work.windows_from_cache) == (0, 2)
        for number in range(6):
            for word in ("so", "true"):  # what comes once would not drive out what came again
                verifier.check_sync(
                    f"Nothing of it is {word}.", [Passage("c", f"Other text, number {number}. " * 4)]
                )
        evicted = scorer.statistics().evicted
        late = verifier.check_sync("The bridge of 30 metres was opened in 1890.", SETS[0])
    assert evicted
    assert late.work.windows_from_cache == 0
    assert verdicts(first) == verdicts(late)
    scorer.close()


@pytest.mark.parametrize("kind", [LexicalScorer, PremiseCachedScorer])
def test_what_nobody_keeps_is_freed_without_the_garbage_collector(kind):
    """Indices hold a great many small objects, and an evaluation lets the collector look rarely."""
    scorer = kind()
    said = 'Mill {} was built on 3 March 18{:02d} by 40 workers. It does not grind barley for "Old Umm".'
    known = [Passage(f"p{at}", said.format(at, at), title=f"Mill {at}") for at in range(5)]
    gc.disable()
    try:
        premises = PreparedPremises(scorer, known, "When was it built?", Abort(), ScoreCache())
        for text in (
            "Mill 3 was built in 1804 by 45 workers, not in March 1998.",
            'It grinds "oats" for Umm.',
        ):
            premises.measure(Claim(text), Abort())
        kept = [weakref.ref(one) for one in (premises, premises._index, premises.finder)]
        del premises
        assert [one() for one in kept] == [None, None, None]
    finally:
        gc.enable()
        scorer.close()
