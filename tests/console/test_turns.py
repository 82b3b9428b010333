"""The program's threads take short turns while it evaluates, and the process is left as it was."""

from __future__ import annotations

import json
import sys

import pytest

from streamverify.console.turns import TURN, short_turns
from streamverify.program import main


def test_turns_are_short_inside_and_as_before_after():
    before = sys.getswitchinterval()
    with short_turns():
        assert sys.getswitchinterval() == pytest.approx(TURN, abs=1e-6)
    assert before == sys.getswitchinterval()
    with pytest.raises(RuntimeError), short_turns():
        raise RuntimeError
    assert before == sys.getswitchinterval()


@pytest.mark.parametrize("microseconds", [1, 99, 100, 333, 501, 1009, 5000])
def test_any_interval_is_as_before_after_and_a_shorter_one_stays(microseconds):
    before = sys.getswitchinterval()
    sys.setswitchinterval((microseconds + 0.5) * 1e-6)
    own = sys.getswitchinterval()
    try:
        with short_turns():
            assert sys.getswitchinterval() == pytest.approx(min(own, TURN), abs=1e-6)
        assert own == sys.getswitchinterval()
    finally:
        sys.setswitchinterval(before + 5e-7)


def test_the_command_takes_short_turns(tmp_path, monkeypatch, capsys):
    from streamverify.evaluate import runner

    seen = []
    evaluated = runner.evaluate

    def seeing(*given, **options):
        seen.append(sys.getswitchinterval())
        return evaluated(*given, **options)

    monkeypatch.setattr(runner, "evaluate", seeing)
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"id": "1", "answer": "The mill is old.", "passages": ["The mill is old."]}))
    before = sys.getswitchinterval()
    main(["evaluate", str(rows), "--scorer", "lexical"])
    capsys.readouterr()
    assert seen == [pytest.approx(TURN, abs=1e-6)]
    assert before == sys.getswitchinterval()
