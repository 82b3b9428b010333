"""Claims that were measured through the library, kept so that the next fit needs no model.

Before: `fuse.py` measures the claims of a set. After: it and `contradiction.py` fit on them. One file in JSON
Lines holds several sets of one model; a set that it holds is not measured again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from training.fitting import Row

COPIED = "copied"
"""Name of the set of sentences copied from passages, which `fuse.py` alone fits on."""


class KeptRows:
    """The measured claims of several sets, by name."""

    def __init__(self, file: Path | None, revision: str) -> None:
        """Read what the file holds, if there is one; without a file nothing is kept.

        Args:
            file: that keeps them.
            revision: of the model that measures, or measured.

        Raises:
            ValueError: another model measured what the file holds. Caller: name another file.
        """
        self._file = file
        self._revision = revision
        self.sets: dict[str, list[Row]] = {}
        if file is not None and file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                record = json.loads(line)
                if record["revision"] != revision:
                    raise ValueError(f"{file} holds claims of another model: name a new file, or delete it")
                row = Row(record["case"], record["label"], record["features"])
                self.sets.setdefault(record["set"], []).append(row)

    def of(self, name: str, measure: Callable[[], Sequence[Row]]) -> list[Row]:
        """The claims of a set: those kept, else those measured now, which are kept."""
        if name not in self.sets:
            self.sets[name] = list(measure())
            self._keep()
        return self.sets[name]

    def _keep(self) -> None:
        """Write all sets, or none where it is broken off: part of a set would pass for the whole."""
        if self._file is None:
            return
        lines = [
            json.dumps({"set": name, "revision": self._revision, **asdict(row)}) + "\n"
            for name, found in self.sets.items()
            for row in found
        ]
        part = self._file.with_name(f"{self._file.name}.part")
        part.write_text("".join(lines), encoding="utf-8")
        part.replace(self._file)
