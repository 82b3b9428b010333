"""The program's threads take short turns while it evaluates, it seldom looks for garbage, and the process is
left as it was."""

from __future__ import annotations

import gc
import json
import sys

import pytest

from streamverify.console.turns import OLDER, TURN, YOUNG, rare_collections, short_turns
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


@pytest.mark.parametrize(
    "own", [(700, 10, 10), (1, 2, 3), (YOUNG, 10, 10), (YOUNG + 1, 5, 5), (0, 10, 10), (700, OLDER + 1, 3)]
)
def test_collections_are_rare_inside_and_as_before_after(own):
    before = gc.get_threshold()
    gc.set_threshold(*own)
    try:
        with rare_collections():
            inside = gc.get_threshold()
        assert own == gc.get_threshold()
        with pytest.raises(RuntimeError), rare_collections():
            raise RuntimeError
        assert own == gc.get_threshold()
    finally:
        gc.set_threshold(*before)
    # A collector that was switched off, or comes more seldom still, is left to whoever did that.
    assert inside == ((YOUNG, max(OLDER, own[1]), own[2]) if 0 < own[0] < YOUNG else own)


def test_the_command_takes_short_turns(tmp_path, monkeypatch, capsys):
    from streamverify.evaluate import runner

    seen = []
    evaluated = runner.evaluate

    def seeing(*given, **options):
        seen.append((sys.getswitchinterval(), gc.get_threshold()[0]))
        return evaluated(*given, **options)

    monkeypatch.setattr(runner, "evaluate", seeing)
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"id": "1", "answer": "The mill is old.", "passages": ["The mill is old."]}))
    before, threshold = sys.getswitchinterval(), gc.get_threshold()
    main(["evaluate", str(rows), "--scorer", "lexical"])
    capsys.readouterr()
    assert seen == [(pytest.approx(TURN, abs=1e-6), YOUNG)]
    assert before == sys.getswitchinterval()
    assert threshold == gc.get_threshold()
