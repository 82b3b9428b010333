"""What an adapter for a framework or a provider is built from: public, and all that this project's own use.

    VerifiedChunks, VerifiedSyncChunks    a provider's stream, verified, in the provider's own chunks
    stream_verifier, attach, verification  the functions an adapter offers for it
    Verified, VerifiedTexts               what `verification` gives, and that of an answer checked whole
    Translator, and its moves             what such a chunk means: `TextDelta`, `CitationDelta`, `TextEnd`,
                                          `PassThrough`
    Redactor                              the events without what a reader may not see
    Pipe                                  text that a callback brings, as the source of a stream
    shared_verifier, require              the process's verifier; the error that names a missing extra

`docs/guides/adapters.md` shows how they fit together.
"""

from __future__ import annotations

from streamverify._extras import require
from streamverify.adapters.chunks import OnEvent, VerifiedChunks, VerifiedSyncChunks
from streamverify.adapters.translator import (
    ChannelKey,
    CitationDelta,
    Move,
    PassThrough,
    Released,
    Shown,
    TextDelta,
    TextEnd,
    Translator,
)
from streamverify.adapters.verify_stream import (
    Verified,
    VerifiedTexts,
    VerifyStream,
    attach,
    stream_verifier,
    verification,
)
from streamverify.decorator import shared_verifier
from streamverify.policy import PolicyLike, policy_from
from streamverify.showing.redaction import Redactor
from streamverify.streaming.pipe import Pipe
from streamverify.streaming.sources import Source

__all__ = [
    "ChannelKey",
    "CitationDelta",
    "Move",
    "OnEvent",
    "PassThrough",
    "Pipe",
    "PolicyLike",
    "Redactor",
    "Released",
    "Shown",
    "Source",
    "TextDelta",
    "TextEnd",
    "Translator",
    "Verified",
    "VerifiedChunks",
    "VerifiedSyncChunks",
    "VerifiedTexts",
    "VerifyStream",
    "attach",
    "policy_from",
    "require",
    "shared_verifier",
    "stream_verifier",
    "verification",
]
