"""No personal data in what a reader sees, whatever else a policy decides.

Before: `policy.py` decides about a sentence. After: `streaming/session.py` shows what is left.

    releases of a sentence ──► _Filter ── up to the last sentence's end ──► releases, items replaced

An item may begin in one release and end in the next, and a mark or a repair may bring two halves together. So
what is searched is the text as it is shown, up to a place that no item goes on behind; what comes after that
place waits for more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from streamverify.pii.items import CONTEXT, LONGEST, PiiDetector, PiiItem, barriers, blocked, replaced
from streamverify.pii.recognisers import Recognisers
from streamverify.policy import (
    Decision,
    Flag,
    Policy,
    RepairingPolicy,
    RepairPlan,
    Tally,
    repair_plan,
)
from streamverify.releases import FilteringPolicy, Release, ReleaseFilter
from streamverify.types import Action, Sentence, Span, Verdict

_VERBATIM = (Action.RELEASE, Action.FLAG)
_MOST = 1_000
"""Characters without an end of a sentence after which all but the last are shown all the same."""


@dataclass(frozen=True, slots=True)
class RedactPii:
    """Show `[email]` in place of an address of mail, and so on; the rest is up to `base`.

    Text waits until its sentence is closed, and under a `base` that holds text for its verdict too. Events
    quote passages with their items behind blocks. Report and events tell the answer as generated to the
    application; a reader's protocols and adapters tell what was shown.
    """

    base: Policy = field(default_factory=Flag)
    """Decides about each sentence as if nothing were personal."""
    detector: PiiDetector = field(default_factory=Recognisers)
    """Called in the event loop, with some sentences at a time."""
    holds_text: bool = field(default=True, init=False)

    @property
    def name(self) -> str:
        """`redact_pii`, with the base's."""
        return f"redact_pii+{self.base.name}"

    def holds(self, sentence: Sentence) -> bool:
        """Whether the base waits for the verdict of this sentence."""
        return self.base.holds_text and self.base.holds(sentence)

    def decide(self, sentence: Sentence, verdict: Verdict, tally: Tally) -> Decision:
        """As the base decides."""
        return self.base.decide(sentence, verdict, tally)

    def repair(self, sentence: Sentence, verdict: Verdict) -> RepairPlan | None:
        """As the base repairs, where it does."""
        return repair_plan(self.base, sentence, verdict) if isinstance(self.base, RepairingPolicy) else None

    def release_filter(self) -> ReleaseFilter:
        """Of one stream."""
        return _Filter(self.detector, self.base)


class _Filter:
    def __init__(self, detector: PiiDetector, base: Policy) -> None:
        self._detector = detector
        self._further = base.release_filter() if isinstance(base, FilteringPolicy) else None
        self._shown = ""
        """The end of what was shown."""
        self._waiting: list[Release] = []

    def feed(self, releases: Sequence[Release], /) -> Sequence[Release]:
        if self._further is not None:
            releases = self._further.feed(releases)
        self._waiting += releases
        text = self._shown + "".join(release.text for release in self._waiting)
        return self._take(text, self._settled(text))

    def flush(self) -> Sequence[Release]:
        if self._further is not None:
            self._waiting += self._further.flush()
        text = self._shown + "".join(release.text for release in self._waiting)
        return self._take(text, len(text))

    def quoted(self, text: str, /) -> str:
        if self._further is not None:
            text = self._further.quoted(text)
        return blocked(text, self._detector)

    def _settled(self, text: str) -> int:
        """Up to where no item goes on behind what there is."""
        ends = barriers(text)
        if ends and ends[-1] > len(self._shown):
            return ends[-1]
        if len(text) - len(self._shown) <= _MOST:
            return len(self._shown)
        place = len(text) - LONGEST
        across = (item.start for item in self._detector(text) if item.start < place < item.end)
        return max(next(across, place), len(self._shown))

    def _take(self, text: str, end: int) -> list[Release]:
        start = len(self._shown)
        found = self._detector(text) if end > start else ()
        items = [item for item in found if item.start < end and item.end > start]
        taken: list[Release] = []
        waiting: list[Release] = []
        at = start
        for release in self._waiting:
            after = at + len(release.text)
            if after <= end:
                taken += _without(release, at, items)
            elif at >= end:
                waiting.append(release)
            else:
                first, second = _cut(release, end - at)
                taken += _without(first, at, items)
                waiting.append(second)
            at = after
        self._waiting = waiting
        self._shown = (self._shown + "".join(release.text for release in taken))[-CONTEXT:]
        return taken


def _cut(release: Release, at: int) -> tuple[Release, Release]:
    """A release in two; of one that stands for other text the first part stands for all of it."""
    text, span, action = release
    middle = span.start + at if _verbatim(release) else span.end
    return Release(text[:at], Span(span.start, middle), action), Release(
        text[at:], Span(middle, span.end), action
    )


def _without(release: Release, at: int, items: Sequence[PiiItem]) -> list[Release]:
    """A release that begins at `at`, its items replaced."""
    own = [
        PiiItem(
            item.kind if item.start >= at else "",
            max(item.start - at, 0),
            min(item.end - at, len(release.text)),
        )
        for item in items
        if item.start < at + len(release.text) and item.end > at
    ]
    if not own:
        return [release]
    if not _verbatim(release):
        return [release._replace(text=replaced(release.text, own, _mark))]
    parts, rest, done = [], release, 0
    for item in own:
        before, rest = _cut(rest, item.start - done)
        inside, rest = _cut(rest, item.end - item.start)
        if before.text:
            parts.append(before)
        parts.append(Release(_mark(item), inside.span, Action.REDACT))
        done = item.end
    return [*parts, rest] if rest.text else parts


def _mark(item: PiiItem) -> str:
    """Told once, where the item begins."""
    return f"[{item.kind}]" if item.kind else ""


def _verbatim(release: Release) -> bool:
    return release.action in _VERBATIM and len(release.text) == release.span.end - release.span.start
