"""From scores and findings to a label: plain arithmetic, no model, no I/O.

Before: a scorer scored the claim, `checks/` compared it with the sources.
After: `citations/` checks the markers, `policy.py` decides.

    features ──► calibrated P(supported) ──► SUPPORTED at or above the threshold
                                        └──► else CONTRADICTED where P(contradicted) says so, what opposes it
                                             is about the same thing, and the model alone would not have
                                             called it supported; or UNSUPPORTED

The features are log-odds of the model's probabilities and the signals of the deterministic checks. A
finding moves the probability by its fitted weight and no more: no check alone decides a label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from statistics import fmean

from streamverify.calibration import Calibration, logit
from streamverify.checks import Signals
from streamverify.checks.subjects import of_another
from streamverify.errors import ModelContractError
from streamverify.scorers.protocol import Claim, ClaimScore, TokenRisk, Traits, Window, WindowScore
from streamverify.types import Finding, FindingKind, Label, Span

CONFLICT = 0.7
"""Two passages conflict about a claim where one entails and another contradicts it at least this surely."""

MODEL_FEATURES = ("single", "joint", "second", "contradiction", "about", "risk", "risk_mean")
SIGNAL_FEATURES = tuple(field.name for field in fields(Signals))
_NO_SIGNALS = dict.fromkeys(SIGNAL_FEATURES, 0.0)


def features(score: ClaimScore, signals: Signals, about: Sequence[float]) -> dict[str, float]:
    """What a calibration may weigh, by name.

    Args:
        score: of the claim.
        signals: of the checks.
        about: for each single pass how far its window is about the claim, 0 to 1.

    Returns:
        `single`, `second`: log-odds of the highest and second highest entailment of a single pass (equal
        where there is one pass); `joint`: of the joint pass, or `single` without one; `contradiction`:
        log-odds of contradiction of the window that opposes the claim most, its contradiction taken times
        how far it is about the claim, and `about`: how far it is (0-1); `risk`, `risk_mean`: the mean of the
        three highest token risks and of all of them (0-1; 0 where tokens are not judged); and every field
        of `checks.Signals`.
    """
    entailment = [entry.score.entailment for entry in score.single]
    risks = sorted((token.risk for token in score.tokens), reverse=True) or [0.0]
    against = [entry.score.contradiction for entry in score.single]
    opposed = [(value * share, value) for value, share in zip(against, about, strict=True)]
    deciding = opposed.index(max(opposed))
    return {
        "single": logit(entailment[0]),
        "second": logit(entailment[min(1, len(entailment) - 1)]),
        "joint": logit(score.joint.entailment if score.joint is not None else entailment[0]),
        "contradiction": logit(against[deciding]),
        "about": about[deciding],
        "risk": fmean(risks[:3]),
        "risk_mean": fmean(risks),
        **signals.features(),
    }


def check_calibration(calibration: Calibration, traits: Traits) -> None:
    """Refuse a calibration that weighs a feature nobody computes.

    Raises:
        ModelContractError: names the unknown features and the known ones, or says that the scorer has
            no joint pass. Operator.
    """
    if "joint" in {*calibration.weights, *calibration.contradiction_weights} and not traits.joint:
        raise ModelContractError(
            "the calibration weighs the joint pass and the scorer runs none: set joint_windows"
        )
    known = {*MODEL_FEATURES, *SIGNAL_FEATURES}
    unknown = sorted({*calibration.weights, *calibration.contradiction_weights} - known)
    if unknown:
        raise ModelContractError(
            f"the calibration weighs unknown features {', '.join(unknown)}; "
            f"known are {', '.join(sorted(known))}"
        )


def label_for(
    calibration: Calibration, measured: Mapping[str, float], *, contradiction: bool
) -> tuple[Label, float]:
    """The label and the calibrated probability that the passages support the claim.

    Args:
        calibration: the scorer's, or the caller's own.
        measured: of `features`.
        contradiction: whether the scorer can tell contradiction from silence.
    """
    probability = calibration.probability(measured)
    if probability >= calibration.threshold:
        return Label.SUPPORTED, probability
    # Checks may cast doubt on what the model finds supported; they never turn it into a contradiction.
    alone = calibration.probability({**measured, **_NO_SIGNALS}) >= calibration.threshold
    opposed = calibration.contradiction_probability(measured) >= calibration.contradiction_threshold
    same = measured["about"] >= calibration.contradiction_about
    if contradiction and opposed and same and not alone:
        return Label.CONTRADICTED, probability
    return Label.UNSUPPORTED, probability


def conflict(
    claim: Claim,
    passes: Sequence[WindowScore],
    windows: Sequence[Window],
    ids: Sequence[str],
) -> Finding | None:
    """A finding where one passage entails the claim and another, about the same thing, contradicts it.

    Args:
        claim: places the finding.
        passes: single passes over windows that are about the same thing.
        windows: that the score's indices count in.
        ids: of the passages, by position.
    """
    agree = [windows[w.window].passage for w in passes if w.score.entailment >= CONFLICT]
    oppose = [windows[w.window] for w in passes if w.score.contradiction >= CONFLICT]
    # A passage that says both, window by window, is no witness against another; nor is one on another plan.
    others = [
        window.passage
        for window in oppose
        if agree and window.passage not in agree and not of_another(claim.text, window.title, window.text)
    ]
    span = placed(claim, 0, len(claim.text))
    if not others or span is None:
        return None
    detail = f"passage {ids[agree[0]]} says so, passage {ids[others[0]]} says otherwise"
    return Finding(kind=FindingKind.SOURCE_CONFLICT, start=span.start, end=span.end, detail=detail)


def unsupported_spans(
    claim: Claim, tokens: Sequence[TokenRisk], threshold: float, findings: Sequence[Finding], fallback: Span
) -> tuple[Span, ...]:
    """The parts of the sentence that the passages do not back, in order, without overlap.

    Tokens at or above the threshold and mismatches found by the checks; neighbours with nothing but
    blanks or one short word between them are joined. Without any the whole sentence.
    """
    found = [
        span
        for token in tokens
        if token.risk >= threshold and (span := placed(claim, token.start, token.end)) is not None
    ]
    found += [
        Span(finding.start, finding.end)
        for finding in findings
        if finding.kind is not FindingKind.SOURCE_CONFLICT
    ]
    inside = sorted(
        Span(max(span.start, fallback.start), min(span.end, fallback.end))
        for span in found
        if span.start < fallback.end and span.end > fallback.start
    )
    joined: list[Span] = []
    for span in inside:
        if joined and span.start - joined[-1].end <= _BRIDGE:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return tuple(joined) or (fallback,)


_BRIDGE = 4
"""Characters between two unsupported stretches that are joined: a blank, or a short word and its blanks."""


def placed(claim: Claim, start: int, end: int) -> Span | None:
    """Where characters of the claim stand in the answer; None where all of them were put in from context."""
    for whole in claim.wholes:
        if whole.start < end and start < whole.end:
            start, end = min(start, whole.start), max(end, whole.end)
    own = [offset for offset in claim.offsets[start:end] if offset >= 0]
    return Span(min(own), max(own) + 1) if own else None
