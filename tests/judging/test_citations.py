"""Citations in the verdicts and reports of real streams, with a scripted scorer."""

from __future__ import annotations

import anyio
import pytest

from streamverify.errors import UsageError
from streamverify.judging.citations import CitationOptions, clipped
from streamverify.policy import Annotate, Redact, Repair
from streamverify.scorers.protocol import (
    Abort,
    Claim,
    ClaimScore,
    NliScore,
    WindowScore,
)
from streamverify.testing import ScriptedScorer, collect, pieces, stream_of
from streamverify.types import Action, CitationFinding, Label, Passage, Span
from streamverify.verifier import Verifier

pytestmark = pytest.mark.anyio

YES, NO = NliScore(0.95, 0.04, 0.01), NliScore(0.03, 0.96, 0.01)

MILL = Passage("mill", "The old mill was built in 1804 by the river.", "The mill (1990)")
DAM = Passage("dam", "The dam holds the water of two rivers.", "The dam")
ROAD = Passage("road", "The road was paved in 1920.", "The road")
PASSAGES = [MILL, DAM, ROAD]


class ByTopic(ScriptedScorer):
    """A passage supports a claim when the claim speaks of its topic and of no other.

    A claim that speaks of two topics is supported by their windows together.
    """

    topics = ("mill", "dam", "road")

    def _score(self, prepared, claim: Claim, abort: Abort) -> ClaimScore:
        spoken = {topic for topic in self.topics if topic in claim.text}

        def told(windows) -> NliScore:
            known = {topic for topic in self.topics for w in windows if topic in prepared.windows[w].text}
            return YES if spoken and spoken <= known else NO

        looked_at = claim.focus if claim.only_focus else range(len(prepared.windows))
        single = sorted((WindowScore(w, told([w])) for w in looked_at), key=lambda s: -s.score.entailment)
        return ClaimScore(
            single=tuple(single),
            joint=told(looked_at),
            together=tuple(told(group) for group in claim.together),
            tokens_scored=1,
            passes=len(single),
        )


async def report_on(answer, *, scorer=None, policy=None, **options):
    async with Verifier(scorer or ByTopic(), citations=CitationOptions(**options)) as verifier:
        return await verifier.check(answer, PASSAGES, policy=policy)


async def findings(answer, **options):
    report = await report_on(answer, **options)
    return [(c.marker, str(c.finding), c.better) for s in report.sentences for c in s.citations]


async def test_each_finding_has_its_case():
    assert await findings("The mill is old [1].") == [("[1]", "correct", None)]
    assert await findings("The mill is old [2].") == [("[2]", "wrong_passage", "mill")]
    assert await findings("The mill is old [9].") == [("[9]", "fabricated", None)]
    assert await findings("The bridge is old [1].") == [("[1]", "unsupported", None)]
    assert await findings("The mill is old.", require="claims") == [("", "missing", "mill")]
    assert await findings("The mill is old.", require="numbers") == []
    assert await findings("The mill is old.") == []


async def test_a_claim_of_two_sources_is_backed_by_the_cited_set_together():
    found = await findings("The mill stands beside the dam [1][2].")
    assert [finding for _, finding, _ in found] == ["correct", "correct"]


async def test_a_passage_that_backs_a_part_is_partial_and_says_which_part():
    scorer = ByTopic({}, concurrency=1)
    text = "The mill is very old indeed, and the road was paved by a family from the town [1]."
    report = await report_on(text, scorer=scorer)
    [citation] = report.sentences[0].citations
    assert citation.finding is CitationFinding.PARTIAL
    start, end = citation.supported_span
    assert text[start:end].strip(" ,") == "The mill is very old indeed"


async def test_numbering_from_zero_can_be_set():
    assert await findings("The mill is old [0].", numbering="zero") == [("[0]", "correct", None)]
    assert await findings("The mill is old [1].", numbering="zero") == [("[1]", "wrong_passage", "mill")]


async def test_markers_at_a_paragraphs_end_may_serve_all_of_it():
    text = "The mill is old. The dam is big [1][2].\n\nThe road is long [3]."
    alone = await findings(text)
    assert alone[0] == ("[1]", "wrong_passage", "dam")
    served = await findings(text, scope="paragraph")
    assert [finding for _, finding, _ in served] == ["correct"] * 3


def test_what_cannot_be_checked_within_a_paragraph_cannot_be_required():
    with pytest.raises(UsageError, match="scope='sentence'"):
        CitationOptions(scope="paragraph", require="claims")


@pytest.mark.parametrize("name", ["require", "numbering", "scope", "style", "place"])
def test_a_word_that_no_option_has_is_refused_with_those_it_has(name):
    with pytest.raises(UsageError, match=rf"CitationOptions: {name} must be '.*' or '.*', not 'zz'"):
        CitationOptions(**{name: "zz"})


async def test_figures_of_the_report_follow_the_findings():
    report = await report_on(
        "The mill is old [1]. The dam is big [1]. The road is long [9].", require="claims"
    )
    figures = report.citation_figures
    assert (figures.citations, figures.fabricated, figures.missing) == (3, 1, 0)
    assert report.citation_accuracy == figures.accuracy == pytest.approx(1 / 3)
    assert figures.existence == pytest.approx(2 / 3)
    none = (await report_on("The mill is old.")).citation_figures
    assert none.accuracy is None
    assert "no citation" in none.not_computed["accuracy"]


async def test_a_passage_that_lacks_what_another_has_is_no_whole_source():
    for text, finding in (
        ("The mill was built in 1804 [1].", CitationFinding.CORRECT),
        ("The mill was there in 1920 [1].", CitationFinding.PARTIAL),
        ("The mill was there in 1920 [1][3].", CitationFinding.CORRECT),
        ("The mill was there in 1955 [1].", CitationFinding.CORRECT),  # nobody has it: the verdict's matter
    ):
        assert (await report_on(text)).sentences[0].citations[0].finding is finding


async def test_a_fabricated_marker_is_taken_out_alone():
    policy = Redact(fabricated_citations="marker")
    report = await report_on("The mill is old [9]. The dam is big [2].", policy=policy)
    assert report.released == "The mill is old. The dam is big [2]."
    assert [s.action for s in report.sentences] == [Action.REDACT, Action.RELEASE]


@pytest.mark.parametrize(
    ("answer", "released"),
    [
        ('<cite id="p9">The mill is old</cite>.', "The mill is old."),
        ("The mill is old [1, 9].", "The mill is old [1, 9]."),  # it names a passage too
        ("The mill is old [1][9].", "The mill is old [1]."),
        ("According to Source 9, the mill is old.", "According to Source 9, the mill is old."),
    ],
)
async def test_a_fabricated_marker_leaves_no_tag_and_takes_no_other_along(answer, released):
    report = await report_on(answer, policy=Redact(fabricated_citations="marker"))
    assert report.released == released


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "The mill is old [1]. The bridge is new. The dam is big [2]."),
        ({"place": "after"}, "The mill is old. [1] The bridge is new. The dam is big [2]."),
        ({"style": "[^1]"}, "The mill is old[^1]. The bridge is new. The dam is big [2]."),
    ],
)
async def test_annotating_writes_markers_where_the_passages_support_and_nowhere_else(options, expected):
    answer = "The mill is old. The bridge is new. The dam is big [2]."
    for cuts in (0, 3):
        async with Verifier(ByTopic(), citations=CitationOptions(**options)) as verifier:
            source = stream_of(pieces(answer, cuts))
            async with verifier.stream(source, PASSAGES, policy=Annotate()) as stream:
                await collect(stream)
        assert stream.report.released == expected
        assert stream.report.answer == answer


async def test_annotating_may_redact_what_is_not_supported():
    policy = Annotate(Redact(placeholder="□"))
    assert (await report_on("The bridge is new. The mill is old.", policy=policy)).released == (
        "□ The mill is old [1]."
    )


async def test_a_repair_is_judged_and_cited_like_any_sentence():
    async def rewrite(request):
        return "The mill is old [1]."

    report = await report_on("The bridge is new [2]. The dam is big.", policy=Repair(rewrite))
    assert report.released == "The mill is old [1]. The dam is big."
    [verdict] = report.sentences[0].replacement.verdicts
    assert (verdict.label, verdict.citations[0].finding) == (Label.SUPPORTED, CitationFinding.CORRECT)


async def test_the_source_goes_on_while_a_sentence_is_repaired():
    """The rewrite waits for text that comes later: it could not end if the source were held up."""
    arrived = anyio.Event()

    async def rewrite(request):
        with anyio.fail_after(60):
            await arrived.wait()
        return "The mill is old."

    async def source():
        yield "The bridge is new. "
        yield "The dam is big. The road is long."
        arrived.set()

    policy = Repair(rewrite)
    async with Verifier(ByTopic()) as verifier, verifier.stream(source(), PASSAGES, policy=policy) as stream:
        await collect(stream)
    assert stream.report.released == "The mill is old. The dam is big. The road is long."


async def test_most_citations_cost_no_pass_of_their_own():
    plain = (await report_on("The mill is old.")).work.passes
    assert (await report_on("The mill is old [1].")).work.passes == plain
    assert (await report_on("The mill is old [9].")).work.passes == plain


RIVALS = (
    ("The shop closes at 6 pm [2].", "The shop closes at 6 pm.", "The shop closes at 8 pm."),
    (
        "The Basic plan costs 9 euros [2].",
        "The Basic plan costs 9 euros a month.",
        "The Pro plan costs 19 euros a month.",
    ),
    ("Bonn lies on the Rhine [2].", "Bonn lies on the Rhine.", "Dresden lies on the Elbe."),
    ("The museum opens on Monday [2].", "The museum opens on Monday.", "The library opens on Friday."),
)


@pytest.mark.parametrize(("answer", "right", "cited"), RIVALS)
@pytest.mark.parametrize("order", [1, -1])
async def test_a_cited_passage_is_judged_as_if_there_were_no_other(answer, right, cited, order):
    passages = [Passage("right", right), Passage("cited", cited)][::order]
    async with Verifier() as verifier:
        report = await verifier.check(answer.replace("[2]", "[cited]"), passages)
        [sentence] = report.sentences
        [citation] = sentence.citations
        assert report.work.claims == 1  # however many passes its citations took
        assert sentence.label is Label.SUPPORTED
        assert (citation.finding, citation.better) == (CitationFinding.WRONG_PASSAGE, "right")
        [alone] = (await verifier.check(answer.replace(" [2]", ""), [Passage("cited", cited)])).sentences
    assert citation.score == pytest.approx(alone.score, abs=0.02)


@pytest.mark.parametrize("order", [1, -1])
async def test_a_cited_passage_is_given_the_claim_in_its_own_form_of_a_value(order):
    passages = [
        Passage("hours", "The trial phase takes 336 hours."),
        Passage("days", "The trial phase takes 14 days."),
    ][::order]
    async with Verifier() as verifier:
        for cited in ("hours", "days"):
            report = await verifier.check(f"The trial phase takes 2 weeks [{cited}].", passages)
            [citation] = report.sentences[0].citations
            only = [passage for passage in passages if passage.id == cited]
            [alone] = (await verifier.check("The trial phase takes 2 weeks.", only)).sentences
            assert citation.finding is CitationFinding.CORRECT
            assert citation.score == pytest.approx(alone.score, abs=0.02)


def test_a_part_of_a_claim_keeps_its_own_offsets_and_a_borrowed_subject():
    claim = Claim("The mill grinds and it runs", (-1, -1, -1, -1, -1, -1, -1, -1, *range(10, 29)))
    assert clipped(claim, Span(10, 16)).text == "The mill grinds"[:14]
    assert clipped(claim, Span(100, 120)).text == ""
