"""The labelling page: a person says of each sentence what the passages say about it.

Before: `label_cli.py` starts it on this machine. After: `evaluate/labels.py` keeps what was decided.

Whoever shows the token of this run may read and write; the page takes it from the part of its address that a
browser never sends. Pages of other origins are refused as everywhere (`guard.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from streamverify.errors import UsageError
from streamverify.evaluate.labels import HandLabel, LabelFile, Task
from streamverify.server.drain import Drain
from streamverify.server.errors import HTTPRefusal, bad_request
from streamverify.server.guard import Guard, read_body
from streamverify.server.pages import HEADERS, packaged, refuse
from streamverify.server.settings import Limits, ServeSettings
from streamverify.text.styled import styled
from streamverify.types import Sentence, SentenceKind

_TYPES = {"label.js": "text/javascript", "make.js": "text/javascript", "label.css": "text/css"}
_MAX_BODY = 2**16


class _Decision(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    case: int
    """Place of the case, from 0."""
    sentence: int
    label: HandLabel | None
    evidence: list[str] = []
    note: str = ""


def labelling_app(work: Sequence[Task], labels: LabelFile, *, annotator: str, token: str) -> Starlette:
    """The page, what it shows and what it hands back.

    Args:
        work: the answers.
        labels: where decisions go.
        annotator: shown on the page.
        token: what a request must show; 16 characters or more.
    """

    async def index(_request: Request) -> Response:
        return await packaged("label.html", "text/html")

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        return await packaged(name, _TYPES[name]) if name in _TYPES else Response(status_code=404)

    async def overview(_request: Request) -> Response:
        counts = [len(task.sentences) for task in work]
        return JSONResponse(
            {"annotator": annotator, "sentences": counts, "done": [_done(task, labels) for task in work]},
            headers=HEADERS,
        )

    async def one(request: Request) -> Response:
        place = request.path_params["place"]
        if place >= len(work):
            raise bad_request(f"there is no case {place}")
        return JSONResponse(_shown(work[place], labels), headers=HEADERS)

    async def decide(request: Request) -> Response:
        body = await read_body(request, _MAX_BODY, Limits().body_seconds)
        try:
            task, told = _read(body, work)
            await anyio.to_thread.run_sync(
                labels.put, task.case.id, told.sentence, told.label, told.evidence, told.note
            )
        except (UsageError, ValidationError) as error:
            raise bad_request(str(error)) from None
        return JSONResponse({"done": _done(task, labels)}, headers=HEADERS)

    settings = ServeSettings(token=token, demo=True)
    return Starlette(
        routes=[
            Route("/", index),
            Route("/static/{name}", static),
            Route("/api/work", overview),
            Route("/api/case/{place:int}", one),
            Route("/api/label", decide, methods=["POST"]),
        ],
        middleware=[Middleware(Guard, settings=settings, drain=Drain(), guarded=("/api/",))],
        exception_handlers={HTTPRefusal: refuse},
    )


def _read(body: bytes, work: Sequence[Task]) -> tuple[Task, _Decision]:
    """What was decided, and about which answer.

    Raises:
        ValidationError: it is no decision. Client.
        UsageError: it is about nothing that is there. Client.
    """
    told = _Decision.model_validate_json(body)
    if not 0 <= told.case < len(work):
        raise UsageError(f"there is no case {told.case}")
    task = work[told.case]
    if not {passage.id for passage in task.case.passages or ()}.issuperset(told.evidence):
        raise UsageError("evidence must be ids of the case's passages")
    return task, told


def _done(task: Task, labels: LabelFile) -> int:
    return sum((task.case.id, sentence.index) in labels.labels for sentence in task.sentences)


def _shown(task: Task, labels: LabelFile) -> dict[str, object]:
    held = {}
    for sentence in task.sentences:
        found = labels.labels.get((task.case.id, sentence.index))
        if found is not None:
            held[sentence.index] = found.model_dump(mode="json", include={"label", "evidence", "note"})
    return {
        "id": task.case.id,
        "question": task.case.question,
        "passages": [{"id": p.id, "title": p.title, "text": p.text} for p in task.case.passages or ()],
        "sentences": [_sentence(sentence) for sentence in task.sentences],
        "labels": held,
    }


def _sentence(sentence: Sentence) -> dict[str, object]:
    runs = styled(sentence.text, code=sentence.kind is SentenceKind.CODE)
    shown = [{"text": run.text, "styles": run.styles} for run in runs]
    return {"index": sentence.index, "text": sentence.text, "runs": shown}
