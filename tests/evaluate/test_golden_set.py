"""A team makes its golden set in an afternoon: questions, labels, agreement, one set, a threshold, a gate."""

from __future__ import annotations

import json

import pytest
from builders import written
from loopback import loopback

from streamverify.calibration import Calibration
from streamverify.evaluate import read_dataset
from streamverify.evaluate.labels import LabelFile, tasks
from streamverify.program import main
from streamverify.server.labelling import labelling_app

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

TOWNS = (
    "Arden Brook Corby Denton Elmham Fenwick Garth Hexham "
    "Ilford Jarrow Kendal Louth Malton Norden Oakham Penrith"
)
COUNT = "document.getElementById('count').textContent"
TOKEN = "t" * 24


@pytest.fixture
def answers(tmp_path):
    """What an application says to questions made of the team's own passages: half of it is made up."""
    passages = [
        {"id": town.lower(), "text": f"The mill of {town} was built in {1700 + n} by a widow."}
        for n, town in enumerate(TOWNS.split())
    ]
    questions = tmp_path / "questions.jsonl"
    made = ["dataset", "make", str(written(tmp_path / "passages.jsonl", passages)), "--out", str(questions)]
    assert main(made) == 0
    rows = [json.loads(line) for line in questions.read_text().splitlines()]
    rows = [row for row in rows if row["category"] == "fact_single"][:16]
    assert len(rows) == 16
    for n, row in enumerate(rows):
        row["answer"] = f"{row['passages'][0]['text']} The moon owns {n + 20} ships."
    return written(tmp_path / "answers.jsonl", rows)


def labelled_in_the_browser(reader, work, path):
    labels = LabelFile(path, "ann", work)
    with loopback(labelling_app(work, labels, annotator="ann", token=TOKEN)) as address:
        reader.open(f"{address}/#{TOKEN}")
        reader.wait("!document.querySelector('main').hidden")
        for done in range(1, 33):
            reader.press("1" if done % 2 else "3")
            reader.wait(f"{COUNT}.startsWith('{done} of 32 ')")
        assert reader.complaints() == []
    reader.driver.get("about:blank")
    labels.close()


def test_a_team_makes_its_golden_set_in_an_afternoon(reader, answers, tmp_path, capsys):
    work = tasks(list(read_dataset(answers)))
    ann, ben, golden = (tmp_path / f"{name}.jsonl" for name in ("ann", "ben", "golden"))
    labelled_in_the_browser(reader, work, ann)
    second = LabelFile(ben, "ben", work)
    for place, task in enumerate(work):
        first, invented = task.sentences
        second.put(task.case.id, first.index, "supported", [task.case.passages[0].id])
        second.put(task.case.id, invented.index, "contradicted" if place == 3 else "unsupported")
    second.close()

    capsys.readouterr()
    assert main(["dataset", "agree", str(ann), str(ben), "--min-kappa", "0.6"]) == 0
    assert "32 sentences of 16 cases, 31 labelled alike" in capsys.readouterr().out
    assert main(["dataset", "merge", str(answers), str(ann), str(ben), "--out", str(golden)]) == 0
    told = capsys.readouterr()
    assert "31 sentences of 16 answers labelled by ann, ben; 1 divided, without a label" in told.out
    assert "ann unsupported, ben contradicted: left without a label" in told.err

    # 15 answers have a sentence labelled as made up: enough for one miss in five, not for one in twenty.
    out = tmp_path / "calibration.json"
    command = ["calibrate", str(golden), "--scorer", "lexical", "--out", str(out)]
    assert main(command) == 2
    assert "15 answers" in capsys.readouterr().err
    assert not out.exists()
    assert main([*command, "--max-miss-rate", "0.2"]) == 0
    assert "guarantee: " in capsys.readouterr().out
    assert Calibration.read(out).guarantee.labels == 15

    gates = tmp_path / "gates.toml"
    gates.write_text("[gates]\nhallucination_rate = { max = 0.02 }\n")
    evaluated = ["--scorer", "lexical", "--calibration", str(out), "--gates", str(gates)]
    assert main(["evaluate", str(golden), *evaluated]) == 1
    assert "hallucination_rate" in capsys.readouterr().out
    rows = [json.loads(line) for line in golden.read_text().splitlines()]
    for row in rows:  # the application is mended
        row["answer"] = row["answer"].partition(" The moon")[0]
    assert main(["evaluate", str(written(tmp_path / "mended.jsonl", rows)), *evaluated]) == 0
