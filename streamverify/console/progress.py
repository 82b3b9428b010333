"""How far a check of a whole answer has come, on standard error, where a person looks.

Before: `cli.py`. After: a terminal; files and pipes get nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import TextIO

from streamverify.events import Event, SentenceJudged


async def with_progress(events: AsyncIterable[Event], length: int, out: TextIO) -> AsyncIterator[Event]:
    """The events as they come, and one line that is rewritten with each percent of the answer judged.

    Args:
        events: of one stream.
        length: of the answer, in characters; 1 or more.
        out: where the line goes. Nothing is written where it is no terminal.
    """
    shown, ends, judged = -1, {}, 0
    watched = out.isatty()
    try:
        async for event in events:
            if event.kind == "sentence_closed":
                ends[event.sentence.index] = event.sentence.end
            elif watched and isinstance(event, SentenceJudged):
                judged += 1
                percent = 100 * ends[event.index] // length
                if percent > shown:
                    shown = percent
                    out.write(f"\rchecking: {percent} % ({judged} sentences)")
                    out.flush()
            yield event
    finally:
        if shown >= 0:
            out.write("\r\x1b[K")
            out.flush()
