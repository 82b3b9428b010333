"""A chain's chunks, made in tasks that are cancelled once.

A cancel scope cancels again whatever still waits. LangChain's generators wait while they clean up, to tell
callbacks of the cancellation; interrupted in that they stay in a reference cycle with their own error, and
the model's connection stays open until the garbage collector comes by.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from typing import Any, TypeVar

import anyio

T = TypeVar("T")

SECONDS = 5.0
"""How long a chain may take to clean up before it is left alone."""


async def apart(chunks: AsyncIterator[T]) -> AsyncGenerator[T, None]:
    """The chunks; closing this closes the chain."""
    context = contextvars.copy_context()  # one for all steps, as a chain expects that sets variables
    try:
        while True:
            try:
                chunk = await _alone(_next(chunks), context)
            except StopAsyncIteration:
                return
            yield chunk
    finally:
        with anyio.move_on_after(SECONDS, shield=True):
            if isinstance(chunks, AsyncGenerator):
                await _alone(chunks.aclose(), context)


async def _next(chunks: AsyncIterator[T]) -> T:
    return await anext(chunks)


async def _alone(call: Coroutine[Any, Any, T], context: contextvars.Context) -> T:
    step = asyncio.get_running_loop().create_task(call, context=context, name="streamverify-chain")
    try:
        await asyncio.wait([step])
    finally:
        if not step.done():
            step.cancel()
            with anyio.move_on_after(SECONDS, shield=True):
                await asyncio.wait([step])
        if step.done() and not step.cancelled():
            step.exception()  # seen, whether it is raised below or the cancellation is
    return step.result()
