"""An alert that lasts is told once when it fires and once when it is over, whoever looks how often."""

from __future__ import annotations

import dataclasses
import json
import sys
import uuid
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded import START, write

from streamverify.errors import InputFileError, UsageError
from streamverify.figure import NotComputed
from streamverify.monitor import firing, sinks
from streamverify.monitor.alerts import Alert, Rule, Sinks
from streamverify.program import main
from tests.console.command_line import ended, started

MINUTE = timedelta(minutes=1)
RULE = Rule(min=0.8)
FOUND = {
    "on": ("on", 0.3),
    "by chance": ("off", 0.7),
    "met": ("off", 0.9),
    "few": ("not computed", NotComputed("3 streams with a figure; 20 are needed")),
}
"""What a look can find, and its status and figure."""


def alert(found, figure="faithfulness", rule=RULE):
    status, value = FOUND[found]
    return Alert(figure, None, rule, status, value, value, 40, (uuid.UUID(int=7),) if found == "on" else ())


def looks(found, before=(), names=("log",), fails=()):
    """Steps, one a minute, whose sinks may fail; gives what was told: minute, sink, kind."""
    said, held = [], tuple(before)
    for number, one in enumerate(found):
        step = firing.step(held, [alert(one)], START + number * MINUTE, names)
        told = [(name, change) for change in step.changes for name in change.firing.untold]
        untold = [(name, change) for name, change in told if (number, name) in fails]
        said += [(number, name, change.kind) for name, change in told if (name, change) not in untold]
        held = firing.remembered(step.firing, untold)
    return said, held


@given(st.lists(st.sampled_from(sorted(FOUND)), max_size=20))
def test_each_change_is_told_once_and_only_a_met_bound_resolves(found):
    said, held = looks(found)
    expected, on = [], False
    for number, one in enumerate(found):
        if one == "on" and not on:
            expected.append((number, "log", "fired"))
            on = True
        elif one == "met" and on:
            expected.append((number, "log", "resolved"))
            on = False
    assert said == expected
    assert bool(held) == on


@settings(max_examples=20)
@given(
    st.lists(st.sampled_from(sorted(FOUND)), max_size=10),
    st.sets(st.tuples(st.integers(0, 9), st.sampled_from(["log", "webhook"]))),
)
def test_a_sink_that_failed_is_told_the_last_change_later_and_no_other_is_told_again(found, fails):
    both, _ = looks(found, names=("log", "webhook"), fails=fails)
    whole, _ = looks(found)
    for name in ("log", "webhook"):
        own = [(number, kind) for number, sink, kind in both if sink == name]
        failed = {number for number, sink in fails if sink == name}
        if not failed & set(range(len(found))):
            assert own == [(number, kind) for number, _, kind in whole]
        # Whatever was missed in between: with one good look at the end a sink knows how things stand.
        settled, held = looks([*found, "few"], names=("log", "webhook"), fails=fails - {(len(found), name)})
        kinds = [kind for _, sink, kind in settled if sink == name]
        if whole:
            assert kinds
            assert kinds[-1] == whole[-1][2]
        if (len(found), name) not in fails:
            assert all(name not in one.untold for one in held)


def test_too_few_answers_are_told_once():
    few = dataclasses.replace(alert("few"), detail=FOUND["few"][1].reason)
    assert str(few) == "not computed  faithfulness >= 0.8 over 1h: 3 streams with a figure; 20 are needed"
    assert str(alert("met")).endswith("0.900, 40 streams")


def test_what_stays_on_is_shown_as_on_and_says_why():
    (first,) = firing.step((), [alert("on")], START, ()).firing
    for found, said in (("by chance", "chance may explain"), ("few", "3 streams with a figure")):
        step = firing.step([first], [alert(found)], START + MINUTE, ())
        assert [one.status for one in step.alerts] == ["on"]
        assert said in step.alerts[0].detail
        assert step.changes == ()
        assert step.firing == (first,)


def test_a_rule_that_is_gone_is_resolved_and_one_with_another_bound_goes_on():
    (first,) = firing.step((), [alert("on")], START, ()).firing
    step = firing.step([first], [], START + MINUTE, ("log",))
    (change,) = step.changes
    assert (change.kind, change.alert.detail) == ("resolved", firing.GONE)
    assert firing.remembered(step.firing, ()) == ()
    step = firing.step([first], [alert("on", rule=Rule(min=0.5))], START + MINUTE, ("log",))
    assert step.changes == ()
    assert [one.rule.min for one in step.firing] == [0.5]


def test_checks_that_share_a_file_do_not_touch_each_other(tmp_path):
    path = tmp_path / "memory.json"
    ours, theirs = {"rules": "a.toml"}, {"rules": "b.toml"}
    with firing.remembering(path, ours) as memory:
        memory.firing = firing.step((), [alert("on")], START, ()).firing
    with firing.remembering(path, theirs) as memory:
        assert memory.firing == ()
    with firing.remembering(path, ours) as memory:
        assert [one.since for one in memory.firing] == [START]
        memory.firing = ()
    assert json.loads(path.read_text()) == {"format": 1, "checks": {}}


def test_a_check_that_breaks_off_leaves_what_was_known(tmp_path):
    path = tmp_path / "memory.json"
    with pytest.raises(LookupError), firing.remembering(path, {}) as memory:
        memory.firing = firing.step((), [alert("on")], START, ()).firing
        raise LookupError
    with firing.remembering(path, {}) as memory:
        assert memory.firing == ()


def test_two_checks_at_once_do_not_write_one_file(tmp_path):
    path = tmp_path / "memory.json"
    with firing.remembering(path, {}) as memory:
        with pytest.raises(UsageError, match=r"memory\.json"), firing.remembering(path, {}):
            pass
        memory.firing = firing.step((), [alert("on")], START, ()).firing
    with firing.remembering(path, {}) as memory:
        assert len(memory.firing) == 1


@pytest.mark.parametrize("text", ["{", '{"format": 2}', '{"checks": {"a": [{"figure": "x"}]}}', "\0\xff"])
def test_another_file_is_refused_by_name(tmp_path, text):
    path = tmp_path / "answers.db"
    path.write_text(text)
    with pytest.raises(InputFileError, match="no memory of alerts"), firing.remembering(path, {}):
        pass
    assert path.read_text() == text
    with pytest.raises(InputFileError, match="cannot be opened"), firing.remembering(tmp_path, {}):
        pass


def told_by(file):
    """What a command that appends lines was told."""
    lines = file.read_text().splitlines() if file.exists() else []
    return [[(one["figure"], one["change"]) for one in json.loads(line)["alerts"]] for line in lines]


@pytest.mark.slow
def test_cron_is_told_twice_however_often_it_looks(tmp_path, capsys):
    """A bad hour in the records, looked at every ten minutes of three hours."""
    url, file, rules = str(tmp_path / "records.db"), tmp_path / "told.jsonl", tmp_path / "alerts.toml"
    write(url, 180, hours=3, good=lambda hour: 0.2 if 1 <= hour < 2 else 1.0)
    program = f"import sys; print(sys.stdin.read(), file=open({str(file)!r}, 'a'))"
    rules.write_text(
        "[alerts]\nfaithfulness = { min = 0.85, min_streams = 10, window = '30m' }\n"
        f"[sinks]\nlog = false\ncommand = {json.dumps([sys.executable, '-c', program])}\n"
    )
    state = tmp_path / "state.json"
    given = ["monitor", "check", "--records", url, "--rules", str(rules)]

    def at(minutes, *more):
        status = main([*given, "--at", (START + minutes * MINUTE).isoformat(), *more])
        said = capsys.readouterr()
        return status, said.out, said.err

    seen = [at(minutes, "--state", str(state)) for minutes in range(40, 181, 10)]
    statuses = [status for status, _, _ in seen]
    first = statuses.index(1)
    count = statuses.count(1)
    assert count >= 6
    assert statuses == [0] * first + [1] * count + [0] * (len(statuses) - first - count)
    assert told_by(file) == [[("faithfulness", "fired")], [("faithfulness", "resolved")]]
    since = (START + (40 + 10 * first) * MINUTE).isoformat()
    assert all(f"since {since}" in out for status, out, _ in seen if status)
    told = [json.loads(line)["alerts"][0] for line in file.read_text().splitlines()]
    assert [one["since"] for one in told] == [since, since]
    assert told[1]["until"] == (START + (40 + 10 * (first + count)) * MINUTE).isoformat()
    assert told[0]["open"]

    file.unlink()  # a moment in the past is a question: nothing is remembered, and everybody is told
    status, _, complaint = at(90)
    assert status == 1
    assert "name a file with --state" in complaint
    assert len(file.read_text().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.glob("*.json")) == ["state.json"]

    file.unlink()  # now: the memory stands beside the records
    assert main(given) == 0
    assert (tmp_path / "records.db.alerts.json").exists()


@pytest.mark.slow
def test_on_a_terminal_nothing_is_said_twice(tmp_path):
    url = str(tmp_path / "records.db")
    write(url, 30, hours=1, good=0.1)
    rules = tmp_path / "alerts.toml"
    rules.write_text("[alerts]\nfaithfulness = { min = 0.85 }\n")
    at = (START + timedelta(hours=1)).isoformat()
    with started("monitor", "check", "--records", url, "--rules", str(rules), "--at", at) as process:
        status, out, err = ended(process)
    assert (status, err) == (1, "")
    (line,) = out.splitlines()
    assert line.split()[:2] == ["on", "faithfulness"]


def test_a_sink_that_fails_is_tried_again_and_told_no_secret(tmp_path):
    change = firing.step((), [alert("on")], START, ("log", "command")).changes
    missing = Sinks(log=False, command=(str(tmp_path / "nothing"),))
    delivered = sinks.deliver(missing, change)
    assert delivered.wrong == ("the command could not be told: FileNotFoundError",)
    assert delivered.untold == (("command", change[0]),)
