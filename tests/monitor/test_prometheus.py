"""Metrics count what reports say, in series that nobody outside can add to."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import grafana_dashboard
import httpx2
import pytest
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback import loopback
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families
from test_tracing import PASSAGES, SECRETS, SENTENCES, scorer

import streamverify.monitor
from streamverify import Flag, Redact, Verifier
from streamverify.monitor import PrometheusObserver, metric_names
from streamverify.server import ServeSettings, create_app
from streamverify.server.drain import Drain

FILES = Path(streamverify.monitor.__file__).parent / "files"
RULES = FILES / "streamverify.rules.yml"


def samples(metrics):
    text, _ = metrics.exposition()
    return [one for family in text_string_to_metric_families(text.decode()) for one in family.samples]


def counted(metrics, name):
    return {
        tuple(one.labels.values()): one.value for one in samples(metrics) if one.name == name and one.value
    }


CUSTOM = Flag()
object.__setattr__(CUSTOM, "name", "zebra of ann@example.org")  # an application's own policy has any name


@settings(max_examples=12)
@given(
    st.lists(st.lists(st.sampled_from(sorted(SENTENCES)), max_size=4), min_size=1, max_size=3),
    st.sampled_from([None, Redact(), CUSTOM]),
)
def test_what_is_counted_is_what_reports_say_and_every_label_is_of_a_closed_list(answers, policy):
    metrics = PrometheusObserver()
    with Verifier(scorer(), policy=policy, observers=[metrics]) as verifier:
        reports = [verifier.check_sync("".join(parts), PASSAGES) for parts in answers]
        assert verifier.drain_observers(50)
    word = "other" if policy is CUSTOM else "flag" if policy is None else "redact"
    sentences = [sentence for report in reports for sentence in report.sentences]
    labels = Counter((sentence.label.value, word) for sentence in sentences)
    assert counted(metrics, "streamverify_sentences_total") == labels
    assert counted(metrics, "streamverify_actions_total") == Counter((s.action.value,) for s in sentences)
    assert counted(metrics, "streamverify_streams_total") == {("finished",): len(answers)}
    reasons = Counter((s.reason,) for s in sentences if s.label == "unverified")
    assert counted(metrics, "streamverify_scoring_failures_total") == reasons
    scores = [report.grounding_score for report in reports if report.grounding_score is not None]
    assert sum(counted(metrics, "streamverify_answer_grounding_score_count").values()) == len(scores)
    closed = {family.name: family.labels for family in metric_names.FAMILIES}
    for one in samples(metrics):
        family = re.sub("_(total|created|bucket|sum|count)$", "", one.name)
        for label, value in one.labels.items():
            assert label == "le" or value in closed[family][label], one
    text = metrics.exposition()[0].decode().lower()
    assert [secret for secret in SECRETS if secret in text] == []


def test_every_series_is_there_before_the_first_stream():
    found = {(one.name, *one.labels.values()) for one in samples(PrometheusObserver())}
    assert ("streamverify_sentences_total", "contradicted", "redact") in found
    assert ("streamverify_scoring_failures_total", "scorer_failed") in found
    names = {name for name, *_ in found}
    assert {name for family in metric_names.FAMILIES for name in family.series} <= names


def test_drops_and_the_cache_are_told_when_streams_have_ended():
    lost = [0]
    metrics = PrometheusObserver(CollectorRegistry(), records_dropped=lambda: lost[0])
    with Verifier(scorer(), observers=[metrics]) as verifier:
        metrics.watch(verifier)
        for lost[0], expected in ((0, 0), (3, 3), (3, 3), (5, 5)):
            verifier.check_sync("Zebras have 30 days of leave.", PASSAGES)
            assert verifier.drain_observers(50)
            told = sum(counted(metrics, "streamverify_records_dropped_total").values())
            assert told == expected
    assert counted(metrics, "streamverify_open_streams") == {}


_WORKER = """
import sys
from streamverify import Passage, Verifier
from streamverify.monitor import PrometheusObserver
from streamverify.testing import ScriptedScorer
metrics = PrometheusObserver()
with Verifier(ScriptedScorer(), observers=[metrics]) as verifier:
    for _ in range(int(sys.argv[1])):
        verifier.check_sync("The mill grinds.", ["The mill grinds."])
    assert verifier.drain_observers(50)
print(metrics.exposition()[0].decode())
"""


@pytest.mark.slow
def test_worker_processes_share_a_folder_and_each_answers_for_all(tmp_path):
    told = [
        subprocess.run(
            [sys.executable, "-c", _WORKER, count],
            env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for count in ("2", "3")
    ]
    for text, expected in zip(told, ("2.0", "5.0"), strict=True):
        assert f'streamverify_streams_total{{outcome="finished"}} {expected}\n' in text
        assert "\nstreamverify_open_streams 0.0\n" in text


TOKEN = "a-secret-of-the-operator"


@pytest.mark.parametrize(
    ("given_token", "headers", "status"),
    [
        (None, {}, 200),
        (TOKEN, {}, 401),
        (TOKEN, {"Authorization": "Bearer wrong"}, 401),
        (TOKEN, {"Authorization": f"Bearer {TOKEN}"}, 200),
        (TOKEN, {"X-Streamverify-Token": TOKEN}, 200),
    ],
)
def test_serve_answers_metrics_to_who_may_ask(given_token, headers, status):
    metrics, drain = PrometheusObserver(), Drain()
    settings = ServeSettings(demo=True, token=given_token, metrics=metrics)
    with Verifier(scorer(), observers=[metrics]) as verifier:
        app = create_app(settings, verifier, drain)
        verifier.check_sync("Zebras have 30 days of leave.", PASSAGES)
        assert verifier.drain_observers(50)
        with loopback(app) as url:
            answers = [httpx2.get(f"{url}/metrics", headers=headers, timeout=60)]
            drain.begin()  # a server that stops still tells how it is
            answers.append(httpx2.get(f"{url}/metrics", headers=headers, timeout=60))
    assert [answer.status_code for answer in answers] == [status, status]
    for answer in answers:
        assert ('streamverify_streams_total{outcome="finished"} 1.0' in answer.text) == (status == 200)


def test_without_being_asked_for_there_is_no_such_path():
    with Verifier(scorer()) as verifier, loopback(create_app(ServeSettings(demo=True), verifier)) as url:
        assert httpx2.get(f"{url}/metrics", timeout=60).status_code == 404


_METRIC = re.compile(r"streamverify[a-z_:0-9]*")


def recorded():
    """What the rules record."""
    return set(re.findall(r"record: (\S+)", RULES.read_text()))


def asked(text):
    """What an expression asks for, without the labels."""
    return set(_METRIC.findall(re.sub(r"\{[^{}]*\}", "", text)))


def known():
    return recorded() | {name for family in metric_names.FAMILIES for name in family.series}


def expressions():
    board = json.loads((FILES / "streamverify.grafana.json").read_text())
    return [target["expr"] for panel in board["panels"] for target in panel["targets"]]


def test_the_dashboard_asks_for_metrics_that_there_are_and_reads_back_into_grafanas_models():
    plugins.register_default_plugins()
    told = json.loads((FILES / "streamverify.grafana.json").read_text())
    read, built = Dashboard.from_json(told), grafana_dashboard.dashboard()
    assert [panel.title for panel in read.panels] == [panel.title for panel in built.panels]
    for board in (read, built):
        assert [one.expr for panel in board.panels for one in panel.targets] == expressions()
    again = json.loads(json.dumps(read, cls=JSONEncoder))
    assert json.loads(json.dumps(Dashboard.from_json(again), cls=JSONEncoder)) == again
    assert len(expressions()) > 10
    for expression in expressions():
        assert asked(expression)
        assert asked(expression) <= known()


def test_the_rules_ask_for_metrics_that_there_are_with_labels_that_there_are():
    text = re.sub(r"#.*", "", RULES.read_text())
    text = re.sub(r"(summary|description):.*?(?=\n +- |\n\n|\Z)", "", text, flags=re.DOTALL)
    text = re.sub(r"- name: \S+", "", text)
    assert asked(text) - known() == set()
    closed = {name: family.labels for family in metric_names.FAMILIES for name in family.series}
    matched = re.findall(
        r"(streamverify_\w+)\{(\w+)(?:=~|!=|=)\"([^\"]*)\"\}", " ".join([text, *expressions()])
    )
    assert len(matched) > 5
    for name, label, values in matched:
        assert set(values.split("|")) <= set(closed[name][label])


def promtool(*arguments, cwd):
    done = subprocess.run(["promtool", *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.prometheus
def test_promtool_takes_the_rules_and_they_alarm_where_they_should(tmp_path):
    (tmp_path / RULES.name).write_text(RULES.read_text())
    test = Path(__file__).with_name("streamverify.rules.test.yml")
    (tmp_path / test.name).write_text(test.read_text())
    alerts = re.findall(r"- alert: (\S+)", RULES.read_text())
    assert f"{len(alerts) + len(recorded())} rules found" in promtool(
        "check", "rules", RULES.name, cwd=tmp_path
    )
    assert "SUCCESS" in promtool("test", "rules", test.name, cwd=tmp_path)
    assert {alert for alert in alerts if alert not in test.read_text()} == set()


@pytest.mark.prometheus
def test_promtool_takes_what_the_dashboard_asks(tmp_path):
    rules = [{"record": f"asked:{number}", "expr": one} for number, one in enumerate(expressions())]
    groups = {"groups": [{"name": "dashboard", "rules": rules}]}
    (tmp_path / "asked.yml").write_text(json.dumps(groups))  # JSON is YAML
    assert f"{len(rules)} rules found" in promtool("check", "rules", "asked.yml", cwd=tmp_path)


class Counting:
    """An application, and how often `/metrics` was asked for."""

    def __init__(self, app):
        self.app, self.asked, self.changed = app, 0, threading.Condition()

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http" and scope["path"] == "/metrics":
            with self.changed:
                self.asked += 1
                self.changed.notify_all()
        await self.app(scope, receive, send)

    def wait_for(self, count, process):
        """Until it was asked so often; a Prometheus that ends says why."""
        with self.changed:
            while not self.changed.wait_for(lambda: self.asked >= count, 1):
                assert process.poll() is None, process.stderr.read()


@contextmanager
def prometheus(folder, target):
    """Debian's Prometheus, that scrapes one address every three seconds."""
    (folder / RULES.name).write_text(RULES.read_text())
    scraped = {"job_name": "streamverify", "static_configs": [{"targets": [target]}]}
    settings = {
        "global": {"scrape_interval": "3s", "scrape_timeout": "3s"},
        "rule_files": [RULES.name],
        "scrape_configs": [scraped],
    }
    (folder / "prometheus.yml").write_text(json.dumps(settings))
    command = [
        "prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data", "--log.level=info",
        "--web.listen-address=127.0.0.1:0",
    ]  # fmt: skip
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def address(process):
    """Where it listens, as it logs it."""
    said = []
    for line in process.stderr:
        said.append(line)
        if (found := re.search(r"Listening on\"? address=(\S+)", line)) is not None:
            return found[1]
    raise AssertionError("".join(said))


@pytest.mark.prometheus
@pytest.mark.timeout(600)
def test_a_real_prometheus_scrapes_what_serve_answers(tmp_path):
    metrics = PrometheusObserver()
    with Verifier(scorer(), observers=[metrics]) as verifier:
        app = Counting(create_app(ServeSettings(demo=True, metrics=metrics), verifier))
        for text in SENTENCES:
            verifier.check_sync(text, PASSAGES)
        assert verifier.drain_observers(50)
        with loopback(app) as url, prometheus(tmp_path, url.removeprefix("http://")) as process:
            where = address(process)
            asked_for = {"query": 'sum by (label) (streamverify_sentences_total{policy="flag"})'}
            told = {"data": {"result": []}}
            while not told["data"]["result"]:  # a slow machine may miss a scrape's time
                app.wait_for(app.asked + 2, process)  # a scrape begins when the one before is stored
                told = httpx2.get(f"http://{where}/api/v1/query", params=asked_for, timeout=50).json()
            rules = httpx2.get(f"http://{where}/api/v1/rules", timeout=50).json()
    found = {one["metric"]["label"]: float(one["value"][1]) for one in told["data"]["result"]}
    assert found == {label.value: 1.0 for label in SENTENCES.values()}
    health = {rule["health"] for group in rules["data"]["groups"] for rule in group["rules"]}
    assert "err" not in health


def test_a_total_that_comes_late_counts_nothing_anew():
    totals = iter((10, 4, 12))
    metrics = PrometheusObserver(CollectorRegistry(), records_dropped=lambda: next(totals))
    for expected in (10, 10, 12):
        metrics.idle()
        assert sum(counted(metrics, "streamverify_records_dropped_total").values()) == expected
