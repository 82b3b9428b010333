"""`streamverify serve`.

Before: the shell. After: `launch.py`, or `crew.py` where several processes serve.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Annotated

import typer

from streamverify.console.paths import path_from

_JUDGES = "STREAMVERIFY_JUDGE_TOKEN"


def serve(
    *,
    upstream: Annotated[
        str | None, typer.Option("--upstream", help="OpenAI-compatible API, e.g. https://api.openai.com/v1")
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Serve the demo page.")] = False,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="0 for any free one.", min=0, max=65535)] = 8377,
    policy: Annotated[
        str,
        typer.Option("--policy", help="For requests that name none: observe, flag, redact, halt, annotate."),
    ] = "flag",
    on_unverified: Annotated[
        str,
        typer.Option(
            "--on-unverified", help="What cannot be checked, where text is held: withhold or release."
        ),
    ] = "withhold",
    passages: Annotated[
        Path | None,
        typer.Option(
            "--passages",
            help="JSON Lines file or folder, for requests without any.",
            parser=path_from,
            metavar="<path>",
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="fast, accurate, cascade, an installed model, or a folder.")
    ] = None,
    provider: Annotated[
        str, typer.Option("--provider", help="Where the model runs: cpu, cuda, or auto.")
    ] = "cpu",
    preset: Annotated[
        str | None,
        typer.Option("--preset", help="The model's threshold: strict, balanced or lenient."),
    ] = None,
    max_lag: Annotated[
        float | None,
        typer.Option(
            "--max-lag", help="Seconds a sentence may wait for its check; later it is unverified: overloaded."
        ),
    ] = None,
    concurrent: Annotated[
        int, typer.Option("--concurrent", help="Answers in progress at once, in each worker.")
    ] = 64,
    max_body: Annotated[int, typer.Option("--max-body", help="Longest request, in bytes.")] = 8 * 2**20,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds one answer may take.")] = 900.0,
    drain_seconds: Annotated[
        float, typer.Option("--drain-seconds", help="Seconds answers may go on when told to stop.")
    ] = 20.0,
    records: Annotated[
        str | None,
        typer.Option("--records", help="Keep records of answers: SQLite file, or URL of a database."),
    ] = None,
    keep: Annotated[
        str, typer.Option("--keep", help="What records keep of texts: text, redacted, hashes.")
    ] = "text",
    judging: Annotated[
        bool, typer.Option("--judging", help="Serve a page on which people judge what was recorded.")
    ] = False,
    judging_tenant: Annotated[
        str, typer.Option("--judging-tenant", help="Whose records that page shows.")
    ] = "",
    redact_pii: Annotated[
        bool, typer.Option("--redact-pii", help="Take personal data out of every answer.")
    ] = False,
    metrics: Annotated[bool, typer.Option("--metrics", help="Answer /metrics, for Prometheus.")] = False,
    traces: Annotated[
        bool, typer.Option("--traces", help="Make OpenTelemetry spans; run under opentelemetry-instrument.")
    ] = False,
    online_model: Annotated[
        str | None,
        typer.Option("--online-model", help="Judge a share of the answers again with this model, later."),
    ] = None,
    online_metric: Annotated[
        list[str] | None,
        typer.Option("--online-metric", help="Compute this metric of the share; NAME=METRIC to name it."),
    ] = None,
    online_share: Annotated[
        float | None,
        typer.Option("--online-share", help="Of every domain's answers; 0.05 if left out."),
    ] = None,
    online_domain: Annotated[
        list[str] | None,
        typer.Option("--online-domain", help="A domain with a share of its own: legal=1; repeatable."),
    ] = None,
    online_seed: Annotated[str, typer.Option("--online-seed", help="Another one takes other answers.")] = "",
    online_judge: Annotated[
        str | None,
        typer.Option("--online-judge", help="OpenAI-compatible API that metrics with a judge ask."),
    ] = None,
    online_judge_model: Annotated[
        str | None, typer.Option("--online-judge-model", help="Its model's name.")
    ] = None,
    workers: Annotated[
        int, typer.Option("--workers", help="Processes that serve the port together.", min=1, max=256)
    ] = 1,
) -> None:
    """Verify the answers of any OpenAI-compatible API on their way through; or show the demo page.

    The upstream's key is read from STREAMVERIFY_UPSTREAM_KEY; without it the client's own key is passed
    on. Other machines may only reach the server with the token in STREAMVERIFY_TOKEN. The judging page has
    a token of its own: STREAMVERIFY_JUDGE_TOKEN, else it is new each time.

    On SIGTERM or Ctrl-C new requests are refused with 503, answers in progress may go on for a while and
    then end with an error; a second signal stops at once.
    """
    from streamverify._extras import require  # noqa: PLC0415 - kept out of start-up
    from streamverify.server.launch import SERVES, ServeOptions, run_server  # noqa: PLC0415 - loads pydantic
    from streamverify.server.online import OnlineOptions  # noqa: PLC0415 - as above

    for package in ("uvicorn", "starlette", "sse_starlette"):
        require(package, extra="server", feature="streamverify serve")
    options = ServeOptions(
        upstream=upstream,
        demo=demo,
        host=host,
        port=port,
        policy=policy,
        on_unverified=on_unverified,
        passages=str(passages) if passages is not None else None,
        model=model,
        provider=provider,
        preset=preset,
        max_lag=max_lag,
        concurrent=concurrent,
        max_body=max_body,
        timeout=timeout,
        drain_seconds=drain_seconds,
        records=records,
        keep=keep,
        judging=judging,
        judging_tenant=judging_tenant,
        redact_pii=redact_pii,
        metrics=metrics,
        traces=traces,
        online=OnlineOptions(
            model=online_model,
            metrics=online_metric or (),
            share=online_share,
            domains=online_domain or (),
            seed=online_seed,
            judge=online_judge,
            judge_model=online_judge_model,
        ),
    )
    judges = os.environ.get(_JUDGES) or secrets.token_urlsafe(24)

    def tell(text: str) -> None:
        typer.echo(f"streamverify: {text}", err=True)
        if judging and text.startswith(SERVES):
            typer.echo(f"streamverify: judge at {text.removeprefix(SERVES)}/judge/#{judges}", err=True)

    if workers == 1:
        run_server(options, tell, judges=judges)
        return
    from streamverify.server.crew import run_crew  # noqa: PLC0415 - needs POSIX

    if code := run_crew(options, workers, tell, judges=judges):
        raise typer.Exit(code)
