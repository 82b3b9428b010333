"""Live badges in a browser from a FastAPI endpoint; offline, with a bundled case in place of a model.

pip install 'streamverify[server]' fastapi
python examples/fastapi_sse.py            # open http://127.0.0.1:8378
python examples/fastapi_sse.py --once     # ask itself once, print the events, end
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import AsyncIterator

import httpx2
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from fastapi.staticfiles import StaticFiles

from streamverify import Redact, Verifier
from streamverify.demo import load_case, replay
from streamverify.server import Runs, StreamEvent, resumed, sse_response

verifier, runs = Verifier(), Runs()
PAGE = """<!doctype html><title>Answer</title><body>
<script type="module" src="/static/grounded-stream.js"></script>
<grounded-stream src="/answer"></grounded-stream>"""


@contextlib.asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
    async with verifier, runs:
        yield


class EventStream(Response):
    """Names the media type in the OpenAPI schema."""

    media_type = "text/event-stream"


app = FastAPI(lifespan=lifespan)
app.mount("/static", StaticFiles(packages=[("streamverify", "static")]))


@app.get("/answer", response_class=EventStream, responses={200: {"model": StreamEvent}})
async def answer(request: Request) -> Response:
    """The answer and its verdicts; `StreamEvent` is the JSON of each event."""
    if (rest := resumed(request.headers, runs)) is not None:
        return rest
    case = load_case("docs")
    pieces = replay(case.answer, tokens_per_second=40)  # a model's stream goes here
    stream = verifier.stream(pieces, case.sources(), policy=Redact(), question=case.question)
    return sse_response(stream, passages=case.sources(), runs=runs)


@app.get("/", response_class=HTMLResponse)
async def page() -> str:
    return PAGE


def main(port: int = 8378) -> None:
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning"))
    if "--once" not in sys.argv:
        print(f"open http://127.0.0.1:{port}")
        server.run()
        return
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.05)
    with httpx2.stream("GET", f"http://127.0.0.1:{port}/answer", timeout=60) as response:
        for line in response.iter_lines():
            if line.startswith("event: "):
                print(line)
    schema = httpx2.get(f"http://127.0.0.1:{port}/openapi.json").json()
    content = schema["paths"]["/answer"]["get"]["responses"]["200"]["content"]
    print("OpenAPI:", content)
    server.should_exit = True
    thread.join()


if __name__ == "__main__":
    main()
