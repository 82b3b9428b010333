"""Takes personal items out of what one stream shows.

Before: `policy.py` makes one for each stream. After: `streaming/session.py` shows what is left.

    releases ──► _Generated ──► _Shown ──► releases, items replaced

An item may begin in one release and end in the next, so text is searched up to a place that no item goes on
behind; what comes after that place waits for more. It is searched twice. In the answer as generated, because
what a policy writes between two sentences, or in place of one, may stand between a title and its name. In the
text as it is shown, because a mark or a repair may bring two halves together.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamverify.pii.items import CONTEXT, LONGEST, PiiDetector, PiiItem, barriers, blocked, replaced
from streamverify.showing.releases import Release, ReleaseFilter
from streamverify.types import Action, Span

_VERBATIM = (Action.RELEASE, Action.FLAG)
_MOST = 1_000
"""Characters without an end of a sentence after which all but the last are shown all the same."""


class PiiFilter:
    """The two searches of one stream, behind another filter where there is one."""

    def __init__(self, detector: PiiDetector, further: ReleaseFilter | None) -> None:
        """Nothing was shown yet.

        Args:
            detector: finds the items.
            further: what the releases go through before.
        """
        self._detector, self._further = detector, further
        self._generated, self._shown = _Generated(detector), _Shown(detector)

    def feed(self, releases: Sequence[Release], generated: str, /) -> Sequence[Release]:
        """What may be shown now."""
        if self._further is not None:
            releases = self._further.feed(releases, generated)
        return self._shown.feed(self._generated.feed(releases, generated))

    def flush(self) -> Sequence[Release]:
        """What was kept."""
        kept = self._further.flush() if self._further is not None else ()
        return [*self._shown.feed(self._generated.flush(kept)), *self._shown.flush()]

    def quoted(self, text: str, /) -> str:
        """The text with blocks in place of its items."""
        if self._further is not None:
            text = self._further.quoted(text)
        return blocked(text, self._detector)


class _Generated:
    """Replaces what is shown of the answer's own items; places are the answer's."""

    def __init__(self, detector: PiiDetector) -> None:
        self._detector = detector
        self._text = ""
        """The answer from `_start` on: what is not settled yet, and some of what is."""
        self._start = 0
        self._settled = 0
        self._waiting: list[Release] = []

    def feed(self, releases: Sequence[Release], generated: str) -> list[Release]:
        self._text += generated
        self._waiting += releases
        known = self._settled - self._start
        return self._take(self._start + _settled(self._text, known, self._detector))

    def flush(self, releases: Sequence[Release]) -> list[Release]:
        self._waiting += releases
        return self._take(self._start + len(self._text))

    def _take(self, end: int) -> list[Release]:
        begun, self._settled = self._settled, end
        items = [
            PiiItem(item.kind, item.start + self._start, item.end + self._start)
            for item in (self._detector(self._text) if end > begun else ())
        ]
        taken: list[Release] = []
        waiting: list[Release] = []
        for release in self._waiting:
            if release.span.end <= end and not waiting:
                taken.append(release)
            elif release.span.start < end and _verbatim(release):
                first, second = _cut(release, end - release.span.start)
                taken.append(first)
                waiting.append(second)
            else:
                waiting.append(release)
        self._waiting = waiting
        kept = max(end - CONTEXT, self._start)
        self._text, self._start = self._text[kept - self._start :], kept
        return _without_items(taken, items)


def _without_items(releases: Sequence[Release], items: Sequence[PiiItem]) -> list[Release]:
    """The releases, items of the answer replaced where it is shown as it is; told where one first shows."""
    told: set[PiiItem] = set()
    left: list[Release] = []
    for release in releases:
        inside = _inside(items, release.span.start, release) if _verbatim(release) else []
        own = [part._replace(kind="" if item in told else item.kind) for item, part in inside]
        left += _without(release, own)
        told.update(item for item, _ in inside)
    return left


class _Shown:
    """Replaces items of the text as it is shown; places are that text's."""

    def __init__(self, detector: PiiDetector) -> None:
        self._detector = detector
        self._shown = ""
        """The end of what was shown."""
        self._waiting: list[Release] = []

    def feed(self, releases: Sequence[Release]) -> list[Release]:
        self._waiting += releases
        text = self._text()
        return self._take(text, _settled(text, len(self._shown), self._detector))

    def flush(self) -> list[Release]:
        text = self._text()
        return self._take(text, len(text))

    def _text(self) -> str:
        return self._shown + "".join(release.text for release in self._waiting)

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
                taken += _without(release, _own(items, at, release))
            elif at >= end:
                waiting.append(release)
            else:
                first, second = _cut(release, end - at)
                taken += _without(first, _own(items, at, first))
                waiting.append(second)
            at = after
        self._waiting = waiting
        self._shown = (self._shown + "".join(release.text for release in taken))[-CONTEXT:]
        return taken


def _settled(text: str, known: int, detector: PiiDetector) -> int:
    """Up to where no item goes on behind what there is; at least `known`."""
    ends = barriers(text)
    if ends and ends[-1] > known:
        return ends[-1]
    if len(text) - known <= _MOST:
        return known
    place = len(text) - LONGEST
    across = (item.start for item in detector(text) if item.start < place < item.end)
    return max(next(across, place), known)


def _cut(release: Release, at: int) -> tuple[Release, Release]:
    """A release in two; of one that stands for other text the first part stands for all of it."""
    text, span, action = release
    middle = span.start + at if _verbatim(release) else span.end
    return Release(text[:at], Span(span.start, middle), action), Release(
        text[at:], Span(middle, span.end), action
    )


def _inside(items: Sequence[PiiItem], at: int, release: Release) -> list[tuple[PiiItem, PiiItem]]:
    """The items in a release that begins at `at`, and what each is of the release's own characters."""
    length = len(release.text)
    return [
        (item, PiiItem(item.kind, max(item.start - at, 0), min(item.end - at, length)))
        for item in items
        if item.start < at + length and item.end > at
    ]


def _own(items: Sequence[PiiItem], at: int, release: Release) -> list[PiiItem]:
    """The same, an item told where it begins."""
    inside = _inside(items, at, release)
    return [own if item.start >= at else own._replace(kind="") for item, own in inside]


def _without(release: Release, own: Sequence[PiiItem]) -> list[Release]:
    """A release with something else in place of some of its characters."""
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
