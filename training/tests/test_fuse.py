"""What `training.fuse` measures; needs the library beside the recipe's requirements."""

from types import SimpleNamespace

import pytest

fitting = pytest.importorskip("training.fitting", reason="training.fitting needs the library")
kept_rows = pytest.importorskip("training.kept_rows", reason="training.kept_rows needs the library")
fuse = pytest.importorskip("training.fuse", reason="training.fuse needs the library: pip install -e .")
contradiction = pytest.importorskip("training.contradiction", reason="it needs the library")


class Words:
    """Cuts text into words: only the length of a passage matters here."""

    traits = SimpleNamespace(window_tokens=4)

    def token_spans(self, text):
        return text.split()


def answer(name, *texts):
    passages = [{"id": f"p{i}", "text": text, "title": f"{name} {i}"} for i, text in enumerate(texts)]
    return {"id": name, "answer": "It is so.", "passages": passages, "sentences": []}


@pytest.mark.parametrize("windows", [1, 2, 3, 5, 99])
def test_other_passages_follow_an_answers_own_until_there_are_enough_windows(windows):
    records = [answer("a", "one two three four five", "six"), answer("b", "seven"), answer("c", "eight nine")]
    found = fuse.among(records, windows, Words())
    everything = sum(len(record["passages"]) for record in records)
    for before, after in zip(records, found, strict=True):
        own, passages = before["passages"], after["passages"]
        assert passages[: len(own)] == own
        assert len({passage["id"] for passage in passages}) == len(passages)
        sizes = [-(-len(passage["text"].split()) // 4) for passage in passages]
        assert sum(sizes) >= windows or len(passages) == everything
        assert sum(sizes[:-1]) < windows or passages == own
        assert after | {"passages": own} == before


@pytest.mark.parametrize("share", ["15", "1", "-0.1"])
def test_a_share_of_alarms_that_is_none_is_refused_before_anything_is_measured(share, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["fuse", "none.jsonl", "none.jsonl", "--alarms", share, "--out", "x"])
    with pytest.raises(SystemExit):
        fuse.main()
    assert f"a share of the supported claims, 0 to 1, not {share}" in capsys.readouterr().err


def test_a_case_with_its_claims_is_read_as_an_answer():
    claims = [
        {"claim": "It is open.", "label": "entail"},
        {"claim": "It is open. All day.", "label": "contradict"},
        {"claim": "It is red.", "label": "neutral"},
    ]
    case = {"id": "a", "question": "Is it?", "passages": [{"title": "T", "text": "Open."}], "claims": claims}
    text, passages, labels = fuse.parts(case)
    assert [text[start:end] for start, end, _ in labels] == [claim["claim"] for claim in claims]
    assert [label for *_, label in labels] == ["supported", "contradicted", "unsupported"]
    assert [(p.id, p.title, p.text) for p in passages] == [("p1", "T", "Open.")]


def test_what_was_measured_is_kept_and_not_measured_again(tmp_path):
    file = tmp_path / "rows.jsonl"
    row = fitting.Row("case", "supported", {"single": 0.5})
    assert kept_rows.KeptRows(file, "one").of("a", lambda: [row]) == [row]
    assert kept_rows.KeptRows(file, "one").of("b", lambda: [row, row]) == [row, row]
    again = kept_rows.KeptRows(file, "one")
    assert again.sets == {"a": [row], "b": [row, row]}
    assert again.of("a", lambda: pytest.fail("measured again")) == [row]


def test_claims_of_another_model_are_not_taken_for_its_own(tmp_path):
    file = tmp_path / "rows.jsonl"
    kept_rows.KeptRows(file, "one").of("a", lambda: [fitting.Row("case", "supported", {"single": 0.5})])
    with pytest.raises(ValueError, match="claims of another model: name a new file"):
        kept_rows.KeptRows(file, "other")


def test_a_contradiction_is_not_fitted_on_claims_of_another_model(tmp_path):
    file = tmp_path / "rows.jsonl"
    kept_rows.KeptRows(file, "other").of("a", lambda: [fitting.Row("case", "supported", {"single": 0.5})])
    with pytest.raises(ValueError, match="claims of another model"):
        contradiction.measure([], file, None)
