"""A day of traffic in a minute: quiet in the morning, an alert at noon, drift in the evening."""

from __future__ import annotations

import io
import re
import shlex
import uuid
from collections import Counter
from datetime import UTC, date, datetime, timedelta

import anyio
import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from streamverify import Verifier
from streamverify.demo import load_case
from streamverify.demo_day.cli import RULES
from streamverify.demo_day.replay import Day, Replay, Told
from streamverify.demo_day.view import DayView
from streamverify.demo_day.visits import BAD_RELEASE, BAD_SINCE, BAD_UNTIL, CASES, DRIFT_SINCE, visits_of
from streamverify.errors import UsageError
from streamverify.monitor.alerts import Alert, Rule, read_rules
from streamverify.monitor.drift import Look, Shift
from streamverify.monitor.firing import Change, Firing
from streamverify.monitor.traffic import Bucket, Traffic, Window
from streamverify.program import main
from streamverify.records import Database, verify
from streamverify.testing import ScriptedScorer
from streamverify.types import Label
from tests.console.command_line import first_line, started

DAY = date(2026, 11, 22)
VISITS = 240
MIDNIGHT = datetime(2026, 11, 22, tzinfo=UTC)


@settings(max_examples=15)
@given(st.dates(date(1990, 1, 1), date(2090, 1, 1)), st.integers(1, 300), st.integers(0, 10**6))
def test_a_day_is_the_same_each_time_and_every_visit_has_its_moment(day, count, seed):
    visits = visits_of(day, count, seed)
    assert visits == visits_of(day, count, seed)
    assert [visit.number for visit in visits] == list(range(count))
    assert [visit.at for visit in visits] == sorted(visit.at for visit in visits)
    assert {visit.at.date() for visit in visits} == {day}
    for visit in visits:
        after = visit.at - datetime(day.year, day.month, day.day, tzinfo=UTC)
        assert (visit.release == BAD_RELEASE) == (BAD_SINCE <= after < BAD_UNTIL)
        assert not visit.breaks_off or visit.release == BAD_RELEASE
        assert len({passage.id for passage in visit.passages}) == len(visit.passages)
        assert (len(visit.passages) > 5) == (after >= DRIFT_SINCE)
        assert visit.answer.strip()


def test_two_seeds_make_two_days():
    assert visits_of(DAY, 50, 1) != visits_of(DAY, 50, 2)


def by_hand(observers):
    """Judges each sentence of the cases as the person did who labelled them."""
    wrong = (Label.CONTRADICTED, Label.UNSUPPORTED)
    script = {
        re.split(r" \[|\.$", sentence.text)[0]: sentence.label
        for case in map(load_case, CASES)
        for sentence in case.sentences
        if sentence.label in wrong
    }
    return Verifier(ScriptedScorer(script), verdict_timeout=300, observers=observers)


def rules_in(folder):
    path = folder / "rules.toml"
    path.write_text(RULES)
    return read_rules(path)


def replayed(folder, count, seed=1):
    told = []
    replay = Replay(visits_of(DAY, count, seed), folder / "day.db", rules_in(folder), by_hand)

    async def run():
        return await replay.run(told.append, seconds=0)

    return anyio.run(run), told


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_morning_is_quiet_the_release_raises_an_alert_and_the_evening_drifts(tmp_path):
    day, told = replayed(tmp_path, VISITS)
    assert [one.now for one in told] == [MIDNIGHT + timedelta(minutes=15 * n) for n in range(1, 97)]
    assert told[-1].visits == VISITS

    noon, over = MIDNIGHT + BAD_SINCE, MIDNIGHT + BAD_UNTIL
    fired = [change for change in day.changes if change.kind == "fired"]
    resolved = [change.firing for change in day.changes if change.kind == "resolved"]
    assert all(noon < change.firing.since <= over for change in fired)
    assert len(resolved) == len(fired)
    ends = {one.figure: one.until for one in resolved}
    assert {"faithfulness", "grounding"} <= set(ends)
    assert all(over < ends[figure] <= over + timedelta(hours=1) for figure in ("faithfulness", "grounding"))

    drifted = {look.window.since - MIDNIGHT: {shift.name for shift in look.drifted} for look in day.looks}
    hours = [timedelta(hours=hour) for hour in (8, 12, 16, 20)]
    assert [bool(drifted[hour]) for hour in hours] == [False, True, False, True]
    assert {"label", "grounding"} <= drifted[BAD_SINCE]
    assert drifted[DRIFT_SINCE] == {"length", "passages"}

    with Database(str(tmp_path / "day.db")) as database:
        answers = Traffic(database).answers(Window(MIDNIGHT, MIDNIGHT + timedelta(days=1)))
        named = {change.alert.open[0] for change in fired}
        assert named <= {answer.stream for answer in answers if answer.run == BAD_RELEASE}
        assert verify(database).passed
    planned = visits_of(DAY, VISITS, 1)
    assert [answer.opened_at for answer in answers] == [visit.at for visit in planned]
    assert [answer.requester for answer in answers] == [visit.user for visit in planned]
    assert [answer.outcome == "failed" for answer in answers] == [visit.breaks_off for visit in planned]
    outcomes = Counter(answer.outcome for answer in answers)
    for outcome in ("finished", "failed", "halted"):
        assert day.metrics[f'streamverify_streams_total{{outcome="{outcome}"}}'] == outcomes[outcome]
    assert day.metrics["streamverify_records_dropped_total"] == 0
    assert day.recorded == 2 * VISITS


@pytest.mark.slow
def test_a_seed_makes_the_same_records_twice(tmp_path):
    def answers(name):
        folder = tmp_path / name
        folder.mkdir()
        replayed(folder, 12, seed=3)
        with Database(str(folder / "day.db")) as database:
            return Traffic(database).answers(Window(MIDNIGHT, MIDNIGHT + timedelta(days=1)))

    first = answers("one")
    assert first == answers("two")
    assert len(first) == 12


def dashboard(words):
    """The words of the first page of a dashboard that a command starts."""
    with started(*words, "--port", "0") as process:
        address, _, token = first_line(process).partition("#")
        answer = httpx2.get(f"{address}view/", headers={"x-streamverify-token": token}, timeout=250)
    assert answer.status_code == 200
    return re.sub(r"<[^>]*>", " ", answer.text)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_command_shows_the_day_and_every_command_it_names_works(tmp_path, capsys):
    file = tmp_path / "day.db"
    given = [
        "demo",
        "monitor",
        "--records",
        str(file),
        "--visits",
        "48",
        "--seconds",
        "0",
        "--day",
        "2026-11-22",
    ]
    assert main(given) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.count(" answers") >= 24
    assert out.count("too few answers to tell") == 8
    assert "no drift" not in out
    commands = [line.strip() for line in out.splitlines() if line.startswith(" streamverify ")]
    assert len(commands) >= 2
    assert commands[0].startswith("streamverify dashboard ")
    for command in commands:
        words = shlex.split(command, comments=True)[1:]
        if words[0] == "dashboard":
            assert "product support" in dashboard(words)
        else:
            status = main(words)
            told = capsys.readouterr()
            assert told.out
            # So few visits are too few to compare.
            few = "monitor drift" in command and status == 2 and "20 are needed in each" in told.err
            assert few or status in (0, 1), command
    assert main(given) == 2
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--day", "yesterday"], "'yesterday' is no day"),
        (["--seconds", "nan"], "--seconds must be 0 to 86,400"),
        (["--seconds", "-1"], "--seconds must be 0 to 86,400"),
        (["--seconds", "1e308"], "--seconds must be 0 to 86,400"),
        (["--records", "/nowhere/at/all/day.db"], "there is no folder"),
    ],
)
def test_wrong_options_are_refused_in_one_line(arguments, said, capsys):
    assert main(["demo", "monitor", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_link_to_nowhere_is_no_new_file(tmp_path, capsys):
    (tmp_path / "day.db").symlink_to(tmp_path / "no" / "day.db")
    assert main(["demo", "monitor", "--records", str(tmp_path / "day.db"), "--seconds", "0"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert [one.name for one in tmp_path.iterdir()] == ["day.db"]


def test_the_view_draws_what_its_console_can(tmp_path):
    """The same quarters of an hour on a terminal that redraws, and where only ASCII can be written."""
    window = Window(MIDNIGHT + BAD_SINCE, MIDNIGHT + BAD_SINCE + timedelta(hours=4))
    labels = dict.fromkeys(Label, 0) | {Label.SUPPORTED: 1, Label.UNSUPPORTED: 3}
    rule = Rule(min=0.7)
    alert = Alert("faithfulness", None, rule, "on", 0.25, 0.5, 20, (uuid.UUID(int=7), uuid.UUID(int=8)))
    firing = Firing(figure="faithfulness", domain=None, rule=rule, since=window.since)
    over = firing.model_copy(update={"until": window.until})
    shift = Shift("length", (50, 50), "ks", 0.001, 0.75, 10.0, 0.5, drifted=True)
    fired, resolved = Change(alert, firing), Change(alert, over)
    look = Look(2, window, 0.01, (shift,))
    told = [
        Told(window.since, 3, Bucket(window.since, 20, 2, labels, 0.5), (fired,)),
        Told(window.until, 6, Bucket(window.until, 1, 0, dict.fromkeys(Label, 0), None), (resolved,), look),
    ]
    day = Day((fired, resolved), (look,), {'streamverify_streams_total{outcome="finished"}': 6.0}, 12)

    def shown(encoding, *, terminal):
        written = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
        console = Console(file=written, force_terminal=terminal, width=60, highlight=False)
        view = DayView(console, tmp_path / "a day.db", tmp_path / "rules.toml", 6)
        with view.showing():
            for one in told:
                view.tell(one)
        view.end(day)
        written.flush()
        return written.buffer.getvalue().decode(encoding)

    plain, drawn = shown("ascii", terminal=False), shown("utf-8", terminal=True)
    for text in (plain, drawn):
        bare = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
        for said in (
            "25% of claims supported   20 answers  2 broke off",
            "nothing was claimed",
            "length by 0.750 of 1",
            "faithfulness from 12:00 to 16:00: 0.250, asked for >= 0.7 over 1h (20 answers)",
            f"open {uuid.UUID(int=7)}, {uuid.UUID(int=8)}",
            f"'{tmp_path / 'a day.db'}'",
            "6 finished",
        ):
            assert said in bare
    assert "\x1b" not in plain
    assert "16:00  6 of 6 answers verified" in drawn
    assert "verified" not in plain


def test_a_day_without_visits_is_refused():
    with pytest.raises(UsageError, match="at least one"):
        visits_of(DAY, 0, 1)
