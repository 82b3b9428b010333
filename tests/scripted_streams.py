"""Streams of one answer with a scripted scorer in place of the model."""

from __future__ import annotations

from streamverify.testing import ScriptedScorer, collect, pieces, stream_of
from streamverify.types import Label, Passage
from streamverify.verifier import Verifier

SCRIPT = {"wrong": Label.CONTRADICTED, "unknown": Label.UNSUPPORTED}
PASSAGES = [Passage("p1", "The mill was built in 1804 and has two wheels. It grinds barley.")]
TEXT = (
    "The mill was built in 1804. The wrong wheel turns slowly. "
    "The yard has an unknown owner in the village. Barley is ground"
)


def verifier(**options) -> Verifier:
    return Verifier(ScriptedScorer(SCRIPT, **options.pop("scorer", {})), **options)


async def events_of(text, policy=None, cuts=7, **options):
    async with (
        verifier(**options) as made,
        made.stream(stream_of(pieces(text, cuts)), PASSAGES, policy=policy) as stream,
    ):
        return await collect(stream)
