"""The AI SDK's own client, of each major release, reads what the encoder writes."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from loopback import loopback
from starlette.applications import Starlette
from starlette.routing import Route

from streamverify.policy import Flag, Redact
from streamverify.server import AiSdk, sse_response
from streamverify.testing import ScriptedScorer, pieces, stream_of
from streamverify.types import Label, Passage
from streamverify.verifier import Verifier

pytestmark = [pytest.mark.node, pytest.mark.timeout(600)]

TEXT = "The mill 🌾 was built in the town. The wrong wheel turns. Barley is ground here."
READER = Path(__file__).parent / "ai_sdk" / "read.mjs"


@pytest.fixture(scope="module", params=[5, 6, 7])
def package(request, tmp_path_factory):
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.fail("these tests need node 20 or newer and npm: install both, or deselect: -m 'not node'")
    folder = tmp_path_factory.mktemp(f"ai{request.param}")
    (folder / "package.json").write_text('{"private": true}')
    command = [
        npm,
        "install",
        "--no-audit",
        "--no-fund",
        "--silent",
        "--ignore-scripts",
        f"ai@{request.param}",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.fail(f"npm could not install ai@{request.param}: {done.stderr}")
    return request.param, folder


def read(package, *, policy, error=None):
    major, folder = package

    async def chat(_request):
        verifier = Verifier(ScriptedScorer({"wrong": Label.CONTRADICTED}))
        source = stream_of(pieces(TEXT, 3), error=error)
        passages = [Passage("p1", "The mill was built in the town.", "Mill")]
        stream = verifier.stream(source, passages, policy=policy)
        return sse_response(stream, AiSdk(major=major), passages=passages, heartbeat=0.01)

    with loopback(Starlette(routes=[Route("/chat", chat, methods=["POST"])])) as address:
        command = ["node", str(READER), str(folder), f"{address}/chat"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=150)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("policy", [Flag(), Redact()])
def test_the_message_holds_the_text_the_sources_and_a_verdict_for_each_sentence(package, policy):
    message = read(package, policy=policy)
    kinds = [part["type"] for part in message["parts"]]
    texts = [part["text"] for part in message["parts"] if part["type"] == "text"]
    verdicts = [part["data"] for part in message["parts"] if part["type"] == "data-streamverify"]
    assert message["errors"] == []
    assert "source-document" in kinds
    assert [verdict["state"] for verdict in verdicts] == ["supported", "contradicted", "supported"]
    assert message["metadata"]["streamverify"]["outcome"] == "finished"
    if policy.holds_text:
        assert "".join(texts) == TEXT.replace("The wrong wheel turns.", policy.placeholder)
        labels = [
            p["providerMetadata"]["streamverify"]["label"] for p in message["parts"] if p["type"] == "text"
        ]
        assert labels == ["supported", "contradicted", "supported"]
    else:
        units = "".join(texts).encode("utf-16-le")
        assert [
            units[2 * a : 2 * b].decode("utf-16-le") for a, b in (verdict["utf16"] for verdict in verdicts)
        ] == [
            "The mill 🌾 was built in the town. ",
            "The wrong wheel turns. ",
            "Barley is ground here.",
        ]


def test_an_error_in_the_stream_reaches_the_client_as_one(package):
    message = read(package, policy=Flag(), error=RuntimeError("cable cut"))
    assert any("the source of the answer failed: RuntimeError" in error for error in message["errors"])
    assert not any("cable cut" in error for error in message["errors"])
