"""`streamverify serve`.

Before: the shell. After: `app.py`, run by uvicorn.
"""

from __future__ import annotations

import os
from typing import Annotated, Literal

import typer

_KEY, _TOKEN = "STREAMVERIFY_UPSTREAM_KEY", "STREAMVERIFY_TOKEN"


def serve(
    *,
    upstream: Annotated[
        str | None, typer.Option("--upstream", help="OpenAI-compatible API, e.g. https://api.openai.com/v1")
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Serve the demo page.")] = False,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="0 for any free one.", min=0, max=65535)] = 8377,
    policy: Annotated[
        str, typer.Option("--policy", help="For requests that name none: observe, flag, redact or halt.")
    ] = "flag",
    concurrent: Annotated[int, typer.Option("--concurrent", help="Answers in progress at once.")] = 64,
    max_body: Annotated[int, typer.Option("--max-body", help="Longest request, in bytes.")] = 8 * 2**20,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds one answer may take.")] = 900.0,
    drain_seconds: Annotated[
        float, typer.Option("--drain-seconds", help="Seconds answers may go on when told to stop.")
    ] = 20.0,
) -> None:
    """Verify the answers of any OpenAI-compatible API on their way through; or show the demo page.

    The upstream's key is read from STREAMVERIFY_UPSTREAM_KEY; without it the client's own key is passed
    on. Other machines may only reach the server with the token in STREAMVERIFY_TOKEN.

    On SIGTERM or Ctrl-C new requests are refused with 503, answers in progress may go on for a while and
    then end with an error; a second signal stops at once.
    """
    from streamverify._extras import require  # noqa: PLC0415 - kept out of start-up
    from streamverify.errors import UsageError  # noqa: PLC0415 - as above

    for package in ("uvicorn", "starlette", "sse_starlette"):
        require(package, extra="server", feature="streamverify serve")
    import uvicorn  # noqa: PLC0415 - an extra

    from streamverify.server.app import create_app  # noqa: PLC0415 - an extra
    from streamverify.server.asked import PolicyOptions  # noqa: PLC0415 - loads pydantic
    from streamverify.server.drain import Drain  # noqa: PLC0415 - as above
    from streamverify.server.process import Process  # noqa: PLC0415 - an extra
    from streamverify.server.settings import LOOPBACK, Limits, ServeSettings  # noqa: PLC0415 - as above

    token = os.environ.get(_TOKEN) or None
    if host not in LOOPBACK and token is None:
        raise UsageError(f"--host {host} can be reached by other machines: set {_TOKEN} to a secret first")
    settings = ServeSettings(
        upstream=upstream,
        upstream_key=os.environ.get(_KEY) or None,
        token=token,
        policy=PolicyOptions(name=_policy_name(policy)).policy(),
        demo=demo,
        limits=Limits(
            body_bytes=max_body, concurrent=concurrent, total_seconds=timeout, drain_seconds=drain_seconds
        ),
    )
    drain = Drain()
    config = uvicorn.Config(
        create_app(settings, drain=drain),
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
    )

    def tell(text: str) -> None:
        typer.echo(f"streamverify: {text}", err=True)

    Process(config, drain, seconds=drain_seconds, tell=tell).run()


def _policy_name(name: str) -> Literal["observe", "flag", "redact", "halt"]:
    from streamverify.errors import UsageError  # noqa: PLC0415 - kept out of start-up

    match name:
        case "observe" | "flag" | "redact" | "halt":
            return name
        case _:
            raise UsageError(f"--policy: {name!r} is no policy; choose from observe, flag, redact, halt")
