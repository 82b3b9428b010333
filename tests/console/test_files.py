from __future__ import annotations

import io
import json
import os
import sys
from itertools import pairwise
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.console import files
from streamverify.console.files import Utf8Pieces, read_answer, read_passages, stdin_pieces
from streamverify.errors import InputFileError, UsageError
from streamverify.types import Passage

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
FILLED = TEXT.filter(str.strip)


def write(folder: Path, content: str | bytes, name: str = "passages.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refusal(path: Path) -> InputFileError:
    with pytest.raises(InputFileError) as caught:
        read_passages(path)
    return caught.value


# --- passages ------------------------------------------------------------------------------------


@given(
    st.lists(
        st.builds(
            Passage,
            FILLED,
            FILLED,
            st.none() | TEXT,
            st.dictionaries(TEXT, st.none() | st.booleans() | st.integers(-99, 99) | TEXT, max_size=3),
        ),
        min_size=1,
        max_size=5,
        unique_by=lambda passage: passage.id,
    ),
    st.booleans(),
)
def test_what_was_written_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, passages: list[Passage], ascii_only: bool
) -> None:
    rows = [
        json.dumps(
            {"id": p.id, "text": p.text, "title": p.title, "metadata": dict(p.metadata)},
            ensure_ascii=ascii_only,
        )
        for p in passages
    ]
    path = write(tmp_path_factory.mktemp("law"), "\n".join(rows))
    assert tuple(passages) == read_passages(path)


def test_an_integer_id_is_read_as_its_digits_and_other_fields_are_ignored(tmp_path: Path) -> None:
    path = write(tmp_path, '{"id": 7, "text": "a", "score": 0.5}\n')
    assert (Passage("7", "a"),) == read_passages(path)


def test_blank_lines_crlf_and_a_byte_order_mark_are_no_content(tmp_path: Path) -> None:
    path = write(tmp_path, b'\xef\xbb\xbf{"id": "a", "text": "x"}\r\n\r\n{"id": "b", "text": "y"}\r\n')
    assert (Passage("a", "x"), Passage("b", "y")) == read_passages(path)


def test_a_line_separator_within_a_string_does_not_end_the_line(tmp_path: Path) -> None:
    path = write(tmp_path, '{"id": "a", "text": "x\u2028y\u0085z"}\n')
    assert read_passages(path)[0].text == "x\u2028y\u0085z"


@pytest.mark.parametrize(
    ("row", "field", "problem"),
    [
        ('{"text": "x"}', "id", "is missing (fields found: 'text')"),
        ('{"id": "a", "page_content": "x"}', "text", "is missing (fields found: 'id', 'page_content')"),
        ("{}", "id", "is missing (fields found: none)"),
        ('{"id": null, "text": "x"}', "id", "must be a string, found null"),
        ('{"id": true, "text": "x"}', "id", "must be a string, found a boolean"),
        ('{"id": 1.5, "text": "x"}', "id", "must be a string, found a number"),
        ('{"id": " ", "text": "x"}', "id", "is empty"),
        ('{"id": "a", "text": ["x"]}', "text", "must be a string, found an array"),
        ('{"id": "a", "text": "\\n "}', "text", "is empty"),
        ('{"id": "a", "text": "\\ud800"}', "text", "holds a lone surrogate, which is no character"),
        ('{"id": "a", "text": "x", "title": {}}', "title", "must be a string, found an object"),
        ('{"id": "a", "text": "x", "metadata": "y"}', "metadata", "must be an object, found a string"),
        ('{"id": "ok", "text": "x"}', "id", "'ok' is already the id of line 1"),
    ],
)
def test_a_bad_field_is_named_with_its_line(tmp_path: Path, row: str, field: str, problem: str) -> None:
    path = write(tmp_path, f'{{"id": "ok", "text": "x"}}\n\n{row}\n')
    error = refusal(path)
    assert (3, field, problem) == (error.line, error.field, error.problem)
    assert f"{path}:3: field {field!r}: {problem}" == str(error)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("not json", "not a JSON object on one line: Expecting value at column 1"),
        ('{"id": "a",', "not a JSON object on one line: Expecting property name enclosed in double quotes"),
        ('["a"]', "expected a JSON object, found an array"),
        ('"a"', "expected a JSON object, found a string"),
        ('{"id": "a", "text": "x", "metadata": {"n": NaN}}', "NaN is not JSON"),
        ("[" * 100_000, "the JSON is nested too deeply"),
        ('{"id": ' + "9" * 5_000 + ', "text": "x"}', "holds a number of more than"),
    ],
)
def test_a_line_that_is_no_object_is_named(tmp_path: Path, row: str, problem: str) -> None:
    error = refusal(write(tmp_path, f'{{"id": "ok", "text": "x"}}\n{row}'))
    assert error.line == 2
    assert error.problem.startswith(problem)


def test_invalid_utf8_is_named_by_line_and_byte_offset(tmp_path: Path) -> None:
    good = '{"id": "ä", "text": "x"}\n'.encode()
    error = refusal(write(tmp_path, good + b'{"id": "b", "text": "\xff"}'))
    assert error.line == 2
    assert f"invalid UTF-8 at byte offset {len(good) + 21}: invalid start byte" == error.problem


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_a_file_without_passages_is_refused(tmp_path: Path, content: str) -> None:
    assert refusal(write(tmp_path, content)).problem == "the file is empty; at least one passage is needed"


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    error = refusal(tmp_path / "none.jsonl")
    assert f"{tmp_path / 'none.jsonl'}: there is no such file or folder" == str(error)
    assert isinstance(error, UsageError)


@pytest.mark.parametrize(
    ("name", "problem"),
    [("n" * 5_000, "cannot be read: File name too long"), ("a\0b", "cannot be read: embedded null byte")],
)
def test_a_path_that_cannot_be_opened_says_why(name: str, problem: str) -> None:
    with pytest.raises(InputFileError) as caught:
        read_answer(name)
    assert problem == caught.value.problem


def test_a_file_over_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    assert refusal(write(tmp_path, '{"id": "a", "text": "x"}')).problem.startswith("is larger than")


def test_ten_thousand_passages_and_one_of_five_megabytes_are_read(tmp_path: Path) -> None:
    rows = [json.dumps({"id": number, "text": "x"}) for number in range(10_000)]
    rows.append(json.dumps({"id": "long", "text": "word " * 1_000_000}))
    passages = read_passages(write(tmp_path, "\n".join(rows)))
    assert (len(passages), len(passages[-1].text)) == (10_001, 5_000_000)


# --- folders -------------------------------------------------------------------------------------


def test_a_folder_gives_its_text_files_in_order_by_relative_path(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / ".git").mkdir()
    for name, text in {
        "z.md": "# Z",
        "b/a.TXT": "ä",
        "image.png": "\x00",
        ".hidden.txt": "h",
        ".git/x.txt": "g",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert (Passage("b/a.TXT", "ä"), Passage("z.md", "# Z")) == read_passages(tmp_path)


def test_a_folder_without_text_files_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path).problem == "no .txt or .md file in this folder; at least one passage is needed"


@pytest.mark.parametrize(
    ("content", "problem"), [(b" \n", "the file is empty"), (b"a\n\xe4", "invalid UTF-8")]
)
def test_a_bad_file_in_a_folder_is_named(tmp_path: Path, content: bytes, problem: str) -> None:
    write(tmp_path, b"fine", "a.txt")
    path = write(tmp_path, content, "b.txt")
    error = refusal(tmp_path)
    assert str(path) == error.path
    assert error.problem.startswith(problem)


def test_the_limit_holds_for_a_folder_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    write(tmp_path, b"sixsix", "a.txt")
    write(tmp_path, b"sixsix", "b.txt")
    assert refusal(tmp_path).problem.startswith("the files of this folder exceed")


# --- answers -------------------------------------------------------------------------------------


@given(FILLED)
def test_an_answer_is_read_as_it_is_stored(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = write(tmp_path_factory.mktemp("answer"), text)
    assert text.removeprefix("\ufeff") == read_answer(str(path))


def test_an_answer_may_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Grüße.\r\n".encode())))
    assert read_answer("-") == "Grüße.\r\n"


@pytest.mark.parametrize(
    ("data", "problem"),
    [(b"", "the answer is empty"), (b"a\n\xff", "invalid UTF-8 at byte offset 2: invalid start byte")],
)
def test_a_bad_answer_on_standard_input_is_named(
    monkeypatch: pytest.MonkeyPatch, data: bytes, problem: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    with pytest.raises(InputFileError) as caught:
        read_answer("-")
    assert ("<stdin>", problem) == (caught.value.path, caught.value.problem)


def test_a_closed_standard_input_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputFileError, match="standard input is closed"):
        read_answer("-")


# --- bytes that arrive ---------------------------------------------------------------------------


def decoded(data: bytes, cuts: list[int]) -> tuple[str, str]:
    """The text that came out, and the problem that was told."""
    decoder = Utf8Pieces("x")
    borders = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    text = "".join(decoder.feed(data[a:b]) for a, b in pairwise(borders))
    decoder.flush()
    try:
        decoder.check()
    except InputFileError as error:
        return text, error.problem
    return text, ""


CUTS = st.lists(st.integers(0, 10_000), max_size=8)


@given(TEXT, CUTS)
def test_text_does_not_depend_on_how_its_bytes_were_cut(text: str, cuts: list[int]) -> None:
    assert (text, "") == decoded(text.encode(), cuts)


@given(st.binary(max_size=60), CUTS)
def test_neither_does_the_error_and_all_before_it_comes_out(data: bytes, cuts: list[int]) -> None:
    try:
        expected = (data.decode(), "")
    except UnicodeDecodeError as error:
        problem = f"invalid UTF-8 at byte offset {error.start}: {error.reason}"
        expected = (data[: error.start].decode(), problem)
    assert expected[0] == decoded(data, cuts)[0]
    # The reason may differ where a character ends the data; the place may not.
    assert expected[1].split(": ")[0] == decoded(data, cuts)[1].split(": ")[0]


@pytest.mark.anyio
async def test_a_pipe_is_read_as_it_fills() -> None:
    reader, writer = os.pipe()
    try:
        pieces = stdin_pieces(reader)
        os.write(writer, "\ufeffÄ".encode())
        assert await anext(pieces) == "Ä"
        os.write(writer, "é".encode()[:1])
        os.write(writer, "é".encode()[1:])
        assert await anext(pieces) == "é"
        os.write(writer, b"ok\xff")
        assert await anext(pieces) == "ok"
        # The bad byte is told at once, though the writer is still there.
        with pytest.raises(InputFileError, match="byte offset 9: invalid start byte"):
            await anext(pieces)
    finally:
        os.close(reader)
        os.close(writer)


@pytest.mark.anyio
async def test_waiting_for_a_pipe_can_be_cancelled() -> None:
    reader, writer = os.pipe()
    try:
        with anyio.move_on_after(0) as scope:
            await anext(stdin_pieces(reader))
        assert scope.cancelled_caught
    finally:
        os.close(reader)
        os.close(writer)


@pytest.mark.anyio
@pytest.mark.parametrize("content", [b"", "one. two. ü".encode()])
async def test_a_file_and_nothing_at_all_are_read_to_their_end(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path, content, "answer.txt")
    for name in (path, Path(os.devnull)):
        descriptor = os.open(name, os.O_RDONLY)
        try:
            text = "".join([piece async for piece in stdin_pieces(descriptor)])
        finally:
            os.close(descriptor)
        assert (content.decode() if name == path else "") == text


@pytest.mark.anyio
async def test_a_folder_or_a_closed_descriptor_is_a_clear_error(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(InputFileError, match="<stdin>: cannot be read: Is a directory"):
            await anext(stdin_pieces(descriptor))
    finally:
        os.close(descriptor)
    with pytest.raises(InputFileError, match="<stdin>: cannot be read: Bad file descriptor"):
        await anext(stdin_pieces(descriptor))
