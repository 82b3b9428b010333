"""Replacing a sentence that the passages do not support by one that they do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import anyio

from streamverify.policy import Repair, RepairRequest
from streamverify.segment import segment
from streamverify.types import Label, Passage, Replacement, Sentence, Verdict

Judge = Callable[[Sentence, Sequence[Sentence]], Awaitable[Verdict]]
"""Judges a sentence that stands after the given ones."""

_PASSES = frozenset({Label.SUPPORTED, Label.NO_CLAIM})


async def repair(
    policy: Repair,
    sentence: Sentence,
    verdict: Verdict,
    *,
    previous: Sequence[Sentence],
    passages: tuple[Passage, ...],
    question: str | None,
    judge: Judge,
) -> Replacement | None:
    """A replacement every sentence of which passed, or None after `policy.attempts` tries.

    A rewrite that takes longer than `policy.timeout` counts as a failed try. An error of the rewrite
    function is the caller's own and is not caught.
    """
    rejected: list[str] = []
    for attempt in range(1, policy.attempts + 1):
        request = RepairRequest(sentence, verdict, passages, question, attempt, tuple(rejected))
        text: str | None = None
        with anyio.move_on_after(policy.timeout):
            text = (await policy.rewrite(request)).strip()
        if not text:
            continue
        parts = segment(text)
        verdicts = [await judge(part, [*previous, *parts[:at]]) for at, part in enumerate(parts)]
        if all(v.label in _PASSES for v in verdicts) and any(v.label is Label.SUPPORTED for v in verdicts):
            return Replacement(text=text, attempts=attempt, verdicts=tuple(verdicts))
        rejected.append(text)
    return None
