"""What needs no Ray: where a request goes, what a replica does with it, and what a missing extra says."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.errors import MissingExtraError, ScoringError, UsageError
from streamverify.judging.score_cache import digest
from streamverify.scale.serving import Replica, application
from streamverify.scale.wire import Failure, Premises, Question, ranked
from streamverify.scorers import LexicalScorer, PremiseCachedScorer
from streamverify.scorers.protocol import Claim, Lending, Window
from streamverify.testing import ScriptedScorer

pytestmark = pytest.mark.anyio

names = st.lists(st.text(max_size=8), unique=True, max_size=12)
keys = st.binary(min_size=16, max_size=16)


@given(keys, names)
def test_every_replica_has_one_place_whatever_the_order_they_are_told_in(key, replicas):
    order = [replicas[place] for place in ranked(key, replicas)]
    assert sorted(order) == sorted(replicas)
    shuffled = sorted(replicas)
    assert [shuffled[place] for place in ranked(key, shuffled)] == order


@given(keys, names, st.data())
def test_a_replica_that_goes_moves_nothing_but_its_own(key, replicas, data):
    if not replicas:
        return
    gone = data.draw(st.sampled_from(replicas))
    left = [one for one in replicas if one != gone]
    order = [replicas[place] for place in ranked(key, replicas)]
    assert [left[place] for place in ranked(key, left)] == [one for one in order if one != gone]


def test_premises_spread_over_replicas():
    replicas = [f"replica-{n}" for n in range(8)]
    first = [ranked(digest([Window(0, str(n), 0, 1)]), replicas)[0] for n in range(4000)]
    assert all(400 < first.count(place) < 600 for place in range(8))


class Box:
    """A reference as Ray's: awaited for what is in it."""

    def __init__(self, windows) -> None:
        self.windows, self.opened = windows, 0

    def __await__(self):
        self.opened += 1
        yield from anyio.lowlevel.checkpoint().__await__()
        return self.windows


def premises(replica: Replica, *texts: str) -> tuple[Premises, Box]:
    windows = tuple(Window(0, text, 0, len(text)) for text in texts)
    box = Box(windows)
    mark = replica._scorer.fingerprint.model_dump_json()
    return Premises(digest(windows), (box,), mark), box


async def test_a_replica_reads_windows_once_and_again_when_it_forgot_them():
    replica = Replica(ScriptedScorer, characters=30)
    first, box = premises(replica, "The mill was built in 1712.")
    second, _ = premises(replica, "The river is forty kilometres long.")
    assert await replica.prepare(first) == 0
    [score] = await replica.score(Question(first, (Claim("It was built."),)))
    assert score.passes == 1
    assert box.opened == 1
    assert await replica.prepare(first) == 1
    assert box.opened == 1
    await replica.prepare(second)
    assert (await replica.score(Question(first, (Claim("It was built."),))))[0] == score
    assert box.opened == 2


async def test_a_replica_with_another_scorer_does_not_answer():
    replica = Replica(ScriptedScorer)
    asked, _ = premises(replica, "The mill was built in 1712.")
    told = await Replica(LexicalScorer).score(Question(asked, (Claim("It was built."),)))
    assert isinstance(told, Failure)
    assert "another scorer" in told.text


async def test_a_request_that_is_called_off_ends_in_the_replica():
    replica = Replica(lambda: ScriptedScorer(hang_on="hang"))
    asked, _ = premises(replica, "The mill was built in 1712.")
    with anyio.move_on_after(0.05) as scope:
        await replica.score(Question(asked, (Claim("It hangs."),)))
    assert scope.cancelled_caught
    assert replica._workers.statistics() == (0, 0)


async def test_errors_of_ours_are_told_and_others_raised():
    replica = Replica(lambda: ScriptedScorer(fail_on="fail", error=ScoringError("scripted")))
    asked, _ = premises(replica, "The mill was built in 1712.")
    assert await replica.score(Question(asked, (Claim("They fail."),))) == Failure("scripted")
    replica = Replica(lambda: ScriptedScorer(fail_on="fail", error=ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        await replica.score(Question(asked, (Claim("They fail."),)))


@pytest.mark.model
def test_of_many_windows_that_were_passed_on_a_claim_encodes_a_few():
    replica = Replica(PremiseCachedScorer)
    texts = [f"Hall {number} of the museum shows mill number {number}." for number in range(12)]

    async def cost(ahead: bool) -> int:
        asked, _ = premises(replica, *texts, f"That was {ahead}.")
        before = replica._scorer.statistics().misses
        if ahead:
            assert await replica.prepare(asked) == 12
        else:
            [score] = await replica.score(Question(asked, (Claim("Hall 7 shows a mill."),)))
            assert score.single
        return replica._scorer.statistics().misses - before

    assert anyio.run(cost, False) <= 4
    first, _ = premises(replica, *texts)
    anyio.run(replica.prepare, first)
    assert anyio.run(cost, True) == 1


@pytest.mark.model
def test_a_replica_with_a_batched_model_reads_claims_of_many_askers_in_one_run():
    replica = Replica(lambda: PremiseCachedScorer(batched=True))
    asked, _ = premises(replica, "The mill was built in 1712.", "Barley is ground there.")
    runs = []
    read = replica._scorer._graph._claims._run

    def counted(claims, abort):
        runs.append(len(claims))
        return read(claims, abort)

    replica._scorer._graph._claims._run = counted
    found = []

    async def ask():
        found.extend(await replica.score(Question(asked, (Claim("The mill dates from 1712."),))))

    async def all_at_once():
        await replica.prepare(asked)
        async with anyio.create_task_group() as group:
            for _ in range(24):
                group.start_soon(ask)

    anyio.run(all_at_once)
    assert sum(runs) == len(found) == 24
    assert max(runs) > 1
    assert all(score.single[0].score.entailment > 0.5 for score in found)


@pytest.mark.model
def test_the_model_lends_its_reader():
    replica = Replica(PremiseCachedScorer)
    description = anyio.run(replica.describe)
    read = description.read()
    with_model = replica._scorer
    assert isinstance(with_model, Lending)
    for text in ("The mill's 2,467 metres.", "", "\udce9 É 東京"):
        assert read(text) == with_model.token_spans(text) == anyio.run(replica.token_spans, text)
    assert len(description.reader) < 2**20
    assert anyio.run(Replica(ScriptedScorer).describe).read() is None


def test_what_an_application_cannot_be_made_of():
    with pytest.raises(UsageError, match="made already"):
        application(ScriptedScorer())
    with pytest.raises(UsageError, match="autoscaling"):
        application("lexical", replicas=None)
    with pytest.raises(UsageError, match="at least 1"):
        application("lexical", ongoing=0)


@pytest.mark.parametrize("ask", ["RayScorer", "application", "evaluate_on_ray", "local_ray"])
def test_a_missing_extra_is_told_with_the_command(ask, monkeypatch):
    import sys

    from streamverify import scale

    for name in [name for name in sys.modules if name.partition(".")[0] == "ray"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'streamverify\[ray\]'"):
        if ask == "local_ray":
            with scale.local_ray():
                pass
        elif ask == "evaluate_on_ray":
            scale.evaluate_on_ray([])
        else:
            getattr(scale, ask)()
