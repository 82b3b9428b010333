"""An auditor's afternoon: many answers live through the proxy, then the questions, by command."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest
from loopback import loopback
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route
from streams import raw

from streamverify import Label, Redact, Verifier
from streamverify.program import main
from streamverify.records import Database, Records
from streamverify.server import ServeSettings, create_app
from streamverify.testing import ScriptedScorer, pieces

USERS = {"ann": ["hr"], "ben": ["it"], "cem": []}
DOCUMENTS = {
    "leave": {"uri": "hr/leave", "checksum": "v1", "visibility": "restricted", "roles": ["hr"]},
    "network": {"uri": "it/network", "checksum": "v4", "visibility": "restricted", "roles": ["it"]},
    "canteen": {"uri": "canteen", "checksum": "v2", "visibility": "public"},
}
TEXTS = {
    "leave": "Employees have 30 days of leave.",
    "network": "The network is restarted on Sundays.",
    "canteen": "The canteen opens at noon.",
}


async def _chat(request):
    """An upstream that streams what the last message asks for, cut anywhere."""
    text = (await request.json())["messages"][-1]["content"]

    def event(delta, reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return f"data: {json.dumps({'id': 'c', 'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"

    def chunks():
        for piece in pieces(text, len(text)):
            yield event({"content": piece})
        yield event({}, "stop")
        yield "data: [DONE]\n\n"

    return StreamingResponse(chunks(), media_type="text/event-stream")


def _asked(number):
    """One request: who, what the upstream will say, and how many of its sentences are wrong."""
    chance = random.Random(number)
    user = chance.choice(sorted(USERS))
    said = chance.sample(sorted(TEXTS), 2)
    wrong = chance.random() < 0.2
    text = " ".join(f"{TEXTS[name]} [{name}]." for name in said) + (
        " The wrong lift is painted." if wrong else ""
    )
    return user, text, wrong


@pytest.fixture
def afternoon(url):
    """The answers' users, and how many sentences were wrong; the records are closed."""
    upstream = Starlette(routes=[Route("/v1/chat/completions", _chat, methods=["POST"])])
    records = Records(url)
    verifier = Verifier(ScriptedScorer({"wrong": Label.CONTRADICTED}), policy=Redact(), observers=[records])
    passages = [{"id": name, "text": TEXTS[name], "metadata": DOCUMENTS[name]} for name in TEXTS]
    with loopback(upstream) as behind:
        settings = ServeSettings(upstream=f"{behind}/v1", policy=Redact())
        with loopback(create_app(settings, verifier)) as proxy, httpx2.Client(timeout=60) as client:

            def ask(number):
                user, text, wrong = _asked(number)
                context = {"roles": USERS[user], "domain": "company_expert", "run": f"day-{number % 2}"}
                body = {
                    "model": "m",
                    "stream": True,
                    "user": user,
                    "messages": [{"role": "user", "content": text}],
                    "streamverify": {"passages": passages, "context": context, "events": False},
                }
                answer = client.post(f"{proxy}/v1/chat/completions", json=body)
                assert answer.status_code == 200
                assert answer.text.rstrip().endswith("[DONE]")
                assert "wrong" not in answer.text
                return user, wrong

            with ThreadPoolExecutor(8) as pool:
                told = list(pool.map(ask, range(COUNT)))
            assert verifier.drain_observers(100)
    assert records.statistics == (2 * COUNT, 0, 0)
    records.close()
    return told


COUNT = 500


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_auditor_s_afternoon(afternoon, url, capsys):
    def audit(*arguments, status=0):
        assert main(["audit", *arguments, "--records", url]) == status
        return capsys.readouterr().out.splitlines()

    def rows(*arguments):
        return [json.loads(line) for line in audit(*arguments, "--json")]

    # who asked what
    streams = rows("list", "--limit", "1000")
    assert len(streams) == COUNT
    for user in USERS:
        asked = sum(one == user for one, _ in afternoon)
        assert len(rows("list", "--limit", "1000", "--user", user)) == asked
        assert len(rows("list", "--limit", "1000", "--as", user)) == asked  # and they see no others
    assert {stream["outcome"] for stream in streams} == {"finished"}
    assert {stream["domain"] for stream in streams} == {"company_expert"}

    # what was withheld, and which rule failed
    wrong = sum(one for _, one in afternoon)
    assert len(rows("withheld", "--limit", "1000")) == wrong > COUNT // 20
    failed = rows("failed", "--criterion", "grounding", "--limit", "1000")
    assert [one["label"] for one in failed] == ["contradicted"] * wrong

    # which documents stood behind a sentence, and who could see them
    stream = next(one for one in streams if one["requester"] == "ben")
    first = rows("show", stream["id"])[1]
    name = next(name for name in TEXTS if first["text"].startswith(TEXTS[name]))
    behind = rows("documents", stream["id"], "0")
    assert DOCUMENTS[name]["uri"] in {one["uri"] for one in behind}
    could = {one["uri"]: one["could_see"] for one in rows("access", stream["id"])}
    assert could == {"hr/leave": False, "it/network": True, "canteen": True}
    seen = {one["uri"] for one in rows("documents", stream["id"], "--as", "ben", "--roles", "it")}
    assert seen == {"it/network", "canteen"}

    # a person disagrees with a verdict
    judged = failed[0]
    audit(
        "judge",
        judged["stream"],
        str(judged["sentence"]),
        "correct",
        "--by",
        "eve",
        "--note",
        "it is so since May",
    )
    assert len(rows("failed", "--criterion", "grounding", "--limit", "1000")) == wrong - 1

    # nothing was changed; then one user's texts go, and the chain holds
    head = audit("verify")[0].rpartition(" ")[2]
    (told,) = audit("erase", "--user", "cem", "--reason", "request 17", "--by", "ops")
    assert told == f"{sum(one == 'cem' for one, _ in afternoon)} streams lost their texts"
    assert rows("list", "--user", "cem", "--limit", "1000") == []
    assert len(rows("list", "--limit", "1000")) == COUNT
    audit("verify", "--head", head)

    # one row is tampered with, and found
    with Database(url) as database:
        raw(
            database,
            f"UPDATE conclusions SET grounding_score = 1.0 WHERE stream_id = '{_stored(url, stream['id'])}'",
        )
    assert "1 problems" in audit("verify", "--head", head, status=1)[0]


def _stored(url, identity):
    """An id as the database spells it in a text."""
    return identity if "://" in url else identity.replace("-", "")
