"""What reads text of any length does so in a worker thread; the event loop only meets bounded texts.

Every call of the reading rooms in the loop's thread is looked at while a stream runs: a rule of where code
runs, not of how long it takes.
"""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

import streamverify
from streamverify import Label, Passage, Redact, Repair, SentenceJudged, Verifier
from streamverify.errors import ScoringError
from streamverify.repair import LONGEST
from streamverify.scorers import LexicalScorer
from streamverify.streaming.sources import SLICE

pytestmark = pytest.mark.anyio

PACKAGE = Path(streamverify.__file__).parent
ROOMS = ("text", "sentences", "claims", "checks", "citations", "judging", "passages")
IN_THREADS = (
    "claims",
    "checks",
    "judging/assessor.Assessor.__init__",
    "judging/assessor.Assessor.assess",
    "judging/premises.PreparedPremises.__init__",
    "judging/evidence",
    "citations/resolve._names",
    "citations/bibliography.addresses_of",
    "citations/bibliography.authors_of",
    "citations/bibliography.files_of",
    "passages.cut",
)
"""What never runs in the event loop."""
IN_THE_CALL = {
    "passages._passage",
    "text/unicode.encodable",
    "judging/assessor.VerifierConfig.expecting",
    "judging/known_premises.KnownPremises.knows",
    "judging/known_premises._key",
}
"""One pass in C over each passage: what is wrong with it is raised in the call that hands them in, and their
hash tells whether they are known before they wait."""
BOUND = max(2 * SLICE, LONGEST)
"""Characters: a slice of the answer behind a sentence that is still open, or one rewrite."""
LONG = "The tower is 330 metres tall (Smith, 2021). "
PASSAGES = [Passage("p1", LONG * 300, "Report " * 2_000), Passage("p2", LONG, "Leave Manual")]


@contextmanager
def calls_in_this_thread():
    """The longest text that each function of the reading rooms was called with in this thread."""
    longest: dict[str, int] = {}

    @cache
    def name_of(code):
        if not code.co_filename.startswith(str(PACKAGE)):
            return None
        name = str(Path(code.co_filename).relative_to(PACKAGE).with_suffix(""))
        return f"{name}.{code.co_qualname}" if name.startswith(ROOMS) else None

    def seen(frame, event, _argument):
        code = frame.f_code
        if event != "call" or (key := name_of(code)) is None:
            return
        given = [frame.f_locals.get(one) for one in code.co_varnames[: code.co_argcount]]
        size = max((len(one) for one in given if isinstance(one, str)), default=0)
        longest[key] = max(longest.get(key, 0), size)

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        yield longest
    finally:
        sys.setprofile(before)


class Failing(LexicalScorer):
    """Fails on claims that speak of failure, and remembers in which threads it worked."""

    def __init__(self):
        super().__init__()
        self.threads = set()

    def score(self, prepared, claims, *, abort):
        self.threads.add(threading.get_ident())
        if any("fails" in claim.text for claim in claims):
            raise ScoringError("as asked")
        return super().score(prepared, claims, abort=abort)


async def one_piece(text):
    yield text


async def endless(_request):
    return LONG * 1_000


ANSWER = f"It fails here [1][Leave Manual]. {LONG * 5}It is {'so ' * 3_000}and fails [2]. " + "x" * 9_000


def assert_bounded(longest):
    assert "sentences/segmenter.SentenceSegmenter.feed" in longest  # and it does cut the answer
    assert {name: size for name, size in longest.items() if size > BOUND and name not in IN_THE_CALL} == {}
    assert [name for name in longest if name.startswith(IN_THREADS)] == []


@pytest.mark.parametrize("policy", [Redact(), Repair(endless)], ids=["redact", "repair"])
async def test_the_event_loop_meets_bounded_texts_only(policy):
    scorer = Failing()
    async with Verifier(scorer, policy=policy) as verifier:
        with calls_in_this_thread() as longest:
            question = "How tall is it? " * 1_000
            async with verifier.stream(one_piece(ANSWER), PASSAGES, question=question) as events:
                judged = [event async for event in events if isinstance(event, SentenceJudged)]
    assert threading.get_ident() not in scorer.threads
    failed = [event for event in judged if event.label is Label.UNVERIFIED]
    assert any(event.citations for event in failed)  # the loop did say what is known of those
    assert_bounded(longest)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize(
    "scorer", [LexicalScorer, pytest.param(lambda: None, id="model", marks=pytest.mark.model)]
)
async def test_a_word_of_ten_megabytes_is_cut_before_it_is_read_and_never_put_to_the_scorer(scorer):
    async with Verifier(scorer()) as verifier:
        with calls_in_this_thread() as longest:
            report = await verifier.check("x" * 10_000_000, PASSAGES)
    assert report.outcome == "finished"
    assert sum(len(sentence.text) for sentence in report.sentences) == 10_000_000
    assert {(sentence.label, sentence.reason) for sentence in report.sentences} == {
        (Label.UNVERIFIED, "too_long")
    }
    assert (report.work.claims, report.work.passes) == (0, 0)
    assert_bounded(longest)
