"""The Markdown of the badge element, run in Node: laws over generated texts, then what authors write."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytestmark = [pytest.mark.node, pytest.mark.timeout(600)]

READER = Path(__file__).parent / "markdown.mjs"
MARKS = [
    "x",
    "b ",
    "é🛞",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\r\n",
    "*",
    "**",
    "_",
    "~~",
    "`",
    "``",
    "[1]",
    "[",
    "]",
    "!",
    "|",
    "|---|---|\n",
    "\n- ",
    "\n  - ",
    "\n1. ",
    "\n> ",
    "\n# ",
    "\n---\n",
    "\\",
    "<b>",
    "&amp;",
    "&",
    "\t",
    "\ufffc",
]
WORDS = "xbé🛞"
TEXTS = (
    st.lists(st.sampled_from(MARKS), max_size=40)
    .map("".join)
    .filter(lambda text: "```" not in text and "~~~" not in text)
)
"""Without fences and addresses, whose words a reader does not see."""
ANY = st.one_of(
    TEXTS,
    st.text(),
    st.lists(st.sampled_from([*MARKS, "\n```", "~~~", "](", "(http://x.y)", "https://a.b"])).map("".join),
)


@pytest.fixture(scope="module")
def read():
    node = shutil.which("node")
    if node is None:
        pytest.fail("these tests need node 20 or newer; install it, or deselect: -m 'not node'")
    module = resources.files("streamverify") / "static" / "markdown.js"
    command = [node, str(READER), Path(str(module)).as_uri()]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:

        def ask(text=None, **options):
            process.stdin.write(json.dumps({"text": text, **options}) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin.close()


def leaves(nodes):
    for node in nodes:
        if "nodes" in node:
            yield from leaves(node["nodes"])
        else:
            yield node


def written(nodes):
    """The tree as a short notation."""
    parts = []
    for node in nodes:
        if node["kind"] == "text":
            parts.append(node["text"])
        elif node["kind"] == "break":
            parts.append("/")
        else:
            parts.append(f"{node['kind']}({written(node['nodes'])})")
    return "".join(parts)


def in_units(text):
    """The text as JavaScript counts it: one item a UTF-16 unit."""
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at : at + 2] for at in range(0, len(data), 2)]


@given(ANY, st.booleans())
def test_leaves_stand_in_order_and_are_the_sources_own_words(read, text, open_):
    units, end = in_units(text), 0
    for leaf in leaves(read(text, open=open_)):
        assert end <= leaf["from"] <= leaf["to"] <= len(units)
        end = leaf["to"]
        source = b"".join(units[leaf["from"] : leaf["to"]]).decode("utf-16-le", "surrogatepass")
        if leaf["kind"] == "text" and leaf["text"] != source:
            assert source in {"&amp;", "\n"} or source.startswith(("&", "\r")), (source, leaf)


@given(TEXTS, st.booleans())
def test_no_word_is_lost(read, text, open_):
    shown = "".join(leaf.get("text", "") for leaf in leaves(read(text, open=open_)))
    assert [char for char in shown if char in WORDS] == [char for char in text if char in WORDS]


@given(st.lists(ANY, max_size=12))
def test_what_is_shown_in_the_end_does_not_depend_on_how_the_text_came(read, pieces):
    assert read(pieces=pieces) == read("".join(pieces))


@pytest.mark.parametrize(
    "unit",
    [
        *MARKS,
        "*a",
        "**a*",
        "`a``b",
        "](",
        "[](",
        "![[",
        "<",
        "\n- a",
        "> > ",
        "|a",
        "\n  - x",
        "1. ",
        "h",
        "https://",
        "~~a ",
        "[a](b ",
        "&#",
        "a\\",
        "- - ",
    ],
)
def test_hostile_repetitions_are_read(read, unit):
    """64,000 characters each; anything that grew faster than the text would not end in time."""
    assert read(unit * (64_000 // len(unit)), open=True, brief=True) >= 0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A **b** *c* `d*e*` ~~f~~ ***g***", "paragraph(A strong(b) em(c) code(d*e*) del(f) em(strong(g)))"),
        ("snake_case_name and 2 * 3 * 4 stay", "paragraph(snake_case_name and 2 * 3 * 4 stay)"),
        (r"\*no\* and 5 &lt; 6 <b>", "paragraph(*no* and 5 < 6 <b>)"),
        ("# A\n## B #\ntext\nmore  \nlast", "heading(A)heading(B)paragraph(text more/last)"),
        (
            "- a\n- b\n  - c\n\nend",
            "list(item(paragraph(a))item(paragraph(b)list(item(paragraph(c)))))paragraph(end)",
        ),
        ("1. a\n   b\n2. c", "list(item(paragraph(a b))item(paragraph(c)))"),
        ("In\n1986. A year", "paragraph(In 1986. A year)"),
        (
            "| a | b |\n|---|:-:|\n| `c` | d \\| e |",
            "table(row(cell(a)cell(b))row(cell(code(c))cell(d | e)))",
        ),
        ("```py\nx = '**'\n```\nafter", "code(x = '**')paragraph(after)"),
        ("> a\n> *b*", "quote(paragraph(a em(b)))"),
        ("a\n\n---\n\nb", "paragraph(a)rule()paragraph(b)"),
        ("[x](https://a.b/c) [1] [2](#) ![y](z)", "paragraph(link(x) [1] link(2) link(y))"),
        ("see https://a.b/c_d.", "paragraph(see link(https://a.b/c_d).)"),
        ("[1]: https://a.b\n\nthe end [1]", "paragraph([1]: link(https://a.b))paragraph(the end [1])"),
    ],
)
def test_what_authors_write(read, text, shown):
    assert written(read(text)) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("five **ti", "paragraph(five strong(ti))"),
        ("five **times*", "paragraph(five strong(times))"),
        ("use `ma", "paragraph(use code(ma))"),
        ("done\n\n-", "paragraph(done)"),
        ("| a | b", "table(row(cell(a)cell(b)))"),
        ("[text](https://exa", "paragraph(link(text))"),
        ("```\nx", "code(x)"),
        ("2 * 3", "paragraph(2 * 3)"),
    ],
)
def test_what_is_still_being_written_is_shown_as_what_it_will_be(read, text, shown):
    assert written(read(text, open=True)) == shown


@pytest.mark.parametrize(
    ("address", "safe"),
    [
        ("https://a.b", True),
        ("HTTP://a.b", True),
        ("mailto:a@b.c", True),
        ("javascript:alert(1)", False),
        (" javascript:alert(1)", False),
        ("java\nscript:alert(1)", False),
        ("data:text/html,x", False),
        ("//a.b", False),
        ("/path", False),
        ("https://a.b\n", False),
        ("", False),
    ],
)
def test_only_addresses_of_the_web_and_of_mail_are_followed(read, address, safe):
    assert read(address=address) is safe
