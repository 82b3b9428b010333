"""`streamverify serve --workers 2` as a running program, and an upstream that says when it was asked."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import httpx2
from loopback import loopback
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route

PASSAGES = [{"id": "p1", "text": "The mill was built in 1804. It grinds barley for the whole village."}]
FIRST, REST = "The mill was built in 1804. It grinds", " barley for the whole village."


class Upstream:
    """Says the first words, and the rest when it may."""

    def __init__(self):
        self.may_go_on, self.asked = threading.Event(), threading.Semaphore(0)
        """`asked` may be acquired once for each first word that was said while it waits."""
        self.app = Starlette(routes=[Route("/v1/chat/completions", self.chat, methods=["POST"])])

    async def chat(self, _request):
        return StreamingResponse(self._chunks(), media_type="text/event-stream")

    async def _chunks(self):
        from anyio import to_thread

        def chunk(delta, reason=None):
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            return f"data: {json.dumps({'id': 'c', 'choices': [choice]})}\n\n"

        yield chunk({"content": FIRST})
        if not self.may_go_on.is_set():
            self.asked.release()
        await to_thread.run_sync(self.may_go_on.wait, abandon_on_cancel=True)
        yield chunk({"content": REST})
        yield chunk({}, "stop")
        yield "data: [DONE]\n\n"


class Served:
    """The program; what it tells is read line by line."""

    def __init__(self, upstream, folder, *more):
        command = [
            sys.executable,
            "-m",
            "streamverify",
            "serve",
            "--upstream",
            f"{upstream}/v1",
            "--port",
            "0",
        ]
        environment = {**os.environ, "TMPDIR": str(folder)}
        self.process = subprocess.Popen(
            [*command, "--workers", "2", *more],
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environment,
            start_new_session=True,
        )
        self.told = []
        self.address = self.until("serves http://").partition("serves ")[2].strip()
        self.workers = [int(self.until(f"worker {number} is process").split()[-1]) for number in (1, 2)]

    def until(self, part):
        for line in self.process.stderr:
            self.told.append(line)
            if part in line:
                return line
        raise AssertionError(f"{part!r} was never told: {self.told}")

    def ask(self):
        body = {"model": "m", "messages": [], "stream": True, "streamverify": {"passages": PASSAGES}}
        return httpx2.stream("POST", f"{self.address}/v1/chat/completions", json=body, timeout=300)

    def answer(self):
        """What a whole answer was reported as."""
        with self.ask() as got:
            return report(got.read().decode())

    def metrics(self):
        """Name, with labels, to value."""
        lines = httpx2.get(f"{self.address}/metrics", timeout=60).text.splitlines()
        return {
            name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")
        }

    def end(self):
        """The exit code, once it was told to stop."""
        self.told += self.process.communicate(timeout=300)[1].splitlines(keepends=True)
        return self.process.returncode

    def kill(self):
        self.process.kill()  # its workers end with it
        self.process.wait()
        self.process.stderr.close()

    def windows(self):
        """Folders of encoded windows that it holds now."""
        links = [path.readlink() for path in Path(f"/proc/{self.process.pid}/fd").iterdir()]
        return [link.parent for link in links if link.name == "owned"]


@contextlib.contextmanager
def upstream_that_answers():
    """An upstream, at its address, that may say all."""
    made = Upstream()
    made.may_go_on.set()
    with loopback(made.app) as made.address:
        yield made
        made.may_go_on.set()


@contextlib.contextmanager
def programs(upstream, folder):
    """Starts programs in front of an upstream, with more options; they end with the block."""
    with contextlib.ExitStack() as stack:

        def start(*more):
            served = Served(upstream.address, folder, *more)
            stack.callback(served.kill)
            return served

        yield start


def report(text):
    assert text.rstrip().endswith("[DONE]"), text
    events = [
        json.loads(line[6:]).get("streamverify") for line in text.splitlines() if line.startswith("data: {")
    ]
    return next(event["report"] for event in reversed(events) if event and "report" in event)
