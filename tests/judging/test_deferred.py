"""Laws of passages that are encoded when a claim asks: less work, and the verdicts of a stream."""

from __future__ import annotations

import threading

import pytest

from streamverify import Passage, Verifier
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort, Claim, Window

FACTS = (
    ("mill", "The mill at Osterby was built in 1804 and has two wheels."),
    ("bridge", "The bridge over the Ferne was opened in 1890 and is 40 metres long."),
    ("school", "The school moved to Linden Street in 1962 and has 300 pupils."),
    ("tram", "The tram to the harbour runs every ten minutes until midnight."),
    ("park", "The park closes at nine in summer and at five in winter."),
    ("library", "The library lends twelve books for four weeks to every resident."),
    ("pool", "The pool is heated to 26 degrees and is open from May to September."),
    ("market", "The market is held on Thursdays beside the old town hall."),
)
PASSAGES = [Passage(name, f"{text} " + f"More is told about the {name}. " * 30) for name, text in FACTS]
ANSWER = "The mill was built in 1804. The bridge is 60 metres long."


def verdicts(report):
    return [judged.model_dump(exclude={"latency_ms"}) for judged in report.sentences]


@pytest.mark.model
def test_a_whole_answer_costs_the_windows_its_claims_are_shown_and_says_what_a_stream_of_it_says():
    scorer = PremiseCachedScorer(threads=2)
    with Verifier(scorer) as verifier:
        whole = verifier.check_sync(ANSWER, PASSAGES)
        encoded = scorer.statistics().misses
        streamed = verifier.check_sync(iter(ANSWER.partition(" ")), PASSAGES)
    windows = whole.work.windows
    assert windows == streamed.work.windows > 12
    assert 0 < encoded <= 6  # two claims, three windows each
    assert verdicts(whole) == verdicts(streamed)
    assert whole.work.windows_from_cache == 0
    scorer.close()


@pytest.mark.model
def test_what_is_encoded_already_is_told_whether_or_not_a_claim_asks_for_it():
    scorer = PremiseCachedScorer(threads=1)
    with Verifier(scorer) as verifier:
        verifier.check_sync(ANSWER, PASSAGES)
        held = scorer.statistics().entries
        again = verifier.check_sync("The market is held on Thursdays.", PASSAGES)
        other = verifier.check_sync("The market is held on Thursdays.", PASSAGES[:-1], question="When?")
    assert again.work.windows_from_cache == held
    assert 0 < other.work.windows_from_cache <= scorer.statistics().entries
    scorer.close()


def windows(*texts):
    return [Window(number, text, 0, len(text)) for number, text in enumerate(texts)]


def until_idle(scorer):
    """What is encoded ahead takes its turn; behind all of it comes this."""
    scorer._encoded._idle.submit(int).result(60)


@pytest.mark.model
def test_windows_are_encoded_ahead_once_no_claim_needs_the_cores():
    scorer = PremiseCachedScorer(threads=1)
    prepared = scorer.read(windows(*(text for _, text in FACTS)), abort=Abort())
    with scorer._lanes.claim():
        scorer.ahead(prepared, abort=Abort())
        assert scorer.statistics().misses == 0
    until_idle(scorer)
    assert scorer.statistics().misses == len(FACTS)
    assert scorer.reread(prepared).from_cache == len(FACTS)
    scorer.close()


@pytest.mark.model
def test_nothing_is_encoded_ahead_for_a_stream_that_ended():
    scorer, abort = PremiseCachedScorer(threads=1), Abort()
    prepared = scorer.read(windows(*(text for _, text in FACTS)), abort=Abort())
    with scorer._lanes.claim():
        scorer.ahead(prepared, abort=abort)
        abort.set()
    until_idle(scorer)
    assert scorer.statistics().misses == 0
    scorer.close()


@pytest.mark.model
def test_streams_that_run_have_no_more_encoded_ahead_than_the_cache_can_keep_and_make_room_when_they_end():
    sets = [windows(*(text + more for _, text in FACTS)) for more in ("", " So.", " Yes.")]
    probe = PremiseCachedScorer(threads=1)
    probe.prepare(sets[0], abort=Abort())
    size = probe.statistics().bytes
    probe.close()
    scorer, ended = PremiseCachedScorer(threads=1, cache_bytes=4 * size), Abort()
    scorer.ahead(scorer.read(sets[0], abort=Abort()), abort=ended)
    scorer.ahead(scorer.read(sets[1], abort=Abort()), abort=Abort())
    scorer.ahead(scorer.read(sets[2], abort=Abort()), abort=Abort())  # three quarters of the cache are taken
    until_idle(scorer)
    assert 2 * len(FACTS) < scorer.statistics().misses < 3 * len(FACTS)
    ended.set()
    scorer.ahead(scorer.read(sets[2], abort=Abort()), abort=Abort())
    until_idle(scorer)
    assert scorer.statistics().misses == 3 * len(FACTS)
    scorer.close()


@pytest.mark.model
def test_closing_does_not_wait_for_claims_to_leave_cores_to_what_is_encoded_ahead():
    scorer = PremiseCachedScorer(threads=1)
    prepared = scorer.read(windows(*(text for _, text in FACTS)), abort=Abort())
    with scorer._lanes.claim():
        scorer.ahead(prepared, abort=Abort())
        scorer.close()


@pytest.mark.model
def test_a_stream_has_all_of_its_passages_encoded_while_it_waits_for_text():
    scorer = PremiseCachedScorer(threads=1)

    def source():
        yield "The mill was built in 1804. "
        while scorer.statistics().misses < len(PASSAGES):  # each has a window at least
            threading.Event().wait(0.01)
        yield "It has two wheels."

    with Verifier(scorer) as verifier:
        report = verifier.check_sync(source(), PASSAGES)
    assert report.outcome == "finished"
    scorer.close()


@pytest.mark.model
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_scores_are_the_same_ahead_deferred_and_read_again(threads):
    texts = windows(*(text for _, text in FACTS))
    claims = [Claim("The pool is heated to 26 degrees."), Claim("The tram runs until ten.", focus=(3, 5))]
    found = []
    for begin in ("prepare", "read", "reread"):
        scorer = PremiseCachedScorer(threads=threads)
        prepared = getattr(scorer, "read" if begin == "reread" else begin)(texts, abort=Abort())
        if begin == "reread":
            prepared = scorer.reread(prepared)
        found.append(scorer.score(prepared, claims, abort=Abort()))
        scorer.close()
    assert found[0] == found[1] == found[2]


@pytest.mark.model
def test_windows_that_came_again_stay_though_nobody_encoded_them_ahead():
    one = FACTS[0][1]
    probe = PremiseCachedScorer(threads=1)
    probe.prepare(windows(one), abort=Abort())
    size = probe.statistics().bytes
    probe.close()
    scorer = PremiseCachedScorer(threads=1, cache_bytes=size * 4)
    for _ in range(2):
        prepared = scorer.read(windows(one), abort=Abort())
        scorer.score(prepared, [Claim("The mill has two wheels.")], abort=Abort())
    for number in range(12):  # one stream passes by with many of its own
        passing = windows(f"The mill at Place{number} was built in {1700 + number}.")
        scorer.score(scorer.read(passing, abort=Abort()), [Claim("A mill has two wheels.")], abort=Abort())
    assert scorer.statistics().evicted > 0
    assert scorer.read(windows(one), abort=Abort()).from_cache == 1
    scorer.close()
