"""Recorded traffic of a chosen shape: one real report, with other scores and labels, written by `Records`."""

from __future__ import annotations

import dataclasses
import json
import random
import uuid
from datetime import UTC, datetime, timedelta
from functools import cache

from streamverify import Label, Observer, Passage, Verifier
from streamverify.program import main
from streamverify.records import Records, Requester, judge
from streamverify.testing import ScriptedScorer

START = datetime(2026, 11, 1, tzinfo=UTC)
PASSAGES_OF_MILL = [Passage("p1", "The mill grinds barley and rye.")]
AUDITOR = Requester(roles=frozenset({"auditor"}))


class _Remembers(Observer):
    def __init__(self):
        self.told = []

    def opened(self, opening):
        self.told.append(opening)

    def event(self, stream, event):
        self.told.append(event)


@cache
def _seen(text):
    """The opening and the last event of a real stream."""
    observer = _Remembers()
    with Verifier(ScriptedScorer(), observers=[observer]) as verifier:
        verifier.check_sync(text, PASSAGES_OF_MILL)
        assert verifier.drain_observers(50)
    return observer.told[0], observer.told[-1]


TEXTS = {
    "en": "The mill grinds barley in the village. It was built by the old river.",
    "de": "Die Mühle mahlt die Gerste in dem Dorf. Sie wurde an dem alten Fluss gebaut.",
}


def write(url, streams, *, since=START, hours=24.0, seed=0, good=0.9, language="en", passages=1, **options):
    """Streams spread over some hours, a share of whose sentences is supported; gives their ids.

    `good` may be a function of the hour. A tenth of `failed` streams ends with an error.
    """
    drawn, ids = random.Random(seed), []
    failing, domain, run = options.get("failing", 0.0), options.get("domain"), options.get("run")
    opening, last = _seen(TEXTS[language])
    with Records(url, patience=0) as records:
        for number in range(streams):
            hour = hours * number / streams
            chance = good(hour) if callable(good) else good
            supported = [drawn.random() < chance for _ in last.report.sentences]
            scores = [drawn.uniform(0.6, 1.0) if one else drawn.uniform(0.0, 0.5) for one in supported]
            sentences = tuple(
                sentence.model_copy(
                    update={"label": Label.SUPPORTED if one else Label.UNSUPPORTED, "score": score}
                )
                for sentence, one, score in zip(last.report.sentences, supported, scores, strict=True)
            )
            counts = dict.fromkeys(Label, 0)
            counts |= {Label.SUPPORTED: sum(supported), Label.UNSUPPORTED: len(supported) - sum(supported)}
            failed = drawn.random() < failing
            report = last.report.model_copy(
                update={
                    "sentences": sentences,
                    "counts": counts,
                    "grounding_score": sum(scores) / len(scores),
                    "outcome": "failed" if failed else "finished",
                }
            )
            identity = str(uuid.UUID(int=drawn.getrandbits(128), version=4))
            begun = dataclasses.replace(
                opening,
                stream=identity,
                at=since + timedelta(hours=hour),
                passages=opening.passages
                + tuple(Passage(f"p{more}", f"Passage {more}.") for more in range(2, passages + 1)),
                context=opening.context.model_copy(update={"domain": domain, "run": run}),
            )
            records.opened(begun)
            records.event(identity, last.model_copy(update={"report": report}))
            ids.append(uuid.UUID(identity))
        records.flush()
        assert records.statistics.dropped == 0
    return ids


def label(database, judged, chosen):
    """A person judges sentences: `chosen(one)` says correct, incorrect, or None for not looked at."""
    for one in judged:
        opinion = chosen(one)
        if opinion is not None:
            judge(database, AUDITOR, one.stream, one.sentence, opinion, by="ann")


def monitor(capsys, url, *arguments):
    """`monitor drift`: its status, the lines it printed, and what it told beside them."""
    status = main(["monitor", "drift", "--records", url, "--json", *map(str, arguments)])
    told = capsys.readouterr()
    return status, [json.loads(line) for line in told.out.splitlines()], told.err
