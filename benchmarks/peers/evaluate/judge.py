"""A judge on loopback, OpenAI-compatible and deterministic, that fails on the cases it is told to.

It knows the questions of four libraries by their form and answers all by one rule: a statement is grounded
where a passage holds it word for word. What fails is whatever names one of the given villages.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Failure = Literal["none", "refused", "prose"]
PROSE = "I am sorry, but I cannot help with that."


def statements(text: str) -> list[str]:
    """The sentences of a text; the answers are written so that a stop ends one."""
    return [one.strip() for one in re.findall(r"[^.]+\.", text) if one.strip()]


def grounded(statement: str, context: str) -> bool:
    """Whether the passages hold it word for word."""
    return statement in context


def answered(text: str) -> str:
    """What an honest judge says to a prompt."""
    if "[Criterion]:" in text:  # Inspect AI
        submission = text.partition("[Submission]:")[2].partition("***")[0]
        criterion = text.partition("[Criterion]:")[2].partition("***")[0]
        whole = all(grounded(one, criterion) for one in statements(submission))
        return f"Each sentence was looked for.\n\nGRADE: {'C' if whole else 'I'}"
    return json.dumps(_deepeval(text) or _ragas(text) or _ours(text))


def _deepeval(text: str) -> dict[str, Any] | None:
    said = text.rpartition("\n**\n")[2]
    if '"truths" key' in text or '"truths":' in text:
        return {"truths": statements(said.partition("Text:")[2].rpartition("JSON:")[0])}
    if '"claims" key' in text:
        return {"claims": statements(said.partition("AI Output:")[2].rpartition("JSON:")[0])}
    if "Retrieval Contexts:" in text:
        context, _, claims = text.partition("Retrieval Contexts:")[2].partition("\nClaims:")
        told = [
            grounded(one, context)
            for one in re.findall(r"'([^']+)'|\"([^\"]+)\"", claims)
            for one in one
            if one
        ]
        return {"verdicts": [{"verdict": "yes"} if one else {"verdict": "no", "reason": "r"} for one in told]}
    if "Faithfulness Score:" in text:
        return {"reason": "The score is what it is because of the contradictions."}
    return None


def _ragas(text: str) -> dict[str, Any] | None:
    given = re.search(r"input: (\{.*\})\s*Output:", text.rpartition("Now perform the same")[2], re.DOTALL)
    if given is None:
        return None
    data = json.loads(given[1])
    if "answer" in data:
        return {"statements": statements(data["answer"])}
    told = [
        {"statement": one, "reason": "r", "verdict": int(grounded(one, data["context"]))}
        for one in data["statements"]
    ]
    return {"statements": told}


def _ours(text: str) -> dict[str, Any]:
    data = json.loads(text[text.index('{"answer"') :])
    context = " ".join(passage["text"] for passage in data["passages"])
    told = [grounded(one, context) for one in statements(data["answer"])]
    return {"reason": "r", "score": sum(told) / len(told)}


class Judge:
    """What it was asked, and on what it fails."""

    def __init__(self, failing: frozenset[int], failure: Failure) -> None:
        self.failing, self.failure = failing, failure
        self.calls, self.failed, self.lock = 0, Counter[int](), threading.Lock()

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and body for a request."""
        texts = [_text(message["content"]) for message in body["messages"]]
        named = {int(one) for text in texts for one in re.findall(r"village (\d+)", text)}
        fails = self.failure != "none" and named & self.failing
        with self.lock:
            self.calls += 1
            self.failed.update(named & self.failing if fails else ())
        if fails and self.failure == "refused":
            return 400, {
                "error": {
                    "message": "content filter",
                    "type": "invalid_request_error",
                    "code": "content_filter",
                }
            }
        content = PROSE if fails else answered("\n".join(texts))
        message = {"role": "assistant", "content": content}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        told = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"]}
        return 200, {**told, "choices": [choice], "usage": usage}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


@contextlib.contextmanager
def serving(judge: Judge) -> Iterator[str]:
    """Its base address while it runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, told = judge.answer(body)
            data = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256  # some ask for all fifty cases at once

        def handle_error(self, *_: Any) -> None:
            """A client that hung up is no news."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
