"""An Anthropic stream with the model's own citations checked; offline, against a server in this file.

pip install 'streamverify[anthropic]'
python examples/anthropic_stream.py
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from anthropic import AsyncAnthropic

from streamverify import Passage, Redact, Verifier
from streamverify_anthropic import verification, verify_messages

PASSAGES = [
    Passage("eiffel", "The Eiffel Tower was completed in 1889 and stands 330 metres tall.", "The tower"),
    Passage("ticket", "A ticket to the top costs 35 euros for adults.", "Prices"),
]
BLOCKS = [
    ("The Eiffel Tower was completed in 1889.", 0),
    (" It stands 450 metres tall.", 0),
    (" A ticket to the top costs 35 euros.", 0),
]
MESSAGE = {
    "id": "1",
    "type": "message",
    "role": "assistant",
    "model": "toy",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


def script():
    """The events of a message whose every block cites a document, the last one the wrong one."""
    yield {"type": "message_start", "message": MESSAGE}
    for index, (text, document) in enumerate(BLOCKS):
        yield {
            "type": "content_block_start",
            "index": index,
            "content_block": {"type": "text", "text": "", "citations": []},
        }
        for word in re.findall(r"\s*\S+", text):
            yield {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": "text_delta", "text": word},
            }
        citation = {
            "type": "char_location",
            "cited_text": PASSAGES[document].text,
            "document_index": document,
            "document_title": PASSAGES[document].title,
            "start_char_index": 0,
            "end_char_index": len(PASSAGES[document].text),
            "file_id": None,
        }
        yield {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": "citations_delta", "citation": citation},
        }
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 9}}
    yield {"type": "message_stop"}


class Model(BaseHTTPRequestHandler):
    """Stands for the provider."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in script():
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, *args):
        pass


async def main(url: str) -> None:
    question = [{"role": "user", "content": "Tell me about the tower."}]
    async with (
        Verifier() as verifier,
        AsyncAnthropic(base_url=url, api_key="none") as client,
        client.messages.stream(model="toy", max_tokens=100, messages=question) as raw,
        verify_messages(raw, PASSAGES, verifier=verifier, policy=Redact()) as stream,
    ):
        async for text in stream.text_stream:
            print(text)
    for sentence in verification(stream).reports[0].sentences:
        for citation in sentence.citations:
            better = f", {citation.better} supports it" if citation.better else ""
            cited = ", ".join(citation.passages)
            print(f"    [{sentence.index}] {sentence.label}; cites {cited}: {citation.finding}{better}")


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    asyncio.run(main(f"http://127.0.0.1:{server.server_port}"))
    server.shutdown()
    server.server_close()
