"""Everything with a real Ray: one cluster of two cores for the file, and replicas that are killed in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from faltering import Faltering, lexical

from streamverify import Passage, Redact, Verifier
from streamverify.errors import (
    ModelNotFoundError,
    ScoringError,
    ScoringTimeoutError,
    StreamStateError,
    UsageError,
)
from streamverify.evaluate import Case, evaluate, metric
from streamverify.scale import RayScorer, application, evaluate_on_ray, local_ray
from streamverify.scorers.protocol import Abort, Claim, Window
from streamverify.types import Label

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.ray,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore"),
]

PASSAGES = (
    Passage("tower", "The Eiffel Tower was completed in 1889 and stands 330 metres tall."),
    Passage("bridge", "The Forth Bridge was opened in 1890. It is 2,467 metres long.", title="Forth Bridge"),
)
ANSWER = (
    "Good question! The tower was finished in 1889. The Eiffel Tower is 450 metres tall [2]. "
    "The Forth Bridge opened in 1890 and is made of cheese."
)
SPENT = ("_ms", "_ratio", "work")
"""Fields that tell time, and what was found in the caches of a process."""
WORDS = [Passage("mill", "The old mill falters, lingers, fails, raises and turns.")]
WINDOWS = [Window(0, "The old mill falters, lingers, fails, raises and turns.", 0, 55)]


def descendants(of: int) -> set[int]:
    """Processes below one, read from /proc."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue  # it ended
            if stat.rpartition(")")[2].split()[0] != "Z":
                parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found, grown = {of}, True
    while grown:
        more = {child for child, parent in parents.items() if parent in found} - found
        found, grown = found | more, bool(more)
    return found - {of}


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


def wait_for_end(processes: set[int]) -> None:
    for process in processes:
        try:
            handle = os.pidfd_open(process)
        except ProcessLookupError:
            continue
        with anyio.from_thread.start_blocking_portal() as portal, os.fdopen(handle) as file:
            portal.call(anyio.wait_readable, file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("pipes")
    for name in ("asked", "aborted"):
        os.mkfifo(made / name)
    return made


@pytest.fixture(scope="module")
def cluster(folder) -> Iterator[str]:
    """The cluster's address; when the tests have ended, nothing that Ray started is left."""
    before = environment()
    with local_ray(2):
        import ray
        from ray import serve

        assert not ray.util.get_node_ip_address().startswith(("192.", "10."))
        # A replica knows the library and not the folder of its tests.
        ray.cloudpickle.register_pickle_by_value(sys.modules[Faltering.__module__])
        serve.start(proxy_location="Disabled")
        serve.run(application(Faltering(folder), replicas=2, cpus=0.2), name="model", route_prefix=None)
        yield ray.get_runtime_context().gcs_address
        started = descendants(os.getpid())
        assert started
    wait_for_end(started)
    assert environment() == before
    assert not ray.is_initialized()


@pytest.fixture
def faltering(cluster, folder) -> Iterator[RayScorer]:
    (folder / "faltered").unlink(missing_ok=True)
    scorer = RayScorer("model", timeout=300)
    yield scorer
    scorer.close()


def told(report):
    return [sentence.model_dump(mode="json", exclude={"latency_ms"}) for sentence in report.sentences]


def test_verdicts_are_those_of_the_model_in_this_process(cluster):
    scorer = RayScorer("model")
    with Verifier() as here, Verifier(scorer) as there:
        expected = here.check_sync(ANSWER, PASSAGES)
        found = there.check_sync(ANSWER, PASSAGES)
        assert told(found) == told(expected)
        assert found.fingerprint == expected.fingerprint
        assert found.work == expected.work
    # A second application process of this kind finds the windows encoded by the replica the first one asked.
    other = RayScorer("model")
    with Verifier(other) as again:
        assert again.check_sync(ANSWER, PASSAGES).work.windows_from_cache == found.work.windows
    other.close()
    scorer.close()
    with pytest.raises(StreamStateError, match="closed"):
        scorer.prepare(WINDOWS, abort=Abort())


def test_several_processes_share_the_replicas(cluster):
    program = (
        "import json, sys\n"
        "from streamverify import Verifier\n"
        "from streamverify.scale import RayScorer\n"
        "address, answer, passages = json.loads(sys.argv[1])\n"
        "scorer = RayScorer('model', address=address)\n"
        "report = Verifier(scorer).check_sync(answer, passages)\n"
        "scorer.close()\n"
        "print(json.dumps([s.model_dump(mode='json', exclude={'latency_ms'}) for s in report.sentences]))\n"
    )
    given = json.dumps([cluster, ANSWER, [{"id": p.id, "text": p.text, "title": p.title} for p in PASSAGES]])
    apps = [
        subprocess.Popen([sys.executable, "-c", program, given], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [app.communicate()[0] for app in apps]
    with Verifier() as here:
        expected = told(here.check_sync(ANSWER, PASSAGES))
    assert [json.loads(output.splitlines()[-1]) for output in outputs] == [expected, expected]


async def test_a_sentence_whose_replica_dies_is_scored_by_another_one(faltering, folder):
    def kill() -> None:
        os.kill(int((folder / "asked").read_text()), signal.SIGKILL)

    async with Verifier() as here:
        expected = await here.check("The mill turns. The old mill turns. The old mill falters.", WORDS)
    async with Verifier(faltering, verdict_timeout=300) as verifier:
        killer = threading.Thread(target=kill)
        killer.start()
        report = await verifier.check("The mill turns. The old mill falters. The old mill turns.", WORDS)
        killer.join()
    labels = [sentence.label for sentence in report.sentences]
    assert labels == [expected.sentences[place].label for place in (0, 2, 1)]
    assert Label.UNVERIFIED not in labels


async def test_a_stream_that_is_cancelled_calls_off_what_a_replica_does_for_it(faltering, folder):
    async with (
        Verifier(faltering) as verifier,
        verifier.stream("The old mill lingers. The mill turns.", WORDS) as stream,
        anyio.create_task_group() as group,
    ):

        async def read() -> None:
            async for _ in stream:
                pass

        group.start_soon(read)
        await anyio.to_thread.run_sync((folder / "asked").read_text)
        group.cancel_scope.cancel()
    assert await anyio.to_thread.run_sync((folder / "aborted").read_text) == "yes"


def test_a_deadline_frees_the_replica_and_leaves_the_sentence_unverified(faltering, folder):
    heard: list[str] = []

    def listen() -> None:
        heard.extend((folder / name).read_text() for name in ("asked", "aborted"))

    listener = threading.Thread(target=listen)
    listener.start()
    with Verifier(faltering, verdict_timeout=10) as verifier:
        report = verifier.check_sync("The old mill lingers. The mill turns.", WORDS, policy=Redact())
    listener.join()
    assert heard[1] == "yes"
    first, second = report.sentences
    assert first.label is Label.UNVERIFIED
    assert second.label is not Label.UNVERIFIED
    assert "lingers" not in report.released


def test_abort_and_time_out_of_one_request(cluster, faltering, folder):
    prepared = faltering.prepare(WINDOWS, abort=Abort())
    abort = Abort()
    caller = threading.Thread(target=lambda: ((folder / "asked").read_text(), abort.set()))
    caller.start()
    with pytest.raises(ScoringError, match="called off"):
        faltering.score(prepared, [Claim("The mill lingers.")], abort=abort)
    caller.join()
    assert (folder / "aborted").read_text() == "yes"
    hasty = RayScorer("model", timeout=2)
    listener = threading.Thread(
        target=lambda: ((folder / "asked").read_text(), (folder / "aborted").read_text())
    )
    listener.start()
    with pytest.raises(ScoringTimeoutError):
        hasty.score(hasty.prepare(WINDOWS, abort=Abort()), [Claim("The mill lingers.")], abort=Abort())
    listener.join()
    hasty.close()


def test_what_fails_in_a_replica_is_told_in_words(faltering):
    prepared = faltering.prepare(WINDOWS, abort=Abort())
    with pytest.raises(ScoringError, match="it failed, as it was told"):
        faltering.score(prepared, [Claim("The mill fails.")], abort=Abort())
    with pytest.raises(ScoringError, match="RuntimeError") as caught:
        faltering.score(prepared, [Claim("The mill raises.")], abort=Abort())
    assert "\n" not in str(caught.value)
    assert faltering.renew(prepared, abort=Abort()).windows == tuple(WINDOWS)


def test_who_asks_for_what_is_not_there_is_told(cluster):
    with pytest.raises(ModelNotFoundError, match="no Ray Serve application at nobody"):
        RayScorer("nobody")
    with pytest.raises(UsageError, match="connected to a Ray cluster already"):
        RayScorer("model", address="127.0.0.1:1")
    with pytest.raises(UsageError, match="connected to a Ray cluster already"), local_ray():
        pass


def cases(count: int) -> list[Case]:
    return [
        Case(
            id=f"case-{n}",
            question="What about \udce9?" if n == 3 else None,
            answer=ANSWER if n % 3 else "The bridge was opened in 1890." if n else None,
            passages=PASSAGES,
            category="even" if n % 2 == 0 else None,
        )
        for n in range(count)
    ]


def test_an_evaluation_gives_the_bytes_of_one_process(cluster, tmp_path):
    @metric(name="length", range=(0, None))
    def length(case, report):
        if case.id == "case-4":
            raise RuntimeError("as it was told")
        return len(report.released)

    asked = {"metrics": ["faithfulness", "citation_fabricated", length], "policy": "redact"}
    with Verifier("lexical") as here:
        expected = evaluate(cases(20), verifier=here, out=tmp_path / "here.jsonl", **asked)
    seen: list[tuple[int, int]] = []
    journal = tmp_path / "there.jsonl"
    # Begun here, and gone on with there.
    journal.write_text("".join((tmp_path / "here.jsonl").read_text().splitlines(keepends=True)[:6]))
    found = evaluate_on_ray(
        cases(20), verifier=lexical, out=journal, progress=lambda *at: seen.append(at), workers=2, **asked
    )
    assert found.text() == expected.text()
    assert seen[-1] == (20, 20)
    assert len(seen) < 20
    assert _lines(journal) == _lines(tmp_path / "here.jsonl")
    # Again: nothing is left to do.
    assert evaluate_on_ray(cases(20), verifier=lexical, out=journal, **asked).text() == expected.text()


def _lines(journal: Path) -> list[str]:
    """Its lines without what was spent, in an order of their own; a case that went wrong may stand twice."""

    def unspent(value):
        if isinstance(value, dict):
            return {name: unspent(held) for name, held in value.items() if not name.endswith(SPENT)}
        return [unspent(held) for held in value] if isinstance(value, list) else value

    return sorted({json.dumps(unspent(json.loads(line))) for line in journal.read_text().splitlines()})


def test_what_cannot_be_sent_is_refused(cluster):
    with pytest.raises(UsageError, match="cannot be sent"):
        evaluate_on_ray(cases(2), verifier=lexical, metrics=[metric(name="held")(threading.Lock().acquire)])
