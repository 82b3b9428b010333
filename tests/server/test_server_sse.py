"""The response: errors before and after the first byte, leaving, coming back, slow readers; on both loops."""

from __future__ import annotations

import anyio
import pytest
from serving import Client, Source, frames
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from streamverify.errors import ModelError, StreamStateError, UsageError
from streamverify.policy import Redact
from streamverify.server import Runs, sse_response
from streamverify.server.sse import resumed
from streamverify.streaming.pump import CAPACITY
from streamverify.testing import ScriptedScorer, pieces
from streamverify.types import Label, Passage
from streamverify.verifier import Verifier

pytestmark = pytest.mark.anyio

SCRIPT = {"wrong": Label.CONTRADICTED}
PASSAGES = [Passage("p1", "The mill was built in the town. It grinds barley.")]
TEXT = "The mill was built in the town. The wrong wheel turns. Barley is ground. "


def app_for(source, *, runs=None, scorer=None, policy=None, **options):
    verifier = Verifier(scorer or ScriptedScorer(SCRIPT))

    async def answer(request):
        if runs is not None and (rest := resumed(request.headers, runs)) is not None:
            return rest
        stream = verifier.stream(source, PASSAGES, policy=policy)
        return sse_response(stream, passages=PASSAGES, runs=runs, **options)

    return Starlette(routes=[Route("/", answer)])


async def test_the_frames_are_numbered_and_end_with_the_report():
    client = await Client(app_for(Source(pieces(TEXT, 5))))()
    assert client.status == 200
    assert client.headers["content-type"].startswith("text/event-stream")
    assert "content-length" not in client.headers
    told = frames(client.body)
    assert told[0].event == "passages"
    run = told[1].id.rpartition(":")[0]
    assert [frame.id for frame in told[1:]] == [f"{run}:{seq}" for seq in range(len(told) - 1)]
    assert told[-1].json["report"]["released"] == TEXT


async def test_two_runs_never_share_an_id():
    ids = {frames((await Client(app_for(Source([TEXT])))()).body)[-1].id for _ in range(3)}
    assert len(ids) == 3


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (RuntimeError("key sk-123 refused"), 502, "source_error"),
        (ModelError("no model"), 503, "model_error"),
        (UsageError("bad call"), 500, "stream_error"),
    ],
)
async def test_a_source_that_fails_before_its_first_piece_is_an_http_error(error, status, kind):
    client = await Client(app_for(Source([], error=error)))()
    assert client.status == status
    assert f'"type":"{kind}"'.encode() in client.body
    assert str(error).encode() not in client.body
    assert type(error).__name__.encode() in client.body
    detailed = await Client(app_for(Source([], error=error), error_details=True))()
    assert (detailed.status, str(error).encode() in detailed.body) == (status, True)


async def test_an_http_exception_of_the_source_is_answered_as_the_application_answers_it():
    client = await Client(app_for(Source([], error=HTTPException(404, "no such document"))))()
    assert client.status == 404
    assert client.body == b"no such document"


async def test_a_model_that_cannot_be_loaded_is_an_http_error():
    def broken():
        raise ModelError("no model at /nowhere")

    client = await Client(app_for(Source([TEXT]), scorer=broken))()
    assert (client.status, b"ModelError" in client.body, b"/nowhere" in client.body) == (503, True, False)


async def test_a_source_that_fails_later_is_a_typed_event():
    client = await Client(app_for(Source([TEXT, "It "], error=RuntimeError("cable cut"))))()
    assert client.status == 200
    last = frames(client.body)[-1]
    assert last.event == "stream_failed"
    assert (last.json["code"], last.json["error"]) == (
        "source_failed",
        "the source of the answer failed: RuntimeError",
    )


async def test_what_a_reader_is_not_told_of_a_failure_is_logged(caplog):
    scorer = ScriptedScorer(fail_on="town", error=LookupError("judge at 10.0.0.7 refused"))
    failing = Source([TEXT], error=RuntimeError("key sk-123 refused"))
    client = await Client(app_for(failing, scorer=scorer))()
    assert not any(part in client.body for part in (b"sk-123", b"10.0.0.7"))
    logged = "".join(f"{record.getMessage()} {record.exc_info}" for record in caplog.records)
    assert "key sk-123 refused" in logged
    assert "judge at 10.0.0.7 refused" in logged


async def test_a_reader_that_goes_away_ends_the_source_at_once():
    source = Source([TEXT], endless=True)
    client = Client(app_for(source))
    async with anyio.create_task_group() as group:
        group.start_soon(client)
        await client.until('"kind":"sentence_judged"')
        assert not source.closed.is_set()
        client.disconnect()
        await source.closed.wait()


async def test_a_reader_that_goes_away_before_the_first_piece_ends_the_source_and_gets_no_answer():
    source = Source([], endless=True)
    client = Client(app_for(source))
    async with anyio.create_task_group() as group:
        group.start_soon(client)
        await source.begun.wait()
        client.disconnect()
        await source.closed.wait()
    assert client.status == 0


async def test_a_slow_source_gets_its_headers_after_the_patience():
    source = Source([], endless=True)
    client = Client(app_for(source, patience=0.0))
    async with anyio.create_task_group() as group:
        group.start_soon(client)
        await client.until("stream_opened")
        client.disconnect()
    assert client.status == 200


async def test_a_reader_that_does_not_read_holds_up_the_source():
    source = Source(["word "] * 10_000)
    client = Client(app_for(source), read=False)
    async with anyio.create_task_group() as group:
        group.start_soon(client)
        await client.until("stream_opened")
        before = -1
        while before != source.given:
            before = source.given
            for _ in range(50):
                await anyio.lowlevel.checkpoint()
        assert source.given <= CAPACITY + 10
        client.disconnect()
    assert source.closed.is_set()


async def test_silence_is_filled_with_comments():
    client = Client(app_for(Source([TEXT], endless=True), heartbeat=0.01))
    async with anyio.create_task_group() as group:
        group.start_soon(client)
        await client.until(": still here")
        client.disconnect()


async def test_head_answers_without_touching_the_source():
    source = Source([TEXT])
    client = await Client(app_for(source), method="HEAD")()
    assert (client.status, client.body, source.given) == (200, b"", 0)


async def test_what_was_redacted_is_nowhere_on_the_wire():
    client = await Client(app_for(Source(pieces(TEXT, 9)), policy=Redact()))()
    assert "wrong" not in client.body.decode()
    assert frames(client.body)[-1].json["report"]["sentences"][1]["text"].startswith("█")


async def test_a_trusted_reader_may_see_everything():
    client = await Client(app_for(Source(pieces(TEXT, 9)), policy=Redact(), reveal=True))()
    assert frames(client.body)[-1].json["report"]["answer"] == TEXT


@pytest.mark.parametrize("protocol", ["streamverify", "ai-sdk", "ag-ui"])
async def test_coming_back_after_any_frame_gives_exactly_the_rest(protocol):
    async with Runs() as runs:
        app = app_for(Source(pieces(TEXT, 5)), runs=runs, protocol=protocol)
        first = await Client(app)()
        numbered = [(block, frame) for block in [first.body] for frame in frames(block)]
        ids = [frame.id for _, frame in numbered if frame.id]
        for event_id in ids:
            again = await Client(app, headers={"last-event-id": event_id})()
            whole = frames(first.body)
            place = next(at for at, frame in enumerate(whole) if frame.id == event_id)
            assert frames(again.body) == whole[place + 1 :]


async def test_a_run_goes_on_where_it_was_when_its_reader_comes_back():
    gate = anyio.Event()
    source = Source([TEXT, "And more. "], endless=True, gate=gate)
    async with Runs() as runs:
        app = app_for(source, runs=runs)
        first = Client(app)
        async with anyio.create_task_group() as group:
            group.start_soon(first)
            await first.until("sentence_judged")
            first.disconnect()
        assert not source.closed.is_set()
        last = frames(first.body)[-1].id
        gate.set()
        again = Client(app, headers={"last-event-id": last})
        async with anyio.create_task_group() as group:
            group.start_soon(again)
            await again.until("And more.")
            again.disconnect()
        ids = [frame.id for frame in [*frames(first.body), *frames(again.body)] if frame.id]
        seqs = [int(event_id.rpartition(":")[2]) for event_id in ids]
        assert seqs == list(range(len(seqs)))
    assert source.closed.is_set()


async def test_a_second_reader_takes_over_from_the_first():
    source = Source([TEXT], endless=True)
    async with Runs() as runs:
        app = app_for(source, runs=runs)
        first = Client(app)
        async with anyio.create_task_group() as group:
            group.start_soon(first)
            await first.until("text_released")
            opened = next(frame.id for frame in frames(first.body) if frame.event == "stream_opened")
            second = Client(app, headers={"last-event-id": opened})
            group.start_soon(second)
            await second.until("sentence_judged")
            second.disconnect()
            first.disconnect()


async def test_a_run_nobody_comes_back_for_is_ended():
    source = Source([TEXT], endless=True)
    async with Runs(grace=0) as runs:
        app = app_for(source, runs=runs)
        client = Client(app)
        async with anyio.create_task_group() as group:
            group.start_soon(client)
            await client.until("sentence_judged")
            client.disconnect()
        await source.closed.wait()
        event_id = frames(client.body)[-1].id
        again = await Client(app, headers={"last-event-id": event_id})()
        assert (again.status, b"run_gone" in again.body) == (410, True)


@pytest.mark.parametrize("event_id", ["x", "x:1", "run:-1", "run:٣", ":", "run:" + "9" * 400])
async def test_an_id_nobody_gave_is_gone(event_id):
    async with Runs() as runs:
        source = Source([TEXT])
        client = await Client(app_for(source, runs=runs), headers={"last-event-id": event_id})()
        assert (client.status, source.given) == (410, 0)


async def test_what_the_ring_has_forgotten_is_gone_and_the_rest_is_not():
    async with Runs(capacity=2_000) as runs:
        app = app_for(Source(["word "] * 200), runs=runs)
        whole = frames((await Client(app)()).body)
        early = await Client(app, headers={"last-event-id": whole[1].id})()
        late = await Client(app, headers={"last-event-id": whole[-2].id})()
    assert early.status == 410
    assert frames(late.body) == whole[-1:]


async def test_the_oldest_run_makes_room():
    async with Runs(limit=1) as runs:
        source = Source([TEXT], endless=True)
        first = Client(app_for(source, runs=runs))
        async with anyio.create_task_group() as group:
            group.start_soon(first)
            await first.until("text_released")
            await Client(app_for(Source([TEXT]), runs=runs))()
            await source.closed.wait()


async def test_runs_must_be_open_and_in_range():
    with pytest.raises(UsageError):
        Runs(grace=-1)
    with pytest.raises(StreamStateError):
        await Client(app_for(Source([TEXT]), runs=Runs()))()
    with pytest.raises(UsageError, match="ag-ui"):
        sse_response(Verifier(ScriptedScorer()).stream([], []), "websocket")
