"""The demo page: the bundled cases, or what a person pastes, replayed with live badges."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from streamverify.demo import FASTEST, SLOWEST, Case, case_ids, load_case, replay
from streamverify.errors import UsageError
from streamverify.pii import blocked
from streamverify.pii.policy import RedactPii
from streamverify.policy import Policy
from streamverify.server.errors import bad_request
from streamverify.server.guard import read_body
from streamverify.server.pages import HEADERS, packaged
from streamverify.server.pasted import MAX_BODY, read_pasted
from streamverify.server.request import PolicyOptions
from streamverify.server.runs import Runs
from streamverify.server.settings import Limits
from streamverify.server.sse import resumed, sse_response
from streamverify.types import Passage
from streamverify.verifier import Verifier

_TYPES = {"js": "text/javascript", "css": "text/css", "html": "text/html"}
_FILES = frozenset(
    {
        "grounded-stream.js",
        "answer-view.js",
        "evidence-panel.js",
        "follow.js",
        "make.js",
        "markdown.js",
        "styles.js",
        "summary.js",
        "demo.js",
        "demo.css",
    }
)

_HEADERS = {**HEADERS, "cache-control": "no-cache"}


def demo_routes(verifier: Verifier, runs: Runs, shutdown: float, *, redact_pii: bool = False) -> list[Route]:
    """The page, its files, the list of cases, the stream of one case, and of an answer that was pasted.

    Args:
        verifier: opened with the application.
        runs: likewise.
        shutdown: see `sse_response`.
        redact_pii: whether no answer is shown with personal data, whatever policy is chosen, nor a passage.
    """
    demo = _Demo(verifier, runs, shutdown, redact_pii)

    async def page(_request: Request) -> Response:
        return await _file("demo.html")

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        return await _file(name) if name in _FILES else Response(status_code=404)

    async def cases(_request: Request) -> Response:
        loaded = await to_thread.run_sync(_every_case)
        rows = [{"id": c.id, "title": c.title, "domain": c.domain, "question": c.question} for c in loaded]
        return JSONResponse(rows)

    async def stream(request: Request) -> Response:
        rest = resumed(request.headers, runs, shutdown=shutdown)
        if rest is not None:
            return rest
        asked = request.query_params
        try:
            case = await to_thread.run_sync(_case, asked.get("case"))
            options = PolicyOptions.model_validate({"name": asked.get("policy", "flag")})
            speed = float(asked.get("speed", "40"))
        except (UsageError, ValueError) as error:
            raise bad_request(str(error)) from None
        if speed and not SLOWEST <= speed <= FASTEST:
            span = f"{SLOWEST:g} to {FASTEST:g} tokens a second"
            raise bad_request(f"speed must be {span}, or 0 for all at once")
        source = replay(case.answer, speed or math.inf, first_token_after=0.4 if speed else 0.0)
        return await demo.told(source, case.sources(), options.policy(), case.question)

    async def check(request: Request) -> Response:
        # The body is read first, on every path: a connection with an unread body cannot be used again.
        body = await read_body(request, MAX_BODY, Limits().body_seconds)
        rest = resumed(request.headers, runs, shutdown=shutdown)
        if rest is not None:
            return rest
        asked, passages = read_pasted(body)
        source = replay(asked.answer, asked.speed)
        return await demo.told(source, passages, asked.options.policy(), asked.question)

    return [
        Route("/", page),
        Route("/static/{name}", static),
        Route("/demo/cases", cases),
        Route("/demo/stream", stream),
        Route("/demo/check", check, methods=["POST"]),
    ]


@dataclass(frozen=True, slots=True)
class _Demo:
    """How an answer is verified and shown, wherever it comes from."""

    verifier: Verifier
    runs: Runs
    shutdown: float
    redact_pii: bool

    async def told(
        self,
        source: AsyncGenerator[str, None],
        passages: Sequence[Passage],
        policy: Policy,
        question: str | None,
    ) -> Response:
        """The stream of one answer."""
        shown = passages
        if self.redact_pii:
            hiding = RedactPii(policy)
            policy, shown = hiding, await to_thread.run_sync(_hidden, passages, hiding)
        stream = self.verifier.stream(source, passages, policy=policy, question=question)
        return sse_response(stream, passages=shown, runs=self.runs, shutdown=self.shutdown)


def _hidden(passages: Sequence[Passage], hiding: RedactPii) -> list[Passage]:
    """The passages as they may be shown, every other character in its place."""

    def hide(text: str) -> str:
        return blocked(text, hiding.detector)

    return [replace(p, text=hide(p.text), title=p.title and hide(p.title)) for p in passages]


def _every_case() -> list[Case]:
    return [load_case(name) for name in case_ids()]


def _case(name: str | None) -> Case:
    return load_case(case_ids()[0] if name is None else name)


async def _file(name: str) -> Response:
    return await packaged(name, _TYPES[name.rpartition(".")[2]], _HEADERS)
