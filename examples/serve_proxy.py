"""OpenAI's client through the verifying proxy; offline, the upstream is a few lines in this file.

pip install 'streamverify[server,openai]'
python examples/serve_proxy.py
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import AsyncIterator, Iterator

import openai
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from streamverify.server import ServeSettings, create_app

ANSWER = "The Eiffel Tower was completed in 1889. It stands 450 metres tall."
PASSAGES = [{"id": "p1", "text": "The Eiffel Tower was completed in 1889 and stands 330 metres tall."}]


async def model(_request: Request) -> StreamingResponse:
    """An upstream that always gives the same answer."""

    async def chunks() -> AsyncIterator[str]:
        for word in [*ANSWER.split(" "), None]:
            delta = {} if word is None else {"content": word + " "}
            choice = {"index": 0, "delta": delta, "finish_reason": "stop" if word is None else None}
            yield f"data: {json.dumps({'id': 'c1', 'model': 'm', 'choices': [choice]})}\n\n"
        yield "data: [DONE]\n\n"

    return StreamingResponse(chunks(), media_type="text/event-stream")


@contextlib.contextmanager
def served(app: Starlette, port: int) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.05)
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.should_exit = True
        thread.join()


def main() -> None:
    upstream = Starlette(routes=[Route("/v1/chat/completions", model, methods=["POST"])])
    with served(upstream, 8379) as behind, served(create_app(ServeSettings(upstream=behind)), 8380) as front:
        client = openai.OpenAI(base_url=front, api_key="passed through")
        stream = client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": "How tall is the tower?"}],
            stream=True,
            extra_body={"streamverify": {"passages": PASSAGES, "policy": "redact"}},
        )
        for chunk in stream:
            if chunk.choices:
                print(chunk.choices[0].delta.content or "", end="")
            elif (event := (chunk.model_extra or {}).get("streamverify"))["kind"] == "sentence_judged":
                print(f"\n  [{event['label']}, {event['score']:.2f}]")
        print()
        client.close()


if __name__ == "__main__":
    main()
