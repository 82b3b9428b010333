"""Repairs in a stream: they are judged like any sentence, and take its place only when they pass."""

from __future__ import annotations

import pytest
from scripted_streams import PASSAGES, verifier

from streamverify.errors import UsageError
from streamverify.policy import (
    Decision,
    Redact,
    Repair,
    RepairingPolicy,
    RepairPlan,
)
from streamverify.showing.releases import Release
from streamverify.testing import collect, pieces, stream_of
from streamverify.types import Action, Label

pytestmark = pytest.mark.anyio


async def _nothing(request):
    return None


def _at_once(request):
    return "The mill has two wheels."


@pytest.mark.parametrize("rewrite", [_nothing, _at_once])
async def test_a_rewrite_that_gives_no_text_to_wait_for_is_told_by_name(rewrite):
    with pytest.raises(UsageError, match="function given to Repair"):
        async with (
            verifier() as made,
            made.stream("The wrong wheel turns slowly.", PASSAGES, policy=Repair(rewrite)) as stream,
        ):
            await collect(stream)


async def test_a_repair_is_judged_and_takes_its_sentences_place():
    asked = []

    async def rewrite(request):
        asked.append((request.attempt, request.rejected))
        return "Still wrong." if request.attempt == 1 else "The mill has two wheels."

    text = "The mill was built in 1804. The wrong wheel turns slowly. Barley is ground."
    async with (
        verifier() as made,
        made.stream(stream_of(pieces(text, 2)), PASSAGES, policy=Repair(rewrite)) as stream,
    ):
        await collect(stream)
    assert asked == [(1, ()), (2, ("Still wrong.",))]
    assert stream.report.released == "The mill was built in 1804. The mill has two wheels. Barley is ground."
    sentence = stream.report.sentences[1]
    assert (sentence.action, sentence.replacement.attempts) == (Action.REPAIR, 2)


async def test_a_repair_that_never_passes_is_redacted():
    async def rewrite(request):
        return "wrong again."

    policy = Repair(rewrite, fallback=Redact(placeholder="□"))
    async with (
        verifier() as made,
        made.stream("One here. This is wrong. Two.", PASSAGES, policy=policy) as stream,
    ):
        await collect(stream)
    assert stream.report.released == "One here. □ Two."


class Corrects:
    """A user's policy: repairs by a table, and lets pass what the table does not know."""

    name, holds_text = "corrects", True

    def __init__(self, table):
        self.table = table

    def holds(self, sentence):
        return "Free" not in sentence.text

    async def look_up(self, request):
        return self.table[request.sentence.text.strip()]

    def repair(self, sentence, verdict):
        known = sentence.text.strip() in self.table and verdict.label is Label.CONTRADICTED
        return RepairPlan(self.look_up, attempts=1) if known else None

    def decide(self, sentence, verdict, tally):
        return Decision(Action.RELEASE, (Release(sentence.text, sentence.span, Action.RELEASE),))


async def test_a_users_policy_can_repair_too():
    policy = Corrects({"This is wrong.": "This is right.", "It is wrong.": "wrong.", "Free wrong.": "x."})
    assert isinstance(policy, RepairingPolicy)
    text = "This is wrong. It is wrong. One here. Free wrong."
    async with verifier() as made, made.stream(text, PASSAGES, policy=policy) as stream:
        await collect(stream)
    assert stream.report.released == "This is right. It is wrong. One here. Free wrong."
    assert [s.action for s in stream.report.sentences] == [Action.REPAIR, *[Action.RELEASE] * 3]


async def test_a_repair_that_cannot_be_checked_is_no_repair():
    async def rewrite(request):
        return "A broken check."

    policy = Repair(rewrite, fallback=Redact(placeholder="□"))
    made = verifier(scorer={"fail_on": "broken"})
    async with made, made.stream("One here. This is wrong. Two.", PASSAGES, policy=policy) as stream:
        await collect(stream)
    assert (stream.report.outcome, stream.report.released) == ("finished", "One here. □ Two.")


async def test_an_error_of_the_rewrite_function_reaches_the_reader():
    async def rewrite(request):
        raise LookupError("mine")

    async with verifier() as made, made.stream("This is wrong.", PASSAGES, policy=Repair(rewrite)) as stream:
        with pytest.raises(LookupError, match="mine"):
            await collect(stream)
