"""An OpenAI chat stream with its unsupported sentences held back; offline, against a server in this file.

pip install 'streamverify[openai]'
python examples/openai_stream.py
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from openai import AsyncOpenAI

from streamverify import Event, Passage, Redact, SentenceJudged, Verifier
from streamverify_openai import verification, wrap_client

PASSAGES = [
    Passage("eiffel", "The Eiffel Tower was completed in 1889 and stands 330 metres tall."),
    Passage("ticket", "A ticket to the top costs 35 euros for adults."),
]
ANSWER = (
    "The Eiffel Tower was completed in 1889. It stands 450 metres tall. A ticket to the top costs 35 euros."
)


class Model(BaseHTTPRequestHandler):
    """Stands for the provider: streams `ANSWER` word by word."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for word in re.findall(r"\s*\S+", ANSWER):
            choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
            chunk = {
                "id": "1",
                "object": "chat.completion.chunk",
                "created": 0,
                "model": "toy",
                "choices": [choice],
            }
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *args):
        pass


def badge(_choice: object, event: Event) -> None:
    """Where an application would tell its front-end."""
    if isinstance(event, SentenceJudged):
        score = f"{event.score:.2f}" if event.score is not None else "-"
        print(f"    [{event.index}] {event.label} {score}")


async def main(url: str) -> None:
    async with Verifier() as verifier, AsyncOpenAI(base_url=url, api_key="none") as client:
        grounded = wrap_client(client, passages=PASSAGES, verifier=verifier, policy=Redact(), on_event=badge)
        question = [{"role": "user", "content": "Tell me about the tower."}]
        stream = await grounded.chat.completions.create(model="toy", messages=question, stream=True)
        async with stream:
            async for chunk in stream:
                print(chunk.choices[0].delta.content)
        print(f"grounding score {verification(stream).reports[0].grounding_score:.2f}")


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    asyncio.run(main(f"http://127.0.0.1:{server.server_port}/v1"))
    server.shutdown()
    server.server_close()
