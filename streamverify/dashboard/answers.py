"""What stands on the pages of answers: the list, one opened, and the sentences that wait for people.

Before: `records/`. After: `templates/`.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast, get_args

from streamverify.errors import UsageError
from streamverify.records import Database, DocumentRow, JudgmentRow, Reader, Requester, SentenceRow
from streamverify.records.listing import TROUBLES, Behind, Lister, Marker, Trouble
from streamverify.records.rows import GROUNDING

LISTED = 40
SENTENCES = 300
"""Of one answer, that stand on its page."""
_SAMPLED = timedelta(days=7)
TROUBLE_WORDS: dict[Trouble, str] = {
    "contradicted": "a contradiction",
    "unsupported": "something not in the sources",
    "unverified": "something not checked",
    "fabricated": "an invented citation",
    "failed": "failed",
    "halted": "stopped",
}
ACTION_WORDS = {
    "redact": "Removed from what readers saw",
    "halt": "The answer was stopped here",
    "repair": "Rewritten from the sources",
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an opened answer, with all that is known about it."""

    row: SentenceRow
    behind: tuple[Behind, ...]
    markers: tuple[Marker, ...]
    findings: tuple[JudgmentRow, ...]
    verdicts: tuple[JudgmentRow, ...]
    """Judgments of its grounding, the first first."""

    @property
    def label(self) -> str:
        """Of the model's verdict; a person's stands beside it."""
        told = next((one.label for one in self.verdicts if one.source == "model"), None)
        return told if told is not None else self.row.label

    @property
    def human(self) -> JudgmentRow | None:
        """A person's judgment, where that is the one that counts."""
        return next((one for one in self.verdicts if one.current and one.source == "human"), None)

    @property
    def says_more(self) -> bool:
        """Whether there is anything to open."""
        return bool(self.behind or self.markers or self.findings or self.row.replacement) or any(
            one.detail for one in self.verdicts
        )


@dataclass(slots=True)
class _Said:
    behind: list[Behind] = field(default_factory=list)
    markers: list[Marker] = field(default_factory=list)
    findings: list[JudgmentRow] = field(default_factory=list)
    verdicts: list[JudgmentRow] = field(default_factory=list)


def answers(
    database: Database,
    requester: Requester,
    *,
    before: datetime | None,
    domain: str | None,
    run: str | None,
    trouble: str | None,
) -> dict[str, Any]:
    """The list of answers.

    Raises:
        UsageError: there is no trouble of that name. Client.
    """
    if trouble is not None and trouble not in get_args(Trouble):
        raise UsageError(f"with must be one of {', '.join(TROUBLES)}, not {trouble!r}")
    found = Lister(database, requester).streams(
        limit=LISTED, before=before, domain=domain, run=run, trouble=cast("Trouble | None", trouble)
    )
    return {
        "listing": found,
        "before": before,
        "domain": domain,
        "run": run,
        "trouble": trouble,
        "troubles": TROUBLE_WORDS,
    }


def answer(database: Database, requester: Requester, stream: uuid.UUID) -> dict[str, Any]:
    """One answer, opened.

    Raises:
        UsageError: there is none of that id for this requester. Client.
    """
    reader, lister = Reader(database, requester), Lister(database, requester)
    row = reader.stream(stream)
    said: dict[int | None, _Said] = defaultdict(_Said)
    for (_, number), found in lister.behind([(stream, None)]).items():
        said[number].behind += found
    for marker in lister.markers(stream):
        said[marker.sentence].markers.append(marker)
    whole = []
    for judgment in reader.judgments(stream):
        if judgment.sentence is None:
            whole.append(judgment)
        elif judgment.criterion == GROUNDING:
            said[judgment.sentence].verdicts.append(judgment)
        elif judgment.source == "rule":
            said[judgment.sentence].findings.append(judgment)
    rows = reader.sentences(stream)
    live = lister.live([stream]).get(stream, ()) if row.outcome is None else ()
    sentences = [_sentence(one, said[one.number]) for one in rows[:SENTENCES]]
    return {
        "stream": row,
        "sentences": sentences,
        "left_out": len(rows) - len(sentences),
        "whole": whole,
        "documents": _documents(reader.documents(stream)),
        "labels": tuple(one.label for one in rows) or tuple(one.label for one in live if one.label),
        "live": live[-SENTENCES:],
        "actions": ACTION_WORDS,
    }


def review(database: Database, requester: Requester, queue: str, now: datetime) -> dict[str, Any]:
    """Sentences that wait for people.

    Raises:
        UsageError: there is no queue of that name. Client.
    """
    lister = Lister(database, requester)
    match queue:
        case "doubtful":
            found = lister.waiting()
        case "sample":
            found = lister.sampled(now - _SAMPLED)
        case _:
            raise UsageError(f"queue must be doubtful or sample, not {queue!r}")
    return {"queue": queue, "waiting": found}


def _sentence(row: SentenceRow, said: _Said) -> Sentence:
    shown = [one for one in said.behind if one.label == row.label] or said.behind[:1]
    return Sentence(row, tuple(shown[:2]), tuple(said.markers), tuple(said.findings), tuple(said.verdicts))


def _documents(rows: list[DocumentRow]) -> list[DocumentRow]:
    """Each passage once."""
    return list({(row.uri, row.passage): row for row in rows}.values())
