"""Revised verdicts in every protocol, masked for readers, and on the terminal."""

from __future__ import annotations

import io
import json
import threading

import anyio
import pytest
from rich.console import Console

from streamverify import Cascade, Verifier
from streamverify.console.transcript import Transcript
from streamverify.console.views import view_for
from streamverify.events import SentenceJudged, SentenceRevised
from streamverify.policy import Flag, Redact
from streamverify.server import AgUi, AiSdk, Native
from streamverify.showing.redaction import Redactor
from streamverify.testing import ScriptedScorer
from streamverify.types import Label, Passage

PASSAGES = [Passage("p1", "The mill was built in 1804 and has two wheels. It grinds barley.")]
TEXT = "The mill 🌾 was built in 1804 [1]. The wrong wheel turns. Is it open? Barley is ground."


def unsure(claim, passages):
    return 0.6


class Later(ScriptedScorer):
    """Speaks once every first word was told; else the last word may be there before the first is shown."""

    told = threading.Event()

    def score(self, prepared, claims, *, abort):
        assert self.told.wait(60)
        return super().score(prepared, claims, abort=abort)


def events_of(policy):
    second = Later({"wrong": Label.CONTRADICTED})
    found = []
    if not isinstance(policy, Flag):
        second.told.set()  # a policy that holds text waits for the last word

    async def whole():
        async with (
            Verifier(Cascade(unsure, second, band=(0, 1))) as verifier,
            verifier.stream(TEXT, PASSAGES, policy=policy) as stream,
        ):
            async for event in stream:
                found.append(event)
                if sum(isinstance(one, SentenceJudged) and one.provisional for one in found) == 3:
                    second.told.set()

    anyio.run(whole)
    return found


FLOWING, HELD = events_of(Flag()), events_of(Redact())
REVISED = [event for event in FLOWING if isinstance(event, SentenceRevised)]


def messages(encoding, events):
    encoder = encoding.encoder("run", PASSAGES)
    told = [message for event in events for message in encoder.encode(event)]
    return [json.loads(message.data) for message in told if message.data != "[DONE]"]


def test_the_native_protocol_and_ag_ui_tell_the_event_as_it_is():
    assert {event.index: event.label for event in REVISED} == {
        0: "supported",
        1: "contradicted",
        3: "supported",
    }
    wanted = [event.model_dump(mode="json") for event in REVISED]
    assert [one for one in messages(Native(), FLOWING) if one.get("kind") == "sentence_revised"] == wanted
    custom = [one for one in messages(AgUi(), FLOWING) if one.get("name") == "streamverify.sentence_revised"]
    assert [one["value"] for one in custom] == wanted


def test_the_ai_sdk_gets_a_later_part_in_the_place_of_the_first():
    told = messages(AiSdk(major=7), FLOWING)
    parts = [one for one in told if one["type"] == "data-streamverify" and one["id"] == "s1"]
    states = [one["data"]["state"] for one in parts]
    assert states == ["pending", "supported", "contradicted"]
    assert [one["data"].get("provisional") for one in parts] == [None, True, False]
    assert parts[1]["data"]["utf16"] == parts[2]["data"]["utf16"]
    [end] = [one for one in told if one["type"] == "text-end"]
    # Only what the last word supports is cited.
    assert [one["startIndex"] for one in end["citations"]] == [
        0,
        parts[2]["data"]["utf16"][1] + len("Is it open? "),
    ]


@pytest.mark.parametrize("encoding", [Native(), AiSdk(major=7), AgUi()])
def test_a_policy_that_holds_text_revises_nothing(encoding):
    told = json.dumps(messages(encoding, HELD))
    assert "sentence_revised" not in told
    assert '"provisional": true' not in told


def test_a_reader_gets_every_revision_and_no_error_of_it():
    redactor = Redactor()
    seen = [one for event in FLOWING for one in redactor(event)]
    assert [one for one in seen if isinstance(one, SentenceRevised)] == REVISED
    failed = REVISED[0].model_copy(update={"reason": "scorer_failed", "reason_text": "key sk-1"})
    [told] = Redactor()(failed)
    assert "sk-1" not in told.model_dump_json()


def test_the_terminal_shows_the_last_word_once_and_counts_it_once():
    out = io.StringIO()
    with view_for(Console(file=out, width=200)) as view:
        for event in FLOWING:
            view.show(event)
    told, in_summary = [line for line in out.getvalue().splitlines() if "wrong wheel" in line]
    assert "contradicted" in told
    assert "contradicted" in in_summary
    assert "3 asked" in out.getvalue()
    transcript = Transcript()
    for event in FLOWING:
        transcript.apply(event)
        if isinstance(event, SentenceJudged) and event.provisional:
            shown = transcript.rest().plain
            assert "supported" in shown
            assert "…" in shown
    assert transcript.counts[Label.CONTRADICTED] == 1
    assert transcript.judged == 4
