"""The embedder that comes with the library: what it must hold to, and how good it is at least."""

from __future__ import annotations

import math

import pytest
from builders import GOOD, case, row, verifier, written
from hypothesis import given
from hypothesis import strategies as st

import embedding
from streamverify.errors import ModelContractError, UsageError
from streamverify.evaluate import Run, WordEmbedder, evaluate
from streamverify.evaluate.embedder import _table, embedder_named
from streamverify.program import main

EMBED = WordEmbedder()


def alike(one, two):
    first, second = EMBED([one, two])
    return math.fsum(x * y for x, y in zip(first, second, strict=True))


@given(st.lists(st.text(), max_size=4))
def test_any_text_has_a_vector_of_length_one_or_zero_whatever_stands_beside_it(texts):
    vectors = EMBED(texts)
    assert len(vectors) == len(texts)
    for text, vector in zip(texts, vectors, strict=True):
        assert len(vector) == 384
        length = math.sqrt(math.fsum(x * x for x in vector))
        assert length == 0.0 or length == pytest.approx(1.0)
        assert [vector] == EMBED([text])


@pytest.mark.parametrize("text", ["", " ", "\ud800"])
def test_texts_without_words_are_no_error(text):
    assert len(EMBED([text])[0]) == 384


def test_it_is_as_good_as_the_guide_says():
    found, words = embedding.measured(alike), embedding.measured(embedding.shared_words)
    for figure, least in (
        ("spearman", 0.7),
        ("right_passage_first", 0.6),
        ("auc_right_against_wrong", 0.85),
    ):
        assert found[figure] > max(least, words[figure])


def test_the_command_computes_what_needs_an_embedder(tmp_path, capsys):
    data = str(
        written(tmp_path / "a.jsonl", [{**row(case(0, GOOD)), "question": "When was the mill built?"}])
    )
    given_ = ["evaluate", data, "--scorer", "lexical", "--metrics", "context_relevance"]
    out = tmp_path / "run.json"
    assert main([*given_, "--plan"]) == 0
    assert "no embedder was given" in capsys.readouterr().out
    assert main([*given_, "--plan", "--embedder", "default"]) == 0
    assert "1 of 1 cases" in capsys.readouterr().out
    assert main([*given_, "--embedder", "default", "--json", str(out)]) == 0
    run = Run.read(out)
    assert run.header.embedder == EMBED.name
    assert 0 < run["context_relevance"].figure < 1
    assert main([*given_, "--embedder", "defalt"]) == 2
    assert "choose from default" in capsys.readouterr().err


def test_the_approximation_says_that_it_is_one():
    with verifier() as one:
        cases = [case(0, GOOD, question="When was the mill built?")]
        run = evaluate(cases, metrics=["answer_relevance_by_embedding"], embedder=EMBED, verifier=one)
    assert "approximation" in run.cases[0].figures["answer_relevance_by_embedding"].warning


@pytest.mark.parametrize("content", [b"", b"\x3a", b"\x3a\x02\x2a\x00", b"\xff" * 40, b"\x0b"])
def test_a_graph_without_the_table_is_refused(tmp_path, content):
    (tmp_path / "graph.onnx").write_bytes(content)
    with pytest.raises(ModelContractError, match="no word table"):
        _table(tmp_path / "graph.onnx")


def test_an_unknown_embedder_is_refused():
    with pytest.raises(UsageError, match="no embedder 'minilm'"):
        embedder_named("minilm")
