"""Answers that a judge gave before, in one SQLite file.

Before: `client.py` asks by key. After: the same answer as the first time, without a request.

Only answers that were read and found well-formed are kept; a failure never is.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamverify.errors import InputFileError

_TABLE = (
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, question TEXT NOT NULL, answer TEXT NOT NULL)"
)


def key_of(content: Mapping[str, Any]) -> str:
    """SHA-256 over everything that an answer depends on."""
    written = json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()


class AnswerCache:
    """Keys to answers; safe to use from several threads, and by several processes at once."""

    def __init__(self, path: Path | str) -> None:
        """Open the file, or make it.

        Raises:
            InputFileError: it is no such file, or cannot be opened. Caller.
        """
        self._path, self._lock = str(path), threading.Lock()
        try:
            self._file = sqlite3.connect(
                self._path, timeout=30, check_same_thread=False, isolation_level=None
            )
            self._file.execute(_TABLE)
        except sqlite3.Error as error:
            raise InputFileError(path, f"is no cache of a judge's answers: {error}") from None

    def get(self, key: str) -> str | None:
        """The answer kept under this key."""
        with self._lock:
            row = self._file.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def put(self, key: str, question: str, answer: str) -> None:
        """Keep an answer; the first one under a key stays."""
        with self._lock:
            self._file.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", (key, question, answer))

    def __len__(self) -> int:
        with self._lock:
            return int(self._file.execute("SELECT COUNT(*) FROM answers").fetchone()[0])

    def close(self) -> None:
        """Close the file; calling it again does nothing."""
        with self._lock:
            self._file.close()
