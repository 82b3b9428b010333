"""Anthropic message streams, verified while they run, with the model's own citations checked.

    from streamverify_anthropic import verify_messages

    async with client.messages.stream(...) as raw:
        async with verify_messages(raw, passages, policy=Redact()) as stream:
            async for text in stream.text_stream: ...
        verification(stream).reports[0]

Needs the extra `anthropic`.
"""

from __future__ import annotations

from streamverify.adapters import VerifiedChunks, VerifiedSyncChunks, require, verification

require("anthropic", extra="anthropic", feature="streamverify_anthropic")

from streamverify_anthropic.streams import verify_messages, verify_stream  # noqa: E402 - the missing extra is told first

__all__ = ["VerifiedChunks", "VerifiedSyncChunks", "verification", "verify_messages", "verify_stream"]
