"""A run without personal data in its texts: to be passed on, and read as any other.

Before: a run. After: `report/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from streamverify.evaluate.records import CaseRecord, StageRecord
from streamverify.evaluate.result import CaseResult
from streamverify.evaluate.run import Run
from streamverify.pii import PiiDetector, Recognisers, blocked, redacted_report
from streamverify.types import Passage


def redacted_run(
    run: Run,
    detector: PiiDetector | None = None,
    passages: Mapping[str, Sequence[Passage]] | None = None,
) -> Run:
    """The run with its kind and blocks in place of every item in questions, answers, evidence and errors.

    Figures, ids and categories stay as they are.

    Args:
        run: as measured; a case's texts are read from its journal when they are asked for, as before.
        detector: the own recognisers by default.
        passages: of each case, by its id. A run does not hold them, and what stands before a quotation may
            say what it begins with; without them see `redacted_report`.
    """
    chosen = detector if detector is not None else Recognisers()

    def hide(text: str) -> str:
        return blocked(text, chosen)

    def stage(one: StageRecord) -> StageRecord:
        return one.model_copy(update={"findings": tuple(map(hide, one.findings))})

    def record(one: CaseRecord | None) -> CaseRecord | None:
        if one is None:
            return None
        quoted = (passages or {}).get(one.id, ())
        report = None if one.report is None else redacted_report(one.report, chosen, quoted)
        question = None if one.question is None else hide(one.question)
        stages = tuple(map(stage, one.stages))
        texts = {"question": question, "report": report, "error": hide(one.error), "stages": stages}
        return one.model_copy(update=texts)

    def case(one: CaseResult) -> CaseResult:
        def load(read: Callable[[], CaseRecord | None] = one.load) -> CaseRecord | None:
            return record(read())

        return replace(one, error=hide(one.error), stages=tuple(map(stage, one.stages)), load=load)

    return replace(run, cases=tuple(map(case, run.cases)))
