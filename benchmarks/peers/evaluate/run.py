"""The same fifty recorded answers through streamverify, Ragas, DeepEval and Inspect AI, and one judge.

    python benchmarks/peers/evaluate/run.py --venvs FOLDER [--json FILE] [--only ragas]

Each library is installed into an environment of its own under FOLDER (pinned in `requirements/`) unless it is
there already; streamverify is the one that runs this. Each gets the shortest program that its documentation
leads to (`programs/`), which sees the answers, the address of a judge on loopback and nothing else, and no
variable that would change what it does by itself but those that keep it from calling out.

Of fifty answers of three sentences ten hold one that no passage has, five of them those on which the judge
fails: so that whoever leaves failures out of a mean looks better for it. Three times: the judge answers; it
refuses five cases (status 400, as content filters do); it answers them in prose.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from judge import Failure, Judge, serving

HERE = Path(__file__).parent
CASES, WRONG, FAILING = 50, frozenset(range(0, 50, 5)), frozenset(range(0, 50, 10))
LIMIT = 300
"""Seconds after which a run is ended and told as such."""
QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "RAGAS_DO_NOT_TRACK": "true",
    "ANONYMIZED_TELEMETRY": "false",
    "COLUMNS": "100",
}
PEERS = {"streamverify": "", "ragas": "ragas", "deepeval": "deepeval", "inspect": "inspect-ai"}
"""Program to what its environment must hold; ours is the environment that runs this."""


def answers() -> list[dict[str, Any]]:
    """Fifty answers; those of `WRONG` end in a sentence that no passage has."""
    rows = []
    for n in range(CASES):
        mill = [
            f"The mill of village {n} was built in {1700 + n}.",
            f"The mill of village {n} has {2 + n} wheels.",
        ]
        river = f"The river of village {n} is {40 + n} kilometres long."
        last = f"The owner of village {n} was Ann." if n in WRONG else river
        passages = [" ".join(mill), f"{river} It is named after a saint."]
        about = {"id": f"village-{n}", "question": f"What is known about village {n}?"}
        rows.append({**about, "answer": " ".join([*mill, last]), "passages": passages})
    return rows


def environment(folder: Path, peer: str) -> Path:
    """The Python of a peer's environment, made if need be."""
    if not PEERS[peer]:
        return Path(sys.executable)
    python = folder / peer / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / peer], check=True)
        pip = [python, "-m", "pip", "install", "-q", "-r", HERE / "requirements" / f"{peer}.txt"]
        subprocess.run(pip, check=True)
    return python


def told(python: Path, package: str) -> str:
    """The installed version of a package."""
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def lines(peer: str) -> int:
    """Lines of its program that are not blank."""
    return sum(bool(line.strip()) for line in _program(peer).splitlines())


def _program(peer: str) -> str:
    return (HERE / "programs" / f"{peer}_.py").read_text(encoding="utf-8")


def run(peer: str, python: Path, failure: Failure) -> dict[str, Any]:
    """One run, in a folder of its own: seconds, calls, exit status and the last of what it printed."""
    judge = Judge(FAILING, failure)
    with tempfile.TemporaryDirectory() as name, serving(judge) as address:
        folder = Path(name)
        rows = "".join(json.dumps(row) + "\n" for row in answers())
        (folder / "answers.jsonl").write_text(rows, encoding="utf-8")
        (folder / "program.py").write_text(f"ADDRESS = {address!r}\n{_program(peer)}", encoding="utf-8")
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
        if PEERS[peer]:
            kept.pop("PYTHONPATH", None)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        try:
            done = subprocess.run(
                [python, "program.py"],
                cwd=folder,
                env={**kept, **QUIET, "HOME": name},
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=False,
            )
            status, printed, said = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            status, printed, said = None, *((one or b"").decode() for one in (late.stdout, late.stderr))
        took, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        left = sorted(one.name for one in folder.iterdir() if one.name not in ("answers.jsonl", "program.py"))
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "failure": failure,
        "seconds": round(took, 1),
        "cpu_seconds": round(cpu, 1),
        "calls": judge.calls,
        "failed_calls": sum(judge.failed.values()),
        "exit": status,
        "printed": _plain(printed)[-1500:],
        "said": _plain(said)[-1000:],
        "left_behind": left,
    }


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text).strip()


def main() -> None:
    """Install, run, print, optionally write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--venvs", type=Path, required=True, help="folder of the environments")
    parser.add_argument("--only", choices=PEERS, action="append", help="these alone; repeatable")
    parser.add_argument("--json", type=Path, help="takes the place of what it says of the same libraries")
    options = parser.parse_args()
    found = json.loads(options.json.read_text()) if options.json is not None and options.json.exists() else {}
    for peer in options.only or PEERS:
        python = environment(options.venvs.resolve(), peer)
        runs = [run(peer, python, failure) for failure in ("none", "refused", "prose")]
        number = told(python, PEERS[peer]) if PEERS[peer] else version("streamverify")
        day = datetime.now(UTC).date().isoformat()
        found[peer] = {"version": number, "date": day, "lines": lines(peer), "runs": runs}
        for one in runs:
            print(f"== {peer} {number}, {lines(peer)} lines, {json.dumps(one, indent=1)}", flush=True)
        if options.json is not None:
            options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
