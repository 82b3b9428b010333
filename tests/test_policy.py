from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.errors import UsageError
from streamverify.policy import (
    Annotate,
    Flag,
    Halt,
    Observe,
    Redact,
    Repair,
    Tally,
    body,
    policy_from,
    repaired,
    replaced,
    with_numbers,
)
from streamverify.repair_plan import RepairPlan
from streamverify.types import (
    Action,
    Citation,
    CitationFinding,
    Label,
    Replacement,
    Sentence,
    SentenceKind,
    Span,
    Verdict,
)

START = 10


def sentence(text: str, kind: SentenceKind = SentenceKind.PROSE) -> Sentence:
    return Sentence(index=0, text=text, start=START, end=START + len(text), kind=kind)


def verdict(label: Label, **more: object) -> Verdict:
    score = {Label.NO_CLAIM: None, Label.UNVERIFIED: None, Label.SUPPORTED: 0.9}.get(label, 0.1)
    return Verdict(index=0, label=label, score=score, **more)


def shown(decision) -> str:
    return "".join(release.text for release in decision.release)


NOTHING = Tally(claims=0, ungrounded=0)


@pytest.mark.parametrize(
    ("text", "kind", "inside"),
    [
        ("Plain text. ", SentenceKind.PROSE, "Plain text."),
        ("- a list item\n", SentenceKind.LIST_ITEM, "a list item"),
        ("  12) numbered\n\n", SentenceKind.LIST_ITEM, "numbered"),
        ("> quoted.\n", SentenceKind.QUOTE, "quoted."),
        ("## Heading\n", SentenceKind.HEADING, "Heading"),
        ("| a | b |\n", SentenceKind.TABLE, "| a | b |"),
        ("   \n", SentenceKind.PROSE, ""),
        ("-5 degrees. ", SentenceKind.PROSE, "-5 degrees."),
    ],
)
def test_the_body_is_the_sentence_without_its_layout(text, kind, inside):
    whole = sentence(text, kind)
    span = body(whole)
    assert text[span.start - START : span.end - START] == inside


@given(st.text(min_size=1), st.data())
def test_what_is_not_replaced_stays_and_every_character_is_accounted_for(text, data):
    whole = sentence(text)
    borders = sorted(data.draw(st.lists(st.integers(START, START + len(text)), max_size=6, unique=True)))
    spans = [Span(a, b) for a, b in zip(borders[::2], borders[1::2], strict=False)]
    releases = replaced(whole, [(span, "□") for span in spans], Action.REDACT)
    assert [r.span.start for r in releases][:1] == [START]
    assert releases[-1].span.end == whole.end
    for before, after in itertools.pairwise(releases):
        assert before.span.end == after.span.start
    for release in releases:
        if release.action is Action.RELEASE:
            assert release.text == text[release.span.start - START : release.span.end - START]
        else:
            assert release.span in spans


@pytest.mark.parametrize("policy", [Observe(), Flag()])
@pytest.mark.parametrize("label", list(Label))
def test_a_policy_that_does_not_hold_releases_nothing_itself(policy, label):
    assert not policy.holds_text
    assert not policy.holds(sentence("x"))
    assert policy.decide(sentence("x"), verdict(label), NOTHING).release == ()


def test_flag_marks_by_label():
    assert Flag().decide(sentence("x"), verdict(Label.UNSUPPORTED), NOTHING).action is Action.FLAG
    assert Flag().decide(sentence("x"), verdict(Label.UNVERIFIED), NOTHING).action is Action.RELEASE
    strict = Flag(labels=frozenset({Label.UNVERIFIED}))
    assert strict.decide(sentence("x"), verdict(Label.UNVERIFIED), NOTHING).action is Action.FLAG


@pytest.mark.parametrize("label", list(Label))
def test_redact_shows_a_grounded_sentence_as_it_is_and_nothing_of_another(label):
    decision = Redact(placeholder="□").decide(sentence("Secret words. "), verdict(label), NOTHING)
    if label in (Label.UNSUPPORTED, Label.CONTRADICTED):
        assert (decision.action, shown(decision)) == (Action.REDACT, "□ ")
    else:
        assert (decision.action, shown(decision)) == (Action.RELEASE, "Secret words. ")


@pytest.mark.parametrize("policy", [Observe(), Flag(), Redact(), Halt(), Annotate()])
def test_the_word_of_a_policy_is_its_name(policy):
    assert policy_from(policy.name) == policy
    assert policy_from(policy) is policy


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("zap", r"no policy 'zap'; choose from 'observe', 'flag', 'redact', 'halt', 'annotate'"),
        ("Redact", "choose from"),
        ("repair", r"Repair\(rewrite\)"),
        (Redact, r"policy=Redact is a class; make one: policy=Redact\(\)"),
        (7, "int is no policy"),
        (None, "NoneType is no policy"),
    ],
)
def test_what_is_no_policy_is_refused_with_the_choices(given, told):
    with pytest.raises(UsageError, match=told):
        policy_from(given)


def test_redact_keeps_the_list_mark():
    decision = Redact(placeholder="□").decide(
        sentence("- wrong\n", SentenceKind.LIST_ITEM), verdict(Label.UNSUPPORTED), NOTHING
    )
    assert shown(decision) == "- □\n"


def test_redact_by_span_takes_out_only_the_unsupported_words():
    text = "The tower is 450 metres tall. "
    spans = (Span(START + 13, START + 23),)
    policy = Redact(scope="span", placeholder="□")
    decision = policy.decide(sentence(text), verdict(Label.CONTRADICTED, unsupported_spans=spans), NOTHING)
    assert shown(decision) == "The tower is □ tall. "
    without = policy.decide(sentence(text), verdict(Label.CONTRADICTED), NOTHING)
    assert shown(without) == "□ "


@pytest.mark.parametrize(
    ("option", "expected"), [("keep", "It grew [9]. "), ("marker", "It grew. "), ("sentence", "□ ")]
)
def test_a_fabricated_citation_goes_alone_or_with_its_sentence(option, expected):
    citation = Citation(marker="[9]", start=START + 8, end=START + 11, finding=CitationFinding.FABRICATED)
    policy = Redact(fabricated_citations=option, placeholder="□")
    decision = policy.decide(
        sentence("It grew [9]. "), verdict(Label.SUPPORTED, citations=(citation,)), NOTHING
    )
    assert shown(decision) == expected


def test_strictness_by_kind_holds_figures_and_flags_prose():
    policy = Redact(where=with_numbers)
    assert policy.holds(sentence("It cost 3 crowns."))
    assert not policy.holds(sentence("It was cheap."))
    decision = policy.decide(sentence("It was cheap."), verdict(Label.UNSUPPORTED), NOTHING)
    assert (decision.action, decision.release) == (Action.FLAG, ())


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("It has nine wheels.", True),
        ("Twenty-one people came.", True),
        ("HALF of it burned.", True),
        ("It rose by ten per cent.", True),
        ("Dozens were sold.", True),
        ("It costs ½ a crown.", True),
        ("One of them is a mill.", False),
        ("The often tense tenth wonder weighs tons.", False),
        ("The third floor has a view.", False),
        ("Someone saw the network.", False),
    ],
)
def test_figures_in_words_are_figures(text, held):
    assert with_numbers(sentence(text)) is held


def test_halt_by_label_count_and_share():
    def act(policy: Halt, label: Label, tally: Tally) -> Action:
        return policy.decide(sentence("x"), verdict(label), tally).action

    assert act(Halt(), Label.CONTRADICTED, NOTHING) is Action.HALT
    assert act(Halt(), Label.UNSUPPORTED, Tally(9, 9)) is Action.FLAG
    assert act(Halt(max_ungrounded=1), Label.UNSUPPORTED, Tally(1, 0)) is Action.FLAG
    assert act(Halt(max_ungrounded=1), Label.UNSUPPORTED, Tally(2, 1)) is Action.HALT
    share = Halt(labels=frozenset(), max_share=0.5, min_claims=4)
    assert act(share, Label.UNSUPPORTED, Tally(2, 2)) is Action.FLAG
    assert act(share, Label.UNSUPPORTED, Tally(3, 2)) is Action.HALT
    assert act(share, Label.SUPPORTED, Tally(3, 2)) is Action.RELEASE


def test_what_halts_is_not_shown():
    decision = Halt().decide(sentence("Secret."), verdict(Label.CONTRADICTED), NOTHING)
    assert decision.release == ()
    assert decision.reason == "sentence 1 is contradicted"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Halt(max_ungrounded=-1),
        lambda: Halt(max_share=1.0),
        lambda: Halt(min_claims=0),
        lambda: Repair(rewrite=shown, attempts=0),
        lambda: Repair(rewrite=shown, timeout=0),
        lambda: Repair(rewrite=shown, timeout=float("nan")),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(make):
    with pytest.raises(UsageError):
        make()


def test_repair_asks_for_what_its_fallback_would_redact():
    policy = Repair(rewrite=shown)
    plan = policy.repair(sentence("x"), verdict(Label.UNSUPPORTED))
    assert plan is not None
    assert (plan.rewrite, plan.attempts, plan.timeout) == (shown, 2, 30)
    assert policy.repair(sentence("x"), verdict(Label.SUPPORTED)) is None
    assert policy.decide(sentence("x. "), verdict(Label.UNSUPPORTED), NOTHING).action is Action.REDACT
    decision = repaired(sentence("x. "), Replacement(text="y.", attempts=1, verdicts=()))
    assert (decision.action, shown(decision)) == (Action.REPAIR, "y. ")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Redact(scope="word"), "scope must be 'sentence' or 'span', not 'word'"),
        (lambda: Redact(fabricated_citations="drop"), "'keep' or 'marker' or 'sentence'"),
        (lambda: Redact(placeholder=None), "placeholder must be a string, '' for none, not NoneType"),
        (lambda: Redact(where="numbers"), "where must be a function, not 'numbers'"),
        (lambda: Repair("x"), "rewrite must be a function, not 'x'"),
        (lambda: RepairPlan(None), "rewrite must be a function"),
    ],
)
def test_a_parameter_that_would_fail_in_the_middle_of_an_answer_is_refused_at_once(make, told):
    with pytest.raises(UsageError, match=told):
        make()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**You have 30 days. ", "**□ "),
        ("You have 60 days.** ", "□** "),
        ("You have **60 days in all. ", "**□ "),
        ("In all** cases. ", "□** "),
        ("_You have 30 days. ", "_□ "),
        ("- **You have 30 days. ", "- **□ "),
        ("**You have 30 days.** ", "□ "),
        ("**You** have *30* days. ", "□ "),
        ("You have 60 days.** And **more. ", "□ "),
        ("It is 2*3 or a_b, `**x` or \\*\\*. ", "□ "),
        ("It has 5* rooms. ", "□ "),
        ("*You* have *30 days.* ", "□ "),
        ("It ends.* ", "□* "),
        ("It is 5 ** 2. ", "□ "),
    ],
)
def test_emphasis_that_reaches_beyond_a_redacted_sentence_stays_whole(text, expected):
    kind = SentenceKind.LIST_ITEM if text.startswith("- ") else SentenceKind.PROSE
    given = sentence(text, kind)
    decision = Redact(placeholder="□").decide(given, verdict(Label.UNSUPPORTED), NOTHING)
    assert shown(decision) == expected
    assert decision.release[0].span.start == given.start
    assert decision.release[-1].span.end == given.end
    assert all(a.span.end == b.span.start for a, b in itertools.pairwise(decision.release))


def test_emphasis_over_two_sentences_is_closed_where_one_is_redacted():
    first, second = sentence("**You have 30 days. "), sentence("You have 60 days.** ")
    redact = Redact(placeholder="□").redact
    assert shown(redact(first)) + second.text == "**□ You have 60 days.** "
    assert first.text + shown(redact(second)) == "**You have 30 days. □** "


@pytest.mark.parametrize("policy", [Flag, Redact, Halt])
@pytest.mark.parametrize("labels", [Label.UNSUPPORTED, "unsupported", ["contradictd"], 3, None])
def test_labels_that_are_none_are_refused(policy, labels):
    with pytest.raises(UsageError, match=rf"{policy.__name__}: labels.*'contradicted'"):
        policy(labels=labels)


@pytest.mark.parametrize("policy", [Flag, Redact, Halt])
def test_labels_may_be_given_by_their_words(policy):
    assert policy(labels={"contradicted"}).labels == {Label.CONTRADICTED}
