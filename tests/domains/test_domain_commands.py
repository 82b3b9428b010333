"""`validate` and `domains` as a user runs them."""

from __future__ import annotations

import json

import pytest

from streamverify.program import main

PASSAGE = {
    "id": "p1",
    "text": "Employees have 30 days of leave a year.",
    "title": "Leave",
    "metadata": {"uri": "hr/leave", "visibility": "restricted", "roles": ["hr"], "tags": ["hr"],
                 "updated_at": "2026-10-01"},
}  # fmt: skip
PROSE = "Employees have 30 days of leave a year [p1]."
OUTPUT = {
    "answer": "30 days.",
    "citations": [{"document": "hr/leave"}],
    "policy_scope": ["hr"],
    "confidentiality": "restricted",
}
ASKED = ("--scorer", "lexical", "--as", "ann", "--now", "2026-11-01")
HR = (*ASKED, "--roles", "hr")


def dataset(tmp_path, *answers):
    rows = [
        {"id": f"c{at}", "question": "How much leave?", "answer": answer, "passages": [PASSAGE]}
        for at, answer in enumerate(answers)
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_recorded_answers_are_held_to_rules(tmp_path, capsys):
    good = dataset(tmp_path, PROSE)
    assert main(["validate", good, *HR]) == 0
    told = capsys.readouterr().out
    assert "must_cite_if_claims: 1 kept it, 0 broke it, 0 not told" in told
    assert main(["validate", good, *ASKED, "--rules", "citation_exists,format_ok"]) == 1
    told = capsys.readouterr().out
    assert "c0\tcitation_exists\tfailed" in told
    assert "must_cite" not in told
    assert main(["validate", good, *HR, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["criterion"]: row["status"] for row in rows}["freshness_ok"] in ("passed", "not told")


def test_recorded_answers_are_held_to_a_domain(tmp_path, capsys):
    block = f"{PROSE}\n\n{json.dumps(OUTPUT)}"
    path = dataset(tmp_path, block, block)
    assert main(["validate", path, "--domain", "pc_expert", *HR]) == 1
    told = capsys.readouterr().out
    assert "c0\toutput_valid\tfailed" in told
    assert "gate output_valid >= 1.000: failed (0.000, 2 of 2 answers)" in told
    main(["validate", path, "--domain", "company_expert", *HR, "--json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["gate"]: row["status"] for row in rows if "gate" in row}[
        "citation_exists >= 1.000"
    ] == "passed"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rules", "nice"], "there is no rule 'nice'; there are must_cite_if_claims"),
        (["--domain", "cars"], "there is no domain 'cars'; there are company_expert, pc_expert"),
        (["--domain", "pc_expert", "--rules", "format_ok"], "give --domain or --rules"),
        (["--roles", "hr"], "name one with --as"),
        (["--now", "soon"], "'soon' is no day or moment"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, capsys, arguments, message):
    assert main(["validate", dataset(tmp_path, PROSE), "--scorer", "lexical", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_row_without_an_answer_is_no_pass(tmp_path, capsys):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": "c0", "question": "How?"}\n', encoding="utf-8")
    assert main(["validate", str(path), *HR]) == 2
    assert "case 'c0' has no answer to validate" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("answer", "rules", "said"),
    [
        ("Hello!", ["must_cite_if_claims"], "no answer has anything to hold to must_cite_if_claims"),
        (PROSE, ["format_ok", "freshness_ok"], "no answer has anything to hold to freshness_ok"),
        ("Leave is 30 days.", ["must_cite_if_claims", "format_ok"], "could not be checked for claims"),
    ],
)
def test_a_rule_that_was_held_to_nothing_is_no_pass(tmp_path, capsys, answer, rules, said):
    path = tmp_path / "answers.jsonl"
    passage = PASSAGE | {"metadata": {"visibility": "public"}}
    passages = [] if answer == "Leave is 30 days." else [passage]
    row = {"id": "c0", "question": "How much leave?", "answer": answer, "passages": passages}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert main(["validate", str(path), "--scorer", "lexical", "--rules", ",".join(rules)]) == 1
    assert said in "".join(capsys.readouterr())


def test_domains_are_listed_and_shown(capsys):
    assert main(["domains", "list"]) == 0
    assert "company_expert\t1\t" in capsys.readouterr().out
    assert main(["domains", "show", "pc_expert"]) == 0
    told = capsys.readouterr().out
    assert "output: parts_list, power_calc, assumptions, compatibility_checks" in told
    assert "gate: power_adds_up >= 1.000" in told
    assert main(["domains", "show", "company_expert", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["output"]["title"] == "CompanyAnswer"


def test_one_answer_is_checked(tmp_path, capsys):
    passages, answer = tmp_path / "p.jsonl", tmp_path / "a.txt"
    passages.write_text(json.dumps(PASSAGE) + "\n", encoding="utf-8")
    answer.write_text(f"{PROSE}\n\n```json\n{json.dumps(OUTPUT)}\n```\n", encoding="utf-8")
    asked = ["domains", "check", "company_expert", "-a", str(answer), "-p", str(passages)]
    assert main([*asked, *HR]) == 0
    assert "output_valid\tpassed\t1.0" in capsys.readouterr().out
    assert main([*asked, *ASKED]) == 1
    assert "output_scopes_allowed\tfailed" in capsys.readouterr().out
