"""Domains: what they read, which rules they keep, the same live and at once, and what many answers reach."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace
from datetime import UTC, datetime

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamverify import Label, Passage, StreamStateError, UsageError, Verifier
from streamverify.domains import (
    Block,
    CompanyRules,
    DomainStream,
    aggregate,
    check_answer,
    company_expert,
    pc_expert,
)
from streamverify.domains.checking import read_output
from streamverify.events import SentenceJudged, TextReleased
from streamverify.figure import NotComputed
from streamverify.records import Database, Reader, Records, Requester, add_content, verify
from streamverify.testing import ScriptedScorer, pieces, stream_of

NOW = datetime(2026, 11, 1, tzinfo=UTC)
PASSAGES = [
    Passage("p1", "Leave is 30 days.", title="Leave", metadata={
        "uri": "hr/leave", "visibility": "restricted", "roles": ["hr"], "tags": ["HR"],
        "updated_at": "2026-10-01"}),
    Passage("p2", "The canteen opens at noon.", metadata={"uri": "canteen", "visibility": "public"}),
]  # fmt: skip
OUTPUT = {
    "answer": "Leave is 30 days.",
    "citations": [{"document": "hr/leave", "sections": ["2"]}],
    "policy_scope": ["HR"],
    "confidentiality": "restricted",
}
BUILD = {
    "parts_list": [{"sku": "GPU-1", "qty": 2, "tdp": 300}, {"sku": "CASE", "qty": 1}],
    "power_calc": {"estimated_watts": 650, "recommended_psu": 1000, "headroom_pct": 35},
}
PROSE = "Leave is 30 days [p1]."


def answer(output=None, prose=PROSE):
    return f"{prose}\n\n```json\n{json.dumps(OUTPUT if output is None else output)}\n```\n"


@pytest.fixture(scope="module")
def verifier():
    with Verifier(ScriptedScorer({"wrong": Label.CONTRADICTED}), on_unverified="release") as made:
        yield made


def checked(verifier, text, domain=None, roles=("hr",), **options):
    context = {"user": "ann", "roles": roles}
    made = domain or company_expert()
    return check_answer(
        made, verifier, text, PASSAGES, question="How much leave?", context=context, now=NOW, **options
    )


def outcome(result, name):
    return next(one for one in result.outcomes if one.criterion == name)


def test_a_whole_answer_is_read_and_held_to_its_rules(verifier):
    result = checked(verifier, answer())
    assert result.passed
    assert result.output.citations[0].document == "hr/leave"
    assert result.answer.report.answer == PROSE + "\n\n\n"
    assert {one.criterion: one.passed for one in result.outcomes} == {
        "output_valid": True, "output_citations_exist": True, "output_scopes_allowed": True,
        "confidentiality_kept": True, "must_cite_if_claims": True, "citation_exists": True,
        "policy_scope_allowed": True, "freshness_ok": True, "retrieval_relevance@5": True, "format_ok": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "roles", "broken"),
    [
        (
            {},
            (),
            {"output_citations_exist", "output_scopes_allowed", "citation_exists", "policy_scope_allowed"},
        ),
        ({"citations": [{"document": "hr/none"}]}, ("hr",), {"output_citations_exist"}),
        ({"citations": []}, ("hr",), {"output_citations_exist"}),
        ({"confidentiality": "public"}, ("hr",), {"confidentiality_kept"}),
        ({"policy_scope": ["Board"]}, ("hr",), {"output_scopes_allowed"}),
    ],
)
def test_a_broken_rule_is_named(verifier, change, roles, broken):
    result = checked(verifier, answer(OUTPUT | change), roles=roles)
    assert {one.criterion for one in result.outcomes if one.passed is False} == broken
    assert not result.passed
    assert "hr/none" not in "".join(one.detail for one in result.outcomes)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("Only prose.", ["the answer has no structured block"]),
        ('{"answer": "x"', ["the structured block cannot be read: it does not end"]),
        (answer(OUTPUT | {"answer": " "}), ["answer: String should have at least 1 character"]),
        (
            answer(OUTPUT | {"confidentiality": "secret", "more": 1}),
            [
                "confidentiality: Input should be 'public', 'internal' or 'restricted'",
                "more: Extra inputs are not permitted",
            ],
        ),
    ],
)
def test_what_is_wrong_with_the_block_is_told(verifier, text, problems):
    result = checked(verifier, text)
    assert [str(problem) for problem in result.problems] == problems
    assert result.output is None
    assert outcome(result, "output_valid").passed is False
    assert isinstance(outcome(result, "output_scopes_allowed").score, NotComputed)
    assert not result.passed


def test_of_many_problems_the_first_are_told():
    citations = [{"documents": at} for at in range(900)]
    block = Block(json.dumps(OUTPUT | {"citations": citations}), 0, 1)
    _, problems = read_output(company_expert(), block)
    assert len(problems) == 21
    assert str(problems[-1]) == "1780 more problems"


def test_an_answer_without_prose_is_verified_by_its_text(verifier):
    result = checked(verifier, json.dumps(OUTPUT | {"answer": "Leave is wrong here."}))
    assert [one.label for one in result.answer.report.sentences] == [Label.CONTRADICTED]
    assert result.answer.report.answer == "Leave is wrong here."


@pytest.mark.anyio
@pytest.mark.parametrize("cut", [1, 3, 40])
async def test_live_it_is_the_same_as_at_once_and_both_halves_are_read_while_they_stream(verifier, cut):
    stream = DomainStream(
        company_expert(), verifier, stream_of(pieces(answer(), cut)), PASSAGES,
        question="How much leave?", context={"user": "ann", "roles": ["hr"]}, now=NOW,
    )  # fmt: skip
    judged, text = [], ""
    async with stream:
        with pytest.raises(StreamStateError):
            _ = stream.result
        async for event in stream:
            if isinstance(event, SentenceJudged):
                judged.append(event.index)
            elif isinstance(event, TextReleased):
                text += event.text
    assert judged == [0]
    assert text == PROSE + "\n\n\n"
    assert stream.partial == OUTPUT
    at_once = checked(verifier, answer())
    assert stream.result.output == at_once.output
    assert stream.result.outcomes == at_once.outcomes


@pytest.mark.anyio
async def test_a_verdict_on_the_prose_comes_before_the_block_ends(verifier):
    """The source goes on only when the sentence was judged: nothing waits for the block."""
    told = anyio.Event()
    text = f"{PROSE} The canteen opens at noon [p2].\n\n{json.dumps(OUTPUT)}"
    cut = text.index(" 30 days.")

    async def source():
        yield text[:cut]
        await told.wait()
        yield text[cut:]

    seen = None
    stream = DomainStream(company_expert(), verifier, source(), PASSAGES)
    async with stream:
        async for event in stream:
            if isinstance(event, SentenceJudged) and not told.is_set():
                seen = stream.partial
                told.set()
    assert seen == {"answer": "Leave is"}


@pytest.mark.anyio
async def test_what_a_source_raises_comes_through_and_closes_it(verifier):
    closed = []

    async def source():
        try:
            yield PROSE
            raise RuntimeError("gone")
        finally:
            closed.append(True)

    with pytest.raises(RuntimeError, match="gone"):
        async with DomainStream(company_expert(), verifier, source(), PASSAGES) as stream:
            async for _ in stream:
                pass
    assert closed == [True]


@pytest.mark.parametrize(
    ("change", "score", "passed"),
    [
        ({}, 1.0, True),
        ({"estimated_watts": 500}, 0.5, False),
        ({"recommended_psu": 800}, 0.5, False),
        ({"recommended_psu": 700, "estimated_watts": 400}, 0.5, False),
    ],
)
def test_power_adds_up_or_not(verifier, change, score, passed):
    build = BUILD | {"power_calc": BUILD["power_calc"] | change}
    result = checked(verifier, answer(build, "Take two."), pc_expert())
    found = outcome(result, "power_adds_up")
    assert (found.score, found.passed) == (score, passed)


@pytest.mark.parametrize(
    "wrong",
    [
        {"parts_list": []},
        {"parts_list": [{"sku": "A", "qty": 0}]},
        {"parts_list": [{"sku": "A", "qty": 1, "tdp": -1}]},
        {"power_calc": BUILD["power_calc"] | {"headroom_pct": 101}},
        {"power_calc": None},
    ],
)
def test_a_build_that_is_none_is_refused(verifier, wrong):
    assert checked(verifier, answer(BUILD | wrong, "Take two."), pc_expert()).output is None


@settings(max_examples=10)
@given(st.lists(st.sampled_from(["good", "wrong", "bare", "talk"]), min_size=1, max_size=5))
def test_figures_are_those_of_the_evaluation(kinds):
    from streamverify.evaluate import Case, Tools
    from streamverify.evaluate.metrics.grounding import grounded_claim_rate, hallucination_rate

    texts = {"good": PROSE, "wrong": "A wrong rule [p1].", "bare": "Leave is 30 days.", "talk": "Hello!"}
    with Verifier(ScriptedScorer({"wrong": Label.CONTRADICTED})) as made:
        results = [checked(made, answer(prose=texts[kind])) for kind in kinds]
    found = aggregate(company_expert(), results).figures
    for name, metric in (
        ("grounded_claim_rate", grounded_claim_rate),
        ("hallucination_rate", hallucination_rate),
    ):
        parts = [metric(Case(id="x"), one.answer.report, Tools()).parts for one in results]
        counted = [pair for pair in parts if pair is not None]
        if counted:
            assert found[name].figure == sum(a for a, _ in counted) / sum(b for _, b in counted)
        else:
            assert isinstance(found[name].figure, NotComputed)
            assert found[name].nothing == len(kinds)


def test_gates_pass_on_good_answers_and_name_what_failed(verifier):
    domain = company_expert()
    good = aggregate(domain, [checked(verifier, answer())] * 3)
    assert good.passed
    assert good.failed == ()
    mixed = aggregate(
        domain, [checked(verifier, answer()), checked(verifier, answer(prose="Leave is wrong [p1]."))]
    )
    failed = {gate.gate.metric for gate in mixed.gates if not gate.passed}
    assert failed == {"grounded_claim_rate", "hallucination_rate"}
    assert not mixed.passed


def test_a_gate_passes_on_nothing_that_could_not_be_told(verifier):
    with Verifier(ScriptedScorer(fail_on="30"), on_unverified="release") as failing:
        found = aggregate(company_expert(), [checked(failing, answer())])
    told = {gate.gate.metric: gate for gate in found.gates}
    assert not told["hallucination_rate"].passed
    assert "a sentence was not checked" in told["hallucination_rate"].detail
    assert not aggregate(company_expert(), []).passed


def test_an_answer_that_was_not_checked_is_no_pass():
    with Verifier(ScriptedScorer(fail_on="30"), on_unverified="release") as failing:
        without = checked(failing, answer(OUTPUT | {"citations": []}, "Leave is 30 days."))
    assert not any(one.held for one in without.outcomes if one.criterion == "output_citations_exist")
    assert not any(one.held for one in without.outcomes if one.criterion == "must_cite_if_claims")
    assert not without.passed


def test_a_domain_without_gates_passes_where_all_its_answers_do(verifier):
    domain = replace(company_expert(), gates=())
    good, bad = checked(verifier, answer(), domain), checked(verifier, "Only prose.", domain)
    assert aggregate(domain, [good]).passed
    assert not aggregate(domain, [good, bad]).passed
    assert not aggregate(domain, []).passed


def test_parts_that_do_not_tell_their_watts_add_up_to_nothing(verifier):
    build = BUILD | {"parts_list": [{"sku": "A", "qty": 1}]}
    found = outcome(checked(verifier, answer(build, "Take two."), pc_expert()), "power_adds_up")
    assert isinstance(found.score, NotComputed)
    assert not found.held


def test_a_companys_own_scopes_and_roles(verifier):
    domain = company_expert(CompanyRules(allowed={"HR": ["staff"]}))
    result = checked(verifier, answer(), domain, roles=("hr", "staff"))
    assert outcome(result, "output_scopes_allowed").passed
    assert not outcome(checked(verifier, answer(), domain), "output_scopes_allowed").passed


@pytest.mark.parametrize("keep", ["text", "redacted", "hashes"])
def test_what_a_domain_read_is_kept_in_the_records(tmp_path, keep):
    output = OUTPUT | {"answer": "Ask ann@example.org."}
    with Records(tmp_path / "r.db", keep=keep) as records:
        with Verifier(ScriptedScorer(), observers=[records]) as verifier:

            async def run():
                stream = DomainStream(
                    company_expert(), verifier, answer(output), PASSAGES, context={"user": "ann"}
                )
                async with stream:
                    async for _ in stream:
                        pass
                return stream

            stream = verifier.portal.run(run)
            assert verifier.drain_observers(50)
        add_content(records.database, stream.id, stream.result)
        database: Database = records.database
        auditor = Reader(database, Requester(user="eve", roles=frozenset({"auditor"})))
        found = auditor.content(uuid.UUID(stream.id))
        assert (found.domain, found.version) == ("company_expert", "1")
        shown = {"text": json.dumps(output), "hashes": None}
        assert found.output == shown.get(
            keep, json.dumps(output).replace("ann@example.org", "[email████████]")
        )
        failed = {one.criterion for one in auditor.judgments(failed=True)}
        assert "output_scopes_allowed" in failed
        assert Reader(database, Requester(user="bob")).content(uuid.UUID(stream.id)) is None
        assert verify(database).problems == ()
        with pytest.raises(UsageError, match="has content already"):
            add_content(database, stream.id, stream.result)
        with pytest.raises(UsageError, match="drain the observers first"):
            add_content(database, uuid.uuid4(), stream.result)
