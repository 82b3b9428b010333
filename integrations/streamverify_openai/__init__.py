"""OpenAI streams, verified while they run: chat completions and the Responses API.

    from streamverify_openai import verify_stream

    stream = await client.chat.completions.create(model=..., messages=..., stream=True)
    async with verify_stream(stream, passages, policy=Redact()) as chunks:
        async for chunk in chunks: ...
    chunks.reports[0]

`wrap_client` does the same for every call of a client. Needs the extra `openai`, 2.6 or later.
"""

from __future__ import annotations

from streamverify.adapters import VerifiedChunks, VerifiedSyncChunks, require, verification

require("openai", extra="openai", feature="streamverify_openai")

from streamverify_openai.client import wrap_client  # noqa: E402 - the missing extra is told first
from streamverify_openai.streams import verify_stream  # noqa: E402

__all__ = ["VerifiedChunks", "VerifiedSyncChunks", "verification", "verify_stream", "wrap_client"]
