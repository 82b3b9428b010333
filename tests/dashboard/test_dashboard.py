"""The dashboard over HTTP: what stands on its pages, who sees it, and that a judgment overwrites nothing."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from served import AUDITOR, BENS, EVES, HOSTILE, SOME, TOKEN, client, watched

from streamverify import Passage, UsageError, Verifier
from streamverify.dashboard.people import People, Person, digest_of, one_for_all, read_people
from streamverify.errors import InputFileError
from streamverify.evaluate import Case, evaluate
from streamverify.evaluate.comparison import compare
from streamverify.evaluate.gates import gates_from
from streamverify.figure import Aggregate, Interval, NotComputed
from streamverify.monitor import firing
from streamverify.monitor.traffic import Window
from streamverify.records import Reader, Records, add_run, add_up, judge, verify
from tests.records.streams import ANSWER, PASSAGES, record, scorer

PAGES = ("/", "/answers", "/review", "/review?queue=sample", "/documents", "/runs", "/alerts", "/drift")
pytestmark = pytest.mark.slow


@pytest.fixture
def records(tmp_path):
    with Records(tmp_path / "r.db") as made:
        yield made


def page(asked, path):
    answer = asked.get(f"/view{path}")
    assert answer.status_code == 200, answer.text
    return answer.text


def words(html):
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_every_page_answers_with_nothing_recorded_and_with_something(records):
    with client(records.database) as asked:
        for path in PAGES:
            assert "data-title" in page(asked, path)
        assert "Nothing was recorded yet" in page(asked, "/")
        (stream,) = record(records, context={"user": "u1", "roles": ["hr"], "domain": "hr", "run": "r1"})
        add_up(records.database)
        for path in (*PAGES, "/?window=7d", "/?window=30d&domain=hr&run=r1", "/answers?with=fabricated"):
            assert "data-title" in page(asked, path)
        first = words(page(asked, "/"))
        assert "How much leave?" in first
        # One answer of three claims: one supported, one contradicted, one that no source says.
        assert "Supported 33.3 %" in first
        assert "Contradicted 33.3 %" in first
        assert "canteen 1" in words(page(asked, "/documents"))
        opened = words(page(asked, f"/answers/{stream}"))
        assert "contradicted" in opened
        assert "Removed from what readers saw" in opened
        assert "The canteen opens at noon." in opened
        assert "there is no such source" in opened
        assert "The wrong canteen opens at midnight" in words(page(asked, "/review"))
        for path, problem in {
            "/?window=1y": "window must be",
            "/answers?with=luck": "with must be",
            "/answers?before=soon": "before must be",
            "/answers?before=0001-01-01T00:00:00%2B14:00": "before must be",
            "/review?queue=all": "queue must be",
            "/runs?run=x": "no id of a run",
            f"/runs?run={uuid.uuid4()}": "no run",
            f"/answers/{uuid.uuid4()}": "no stream",
        }.items():
            refused = asked.get(f"/view{path}")
            assert refused.status_code == 400
            assert problem in refused.json()["error"]["message"]


def test_figures_follow_domain_and_run(records):
    record(
        records, ["Employees have 30 days of leave."], context={"user": "u1", "domain": "hr", "run": "good"}
    )
    record(records, [ANSWER], context={"user": "u1", "domain": "law", "run": "bad"})
    with client(records.database) as asked:
        assert "Supported 50.0 %" in words(page(asked, "/"))
        assert "Supported 100.0 %" in words(page(asked, "/?domain=hr"))
        assert "Supported 33.3 %" in words(page(asked, "/?run=bad"))
        rows = words(page(asked, "/runs"))
        assert "good 1 100.0 % 0.0 %" in rows
        assert "bad 1 33.3 % 33.3 %" in rows


def test_a_word_changes_when_something_is_recorded(records):
    with client(records.database) as asked:
        before = asked.get("/api/pulse").json()
        assert before["name"] is None
        record(records, ["So."])
        assert asked.get("/api/pulse").json()["pulse"] != before["pulse"]


def test_whatever_was_recorded_is_text(records):
    passages = [Passage("p1", f"Leave is 30 days. {HOSTILE}", title=HOSTILE, metadata={"uri": HOSTILE})]
    context = {"user": HOSTILE, "domain": HOSTILE, "run": HOSTILE}
    (stream,) = record(
        records, [f"The wrong {HOSTILE} is so [9]. "], passages=passages, question=HOSTILE, context=context
    )
    judge(records.database, AUDITOR, uuid.UUID(stream), 0, "incorrect", by=HOSTILE, note=HOSTILE)
    with client(records.database) as asked:
        for path in (*PAGES, f"/answers/{stream}"):
            told = page(asked, path)
            assert "<img" not in told
            assert "<script" not in told
            assert not re.search(r"(?:&#39;|')49", told)
            assert 'onerror="' not in told
            assert not re.search(r'(?:style|on\w+)="', told)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"x-streamverify-token": ""}, 401),
        ({"x-streamverify-token": "u" * 24}, 401),
        ({"x-streamverify-token": "", "authorization": f"Bearer {TOKEN}"}, 401),
        ({"origin": "http://evil.example"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
    ],
)
def test_whoever_may_not_ask_is_refused(records, headers, status):
    (stream,) = record(records)
    with client(records.database) as asked:
        for path in (*(f"/view{one}" for one in PAGES), f"/view/answers/{stream}", "/api/pulse"):
            assert asked.get(path, headers=headers).status_code == status
        told = {"stream": stream, "sentence": 1, "opinion": "correct", "by": "ann"}
        assert asked.post("/api/judgment", headers=headers, json=told).status_code == status
        plain = {"content-type": "text/plain"}
        assert asked.post("/api/judgment", headers=plain, json=told).status_code == 415
        assert asked.get("/api/judgment").status_code == 405
    kept = Reader(records.database, AUDITOR).judgments(uuid.UUID(stream), criterion="grounding")
    assert {one.source for one in kept} == {"model"}


def test_pages_load_nothing_from_elsewhere_and_hold_nothing_without_a_token(records):
    record(records, question="A secret?")
    with client(records.database, token="") as asked:
        for path, kind in {
            "/": "text/html",
            "/answers": "text/html",
            f"/answers/{uuid.uuid4()}": "text/html",
            "/static/dashboard.js": "text/javascript",
            "/static/dashboard.css": "text/css",
        }.items():
            answer = asked.get(path)
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith(kind)
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'")
            assert "unsafe" not in policy
            assert "secret" not in answer.text
            assert not re.search(r"(?:src|href|url\()=?[\"']?(?:https?:)?//", answer.text)
        for path in ("/static/index.html", "/static/../app.py", "/static/page.css", "/nowhere"):
            assert asked.get(path).status_code == 404


def test_a_judgment_takes_the_place_of_the_one_that_counted(records):
    (stream,) = record(records)
    told = {"stream": stream, "sentence": 1, "opinion": "correct", "by": "ann", "note": "<b>It closed.</b>"}
    with client(records.database) as asked:
        assert asked.post("/api/judgment", json=told).json() == {"by": "ann", "opinion": "correct"}
        asked.post("/api/judgment", json={**told, "opinion": "incorrect", "by": "ben"}).raise_for_status()
        assert "ben: incorrect" in words(page(asked, f"/answers/{stream}"))
        # Nobody is asked again about what a person has said.
        assert "midnight" not in page(asked, "/review")
        assert asked.post("/api/judgment", json={**told, "sentence": 9}).status_code == 400
    kept = Reader(records.database, AUDITOR).judgments(uuid.UUID(stream), criterion="grounding")
    mine = [one for one in kept if one.sentence == 1]
    assert [(one.source, one.by, one.label, one.current) for one in mine] == [
        ("model", None, "contradicted", False),
        ("human", "ann", "correct", False),
        ("human", "ben", "incorrect", True),
    ]
    assert verify(records.database).passed


def test_everybody_sees_what_the_records_let_them_see(records):
    (bens,) = record(records, context={"user": "ben", "roles": ["hr"]}, question="Ben's?")
    (others,) = record(records, context={"user": "ann", "roles": ["hr"]}, question="Ann's?")
    with client(records.database, SOME) as ann:
        assert "Ben" in page(ann, "/answers")
        assert "Ann" in page(ann, "/answers")
    with client(records.database, SOME, BENS) as ben:
        seen = words(page(ben, "/answers")) + words(page(ben, "/")) + words(page(ben, "/review"))
        assert "Ben" in seen
        assert "Ann" not in seen
        assert "midnight" not in seen  # it was withheld from him
        assert ben.get(f"/view/answers/{others}").status_code == 400
        assert "midnight" not in page(ben, f"/answers/{bens}")
        for path in ("/alerts", "/drift"):
            assert "for auditors" in page(ben, path)
        told = {"stream": others, "sentence": 0, "opinion": "incorrect", "by": "ann"}
        assert ben.post("/api/judgment", json=told).status_code == 400
        assert ben.post("/api/judgment", json={**told, "stream": bens}).json()["by"] == "ben"
    with client(records.database, SOME, EVES) as eve:
        assert "Nothing was recorded yet" in page(eve, "/")
        assert eve.get(f"/view/answers/{bens}").status_code == 400
    kept = Reader(records.database, AUDITOR).judgments(uuid.UUID(bens), criterion="grounding")
    assert [one.by for one in kept if one.source == "human"] == ["ben"]


def test_evaluations_stand_side_by_side_with_their_gates(records):
    def figures(value):
        return {
            "faithfulness": Aggregate(value, Interval(value - 0.05, value + 0.05, "bca"), 10),
            "recall": Aggregate(NotComputed("no labels"), NotComputed("no labels"), 0, {"no labels": 10}),
        }

    add_run(records.database, "before", "a" * 64, figures(0.9), at=datetime(2026, 1, 1, tzinfo=UTC))
    add_run(records.database, "after", "b" * 64, figures(0.7))
    gates = gates_from(
        {"gates": {"faithfulness": {"min": 0.8}, "recall": {"min": 0.5}, "nothing": {"max": 1}}}
    )
    with client(records.database, gates=gates) as asked:
        told = words(page(asked, "/runs"))
    assert "faithfulness 0.700 0.900 -0.200 failed ≥ 0.8" in told
    assert re.search(r"recall no labels .*not computed ≥ 0.5", told)
    assert "nothing it has no such figure" in told


def evaluated(answers):
    """A run over the same questions with these answers."""
    cases = [
        Case(id=f"c{number}", question="How much leave?", answer=answer, passages=tuple(PASSAGES))
        for number, answer in enumerate(answers)
    ]
    with Verifier(scorer()) as verifier:
        return evaluate(cases, metrics=["faithfulness"], verifier=verifier, workers=1)


def test_evaluations_of_the_same_cases_are_paired_and_others_say_why_not(records):
    good, bad = "Employees have 30 days of leave.", "The wrong canteen opens at midnight."
    before = evaluated([good] * 9 + [bad])
    after = evaluated([good] * 4 + [bad] * 6)
    other = evaluated([good] * 3)
    ids = {}
    for day, (name, run, text) in enumerate(
        [("old", before, True), ("new", after, True), ("shorter", other, True), ("bare", before, False)]
    ):
        at = datetime(2026, 1, 1 + day, tzinfo=UTC)
        digest = run.digest if text else "f" * 64
        told = run.text() if text else None
        ids[name], _ = add_run(records.database, name, digest, run.aggregates, text=told, at=at)
    assert verify(records.database).passed
    with pytest.raises(UsageError, match="not that of the run's text"):
        add_run(records.database, "forged", "e" * 64, before.aggregates, text=before.text())

    def shown(asked, run, against):
        while "being paired" in (told := words(page(asked, f"/runs?run={ids[run]}&against={ids[against]}"))):
            pass
        return told

    wanted = compare(before, after)["faithfulness"]
    with client(records.database) as asked:
        told = shown(asked, "new", "old")
        low, high = wanted.interval.low, wanted.interval.high
        assert f"{wanted.difference:+.3f} {low:+.3f} to {high:+.3f} worse , 10 cases" in told
        assert "5 cases fail that passed" in told
        assert "Not paired: they are over different questions" in shown(asked, "shorter", "new")
        assert "Not paired: records hold the figures of one of them without its cases" in shown(
            asked, "bare", "new"
        )
    with client(records.database, SOME, BENS) as ben:
        assert "for auditors" in page(ben, "/runs")


def test_alerts_and_drift_stand_there_when_they_were_looked_at(records):
    record(records, [ANSWER] * 25)
    now = datetime.now(UTC)
    before = Window(now - timedelta(hours=2), now - timedelta(hours=1))
    options = watched(reference=before, length=timedelta(hours=1))
    with client(records.database, watched=options, clock=lambda: now + timedelta(seconds=30)) as asked:
        pulse = asked.get("/api/pulse").json()["pulse"]
        while "None" in pulse:
            pulse = asked.get("/api/pulse").json()["pulse"]
        told = words(page(asked, "/alerts"))
        assert re.search(r"on faithfulness since .* ≥ 0\.85 over 1h: 0\.333", told)
        assert "Open" in told
        assert "1 on" in words(page(asked, "/"))
        assert "too few" in words(page(asked, "/drift"))


def looked(asked):
    """Wait until alerts were looked at."""
    while "None" in asked.get("/api/pulse").json()["pulse"].partition(",")[0]:
        pass


def test_what_is_on_says_since_when_over_the_dashboards_own_life(records, tmp_path):
    record(records, [ANSWER] * 25)
    now = datetime.now(UTC)
    checks, memory = tmp_path / "checks.json", tmp_path / "memory.json"
    rules = watched().rules
    with firing.remembering(checks, {"rules": None}) as held:  # as `monitor check` left it hours ago
        rule = rules.everywhere["faithfulness"]
        held.firing = (
            firing.Firing(figure="faithfulness", domain=None, rule=rule, since=now - timedelta(hours=9)),
        )
    options, soon = watched(memory=memory, checks=checks), now + timedelta(seconds=30)
    since = f'since <time datetime="{(now - timedelta(hours=9)).isoformat(timespec="seconds")}"'
    with client(records.database, watched=options, clock=lambda: soon) as asked:
        looked(asked)
        told = page(asked, "/alerts")
        assert since in told
        assert "Last evaluated" in told
        assert len(re.findall(r'href="/answers/[0-9a-f-]{36}"', told)) >= 5
    checks.unlink()
    with client(records.database, watched=options, clock=lambda: soon) as asked:  # started again
        looked(asked)
        assert since in page(asked, "/alerts")
    # Nobody asks any more: too few to tell, and it stays on.
    with client(records.database, watched=options, clock=lambda: now + timedelta(hours=3)) as asked:
        looked(asked)
        told = page(asked, "/alerts")
        assert since in told
        assert "was on; now 0 streams" in words(told)
    record(records, ["Employees have 30 days of leave. " * 10] * 30)
    with client(records.database, watched=options, clock=lambda: soon + timedelta(minutes=30)) as asked:
        looked(asked)
        told = words(page(asked, "/alerts"))
        assert "in order faithfulness" in told
        assert re.search(r"Over Alert Rule From Until faithfulness ≥ 0.85 over 1h", told)


def test_a_memory_that_somebody_else_holds_hides_no_alert(records, tmp_path):
    record(records, [ANSWER] * 25)
    now = datetime.now(UTC) + timedelta(seconds=30)
    memory = tmp_path / "memory.json"
    with (
        firing.remembering(memory, {}),
        client(records.database, watched=watched(memory=memory), clock=lambda: now) as asked,
    ):
        looked(asked)
        assert "on faithfulness since" in words(page(asked, "/alerts"))


def test_people_are_read_from_a_file_and_what_is_wrong_is_named(tmp_path):
    path = tmp_path / "people.toml"
    ann = f'[ann]\ntoken_sha256 = "{digest_of(TOKEN)}"\nroles = ["auditor"]\n'
    path.write_text(f'{ann}[ben]\ntoken_sha256 = "{"0" * 64}"\n')
    ann, ben = read_people(path).everybody
    assert (ann.name, ann.requester.audits, ben.requester.user, ben.requester.audits) == (
        "ann",
        True,
        "ben",
        False,
    )
    for text, problem in {
        "[ann]\n": "token_sha256",
        '[ann]\ntoken_sha256 = "x"\n': "64 hexadecimal digits",
        f'[ann]\ntoken_sha256 = "{"0" * 64}"\nrole = "hr"\n': "role",
        "ann = 1\n": "ann",
        f'[" "]\ntoken_sha256 = "{"0" * 64}"\n': "needs a name",
    }.items():
        path.write_text(text)
        with pytest.raises(InputFileError, match=problem):
            read_people(path)
    path.write_text("")
    with pytest.raises(UsageError, match="nobody may look"):
        read_people(path)
    with pytest.raises(UsageError, match="same token"):
        People([Person(AUDITOR, "0" * 64, name) for name in ("a", "b")])
    with pytest.raises(UsageError, match="16 characters"):
        one_for_all("short", AUDITOR)


@pytest.mark.postgres
def test_while_the_database_is_gone_pages_say_so_and_come_back(server):
    with Records(server.new_database()) as records:
        record(records)
        with client(records.database) as asked:
            server.stop()
            try:
                gone = asked.get("/view/")
            finally:
                server.start()
            assert (gone.status_code, gone.json()["error"]["type"]) == (503, "records_unavailable")
            for path in PAGES:
                page(asked, path)
