"""One case of an evaluation: checked, measured and judged by its pack, wherever that is done.

Before: `runner.py`, or a worker on another machine, has a case. After: a journal takes the result.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import anyio

from streamverify.errors import JudgeError, ModelError, ScoringError, UsageError
from streamverify.evaluate.case import Case
from streamverify.evaluate.protocol import Measured, Metric, Tools, unmet
from streamverify.evaluate.records import CaseRecord
from streamverify.evaluate.result import CaseResult
from streamverify.figure import NotComputed
from streamverify.files.jsonl import encodable
from streamverify.policy import Policy
from streamverify.streaming.report import up_to_halt
from streamverify.types import Fingerprint, Label, Passage, Report
from streamverify.verifier import Verifier

if TYPE_CHECKING:
    from streamverify.evaluate.pack import Pack


class Examined(NamedTuple):
    """What came of a case."""

    result: CaseResult
    report: Report | None
    recorded: bool
    """Whether the report is that of a recorded stream."""
    check_ms: float | None
    """Milliseconds that the check took; None where there was none."""


_TRY_AGAIN = frozenset({"scorer_failed", "overloaded", "failed"})
"""Reasons for which a sentence was not checked that say nothing of the sentence: another try may check it."""


def checking(verifier: Verifier) -> Callable[[str, Sequence[Passage]], Report]:
    """`Tools.check` by this verifier; raises `ScoringError` where a sentence's check failed."""

    def check(text: str, passages: Sequence[Passage]) -> Report:
        report = verifier.check_sync(text, passages, policy="flag")
        if problem := failure_in(report):
            raise ScoringError(problem)
        return report

    return check


def failure_in(report: Report) -> str:
    """That checks of sentences failed, and the first one's reason; empty where none did.

    A sentence that cannot be checked, because there is no passage or it is too long, is no failure.
    """
    failed = [one for one in report.sentences if one.label is Label.UNVERIFIED and one.reason in _TRY_AGAIN]
    if not failed:
        return ""
    why = failed[0].reason_text or failed[0].reason
    return f"{len(failed)} of {len(report.sentences)} sentences were not checked: {why}"


@dataclass(frozen=True, slots=True)
class Examiner:
    """Checks and measures cases; several at once where it is asked to."""

    verifier: Verifier
    policy: Policy | None
    """None for the verifier's."""
    fingerprint: Fingerprint
    metrics: tuple[Metric, ...]
    pack: Pack | None
    tools: Tools

    async def examine(self, number: int, case: Case) -> Examined:
        """Check a case, unless a recording says what that would say, and measure it.

        Raises:
            ModelError: a model cannot be loaded. Operator.
        """
        report, recorded, error, took = None, False, "", None
        if case.answer is not None and case.answer.strip():
            recorded = self._same(case)
            start = time.perf_counter()
            try:
                report = await self._report(case, recorded=recorded)
            except (UsageError, ScoringError) as problem:
                error = f"{type(problem).__name__}: {problem}"
            took = None if recorded else (time.perf_counter() - start) * 1000
        result = await anyio.to_thread.run_sync(
            lambda: self._measured(number, case, report, error, recorded=recorded)
        )
        return Examined(result, report, recorded, took)

    def _same(self, case: Case) -> bool:
        """Whether a recording says what checking the case again would say."""
        recording = case.recording
        policy = (self.policy or self.verifier.policy).name
        return recording is not None and (recording.fingerprint, recording.policy) == (
            self.fingerprint,
            policy,
        )

    async def _report(self, case: Case, *, recorded: bool) -> Report:
        assert case.answer is not None
        if recorded:
            assert case.recording is not None
            return up_to_halt(case.recording.report)
        if case.recording is not None and case.passages is None:
            mark = case.recording.fingerprint
            raise UsageError(
                f"its stream was recorded with {mark.model} {mark.revision}, policy "
                f"{case.recording.policy}, and the row has no passages to score it again"
            )
        return up_to_halt(
            await self.verifier.check(
                case.answer, case.passages or (), question=case.question, policy=self.policy
            )
        )

    def _measured(
        self, number: int, case: Case, report: Report | None, error: str, *, recorded: bool
    ) -> CaseResult:
        figures: dict[str, Measured] = {}
        # What a recording tells is what was found then, and would not be tried again.
        unchecked = "" if report is None or recorded else failure_in(report)
        problems = [one for one in (error, unchecked) if one]
        for one in self.metrics:
            gap = unmet(one, case, self.tools)
            if gap is None and error:
                gap = NotComputed("the case could not be checked")
            if gap is not None:
                figures[one.name] = Measured(gap)
                continue
            try:
                figures[one.name] = _writable(one, one(case, report, self.tools))
            except ModelError:
                raise
            except Exception as problem:  # noqa: BLE001 - a metric may be anyone's; the case says what it raised
                problems.append(f"{one.name}: {type(problem).__name__}: {problem}")
                why = (
                    "the judge failed"
                    if isinstance(problem, JudgeError)
                    else f"the metric raised {type(problem).__name__}"
                )
                figures[one.name] = Measured(NotComputed(why))
        result = CaseResult(
            number=number,
            id=case.id,
            category=case.category,
            question_digest=case.question_digest,
            figures=figures,
            counts={} if report is None else {str(label): count for label, count in report.counts.items()},
            outcome="" if report is None else report.outcome,
            error="; ".join(problems),
        )
        held = CaseRecord(number=number, id=case.id, figures={}, report=report)
        result = replace(result, load=lambda: held)
        return result if self.pack is None else self.pack.judged(case, result, self.tools)


def _writable(by: Metric, measured: Measured) -> Measured:
    """As it is.

    Raises:
        ValueError, TypeError: a journal cannot hold it, or it is out of its metric's range. Whoever wrote the
            metric.
    """
    figure, (low, high) = measured.figure, by.range
    if not isinstance(figure, NotComputed) and (figure < low or (high is not None and figure > high)):
        raise ValueError(f"{by.name}: {figure:g} is outside of its range")
    told = [measured.warning, figure.reason if isinstance(figure, NotComputed) else ""]
    if measured.details or not all(map(encodable, told)):
        json.dumps([told, dict(measured.details)], ensure_ascii=False, allow_nan=False).encode()
    return measured
