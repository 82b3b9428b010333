"""`streamverify dataset label`.

Before: the shell. After: `labelling.py`, run by uvicorn on this machine.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
from pathlib import Path
from typing import Annotated

import typer


def label(
    dataset: Annotated[Path, typer.Argument(help="JSON Lines, one recorded answer a row.")],
    *,
    out: Annotated[Path, typer.Option("--out", help="JSON Lines of labels; goes on with what it holds.")],
    annotator: Annotated[
        str, typer.Option("--annotator", help="Whose labels these are; by default your login.")
    ] = "",
    port: Annotated[int, typer.Option("--port", help="0 for any free one.", min=0, max=65535)] = 0,
) -> None:
    """Label answers sentence by sentence in the browser, on this machine only.

    Every key is on disk before the next one; Ctrl-C ends, and the same command goes on. STREAMVERIFY_TOKEN
    sets the page's token, else it is new each time.
    """
    from streamverify._extras import require  # noqa: PLC0415 - kept out of start-up
    from streamverify.errors import UsageError  # noqa: PLC0415 - as above
    from streamverify.evaluate import read_dataset  # noqa: PLC0415 - loads pydantic
    from streamverify.evaluate.labels import LabelFile, tasks  # noqa: PLC0415 - as above

    for package in ("uvicorn", "starlette"):
        require(package, extra="server", feature="streamverify dataset label")
    import uvicorn  # noqa: PLC0415 - an extra

    from streamverify.server.labelling import labelling_app  # noqa: PLC0415 - an extra
    from streamverify.server.listening import listening  # noqa: PLC0415 - kept out of start-up

    def tell(text: str) -> None:
        typer.echo(f"streamverify: {text}", err=True)

    work = tasks(list(read_dataset(dataset, warn=tell)))
    name = annotator or getpass.getuser()
    token = os.environ.get("STREAMVERIFY_TOKEN") or secrets.token_urlsafe(24)
    labels = LabelFile(out, name, work)
    try:
        listener = listening("127.0.0.1", port)
    except UsageError:
        labels.close()
        raise
    app = labelling_app(work, labels, annotator=name, token=token)
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    typer.echo(f"http://127.0.0.1:{listener.getsockname()[1]}/#{token}")
    try:
        # Ctrl-C is how a person ends it.
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        labels.close()
        tell(f"{len(labels.labels)} sentences labelled by {name} in {out}")
