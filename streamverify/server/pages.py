"""What every page of this package is served with: its headers, its files, its refusals.

Before: `demo_page.py`, `labelling.py`, `judging.py`, the dashboard. After: a browser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import resources
from typing import TypeVar

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from streamverify.errors import UsageError
from streamverify.server.errors import HTTPRefusal, bad_request

HEADERS: Mapping[str, str] = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
"""Only this server's own scripts and styles, none of them inline; nothing is sent elsewhere or kept."""

T = TypeVar("T")


async def packaged(
    name: str, kind: str, headers: Mapping[str, str] = HEADERS, *, package: str = "streamverify"
) -> Response:
    """A file of a package's folder `static`."""
    path = resources.files(package) / "static" / name
    return Response(await anyio.to_thread.run_sync(path.read_bytes), media_type=kind, headers=dict(headers))


async def asked(work: Callable[[], T], *, broken: tuple[type[Exception], ...] = ()) -> T:
    """What the records answer, asked in a thread.

    Args:
        work: asks.
        broken: what a database that cannot be used raises.

    Raises:
        HTTPRefusal: 400, there is none of that; 503, the database cannot be used. Client, operator.
    """
    try:
        return await anyio.to_thread.run_sync(work)
    except UsageError as error:
        raise bad_request(str(error)) from None
    except broken:
        raise HTTPRefusal(503, "records_unavailable", "the records cannot be used now; try again") from None


async def refuse(_request: Request, error: Exception) -> Response:
    """A refusal as JSON."""
    assert isinstance(error, HTTPRefusal)
    return JSONResponse(error.body, error.status, dict(error.headers))
