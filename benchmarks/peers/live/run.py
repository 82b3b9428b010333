"""The same streams through streamverify, Guardrails AI, NeMo Guardrails and director-ai, and one checker.

    python benchmarks/peers/live/run.py --venvs FOLDER [--json FILE] [--only nemo]

Each library is installed into an environment of its own under FOLDER (pinned in `requirements/`) unless it is
there already; streamverify is the one that runs this. Answers of twenty sentences, 100 pieces a second, one
stream and sixteen at once. The checker is one of two, for all of them: *stub* sleeps 40 ms and knows the
planted facts, as a checker across a network would; *model* is our own scorer, in the library's own process.
What is measured is told in `measured.py`, how each library is used in `programs/`. Every library has its turn
before any has its next, so that what else the machine does meets all of them alike; each row has the load
before and after it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from streams import SENTENCES

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
from fresh import fresh  # noqa: E402 - it lies beside the other benchmarks

LIMIT = 900
"""Seconds after which a run is ended and told as such."""
QUIET = {"ANONYMIZED_TELEMETRY": "false", "HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1", "COLUMNS": "100"}


class Peer(NamedTuple):
    """A library: the program that uses it, its package, and the ways of using it that are measured."""

    program: str
    package: str
    modes: tuple[str, ...]


PEERS = {
    "streamverify": Peer("streamverify_", "", ("flag", "redact")),
    "guardrails": Peer("guardrails_", "guardrails-ai", ("fix",)),
    "nemo": Peer("nemo_", "nemoguardrails", ("default", "hold", "small")),
    "director": Peer("director_", "director-ai", ("default", "adaptive")),
}


def workload(answers: int) -> dict[str, Any]:
    """Answers about passages of their own, and facts that no passage has."""
    people = ("Ismael Torvald", "Ottilie Brandt", "Kwame Larsen", "Yrsa Delacroix", "Bram Oyelaran")
    planted = [
        f"The lighthouse of Port {name.split()[1]} was painted green by Captain {name} in {1731 + 17 * at}."
        for at, name in enumerate(people)
    ]
    made = [fresh(seed, SENTENCES, wrong=False) for seed in range(answers)]
    told = [{"passages": [one.text for one in m.passages], "sentences": m.sentences} for m in made]
    return {"answers": told, "planted": planted}


def environment(folder: Path, peer: str) -> Path:
    """The Python of a peer's environment, made if need be."""
    if not PEERS[peer].package:
        return Path(sys.executable)
    python = folder / peer / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / peer], check=True)
        pinned = HERE / "requirements" / f"{peer}.txt"
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", pinned], check=True)
    return python


def told(python: Path, package: str) -> str:
    """The installed version of a package."""
    if not package:
        try:
            return version("streamverify")
        except PackageNotFoundError:
            return "of this folder"
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def run(peer: str, python: Path, spec: dict[str, Any], home: Path) -> dict[str, Any]:
    """One library with one checker: its figures, or the last it said."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    places = f"{HERE}{os.pathsep}{ROOT}"
    try:
        done = subprocess.run(
            [python, HERE / "measured.py", PEERS[peer].program, json.dumps(spec)],
            cwd=home,
            env={**kept, **QUIET, "HOME": str(home), "PYTHONPATH": places},
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return {"failed": f"no end after {LIMIT} s", "said": ((late.stderr or b"").decode())[-1500:]}
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        return {"failed": f"exit {done.returncode}", "said": (done.stdout + done.stderr).strip()[-1500:]}
    return json.loads(lines[-1])


class System(NamedTuple):
    """One way of using a library, with one checker."""

    peer: str
    mode: str
    checker: str


def ordered(systems: list[System], turn: int) -> list[System]:
    """All of them, another one first in each turn, so that none always runs after the same one."""
    at = turn % max(len(systems), 1)
    return systems[at:] + systems[:at]


def main() -> None:
    """Install, run, print, optionally write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--venvs", type=Path, required=True, help="folder of the environments")
    parser.add_argument("--only", choices=PEERS, action="append", help="these alone; repeatable")
    parser.add_argument("--checker", choices=("stub", "model"), action="append", help="this alone")
    parser.add_argument("--repeats", type=int, default=3, help="turns, in each of which all run once")
    parser.add_argument("--streams", type=int, action="append", help="at once; repeatable; 1 and 16 without")
    parser.add_argument("--json", type=Path, help="takes the place of what it says of the same runs")
    options = parser.parse_args()
    found = json.loads(options.json.read_text()) if options.json is not None and options.json.exists() else {}
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        counts = options.streams or [1, 16]
        told_all = workload(1 + options.repeats * sum(counts))
        (home / "workload.json").write_text(json.dumps(told_all), encoding="utf-8")
        # Guardrails measures its users unless a file in their home says otherwise.
        rc = "id=none\nenable_metrics=false\nuse_remote_inferencing=false\n"
        (home / ".guardrailsrc").write_text(rc, encoding="utf-8")
        systems = [
            System(peer, mode, checker)
            for checker in options.checker or ("stub", "model")
            for peer in options.only or PEERS
            for mode in PEERS[peer].modes
        ]
        pythons = {peer: environment(options.venvs.resolve(), peer) for peer in options.only or PEERS}
        numbers = {peer: told(python, PEERS[peer].package) for peer, python in pythons.items()}
        now: dict[System, dict[str, Any]] = {}
        for turn in range(options.repeats):
            for system in ordered(systems, turn):
                before = now.get(system, {})
                if "failed" in before:
                    continue
                spec = {
                    "workload": str(home / "workload.json"),
                    "checker": system.checker,
                    "mode": system.mode,
                    "streams": counts,
                    "first": 1 + turn * sum(counts),  # the same answers for all in one turn
                    "probes": turn == 0,
                }
                figures = run(system.peer, pythons[system.peer], spec, home)
                for row in figures.get("timed", ()):
                    row["turn"] = turn
                now[system] = {
                    **before,
                    **figures,
                    "timed": before.get("timed", []) + figures.get("timed", []),
                }
                day = datetime.now(UTC).date().isoformat()
                used = f"{system.peer} {system.mode} {system.checker}"
                found[used] = {"version": numbers[system.peer], "date": day, **now[system]}
                print(f"== turn {turn}: {used}\n{json.dumps(figures, indent=1)}", flush=True)
                if options.json is not None:
                    options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
