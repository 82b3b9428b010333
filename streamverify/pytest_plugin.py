"""pytest plugin: assert that an answer is grounded, with a message that shows where it is not.

    def test_the_bot_answers_from_its_sources(grounding):
        grounding(bot.answer("When was the mill built?"), passages, min_score=0.8)

`grounding` is `assert_grounded` with the session's `verifier`, one for all tests. To choose a scorer or a
policy, define a session-scoped fixture named `verifier` in `conftest.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from streamverify import JudgedSentence, Report, Verifier
    from streamverify.evaluate import Dataset, Embedder, Metric, Run
    from streamverify.evaluate.pack import Pack
    from streamverify.evaluate.protocol import Judge
    from streamverify.streaming.sources import Source

ALLOWED = ("supported", "no_claim")
"""Labels a sentence may have unless told otherwise; one that was not checked does not pass."""

_WIDTH = 12
_INDENT = " " * 6


class Grounding(Protocol):
    """What the `grounding` fixture is."""

    def __call__(
        self,
        answer: Source,
        passages: Iterable[object],
        *,
        min_score: float | None = None,
        allow: Collection[str] = ALLOWED,
        question: str | None = None,
    ) -> Report:
        """As `assert_grounded`."""
        ...


def assert_grounded(
    answer: Source,
    passages: Iterable[object],
    *,
    min_score: float | None = None,
    allow: Collection[str] = ALLOWED,
    question: str | None = None,
    verifier: Verifier | None = None,
) -> Report:
    """The report on an answer whose every sentence is grounded.

    Args:
        answer: the text, or anything `Verifier.check` reads.
        passages: as for `Verifier.check`.
        min_score: lowest calibrated score (0-1) that a sentence which makes a claim may have; None for
            any. Labels are checked as well.
        allow: labels a sentence may have.
        question: what was asked.
        verifier: one for the whole process by default; the `grounding` fixture brings the session's.

    Raises:
        AssertionError: a sentence has another label or a lower score, or the answer is blank; the message
            shows every such sentence beside its best evidence and its findings.
        UsageError: a label in `allow` does not exist, or `min_score` is out of range. Caller.
    """
    __tracebackhide__ = True
    from streamverify import Label, UsageError  # noqa: PLC0415 - a plugin must not slow other tests down
    from streamverify.decorator import shared_verifier  # noqa: PLC0415

    if min_score is not None and not 0 <= min_score <= 1:
        raise UsageError(f"min_score must be between 0 and 1, not {min_score:g}")
    labels = {str(label) for label in Label}
    if isinstance(allow, str) or not labels.issuperset(allow):
        raise UsageError(
            f"allow must be a collection of labels out of {', '.join(sorted(labels))}, not {allow!r}"
        )
    used = verifier if verifier is not None else shared_verifier()
    report = used.check_sync(answer, passages, question=question)
    failing = {s.index for s in report.sentences if not _passes(s, allow, min_score)}
    if failing or not report.answer.strip():
        raise AssertionError(_message(report, failing, allow, min_score))
    return report


@pytest.fixture(scope="session")
def verifier() -> Iterator[Verifier]:
    """One verifier for the session; the model is loaded when a test first needs it."""
    from streamverify import Verifier  # noqa: PLC0415 - see above

    made = Verifier()
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def grounding(verifier: Verifier) -> Grounding:
    """`assert_grounded` with the session's verifier."""
    return functools.partial(assert_grounded, verifier=verifier)


class Evaluation(Protocol):
    """What the `evaluation` fixture is."""

    def __call__(
        self,
        dataset: Dataset | Path | str,
        *,
        metrics: Iterable[str | Metric] | None = None,
        pack: Pack | str | None = None,
        settings: Path | str | None = None,
        weights: Mapping[str, float] | None = None,
        thresholds: Mapping[str, float] | None = None,
        min_passed: float | None = None,
        gates: Path | str | None = None,
        baseline: Path | str | None = None,
        allow_different_cases: bool = False,
        allow_errors: bool = False,
        judge: Judge | None = None,
        embedder: Embedder | str | None = None,
        out: Path | str | None = None,
    ) -> Run:
        """As `assert_evaluation`."""
        ...


def assert_evaluation(
    dataset: Dataset | Path | str,
    *,
    metrics: Iterable[str | Metric] | None = None,
    pack: Pack | str | None = None,
    settings: Path | str | None = None,
    weights: Mapping[str, float] | None = None,
    thresholds: Mapping[str, float] | None = None,
    min_passed: float | None = None,
    gates: Path | str | None = None,
    baseline: Path | str | None = None,
    allow_different_cases: bool = False,
    allow_errors: bool = False,
    judge: Judge | None = None,
    embedder: Embedder | str | None = None,
    out: Path | str | None = None,
    verifier: Verifier | None = None,
) -> Run:
    """The run over a dataset that passes its pack and its gates and is no worse than a baseline.

    Args:
        dataset: a JSON Lines file, or cases of `read_dataset`.
        metrics: see `streamverify.evaluate.evaluate`; those of the gates are added.
        pack: stages that each case must pass, by name or made in code.
        settings: a TOML file with a pack and what its stages weigh, ask for and forbid.
        weights: of the pack's stages, over those of the file.
        thresholds: likewise.
        min_passed: least share of the cases that must pass the pack, 0-1; all of them if None. A case with a
            stage that could not be computed has not passed.
        gates: a TOML file.
        baseline: a run's file; what it may be worse says the gates file under `[baseline]`.
        allow_different_cases: compare the cases that the baseline has too.
        allow_errors: do not fail because a case went wrong.
        judge: for metrics that ask; stays the caller's to close.
        embedder: for metrics that compare meanings; `default` for the library's own.
        out: journal.
        verifier: the `evaluation` fixture brings the session's.

    Raises:
        AssertionError: a case does not pass the pack, a gate or the baseline fails, a gated figure was not
            computed, a metric of `metrics` (without any, every one) was computed for no case, no sentence
            could be checked, or a case went wrong; the message begins with the cases that do not hold.
        UsageError: a file does not hold what it should, or options contradict each other. Caller.
    """
    __tracebackhide__ = True
    from streamverify import evaluate as offline  # noqa: PLC0415 - a plugin must not slow other tests down
    from streamverify.evaluate.checked import checked, message, pack_of, passing  # noqa: PLC0415 - as above

    if isinstance(embedder, str):
        from streamverify.evaluate.embedder import embedder_named  # noqa: PLC0415 - loads numpy

        embedder = embedder_named(embedder)
    cases = dataset if isinstance(dataset, offline.Dataset) else offline.read_dataset(dataset)
    bundle = pack_of(pack, settings, weights or {}, thresholds or {})
    found = checked(
        cases,
        metrics=metrics,
        pack=bundle,
        gates=passing(gates, bundle, min_passed),
        baseline=baseline,
        allow_different_cases=allow_different_cases,
        allow_errors=allow_errors,
        judge=judge,
        embedder=embedder,
        out=out,
        verifier=verifier,
    )
    if found.failed:
        raise AssertionError(message(found))
    return found.run


@pytest.fixture
def evaluation(verifier: Verifier) -> Evaluation:
    """`assert_evaluation` with the session's verifier; nothing is loaded until it is called."""
    return functools.partial(assert_evaluation, verifier=verifier)


def _passes(sentence: JudgedSentence, allow: Collection[str], min_score: float | None) -> bool:
    low = min_score is not None and sentence.score is not None and sentence.score < min_score
    return sentence.label in allow and not low


def _message(report: Report, failing: set[int], allow: Collection[str], min_score: float | None) -> str:
    if not report.answer.strip():
        return "the answer is blank: there is nothing that could be grounded"
    wanted = " or ".join(allow) + (f", scores from {min_score:g}" if min_score is not None else "")
    head = f"{len(failing)} of {len(report.sentences)} sentences are not grounded (wanted: {wanted})"
    return "\n".join([head, "", *(line for s in report.sentences for line in _lines(s, s.index in failing))])


def _lines(sentence: JudgedSentence, failed: bool) -> Iterator[str]:
    score = f"{sentence.score:.2f}" if sentence.score is not None else "  - "
    yield f"{'>' if failed else ' '} {sentence.index + 1:>3} {sentence.label:<{_WIDTH}} {score}"
    text = sentence.text.rstrip("\n ")
    yield f"{_INDENT}{'-' if failed else ' '} {_flat(text)}"
    if not failed:
        return
    marks = _marks(sentence, text)
    if marks.strip():
        yield f"{_INDENT}? {marks.rstrip()}"
    for evidence in sentence.evidence[:1]:
        yield f"{_INDENT}+ {_flat(evidence.text.strip())}"
        place = f"{evidence.passage}[{evidence.start}:{evidence.end}]"
        yield f"{_INDENT}  passage {place}, {evidence.label} {evidence.score:.2f}"
    if sentence.reason:
        yield f"{_INDENT}! {_flat(sentence.why)}"
    for finding in sentence.findings:
        if (told := f"{finding.kind}: {finding.detail}") != sentence.why:
            yield f"{_INDENT}! {_flat(told)}"
    for citation in sentence.citations:
        if citation.finding != "correct":
            better = f"; {citation.better} supports it" if citation.better else ""
            yield f"{_INDENT}! citation {citation.marker or 'none'}: {citation.finding}{better}"


def _flat(text: str) -> str:
    """On one line, each character in its place."""
    return "".join(" " if char.isspace() else char for char in text)


def _marks(sentence: JudgedSentence, text: str) -> str:
    """Carets under the words that the passages do not back."""
    inside = [(span.start - sentence.start, span.end - sentence.start) for span in sentence.unsupported_spans]
    return "".join("^" if any(start <= i < end for start, end in inside) else " " for i in range(len(text)))
