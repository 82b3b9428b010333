"""Many streams through the proxy at once: is anything lost, does memory stay flat, how late are verdicts?

An upstream on loopback writes tokens at a steady rate; the proxy, in a process of its own, verifies them
with the embedded model; this process reads every stream and compares the text with what was sent.

    python benchmarks/serve_load.py            # 50 streams at 20 tokens/s for 60 s
    python benchmarks/serve_load.py --quick    # for 5 s
    python benchmarks/serve_load.py --max-lag 1.5   # sentences that wait longer are given up
    python benchmarks/serve_load.py --fresh 1       # passages and answers of which none comes twice (a seed)
    python benchmarks/serve_load.py --streams 200 --rate 1.5 --seconds 180 --max-lag 1.2 --fresh 1

Without `--fresh` the streams repeat the ten bundled answers, which the proxy remembers.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import anyio
import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from fresh import Material, fresh
from streamverify.demo import case_ids, load_case, tokens

CASES = [load_case(name) for name in case_ids()]


PASSAGES = 10
"""Of a stream with a text of its own."""


class Texts(NamedTuple):
    """What the upstream writes, and about what: the ten cases again and again, or what nobody has seen."""

    seed: int | None

    def pieces(self, stream: int, count: int) -> list[str]:
        """The tokens of one stream."""
        if self.seed is not None:
            return about(self.seed, stream, count).pieces(count)
        found: list[str] = []
        at = stream
        while len(found) < count:
            found += tokens(CASES[at % len(CASES)].answer + "\n\n")
            at += len(CASES)
        return found[:count]

    def passages(self, stream: int, count: int) -> list[dict[str, str]]:
        """As a request has them."""
        if self.seed is not None:
            given = [(one.id, one.text, one.title) for one in about(self.seed, stream, count).passages]
        else:
            given = [(one.id, one.text, one.title) for one in CASES[stream % len(CASES)].passages]
        return [{"id": name, "text": text, "title": title} for name, text, title in given]


@cache  # the upstream, the request and the comparison of one stream ask for the same
def about(seed: int, stream: int, count: int) -> Material:
    """What one stream tells; a sentence has some twenty tokens."""
    return fresh(1_000_000 * seed + stream, count // 12 + 1, PASSAGES)


def upstream(rate: float, texts: Texts) -> Starlette:
    async def chat(request: Request) -> StreamingResponse:
        body = await request.json()
        number, count = map(int, body["model"].split("-"))

        async def chunks() -> AsyncGenerator[str, None]:
            start = anyio.current_time()
            for position, word in enumerate(texts.pieces(number, count)):
                await anyio.sleep_until(start + position / rate)
                choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
                yield f"data: {json.dumps({'id': 'c', 'model': 'm', 'choices': [choice]})}\n\n"
            choice = {"index": 0, "delta": {}, "finish_reason": "stop"}
            yield f"data: {json.dumps({'id': 'c', 'model': 'm', 'choices': [choice]})}\n\ndata: [DONE]\n\n"

        return StreamingResponse(chunks(), media_type="text/event-stream")

    return Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])


@contextlib.contextmanager
def served(app: Starlette) -> Iterator[int]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@contextlib.contextmanager
def proxied(port: int, max_lag: float | None) -> Iterator[tuple[int, int]]:
    """The proxy in a process of its own, so that its memory is its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        front = probe.getsockname()[1]
    arguments = [sys.executable, "-m", "streamverify", "serve", "--upstream", f"http://127.0.0.1:{port}/v1"]
    arguments += ["--port", str(front), "--concurrent", "500"]
    arguments += [] if max_lag is None else ["--max-lag", str(max_lag)]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx2.TransportError):
                httpx2.get(f"http://127.0.0.1:{front}/readyz")
                break
        yield front, process.pid
    finally:
        process.terminate()
        process.wait()


def resident_mib(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


async def read_stream(
    client: httpx2.AsyncClient, number: int, count: int, texts: Texts, results: list
) -> None:
    extra = {"passages": texts.passages(number, count)}
    body = {"model": f"{number}-{count}", "messages": [], "stream": True, "streamverify": extra}
    text, ended, lags, unverified, overloaded, hurried, last = [], False, [], 0, 0, 0, ""
    async with client.stream("POST", "/v1/chat/completions", json=body) as response:
        async for line in response.aiter_lines():
            last = line or last
            if line == "data: [DONE]":
                ended = True
            elif line.startswith("data: "):
                chunk = json.loads(line[6:])
                event = chunk.get("streamverify") or {}
                if event.get("kind") == "sentence_judged":
                    lags.append(event["latency_ms"])
                    unverified += event["label"] == "unverified"
                    overloaded += event.get("reason") == "overloaded"
                    hurried += event.get("passes") is not None
                text += [choice["delta"].get("content") or "" for choice in chunk.get("choices", [])]
    if not ended:
        told = f"{response.status_code} {last}"
    else:
        told = "whole" if "".join(text) == "".join(texts.pieces(number, count)) else "another text"
    counts = {"unverified": unverified, "overloaded": overloaded, "hurried": hurried}
    results.append({"told": told, "lags": lags, **counts})


async def load(front: int, pid: int, asked: argparse.Namespace, seconds: float) -> dict:
    streams, rate, texts = asked.streams, asked.rate, Texts(asked.fresh)
    results: list = []
    memory: list[float] = []

    async def watch() -> None:
        while True:
            memory.append(resident_mib(pid))
            await anyio.sleep(0.5)

    address, limits = f"http://127.0.0.1:{front}", httpx2.Limits(max_connections=streams)
    async with httpx2.AsyncClient(base_url=address, timeout=seconds + 120, limits=limits) as client:
        # Ten streams once: the model is loaded, and what repeats is known, before anything is measured.
        async with anyio.create_task_group() as group:
            for number in range(len(CASES)):
                group.start_soon(read_stream, client, number, 40, texts, [])
        count = int(rate * seconds)
        for number in range(streams):  # made before the clock starts, not by the upstream's loop
            texts.pieces(number, count)
        start = time.perf_counter()
        async with anyio.create_task_group() as watching:
            watching.start_soon(watch)
            async with anyio.create_task_group() as group:
                for number in range(streams):
                    group.start_soon(read_stream, client, number, count, texts, results)
            took = time.perf_counter() - start
            watching.cancel_scope.cancel()
    lags = sorted(lag for result in results for lag in result["lags"])
    tenths = [memory[len(memory) * at // 10 : len(memory) * (at + 1) // 10] for at in range(10)]
    return {
        "streams": streams,
        "tokens_per_s": rate,
        "seconds": seconds,
        "texts": "ten answers, repeated" if texts.seed is None else f"fresh, seed {texts.seed}",
        "took_s": round(took, 2),
        "whole_streams": sum(result["told"] == "whole" for result in results),
        "others_ended_with": sorted({result["told"][:200] for result in results} - {"whole"})[:5],
        "verdicts": len(lags),
        **{name: sum(result[name] for result in results) for name in ("unverified", "overloaded", "hurried")},
        "verdict_lag_ms": {
            "p50": round(statistics.median(lags), 1),
            "p95": round(lags[int(0.95 * (len(lags) - 1))], 1),
            "max": round(lags[-1], 1),
        },
        "resident_mib": {
            "median_of_each_tenth": [round(statistics.median(part)) for part in tenths if part],
            "max": round(max(memory), 1),
        },
        "machine": {"cpus": os.cpu_count(), "python": platform.python_version(), "load": os.getloadavg()[0]},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="5 seconds in place of 60")
    parser.add_argument("--seconds", type=float, help="that each stream's text takes, in place of 60")
    parser.add_argument("--streams", type=int, default=50)
    parser.add_argument("--rate", type=float, default=20.0, help="tokens a second, each stream")
    parser.add_argument("--max-lag", type=float, help="seconds a sentence may wait for its check")
    parser.add_argument("--fresh", type=int, metavar="SEED", help="texts and passages that never repeat")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    asked = parser.parse_args()
    seconds = asked.seconds or (5.0 if asked.quick else 60.0)
    source = upstream(asked.rate, Texts(asked.fresh))
    with served(source) as port, proxied(port, asked.max_lag) as (front, pid):
        figures = anyio.run(load, front, pid, asked, seconds)
    print(json.dumps(figures, indent=2))
    if asked.json is not None:
        asked.json.write_text(json.dumps(figures, indent=2) + "\n")
    return 0 if figures["whole_streams"] == figures["streams"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
