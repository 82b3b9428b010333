"""Labels by hand: on disk at once, taken up again, and served to nobody but the person at this machine."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from builders import BAD, GOOD, NONE, PASSAGES, WRONG, case, row, written
from hypothesis import given
from hypothesis import strategies as st
from loopback import loopback

from streamverify.errors import InputFileError, UsageError
from streamverify.evaluate import Case
from streamverify.evaluate.labels import LabelFile, Labelled, tasks
from streamverify.evaluate.merging import read_labels
from streamverify.server.labelling import labelling_app

TOKEN = "t" * 24
CASES = [case(1, GOOD, BAD), case(2, WRONG, NONE, GOOD)]
WORK = tasks(CASES)
LABELS = st.sampled_from(["supported", "contradicted", "unsupported", "no_claim", None])
PLACES = st.sampled_from([(t.case.id, s.index) for t in WORK for s in t.sentences])


LINE = Labelled(case="case-1", sentence=0, text="t", label="supported", annotator="ann").model_dump_json()


def no_json(data):
    try:
        json.loads(data)
    except ValueError:
        return True
    return False


TORN = st.one_of(
    st.binary(max_size=20).filter(lambda b: b"\n" not in b and no_json(b)),
    st.integers(0, len(LINE) - 1).map(lambda end: LINE.encode()[:end]),
)


@given(st.lists(st.tuples(PLACES, LABELS), min_size=1, max_size=12), TORN)
def test_what_was_decided_is_there_again_whatever_a_crash_left_behind(tmp_path_factory, decisions, torn):
    path = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    first = LabelFile(path, "ann", WORK)
    for (one, sentence), label in decisions:
        first.put(one, sentence, label)
        assert path.read_bytes().endswith(b"\n")  # on disk, and whole
    held = dict(first.labels)
    first.close()
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    again = LabelFile(path, "ann", WORK)
    again.close()
    assert again.labels == held
    assert path.read_bytes() == whole
    assert {place: one.label for place, one in held.items()} == {
        place: label for place, label in dict(decisions).items() if label is not None
    }


@given(st.binary(min_size=1, max_size=30).filter(lambda b: not LINE.encode().startswith(b)))
def test_a_file_that_is_something_else_stays_as_it_is(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("labels") / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(InputFileError, match="not a label|invalid UTF-8|is UTF-16"):
        LabelFile(path, "ann", WORK)
    assert path.read_bytes() == content


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf"])
def test_a_last_label_whose_end_an_editor_left_out_is_kept(tmp_path, before):
    path = tmp_path / "labels.jsonl"
    with contextlib.closing(LabelFile(path, "ann", WORK)) as first:
        first.put("case-1", 0, "supported")
        first.put("case-1", 1, "unsupported")
    path.write_bytes(before + path.read_bytes().rstrip(b"\n"))
    with contextlib.closing(LabelFile(path, "ann", WORK)) as again:
        assert set(again.labels) == {("case-1", 0), ("case-1", 1)}
        again.put("case-1", 0, "contradicted")
    assert [one.label for one in read_labels([path])] == ["contradicted", "unsupported"]


def test_two_people_share_a_file_without_seeing_each_other(tmp_path):
    path = tmp_path / "labels.jsonl"
    one, other = LabelFile(path, "ann", WORK), LabelFile(path, "ben", WORK)
    one.put("case-1", 0, "supported", ["mill"], "plain")
    other.put("case-1", 0, "unsupported")
    one.put("case-1", 1, "unsupported")
    one.close()
    other.close()
    lines = [Labelled.model_validate_json(line) for line in path.read_text().splitlines()]
    assert [(line.annotator, line.label) for line in lines] == [
        ("ann", "supported"),
        ("ben", "unsupported"),
        ("ann", "unsupported"),
    ]
    again = LabelFile(path, "ben", WORK)
    again.close()
    assert set(again.labels) == {("case-1", 0)}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{}", "not a label"),
        ("nonsense", "not a label"),
        (
            json.dumps(
                {"case": "case-1", "sentence": 0, "text": "?", "label": "supported", "annotator": "ann"}
            ),
            "reads otherwise",
        ),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path, line, problem):
    path = tmp_path / "labels.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(InputFileError) as caught:
        LabelFile(path, "ann", WORK)
    assert caught.value.line == 1
    assert problem in str(caught.value)
    assert path.read_text() == line + "\n"


def test_what_cannot_be_labelled_is_refused():
    with pytest.raises(UsageError, match="no case has an answer"):
        tasks([Case(id="a")])
    with pytest.raises(UsageError, match="surrogate"):
        tasks([Case(id="a", answer="A \ud800 mill.")])


@pytest.fixture
def server(tmp_path):
    labels = LabelFile(tmp_path / "labels.jsonl", "ann", WORK)
    with loopback(labelling_app(WORK, labels, annotator="ann", token=TOKEN)) as address:
        yield Served(address, tmp_path / "labels.jsonl")
    labels.close()


class Served:
    def __init__(self, address: str, path: Path) -> None:
        self.host, self.path = address.removeprefix("http://"), path

    def ask(self, path: str, body: object = None, **headers: str):
        connection = http.client.HTTPConnection(self.host, timeout=120)
        given = {"x-streamverify-token": TOKEN, **{k.replace("_", "-"): v for k, v in headers.items()}}
        data = None if body is None else json.dumps(body)
        if data is not None:
            given.setdefault("content-type", "application/json")
        connection.request("GET" if data is None else "POST", path, data, given)
        answer = connection.getresponse()
        read = answer.read()
        connection.close()
        return answer, read


DECISION = {"case": 0, "sentence": 0, "label": "supported", "evidence": ["mill"], "note": "yes"}


def test_a_decision_is_written_and_told(server):
    answer, body = server.ask("/api/label", DECISION)
    assert (answer.status, json.loads(body)) == (200, {"done": 1})
    (line,) = server.path.read_text().splitlines()
    assert json.loads(line) == {
        "case": "case-1",
        "sentence": 0,
        "text": WORK[0].sentences[0].text,
        "label": "supported",
        "evidence": ["mill"],
        "note": "yes",
        "annotator": "ann",
    }
    _, body = server.ask("/api/case/0")
    assert json.loads(body)["labels"] == {"0": {"label": "supported", "evidence": ["mill"], "note": "yes"}}
    assert [p["id"] for p in json.loads(body)["passages"]] == [p.id for p in PASSAGES]
    shown = [run["text"] for run in json.loads(body)["sentences"][0]["runs"]]
    assert "".join(shown) == WORK[0].sentences[0].text.strip()
    _, body = server.ask("/api/work")
    assert json.loads(body) == {"annotator": "ann", "sentences": [2, 3], "done": [1, 0]}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"x_streamverify_token": "wrong" * 5}, 401),
        ({"origin": "https://evil.example"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"content_type": "text/plain"}, 415),
    ],
)
def test_nobody_else_may_write(server, headers, status):
    answer, _ = server.ask("/api/label", DECISION, **headers)
    assert answer.status == status
    assert server.path.read_text() == ""


@pytest.mark.parametrize("path", ["/api/work", "/api/case/0"])
def test_nobody_else_may_read(server, path):
    assert server.ask(path, x_streamverify_token="")[0].status == 401
    answer, body = server.ask("/")
    assert "default-src 'none'" in answer.getheader("content-security-policy")
    assert TOKEN.encode() not in body
    assert GOOD.encode() not in body


@pytest.mark.parametrize(
    "wrong",
    [
        {**DECISION, "label": "maybe"},
        {**DECISION, "sentence": 9},
        {**DECISION, "case": 9},
        {**DECISION, "case": -1},
        {**DECISION, "evidence": ["nothing"]},
        {**DECISION, "note": "n" * 10_001},
        {**DECISION, "more": 1},
        [],
    ],
)
def test_a_decision_about_nothing_is_refused(server, wrong):
    assert server.ask("/api/label", wrong)[0].status == 400
    assert server.path.read_text() == ""
    assert server.ask("/api/case/9")[0].status == 400


@pytest.mark.slow
def test_the_command_prints_an_address_of_this_machine_and_goes_on(tmp_path):
    data = written(tmp_path / "answers.jsonl", [row(one) for one in CASES])
    command = [sys.executable, "-m", "streamverify", "dataset", "label", str(data)]
    command += ["--out", str(tmp_path / "labels.jsonl"), "--annotator", "ann"]
    environment = {**os.environ, "STREAMVERIFY_TOKEN": TOKEN}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as run:
        address = run.stdout.readline().strip()
        host, token = address.removeprefix("http://").split("/#")
        assert host.startswith("127.0.0.1:")
        assert token == TOKEN
        served = Served(f"http://{host}", tmp_path / "labels.jsonl")
        assert served.ask("/api/label", DECISION)[0].status == 200
        run.send_signal(signal.SIGINT)
        _, told = run.communicate(timeout=120)
    assert run.returncode == 0
    assert "1 sentences labelled by ann" in told
