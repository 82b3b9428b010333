"""Two evaluations held against each other case by case, beside the pages: it takes longer than a page may.

Before: `records/runs.py` keeps each run with its cases. After: `runs.py` shows what `compare` found.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections import OrderedDict
from dataclasses import dataclass

from streamverify.errors import StreamVerifyError
from streamverify.evaluate.comparison import Comparison, compare
from streamverify.evaluate.gates import BaselineRules
from streamverify.evaluate.run import Run
from streamverify.records import Database, run_text
from streamverify.records.database import DatabaseError

_LOG = logging.getLogger("streamverify.dashboard")
_HELD = 64
"""Pairs of runs whose comparison is kept; runs never change."""


@dataclass(frozen=True, slots=True)
class Unpaired:
    """Why two runs are not held against each other case by case."""

    why: str


Pair = Comparison | Unpaired | None
"""None while it is being computed."""
Key = tuple[uuid.UUID, uuid.UUID]


class Pairing:
    """Comparisons of recorded runs, each computed once, in a thread of its own, one after the other."""

    def __init__(self, database: Database, rules: BaselineRules | None) -> None:
        """Nothing is compared yet.

        Args:
            database: of records; open.
            rules: how much worse a run may be.
        """
        self._database, self._rules = database, rules
        self._lock = threading.Lock()
        self._found: OrderedDict[Key, Pair] = OrderedDict()
        self._one_at_a_time = threading.Lock()
        self._done = 0

    @property
    def done(self) -> int:
        """How many were computed: a number that changes when a page has something new to show."""
        with self._lock:
            return self._done

    def of(self, before: uuid.UUID, after: uuid.UUID) -> Pair:
        """What is known of two runs; asks for it where nobody has yet."""
        key = before, after
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
            self._found[key] = None
            while len(self._found) > _HELD:
                self._found.popitem(last=False)
        # A daemon: nobody waits for a comparison when the dashboard ends.
        threading.Thread(target=self._compute, args=(key,), name="streamverify-pairing", daemon=True).start()
        return None

    def _compute(self, key: Key) -> None:
        with self._one_at_a_time:
            try:
                found: Pair | None = self._compared(*key)
            except StreamVerifyError as error:
                found = Unpaired(str(error))
            except DatabaseError as error:  # it may come back: the next reader asks again
                _LOG.warning("runs could not be compared: %s", type(error).__name__)
                found = None
            with self._lock:
                if found is None:
                    self._found.pop(key, None)
                else:
                    self._found[key] = found
                self._done += 1

    def _compared(self, before: uuid.UUID, after: uuid.UUID) -> Pair:
        texts = [run_text(self._database, one) for one in (before, after)]
        if None in texts:
            return Unpaired("records hold the figures of one of them without its cases")
        old, new = (Run.from_text(text) for text in texts if text is not None)
        if not {case.id for case in old.cases} & {case.id for case in new.cases}:
            return Unpaired("they have no case in common")
        if old.header.questions != new.header.questions:
            return Unpaired("they are over different questions, or other labels for them")
        return compare(old, new, rules=self._rules)
