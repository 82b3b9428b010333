"""What an adapter for a framework or a provider is built from: public, and all that this project's own use.

    VerifiedChunks, VerifiedSyncChunks    a provider's stream, verified, in the provider's own chunks
    stream_verifier, attach, verification  the functions an adapter offers for it
    Translator, and its moves             what such a chunk means: `Words`, `Cited`, `Ended`, `Other`
    Pipe                                  text that a callback brings, as the source of a stream
    shared_verifier, require              the process's verifier; the error that names a missing extra

`docs/adapters.md` shows how they fit together.
"""

from __future__ import annotations

from streamverify._extras import require
from streamverify.chunks import OnEvent, VerifiedChunks, VerifiedSyncChunks
from streamverify.decorator import shared_verifier
from streamverify.moves import Cited, Ended, Key, Move, Other, Released, Shown, Translator, Words
from streamverify.pipe import Pipe
from streamverify.sources import Source
from streamverify.wrapping import VerifyStream, attach, stream_verifier, verification

__all__ = [
    "Cited",
    "Ended",
    "Key",
    "Move",
    "OnEvent",
    "Other",
    "Pipe",
    "Released",
    "Shown",
    "Source",
    "Translator",
    "VerifiedChunks",
    "VerifiedSyncChunks",
    "VerifyStream",
    "Words",
    "attach",
    "require",
    "shared_verifier",
    "stream_verifier",
    "verification",
]
