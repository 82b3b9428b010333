"""Passages and an answer in files."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import FALSE, PASSAGES, TRUE


@pytest.fixture
def passages(tmp_path: Path) -> str:
    path = tmp_path / "passages.jsonl"
    path.write_text(PASSAGES, encoding="utf-8")
    return str(path)


@pytest.fixture
def answer(tmp_path: Path) -> str:
    path = tmp_path / "answer.txt"
    path.write_text(f"{TRUE} {FALSE}\n", encoding="utf-8")
    return str(path)
