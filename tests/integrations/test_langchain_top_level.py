"""`VerifiedChatModel` called by itself; what it, and the observers, take for the question."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.utils.uuid import uuid7

from streamverify import Flag, Redact, SentenceJudged
from streamverify_langchain import REPORT, VERDICT, GroundingCallbackHandler, VerifiedChatModel
from streamverify_langchain.texts import LONGEST_QUESTION
from tests.integrations.langchain_fakes import DOCUMENTS, SHOWN, Listener, model, verifier

pytestmark = pytest.mark.anyio

EVENTS = [VERDICT, VERDICT, VERDICT, REPORT]
ASKED = "Were 4711 tickets sold to the Bellinghams?"
SAID = "The 4711 tickets were sold to the Bellinghams."


def verified_model(*answers: str, **options) -> VerifiedChatModel:
    given = {"passages": DOCUMENTS, "verifier": verifier(options.pop("policy", Flag())), **options}
    return VerifiedChatModel(inner=model(*answers), **given)


async def test_a_model_by_itself_tells_its_listeners_however_it_is_called():
    calls = {
        "astream": lambda chat, config: _read(chat.astream("q", config)),
        "ainvoke": lambda chat, config: chat.ainvoke("q", config),
        "astream_events": lambda chat, config: _read(chat.astream_events("q", config, version="v2")),
    }
    for name, call in calls.items():
        for place in ("config", "model"):
            listener = Listener()
            chat = verified_model(policy=Redact(), callbacks=[listener] if place == "model" else None)
            await call(chat, {"callbacks": [listener]} if place == "config" else {})
            told = [kind for kind, _ in listener.told if kind in EVENTS]
            assert told == EVENTS, (name, place)
            assert "people" not in str(listener.told)
            assert listener.named(REPORT)[0]["released"] == SHOWN


async def _read(stream):
    return [part async for part in stream]


def test_a_model_by_itself_tells_its_listeners_when_it_is_read_synchronously():
    listener = Listener()
    assert "".join(chunk.text for chunk in verified_model(policy=Redact()).stream("q")) == SHOWN
    list(verified_model(policy=Redact()).stream("q", {"callbacks": [listener]}))
    assert [kind for kind, _ in listener.told if kind in EVENTS] == EVENTS


async def test_verdicts_belong_to_the_run_of_the_model():
    events = [event async for event in verified_model().astream_events("q", version="v2")]
    runs = {event["run_id"] for event in events if event["event"].startswith("on_chat_model")}
    assert len(runs) == 1
    assert {event["run_id"] for event in events if event["event"] == "on_custom_event"} == runs


async def test_a_run_keeps_the_id_its_caller_gave_it():
    seen = []

    class Noting(Listener):
        async def on_chat_model_start(self, *args, run_id, **kwargs):
            seen.append(run_id)

    given = uuid7()
    await _read(verified_model().astream("q", {"callbacks": [Noting()], "run_id": given}))
    assert seen == [given]


async def findings(messages, said=SAID, **options):
    """What the deterministic checks say against an answer."""
    told = []
    chat = verified_model(said, said, said, on_event=lambda _, event: told.append(event), **options)
    await _read(chat.astream(messages))
    list(chat.stream(messages))
    await chat.ainvoke(messages)
    found = [e.findings for e in told if isinstance(e, SentenceJudged)]
    assert len(found) == 3
    assert found[0] == found[1] == found[2]
    return [finding.kind for finding in found[0]]


async def test_what_was_asked_last_counts_as_known():
    assert await findings([HumanMessage(ASKED)]) == []
    assert await findings([HumanMessage("Hello!"), AIMessage("Hello."), HumanMessage(ASKED)]) == []
    assert await findings([HumanMessage(ASKED)], question=None) != []
    assert await findings([HumanMessage("Tell me.")]) != []
    assert await findings([SystemMessage(ASKED)]) != []
    assert await findings([HumanMessage("Tell me.")], question=lambda _: ASKED) == []


@pytest.mark.parametrize("shown", [lambda d: "\n\n".join(one.page_content for one in d), str])
async def test_the_context_in_a_prompt_is_no_question(shown):
    """Else the number of one passage would pass for what another says."""
    documents = [Document("The mill has 2 wheels."), Document("The yard has 35 trees.\nIt's old.")]
    asked = [HumanMessage(f"{shown(documents)}\n\nHow many wheels?")]
    options = {"said": "At the mill there are 35 wheels.", "passages": documents}
    assert await findings([HumanMessage("How many wheels?")], **options) == ["number_mismatch"]
    assert await findings(asked, **options) == ["number_mismatch"]
    report = await verifier().check(options["said"], documents, question=asked[0].text)
    assert report.sentences[0].findings == ()


async def test_a_message_longer_than_any_question_is_none():
    long = f"{ASKED} " + "x" * LONGEST_QUESTION
    assert await findings([HumanMessage(long)]) == await findings([HumanMessage("Tell me.")])


@pytest.mark.parametrize(
    ("asked", "kinds"), [(ASKED, []), ("Tell me.", ["number_mismatch", "name_not_found"])]
)
async def test_an_observer_takes_the_same_for_the_question(asked, kinds):
    told = []
    async with GroundingCallbackHandler(
        on_event=lambda _, event: told.append(event), verifier=verifier(), passages=DOCUMENTS
    ) as handler:
        await model(SAID).ainvoke([HumanMessage(asked)], config={"callbacks": [handler]})
    assert [f.kind for e in told if isinstance(e, SentenceJudged) for f in e.findings] == kinds
