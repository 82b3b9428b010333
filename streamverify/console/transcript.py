"""A stream's events as styled text: sentences coloured, badges behind them, citations marked.

Before: the events of a stream. After: `views.py` puts the text on a screen.

Everything that came from outside (answer, passages, titles, errors) goes through `safe` before it meets
a terminal, and reaches rich as `Text`, which interprets no markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from streamverify.events import Event, SentenceClosed, SentenceJudged, SentenceRevised, TextReleased
from streamverify.types import Action, Citation, CitationFinding, Label, Sentence, Span, Verdict

GLUE = "\ue000"
"""Stands for a blank at which a line must not break, until the line is cut."""

_WORD = re.compile(r"\s*\S+\s*|\s+")
_REPLACEMENT = 0xFFFD
_HOSTILE: dict[int, int] = {
    **{code: 0x2400 + code for code in range(0x20)},  # control pictures: ␀ … ␛ …
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), _REPLACEMENT),  # C1: CSI among them
    **dict.fromkeys((0x61C, 0x200B, 0x200E, 0x200F, 0xFEFF), _REPLACEMENT),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), _REPLACEMENT),  # overrides of direction
    **dict.fromkeys((0x09, 0x0D, 0x2028, 0x2029), 0x20),
    **dict.fromkeys(range(0xD800, 0xE000), _REPLACEMENT),  # lone surrogates
    ord(GLUE): _REPLACEMENT,
    0x0A: 0x0A,
}


def safe(text: str) -> str:
    """The text with nothing left in it that could steer a terminal.

    Control characters become visible pictures, one for one, so offsets stay right; line feeds stay.
    """
    return text.translate(_HOSTILE)


def one_line(text: str) -> str:
    """The text made safe, on one line, with runs of blanks joined."""
    return " ".join(safe(text).split())


class Look(NamedTuple):
    """How a label or finding is told: by shape, by word and by colour; any two may be missing."""

    symbol: str
    ascii: str
    word: str
    style: str
    """Colours of the terminal's own theme, so that they suit its background."""


LABELS: dict[Label, Look] = {
    Label.SUPPORTED: Look("✓", "+", "supported", "green"),
    Label.CONTRADICTED: Look("✗", "x", "contradicted", "red"),
    Label.UNSUPPORTED: Look("?", "?", "unsupported", "magenta"),
    Label.NO_CLAIM: Look("·", "-", "no claim", "dim"),
    Label.UNVERIFIED: Look("!", "!", "unverified", "cyan"),
}

CITATIONS: dict[CitationFinding, Look] = {
    CitationFinding.CORRECT: Look("✓", "+", "", "green"),
    CitationFinding.PARTIAL: Look("~", "~", "partial", "magenta"),
    CitationFinding.WRONG_PASSAGE: Look("✗", "x", "wrong passage", "red"),
    CitationFinding.FABRICATED: Look("✗", "x", "fabricated", "red"),
    CitationFinding.MISSING: Look("∅", "0", "no citation", "magenta"),
    CitationFinding.UNSUPPORTED: Look("✗", "x", "no support", "magenta"),
    CitationFinding.UNVERIFIED: Look("!", "!", "not checked", "cyan"),
}

_ACTED = {
    Action.REDACT: "redacted",
    Action.REPAIR: "repaired",
}


@dataclass(frozen=True, slots=True)
class Style:
    """What the terminal can show."""

    unicode: bool = True

    def badge(self, look: Look, more: str = "", *, plain: bool = False) -> Text:
        """Symbol and word, held together by glue, or by blanks for what is not wrapped here."""
        symbol = look.symbol if self.unicode else look.ascii
        words = f"{symbol} {look.word}{more}".strip().replace(" ", " " if plain else GLUE)
        return Text(words, style=look.style if look.style == "dim" else f"bold {look.style}")

    def citation(self, citation: Citation, label: Label) -> Text:
        """What stands behind a marker in a sentence with this label."""
        look = CITATIONS[citation.finding]
        if says_nothing_new(citation, label):
            return self.badge(look._replace(word=""))
        better = f" → {safe(citation.better)}" if citation.better is not None else ""
        return self.badge(look, better if self.unicode else better.replace("→", "->"))


def says_nothing_new(citation: Citation, label: Label) -> bool:
    """Whether a citation without support stands in a sentence that nothing supports anyway."""
    return citation.finding is CitationFinding.UNSUPPORTED and label in (
        Label.UNSUPPORTED,
        Label.CONTRADICTED,
    )


class Fragment(NamedTuple):
    """Text a reader sees, and the part of the answer it stands for."""

    text: str
    span: Span
    action: Action

    @property
    def verbatim(self) -> bool:
        """Whether it is that part of the answer itself."""
        return self.action not in (Action.REDACT, Action.REPAIR)

    def within(self, start: int, end: int) -> Fragment | None:
        """The part of it that stands in `[start, end)` of the answer; a replacement is never divided."""
        low, high = max(start, self.span.start), min(end, self.span.end)
        if low >= high:
            return None
        if not self.verbatim:
            return self
        offset = self.span.start
        return Fragment(self.text[low - offset : high - offset], Span(low, high), self.action)


class Settled(NamedTuple):
    """A sentence that was judged and shown."""

    verdict: Verdict
    text: str
    """As shown, as it came."""
    acted: str
    """`redacted`, `repaired` or nothing; where it shares a placeholder, that it does."""


def styled_sentence(
    fragments: Iterable[Fragment], verdict: Verdict, style: Style, *, shares: bool = False
) -> Text:
    """One judged sentence: coloured, underlined, citations marked, a badge before its closing blanks.

    Args:
        fragments: what is shown of it.
        verdict: on it.
        style: what the terminal can show.
        shares: whether nothing is, because the placeholder before it stands for it too.
    """
    fragments = list(fragments)
    body = Text()
    positions: dict[int, int] = {}  # offset in the answer -> offset in `body`
    for fragment in fragments:
        if fragment.verbatim:
            for offset in range(fragment.span.end - fragment.span.start):
                positions[fragment.span.start + offset] = len(body) + offset
            body.append(safe(fragment.text), LABELS[verdict.label].style)
        else:
            body.append(safe(fragment.text), "reverse" if fragment.action is Action.REDACT else "italic")
    for span in verdict.unsupported_spans:
        for low, high in _runs(positions[at] for at in range(*span) if at in positions):
            body.stylize("underline", low, high)
    tail = body.plain[len(body.plain.rstrip()) :]
    body.rstrip()
    acted = _acted(fragments)
    if shares:
        body.append("and the next sentence:", "dim")
    marked = _with_citations(body, positions, verdict, style)
    marked.append(" ").append_text(style.badge(LABELS[verdict.label], f", {acted}" if acted else ""))
    # Scripts without blanks between sentences get one behind the badge.
    return marked.append(tail or " ")


def _acted(fragments: Iterable[Fragment]) -> str:
    """What the policy did that a reader of the badge should know."""
    return next((_ACTED[fragment.action] for fragment in fragments if fragment.action in _ACTED), "")


def _with_citations(body: Text, positions: dict[int, int], verdict: Verdict, style: Style) -> Text:
    """The body with each marker's finding behind it; a finding without a marker goes to the end."""
    inserts: list[tuple[int, Text]] = []
    for citation in verdict.citations:
        last = positions.get(citation.end - 1)
        text = style.citation(citation, verdict.label)
        if citation.finding is CitationFinding.MISSING:
            inserts.append((len(body), Text(" ").append_text(text)))
        elif last is not None:
            inserts.append((min(last + 1, len(body)), text))
    inserts.sort(key=lambda insert: insert[0])
    marked, done = Text(), 0
    for at, text in inserts:
        if at > done:
            marked.append_text(body[done:at])
            done = at
        marked.append_text(text)
    return marked.append_text(body[done:]) if done < len(body) else marked


def _runs(offsets: Iterable[int]) -> Iterator[Span]:
    """Neighbouring offsets, in order, as ranges."""
    start = end = -1
    for offset in offsets:
        if offset != end:
            if start != end:
                yield Span(start, end)
            start = offset
        end = offset + 1
    if start != end:
        yield Span(start, end)


def wrapped(text: Text, width: int) -> list[Text]:
    """The text as lines of at most `width` cells, cut at blanks where there are any."""
    return [_finished(line) for line in _cut(text, width)]


def _cut(text: Text, width: int) -> list[Text]:
    """At least one line; closing blanks and glue are still there, so that the last line can be continued."""
    lines: list[Text] = []
    for paragraph in text.split("\n", allow_blank=True) or [Text()]:
        lines.extend(paragraph.divide(_breaks(paragraph.plain, width)))
    return lines


def _breaks(plain: str, width: int) -> Iterator[int]:
    """Offsets at which lines begin, greedily: what follows an offset never moves it."""
    used = 0
    for word in _WORD.finditer(plain):
        start, cells = word.start(), cell_len(word.group().rstrip())
        if used and used + cells > width:
            yield start
            used = 0
        if cells > width:  # longer than a line: cut wherever a line is full
            for offset, char in enumerate(word.group().rstrip(), start):
                wide = cell_len(char)
                if used and used + wide > width:
                    yield offset
                    used = 0
                used += wide
            used += cell_len(word.group()) - cells
        else:
            used += cell_len(word.group())


def _finished(line: Text) -> Text:
    line.rstrip()
    line.plain = line.plain.replace(GLUE, " ")
    return line


@dataclass(slots=True)
class Transcript:
    """What a reader sees of one stream so far: text that is settled for good, and text that is not.

    A sentence is settled when its last verdict was told and its text was shown. Settled text is wrapped as it
    comes; a line of it that is full can never change, so `take` hands it out and forgets it.
    """

    style: Style = field(default_factory=Style)
    counts: dict[Label, int] = field(default_factory=lambda: dict.fromkeys(Label, 0))
    closed: int = 0
    """Sentences closed so far."""
    latest: SentenceJudged | SentenceRevised | None = None
    """The last verdict that came with evidence, findings or a score."""
    _settled: Text = field(default_factory=Text)
    _sentences: list[Settled] = field(default_factory=list)
    _fragments: list[Fragment] = field(default_factory=list)
    _waiting: dict[int, Sentence] = field(default_factory=dict)
    _verdicts: dict[int, SentenceJudged | SentenceRevised] = field(default_factory=dict)
    _shown: int = 0
    _replaced: bool = False
    """Whether a placeholder stands for the sentence that was settled last."""

    @property
    def judged(self) -> int:
        """Sentences with a verdict so far."""
        return sum(self.counts.values())

    def apply(self, event: Event) -> None:
        """Take the next event."""
        match event:
            case TextReleased():
                self._fragments.append(Fragment(event.text, event.span, event.action))
                self._shown = max(self._shown, event.span.end)
            case SentenceClosed(sentence=sentence):
                self.closed += 1
                self._waiting[sentence.index] = sentence
            case SentenceJudged() | SentenceRevised():
                if (before := self._verdicts.get(event.index)) is not None:
                    self.counts[before.label] -= 1
                self.counts[event.label] += 1
                self._verdicts[event.index] = event
                if event.score is not None or event.findings or self.latest is None:
                    self.latest = event
            case _:
                return
        self._settle()

    def take(self, width: int) -> list[Text]:
        """The settled lines that are full, each once."""
        *full, self._settled = _cut(self._settled, width)
        return [_finished(line) for line in full]

    def take_sentences(self) -> list[Settled]:
        """The sentences settled since the last call, each once."""
        sentences, self._sentences = self._sentences, []
        return sentences

    def rest(self) -> Text:
        """What `take` has not handed out: the last settled line and all that is not settled."""
        text = self._settled.copy()
        style = self.style
        for sentence in self._waiting.values():
            shown = [part for f in self._fragments if (part := f.within(sentence.start, sentence.end))]
            verdict = self._verdicts.get(sentence.index)
            if not shown:
                continue
            plain = safe("".join(f.text for f in shown))
            text.append(plain.rstrip())
            if verdict is not None and verdict.provisional:
                text.append(GLUE).append_text(style.badge(LABELS[verdict.label]))
            if verdict is None or verdict.provisional:
                text.append(f"{GLUE}{'…' if style.unicode else '...'}", "dim")
            text.append(plain[len(plain.rstrip()) :] or " ")
        closed = max((sentence.end for sentence in self._waiting.values()), default=0)
        left = (f.within(closed, self._shown) for f in self._fragments)
        return text.append("".join(safe(part.text) for part in left if part is not None))

    def _settle(self) -> None:
        for index in sorted(self._waiting):
            sentence, verdict = self._waiting[index], self._verdicts.get(index)
            if verdict is None or verdict.provisional or self._shown < sentence.end:
                return
            shown = [part for f in self._fragments if (part := f.within(sentence.start, sentence.end))]
            told, acted = "".join(f.text for f in shown), _acted(shown)
            redacted = acted == _ACTED[Action.REDACT]
            shares = self._replaced and redacted and not told.strip()
            self._settled.append_text(styled_sentence(shown, verdict, self.style, shares=shares))
            self._sentences.append(
                Settled(verdict, told, f"{acted} with the one before" if shares else acted)
            )
            self._replaced = redacted and (shares or bool(told.strip()))
            left = (f.within(sentence.end, self._shown) for f in self._fragments)
            self._fragments = [part for part in left if part is not None]
            del self._waiting[index], self._verdicts[index]
