"""The demo page: the bundled cases, replayed with live badges."""

from __future__ import annotations

import math
from importlib import resources

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from streamverify.demo import case_ids, load_case, replay
from streamverify.errors import UsageError
from streamverify.server.asked import PolicyOptions
from streamverify.server.refusal import RefusedError
from streamverify.server.runs import Runs
from streamverify.server.sse import resumed, sse_response
from streamverify.verifier import Verifier

_TYPES = {"js": "text/javascript", "css": "text/css", "html": "text/html"}
_FILES = ("grounded-stream.js", "demo.js", "demo.css")

_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}

_MAX_SPEED = 10_000.0


def demo_routes(verifier: Verifier, runs: Runs, shutdown: float) -> list[Route]:
    """The page, its files, the list of cases and the stream of one case.

    Args:
        verifier: opened with the application.
        runs: likewise.
        shutdown: see `sse_response`.
    """

    async def page(_request: Request) -> Response:
        return _file("demo.html")

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        return _file(name) if name in _FILES else Response(status_code=404)

    async def cases(_request: Request) -> Response:
        loaded = [load_case(name) for name in case_ids()]
        rows = [{"id": c.id, "title": c.title, "domain": c.domain, "question": c.question} for c in loaded]
        return JSONResponse(rows)

    async def stream(request: Request) -> Response:
        rest = resumed(request.headers, runs, shutdown=shutdown)
        if rest is not None:
            return rest
        asked = request.query_params
        try:
            case = load_case(asked.get("case", case_ids()[0]))
            options = PolicyOptions.model_validate({"name": asked.get("policy", "flag")})
            speed = float(asked.get("speed", "40"))
        except (UsageError, ValueError) as error:
            raise RefusedError(400, "invalid_request_error", str(error)) from None
        if not 0 <= speed <= _MAX_SPEED:
            raise RefusedError(
                400, "invalid_request_error", f"speed must be 0 to {_MAX_SPEED:g} tokens a second"
            )
        source = replay(case.answer, speed or math.inf, first_token_after=0.4 if speed else 0.0)
        told = verifier.stream(source, case.sources(), policy=options.policy(), question=case.question)
        return sse_response(told, passages=case.sources(), runs=runs, shutdown=shutdown)

    return [
        Route("/", page),
        Route("/static/{name}", static),
        Route("/demo/cases", cases),
        Route("/demo/stream", stream),
    ]


def _file(name: str) -> Response:
    data = (resources.files("streamverify") / "static" / name).read_bytes()
    return Response(data, media_type=_TYPES[name.rpartition(".")[2]], headers=_HEADERS)
