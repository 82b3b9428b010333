"""`streamverify serve --passages FILE` as a running program: what is in the file verifies who brings none."""

from __future__ import annotations

import json
import subprocess
import sys

import httpx2
import pytest
from loopback import loopback
from openai_upstream import Upstream
from upstreams import told

pytestmark = pytest.mark.slow

SENT = [{"id": "sent", "text": "Barley is ground here."}]


@pytest.mark.parametrize("kind", ["lines", "folder"])
def test_passages_of_a_file_are_used_where_a_request_holds_none(kind, tmp_path):
    if kind == "lines":
        given, own = tmp_path / "passages.jsonl", "mill"
        given.write_text(json.dumps({"id": own, "text": "The mill was built in the town."}), "utf-8")
    else:
        given, own = tmp_path, "mill.txt"
        (given / own).write_text("The mill was built in the town.", "utf-8")
    with loopback(Upstream("The mill was built in the town. ").app) as upstream:
        command = [sys.executable, "-m", "streamverify", "serve", "--upstream", f"{upstream}/v1"]
        with subprocess.Popen(
            [*command, "--port", "0", "--passages", str(given)],
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        ) as served:
            try:
                line = served.stderr.readline()
                assert "serves http://" in line, line + served.stderr.read()
                address = line.partition("serves ")[2].strip()
                for sent, passages in (({}, [own]), ({"passages": SENT}, ["sent"])):
                    body = {"model": "m", "messages": [], "stream": True, "streamverify": sent}
                    got = httpx2.post(f"{address}/v1/chat/completions", json=body, timeout=150)
                    [opened] = told(got.text, "stream_opened")
                    assert [passage["id"] for passage in opened["passages"]] == passages
                    [judged] = told(got.text, "sentence_judged")
                    assert judged["label"] == ("supported" if sent == {} else "unsupported")
            finally:
                served.terminate()
                served.communicate(timeout=100)
        assert served.returncode == 0
