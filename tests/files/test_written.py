"""A file of results is whole, or what was there."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.errors import UsageError
from streamverify.files.written import write_whole

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(TEXTS), st.none() | TEXTS)
def test_what_is_written_is_all_that_is_there(tmp_path_factory, parts, before):
    path = tmp_path_factory.mktemp("written") / "r.json"
    if before is not None:
        path.write_text(before, "utf-8")
    write_whole(path, parts)
    assert path.read_bytes() == "".join(parts).encode()
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("before", [None, "what was there"])
@given(parts=st.lists(TEXTS))
def test_what_fails_on_the_way_leaves_what_was_there(tmp_path_factory, before, parts):
    path = tmp_path_factory.mktemp("written") / "r.json"
    if before is not None:
        path.write_text(before, "utf-8")

    def ends():
        yield from parts
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, ends())
    with pytest.raises(UsageError, match="line 2 would hold half of a surrogate pair"):
        write_whole(path, "first\nsecond \ud800\n")
    assert [one.read_text("utf-8") for one in path.parent.iterdir()] == ([] if before is None else [before])


def test_a_link_stays_one_and_a_file_keeps_its_mode(tmp_path):
    kept, link = tmp_path / "kept", tmp_path / "link"
    kept.write_text("old", "utf-8")
    kept.chmod(0o640)
    link.symlink_to(kept)
    write_whole(link, "new")
    assert (link.is_symlink(), kept.read_text("utf-8"), kept.stat().st_mode & 0o777) == (True, "new", 0o640)


def test_a_pipe_is_written_to(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text("utf-8")))
    reader.start()
    write_whole(pipe, "all of it")
    reader.join()
    assert (read, pipe.is_fifo()) == (["all of it"], True)


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/dev/full", "No space left on device"),
        (".", "Is a directory"),
        ("no/r", "No such file"),
        ("x" * 300, "File name too long"),
        ("loop", "Too many levels"),
    ],
)
def test_what_cannot_be_written_is_told_with_its_name(path, problem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    with pytest.raises(UsageError, match=f"^{path} cannot be written: {problem}"):
        write_whole(path, "text")
    assert [one.name for one in tmp_path.iterdir()] == ["loop"]
