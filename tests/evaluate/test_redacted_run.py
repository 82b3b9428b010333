"""Reports that are passed on hold nothing personal, and everything else as it was."""

from __future__ import annotations

import pytest
from builders import case, row, verifier, written
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Passage
from streamverify.evaluate import evaluate, redacted_run
from streamverify.pii import Recognisers, redacted_report
from streamverify.program import main

ITEMS = ("ann@example.org", "4111 1111 1111 1111", "457-55-5462")
PASSAGES = (Passage("mill", f"The mill was built in 1712. Its owner is at {ITEMS[0]}."),)
parts = st.lists(
    st.sampled_from(
        ["The mill was built in 1712 [1].", f"Its owner is at {ITEMS[0]}.", f"The moon paid {ITEMS[1]} once."]
    ),
    min_size=1,
    max_size=4,
)


def given_case():
    answer = f"The mill was built in 1712. Its owner is at {ITEMS[0]}. The moon paid with {ITEMS[1]} once."
    return case(1, answer, passages=PASSAGES, question=f"Whose number is {ITEMS[2]}?")


def test_a_page_of_a_redacted_run_holds_nothing_personal(tmp_path):
    with verifier() as one:
        run = evaluate([given_case()], verifier=one, metrics=["faithfulness"], out=tmp_path / "run.jsonl")
    hidden = redacted_run(run)
    run.html(tmp_path / "plain.html")
    hidden.html(tmp_path / "hidden.html")
    plain, page = ((tmp_path / name).read_text(encoding="utf-8") for name in ("plain.html", "hidden.html"))
    assert any(item in plain for item in ITEMS)
    assert not any(item in page for item in ITEMS)
    assert "The mill was built in 1712." in page
    assert hidden.aggregates == run.aggregates


@given(parts)
def test_a_redacted_report_keeps_every_place(said):
    with verifier() as one:
        report = one.check_sync(" ".join(said), PASSAGES)
    hidden = redacted_report(report, Recognisers())
    assert "ann@" not in hidden.model_dump_json()
    assert ITEMS[1] not in hidden.model_dump_json()
    assert "".join(sentence.text for sentence in hidden.sentences) == hidden.answer
    for before, after in zip(report.sentences, hidden.sentences, strict=True):
        assert len(before.text) == len(after.text)
        assert before.citations == after.citations
        assert [(e.start, e.end, len(e.text)) for e in before.evidence] == [
            (e.start, e.end, len(e.text)) for e in after.evidence
        ]


@pytest.mark.parametrize("again", [False, True])
def test_the_commands_hide_it_when_asked_to(again, tmp_path, capsys):
    dataset = written(tmp_path / "answers.jsonl", [row(given_case())])
    journal, note, tests = (str(tmp_path / name) for name in ("run.jsonl", "note.md", "tests.xml"))
    wanted = ["--md", note, "--junit", tests, "--redact-pii"]
    asked = ["evaluate", str(dataset), "--scorer", "lexical", "--metrics", "faithfulness", "--out", journal]
    assert main(asked if again else [*asked, *wanted]) == 0
    if again:
        assert main(["report", journal, *wanted]) == 0
    for path in (note, tests):
        text = (tmp_path / path).read_text(encoding="utf-8")
        assert text
        assert not any(item in text for item in ITEMS)
    capsys.readouterr()
