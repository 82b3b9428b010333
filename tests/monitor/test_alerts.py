"""Alerts are on where recorded figures miss their bounds by more than chance, and name the streams."""

from __future__ import annotations

import dataclasses
import json
import sys
import threading
import uuid
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import START, write

from streamverify.errors import InputFileError
from streamverify.evaluate.stats import wilson
from streamverify.figure import Interval
from streamverify.monitor import alerts, sinks
from streamverify.monitor.alerts import FIGURES, Alert, Rule, read_rules, rules_from
from streamverify.monitor.traffic import Answer
from streamverify.program import main
from streamverify.types import Label

HOUR = timedelta(hours=1)
NOON = START + 12 * HOUR


def answer(number, supported, unsupported, *, at=NOON, outcome="finished"):
    labels = dict.fromkeys(Label, 0) | {Label.SUPPORTED: supported, Label.UNSUPPORTED: unsupported}
    score = supported / (supported + unsupported) if supported + unsupported else None
    return Answer(uuid.UUID(int=number), at, None, None, None, outcome, score, None, labels, 1, 100)


class Recorded:
    """Answers, in place of a database."""

    def __init__(self, answers, scores=None):
        self.all, self.by_criterion = answers, scores or {}

    def answers(self, window):
        return [one for one in self.all if window.since <= one.opened_at < window.until]

    def scores(self, window, criterion):
        return self.by_criterion.get(criterion, {})


def check(answers, rules, scores=None, now=NOON + timedelta(seconds=1)):
    return alerts.check(lambda _: Recorded(answers, scores), rules_from(rules), now)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=60),
    st.sampled_from(sorted(FIGURES)),
    st.floats(0, 1),
    st.integers(1, 30),
)
def test_an_alert_is_on_only_where_the_kinder_end_misses_the_bound(rows, figure, limit, least):
    side = "max" if figure.endswith("_rate") else "min"
    answers = [answer(number, *row) for number, row in enumerate(rows)]
    (found,) = check(answers, {"alerts": {figure: {side: limit, "min_streams": least}}})
    parts = [FIGURES[figure](one) for one in answers]
    held = [own for own in parts if own[1]]
    assert found.streams == len(held)
    if len(held) < least:
        assert found.status == "not computed"
        return
    value = sum(own[0] for own in held) / sum(own[1] for own in held)
    interval = wilson(min(value, 1.0) * len(held), len(held))
    assert found.value == pytest.approx(value)
    kind_end = interval.high if side == "min" else interval.low
    missed = (value < limit and kind_end < limit) if side == "min" else (value > limit and kind_end > limit)
    assert (found.status == "on") == missed
    if missed:
        assert 1 <= len(found.open) <= 5
        assert set(found.open) <= {one.stream for one in answers}
    (plain,) = check(answers, {"alerts": {figure: {side: limit, "min_streams": least, "on": "value"}}})
    assert (plain.status == "on") == (value < limit if side == "min" else value > limit)


@given(st.integers(1, 50), st.floats(0, 1))
def test_wilson_takes_means_of_figures_too(trials, mean):
    found = wilson(mean * trials, trials)
    assert isinstance(found, Interval)
    assert 0 <= found.low <= mean + 1e-9
    assert mean - 1e-9 <= found.high <= 1


def test_the_worst_streams_are_named_first():
    answers = [answer(number, 4 - number % 5, number % 5) for number in range(50)]
    (low,) = check(answers, {"alerts": {"faithfulness": {"min": 0.9}}})
    assert low.status == "on"
    assert [one.int % 5 for one in low.open] == [4] * 5
    failing = [answer(number, 4, 0, outcome="failed" if number < 12 else "finished") for number in range(40)]
    (errors,) = check(failing, {"alerts": {"error_rate": {"max": 0.05}}})
    assert [one.int for one in errors.open] == [0, 1, 2, 3, 4]
    assert str(errors).startswith("on ")


def test_for_asks_that_it_was_so_all_the_time():
    rule = {"alerts": {"faithfulness": {"min": 0.9, "for": "1h", "min_streams": 5}}}
    bad = [answer(n, 0, 4, at=NOON - timedelta(minutes=2 * n)) for n in range(100)]
    assert [one.status for one in check(bad, rule)] == ["on"]
    fresh = [
        answer(n, *((0, 4) if n < 10 else (4, 0)), at=NOON - timedelta(minutes=2 * n)) for n in range(100)
    ]
    (found,) = check(fresh, rule)
    assert (found.status, found.detail) == ("off", "not for 1h yet")
    silent = [one for one in bad if one.opened_at > NOON - HOUR]
    (found,) = check(silent, rule)  # before that nobody knows
    assert found.status == "off"


def test_a_judges_figure_is_watched_by_its_criterion():
    answers = [answer(number, 4, 0) for number in range(40)]
    scores = {"retrieval_precision": {one.stream: 0.1 for one in answers[:30]}}
    (found,) = check(answers, {"alerts": {"retrieval_precision": {"min": 0.5}}}, scores)
    assert (found.status, found.streams) == ("on", 30)
    (gap,) = check(answers, {"alerts": {"retrieval_precision": {"min": 0.5}}})
    assert gap.status == "not computed"


def test_the_defaults_are_those_of_the_guide():
    rules = rules_from(alerts.DEFAULTS)
    assert {name: str(rule) for name, rule in rules.everywhere.items()} == {
        "faithfulness": ">= 0.85 over 1h",
        "grounding": ">= 0.8 over 1h for 1h",
        "retrieval_precision": ">= 0.5 over 1h",
        "unverified_rate": "<= 0.05 over 1h",
        "error_rate": "<= 0.05 over 1h",
    }


def test_the_defaults_page_where_nothing_could_be_checked():
    unchecked = dict.fromkeys(Label, 0) | {Label.UNVERIFIED: 3}
    dead = [dataclasses.replace(answer(n, 0, 0), labels=unchecked) for n in range(20)]
    found = {one.figure: one.status for one in check(dead, alerts.DEFAULTS)}
    assert found["unverified_rate"] == "on"
    assert {found[one] for one in ("faithfulness", "grounding")} == {"not computed"}
    # The rules for Prometheus that come along page at the same share.
    shipped = files("streamverify.monitor").joinpath("files", "streamverify.rules.yml").read_text()
    assert f"streamverify:unchecked:1h > {alerts.DEFAULTS['alerts']['unverified_rate']['max']}" in shipped


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[alerts]\nfaithfulness = 0.9", "alerts.faithfulness"),
        ("[alerts]\nfaithfulness = { mn = 0.9 }", "did you mean 'min'"),
        ("[alerts]\nfaithfulness = {}", "min or max"),
        ("[alerts]\nfaithfulness = { min = 0.9, window = '1 hour' }", "24h"),
        ("[alerts]\nfaithfulness = { min = 0.9, for = 'long' }", "24h"),
        ("[alerts]\nfaithfulness = { min = nan }", "finite"),
        ("[alerts]\nfaithfulness = { max = 0.85 }", "better the higher it is: give min"),
        ("[alerts]\nerror_rate = { min = 0 }", "better the lower it is: give max"),
        ("[alerts]\nanswer_uncertainty = { min = 0.2 }", "better the lower it is: give max"),
        ("[alerts.'domain=hr']\nunverified_rate = { min = 0.2 }", "alerts.domain=hr.unverified_rate"),
        ("[alerts]\nhallucination_rate = { max = 5 }", "less than or equal to 1"),
        ("[alerts]\nfaithfulness = { min = 85 }", "less than or equal to 1"),
        ("[alerts]\nfaithfulness = { min = true }", "valid number"),
        ("[alerts]\nfaithfullness = { min = 0.9 }", "did you mean 'faithfulness'"),
        ("[alerts.'run=a']\nfaithfulness = { min = 0.9 }", "by domain"),
        ("[alert]\nfaithfulness = { min = 0.9 }", "did you mean 'alerts'"),
        ("[defaults]\nmax = 1\n[alerts]\nfaithfulness = { min = 0.9 }", "defaults.max"),
        ("[sinks]\nlog = true", "holds no rule"),
        ("[alerts]\nfaithfulness = { min = 0.9 }\n[sinks]\nwebhook = 'file:///etc/passwd'", "http"),
    ],
)
def test_a_wrong_file_names_its_place(tmp_path, text, problem):
    (tmp_path / "alerts.toml").write_text(text)
    with pytest.raises(InputFileError, match=problem):
        read_rules(tmp_path / "alerts.toml")


def on():
    rule = Rule(min=0.85)
    return Alert("faithfulness", None, rule, "on", 0.5, 0.6, 40, (uuid.UUID(int=7),))


@contextmanager
def hook(status=200):
    """An address and what was posted to it; it answers with a status, and leads to itself."""
    taken = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self):
            taken.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(status)
            self.send_header("content-length", "0")
            self.send_header("location", self.path)
            self.end_headers()

        def do_GET(self):
            taken.append("a redirect was followed")
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Hook) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/secret", taken
        finally:
            server.shutdown()
            thread.join()


def test_every_sink_is_told_of_what_is_on_and_names_the_streams(tmp_path, caplog):
    file = tmp_path / "told.json"
    program = f"import sys; open({str(file)!r}, 'w').write(sys.stdin.read())"
    with hook() as (url, taken):
        given_sinks = alerts.Sinks(webhook=url, command=(sys.executable, "-c", program))
        off = Alert("grounding", None, Rule(min=0.8), "off", 0.9, 0.9, 40)
        assert sinks.send(given_sinks, [on(), off]) == []
        assert sinks.send(given_sinks, [off]) == []
    assert taken == [json.loads(file.read_text())]
    (alert,) = taken[0]["alerts"]
    assert (alert["figure"], alert["open"]) == ("faithfulness", [str(uuid.UUID(int=7))])
    assert [record.name for record in caplog.records] == ["streamverify.alerts"]
    assert str(uuid.UUID(int=7)) in caplog.text


def test_a_sink_that_fails_is_told_without_its_secret_and_the_others_hear_all_the_same(tmp_path):
    with hook(status=500) as (url, taken):
        given_sinks = alerts.Sinks(webhook=url, command=(sys.executable, "-c", "raise SystemExit(3)"))
        wrong = sinks.send(given_sinks, [on()])
    assert wrong == [
        "the webhook could not be told: 500",
        "the command could not be told: exit status 3",
    ]
    assert len(taken) == 1
    nobody = alerts.Sinks(webhook="http://127.0.0.1:1/secret", log=False)
    assert sinks.send(nobody, [on()]) == ["the webhook could not be told: Connection refused"]
    missing = alerts.Sinks(command=(str(tmp_path / "nothing"),))
    assert sinks.send(missing, [on()]) == ["the command could not be told: FileNotFoundError"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_webhook_that_moved_is_not_told(status):
    """A redirect is followed with a GET that carries nothing, which would count as told."""
    with hook(status) as (url, taken):
        (wrong,) = sinks.send(alerts.Sinks(webhook=url, log=False), [on()])
    assert wrong.startswith(f"the webhook could not be told: answered {status}, redirects are not followed")
    assert "secret" not in wrong
    assert len(taken) == 1


def command(capsys, url, *arguments):
    status = main(["monitor", "check", "--records", url, *map(str, arguments)])
    told = capsys.readouterr()
    return status, told.out.splitlines(), told.err


@pytest.mark.slow
def test_the_command_says_what_is_on_and_ends_accordingly(tmp_path, capsys):
    url = str(tmp_path / "records.db")
    good = write(url, 30, since=START, hours=1, good=1.0, domain="hr")
    bad = write(url, 30, since=START + HOUR, hours=1, good=0.3, seed=1, domain="legal", failing=0.5)
    assert command(capsys, url, "--at", START + HOUR)[0] == 0
    status, lines, _ = command(capsys, url, "--at", START + 2 * HOUR, "--json")
    found = {line["figure"]: line for line in map(json.loads, lines)}
    assert status == 1
    assert {name: line["status"] for name, line in found.items()} == {
        "faithfulness": "on", "grounding": "off", "retrieval_precision": "not computed",
        "unverified_rate": "off", "error_rate": "on",
    }  # fmt: skip
    assert set(found["faithfulness"]["open"]) <= {str(one) for one in bad}
    assert main(["audit", "show", found["faithfulness"]["open"][0], "--records", url]) == 0
    capsys.readouterr()
    rules = tmp_path / "alerts.toml"
    rules.write_text("""
        [defaults]
        window = "2h"
        [alerts."domain=hr"]
        faithfulness = { min = 0.85 }
        [sinks]
        log = false
        command = ["/nowhere/at/all"]
    """)
    status, lines, _ = command(capsys, url, "--at", START + 2 * HOUR, "--rules", rules)
    assert (status, len(lines), len(good)) == (0, 1, 30)
    rules.write_text(rules.read_text().replace("hr", "legal"))
    status, _, error = command(capsys, url, "--at", START + 2 * HOUR, "--rules", rules)
    assert (status, error) == (2, "streamverify: the command could not be told: FileNotFoundError\n")
