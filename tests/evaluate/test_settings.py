"""A pack as a TOML file sets it."""

from __future__ import annotations

import pytest
from builders import GOOD, case, row, verifier, written
from hypothesis import given
from hypothesis import strategies as st

from streamverify.errors import InputFileError, UsageError
from streamverify.evaluate import evaluate, read_gates, read_settings
from streamverify.evaluate.packs import PACKS, pack_named
from streamverify.evaluate.settings import pack_from
from streamverify.program import main

FILE = r"""
pack = "legal"
[stages.faithfulness]
weight = 3
threshold = 0.6
gate = true
parts = { faithfulness = 0.5, hallucination_rate = 0.5 }
[stages.existence]
gate = false
"""


def stage(pack, name):
    return next(one for one in pack.stages if one.name == name)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "settings.toml"


def test_a_file_sets_a_pack(file):
    file.write_text(FILE)
    pack = read_settings(file)
    told = stage(pack, "faithfulness")
    assert (told.weight, told.threshold, told.gate) == (3, 0.6, True)
    assert told.parts == {"faithfulness": 0.5, "hallucination_rate": 0.5}
    assert told.lower_is_better == {"hallucination_rate"}  # as the metric says
    assert stage(pack, "existence").gate is False
    assert stage(pack, "grounding") == stage(pack_named("legal"), "grounding")
    assert pack.gates == pack_named("legal").gates


@pytest.mark.parametrize("name", PACKS)
def test_a_file_that_only_names_a_pack_changes_nothing(name):
    assert pack_from({"pack": name}) == pack_named(name)
    assert pack_from({"pack": name}).digest == pack_named(name).digest


CHANGES = (
    {"faithfulness": {"weight": 7}},
    {"faithfulness": {"threshold": 0.11}},
    {"faithfulness": {"gate": True}},
    {"faithfulness": {"parts": {"faithfulness": 1, "grounding_score": 1}}},
    {"faithfulness": {"parts": {"faithfulness": 2, "grounding_score": 1}}},
    {"faithfulness": {"parts": {"grounding_score": 1}}},
    {"policy_compliance": {"forbidden": {"a price": "EUR"}}},
    {"policy_compliance": {"forbidden": {"a price": "USD"}}},
    {"policy_compliance": {"forbidden": {"a price": "EUR"}, "keep_shipped": False}},
)


def test_whatever_a_file_changes_changes_the_pack_s_digest():
    digests = [pack_from({"pack": "rag", "stages": one}).digest for one in ({}, *CHANGES)]
    assert len(set(digests)) == len(digests)


@pytest.mark.parametrize("pattern", [r"\b\d+ EUR\b", "mill"])
def test_patterns_of_a_file_are_forbidden(file, pattern):
    file.write_text(f"pack = 'rag'\n[stages.policy_compliance]\nforbidden = {{ 'a word' = '{pattern}' }}\n")
    pack = read_settings(file)
    shipped = stage(pack_named("rag"), "policy_compliance").forbidden
    assert stage(pack, "policy_compliance").forbidden == (*shipped, ("a word", pattern))
    with verifier() as one:
        run = evaluate([case(0, GOOD)], pack=pack, verifier=one)
    [told] = [s for s in run.cases[0].stages if s.name == "policy_compliance"]
    assert told.status == ("failed" if pattern == "mill" else "passed")
    assert told.findings[:1] == (("the answer holds a word",) if pattern == "mill" else ())


WRONG = [
    ("pak = 'rag'", "pak", "did you mean 'pack'"),
    ("", "pack", "must name a pack"),
    ("pack = 3", "pack", "must name a pack"),
    ("pack = 'rga'", "pack", "did you mean 'rag'"),
    ("pack = 'rag'\nstages = 3", "stages", "table of stages"),
    (
        "pack = 'rag'\n[stages.faithfullness]\nweight = 1",
        "stages.faithfullness",
        "did you mean 'faithfulness'",
    ),
    ("pack = 'rag'\n[stages]\nfaithfulness = 3", "stages.faithfulness", "must be a table"),
    (
        "pack = 'rag'\n[stages.faithfulness]\nwieght = 1",
        "stages.faithfulness.wieght",
        "did you mean 'weight'",
    ),
    (
        "pack = 'rag'\n[stages.faithfulness]\nforbidden = {}",
        "stages.faithfulness.forbidden",
        "known are weight",
    ),
    (
        "pack = 'rag'\n[stages.faithfulness]\nweight = -1",
        "stages.faithfulness.weight",
        "greater than or equal",
    ),
    ("pack = 'rag'\n[stages.faithfulness]\nweight = nan", "stages.faithfulness.weight", "finite"),
    ("pack = 'rag'\n[stages.faithfulness]\nthreshold = 85", "stages.faithfulness.threshold", "less than or"),
    ("pack = 'rag'\n[stages.faithfulness]\nparts = {}", "stages.faithfulness.parts", "at least 1"),
    (
        "pack = 'rag'\n[stages.faithfulness]\nparts = { faithfulnes = 1 }",
        "stages.faithfulness.parts.faithfulnes",
        "did you mean 'faithfulness'",
    ),
    ("pack = 'rag'\n[stages.faithfulness]\nparts = { faithfulness = 0 }", "stages.faithfulness", "above 0"),
    ("pack = 'rag'\n[stages.faithfulness]\nscale = [1, 0]", "stages.faithfulness", "least, greatest"),
    (
        "pack = 'rag'\n[stages.faithfulness]\nlower_is_better = ['mrr']",
        "stages.faithfulness.lower_is_better",
        "not one of its parts",
    ),
    (
        "pack = 'rag'\n[stages.faithfulness]\nparts = { citation_fabricated = 1 }",
        "stages.faithfulness.scale",
        "no greatest value",
    ),
    (
        "pack = 'rag'\n[stages.faithfulness]\nparts = { d2d_recall = 1 }",
        "stages.faithfulness.scale",
        "values up to 5",
    ),
    (
        "pack = 'rag'\n[stages.policy_compliance]\nforbidden = { x = '(' }",
        "stages.policy_compliance.forbidden.x",
        "not a regular expression",
    ),
    (
        "pack = 'rag'\n[stages.policy_compliance]\nkeep_shipped = false",
        "stages.policy_compliance.keep_shipped",
        "forbids nothing",
    ),
]


@pytest.mark.parametrize(("text", "place", "problem"), WRONG)
def test_what_is_wrong_is_one_line_with_file_and_key(file, text, place, problem):
    file.write_text(text)
    with pytest.raises(InputFileError) as caught:
        read_settings(file)
    assert caught.value.field == place
    assert problem in str(caught.value)
    assert str(caught.value).startswith(f"{file}: field ")
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@given(
    st.dictionaries(
        st.text(), st.recursive(st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner))
    )
)
def test_no_mapping_raises_anything_but_a_value_error(found):
    with pytest.raises(
        ValueError, match="."
    ):  # only a mapping with a pack's name makes one, which chance does not write
        pack_from(found)


def test_a_pack_that_the_caller_names_takes_the_file_s_place(file):
    file.write_text("pack = 'd2d'\n[stages.retrieval]\nweight = 4\n")
    assert stage(read_settings(file, pack="rag"), "retrieval").weight == 4
    with pytest.raises(InputFileError, match="unknown; known are faithfulness, precision, recall, corr"):
        read_settings(file)
    with pytest.raises(UsageError, match="did you mean 'legal'"):
        read_settings(file, pack="leagl")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[gate]\n", "did you mean 'gates'"),
        ("[gates]\nfaithfulness = { mim = 0.8 }\n", "did you mean 'min'"),
        ("[baseline]\nmax_drp = 0.1\n", "did you mean 'max_drop'"),
    ],
)
def test_a_gates_file_says_what_was_probably_meant(file, text, problem):
    file.write_text(text)
    with pytest.raises(InputFileError, match=problem):
        read_gates(file)


def test_the_command_reads_settings_and_its_options_come_last(file, tmp_path, capsys):
    data = str(written(tmp_path / "answers.jsonl", [row(case(0, GOOD))]))
    file.write_text("pack = 'legal'\n[stages.faithfulness]\nthreshold = 0.9\n")
    given = ["evaluate", data, "--scorer", "lexical", "--settings", str(file)]
    assert main([*given, "--plan"]) == 0
    assert "citation_fabricated" in capsys.readouterr().out
    assert main([*given, "--weights", "nothing=1"]) == 2
    assert "no stage 'nothing'" in capsys.readouterr().err
    file.write_text("pack = 'legal'\n[stages.faithfulness]\ntreshold = 0.9\n")
    assert main(given) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert (
        "settings.toml: field 'stages.faithfulness.treshold': unknown; did you mean 'threshold'?" in told.err
    )
