"""Markers in text: laws over random text, and a table of cases checked by hand.

In the table a case is the sentence and what should be found, `marker=key,key`, parted by ` ; `; an
empty string means that nothing is a citation. Keys are the numbers, ids or names as written, a year
behind a slash.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Passage
from streamverify.citations import Marker, Resolver, find_definitions, find_markers, markup
from streamverify.segment import SentenceSegmenter, segment

if TYPE_CHECKING:
    import itertools
from collections.abc import Sequence

PASSAGES = (
    Passage("p1", "text", "Leave Manual (2023)", {"url": "https://www.example.org/leave/"}),
    Passage("p2", "text", "Probation Policy", {"year": 2024, "author": "Ada Smith"}),
    Passage(
        "kb-7",
        "text",
        "Travel",
        {"authors": ["Lee, Kim", "Osei, Yaw"], "date": "2020-03-01", "file": "a/travel.pdf"},
    ),
    Passage("p4", "text", "Annual Report (2022)", {"author": "Kim"}),
    Passage("p5", "text", "Annual Report (2023)"),
)
KNOWN = Resolver(PASSAGES)

PLAIN = [
    # numbers in square brackets
    ("It grew [1].", "[1]=1"),
    ("It grew. [1]", "[1]=1"),
    ("It grew[1].", "[1]=1"),
    ("It grew.[1]", "[1]=1"),
    ("It grew [1, 3].", "[1, 3]=1,3"),
    ("It grew [1,3].", "[1,3]=1,3"),
    ("It grew [1; 3].", "[1; 3]=1,3"),
    ("It grew [1 and 3].", "[1 and 3]=1,3"),
    ("It grew [1][3].", "[1]=1 ; [3]=3"),
    ("It grew[1][3].", "[1]=1 ; [3]=3"),
    ("It grew [1] [3].", "[1]=1 ; [3]=3"),
    ("It grew [1], [3].", "[1]=1 ; [3]=3"),
    ("It grew [1-3].", "[1-3]=1,2,3"),
    ("It grew [1–3].", "[1–3]=1,2,3"),
    ("It grew [1 — 3].", "[1 — 3]=1,2,3"),
    ("It grew [1, 3-5].", "[1, 3-5]=1,3,4,5"),
    ("It grew [2, 2].", "[2, 2]=2"),
    ("It grew [12].", "[12]=12"),
    ("It grew [ 4 ].", "[ 4 ]=4"),
    ("It grew [0].", "[0]=0"),
    ("It grew [1, p. 5].", "[1, p. 5]=1"),
    ("It grew [1, pp. 5-7].", "[1, pp. 5-7]=1"),
    ("It grew [1, § 4].", "[1, § 4]=1"),
    ("It grew [see 2].", "[see 2]=2"),
    ("It grew [cf. 2, 3].", "[cf. 2, 3]=2,3"),
    ("It grew ([1]).", "[1]=1"),
    ("It grew (see [1]).", "[1]=1"),
    ("It grew [[1]].", "[1]=1"),
    (r"It grew \[1\].", r"\[1\]=1"),
    ("It grew ［1］。", "［1］=1"),
    ("增长了[1]。", "[1]=1"),
    ("वृद्धि हुई [२]।", "[२]=2"),
    ("**Trial:** it grew [1].", "[1]=1"),
    ("**It grew [1].**", "[1]=1"),
    ("> It grew [1].", "[1]=1"),
    ("- It grew [1]", "[1]=1"),
    ("Sources: [1], [2]", "[1]=1 ; [2]=2"),
    ("[1] says that it grew.", "[1]=1"),
    ("According to [2], it grew.", "[2]=2"),
    ("It costs $5 [1] and $6 [2].", "[1]=1 ; [2]=2"),
    ("US$5[1]/US$6[2] are due.", "[1]=1 ; [2]=2"),
    ("The U.S.[1] agreed.", "[1]=1"),
    ("In 2021[1] it grew.", "[1]=1"),
    ("Vitamin C[2] helps.", "[2]=2"),
    ("The tax return [1] is due.", "[1]=1"),
    ("The PayPal[1] fee.", "[1]=1"),
    ("It grew (in 2021)[1].", "[1]=1"),
    ("He said it “grew”[1].", "[1]=1"),
    ("He wrote “teh [sic][2].", "[2]=2"),
    ("See https://a.org/x[1].", "[1]=1"),
    ("As shown in [1, 2], it grew.", "[1, 2]=1,2"),
    # footnotes
    ("It grew [^2].", "[^2]=2"),
    ("It grew.[^2]", "[^2]=2"),
    ("It grew[^1][^2].", "[^1]=1 ; [^2]=2"),
    ("It grew [^1, ^3].", "[^1, ^3]=1,3"),
    ("It grew [^climate].", "[^climate]=climate"),
    ("It grew [^1].\n\n[^1]: Annual Report", "[^1]=1"),
    ("[^1]: Annual Report, p. 4", ""),
    ("[2]: https://a.org", ""),
    # a word and a number; letters that prompts give to passages
    ("It grew [p1].", "[p1]=p1"),
    ("It grew [p1][p3].", "[p1]=p1 ; [p3]=p3"),
    ("It grew [p1, p3].", "[p1, p3]=p1,p3"),
    ("It grew [S2].", "[S2]=S2"),
    ("It grew [Source 3].", "[Source 3]=Source 3"),
    ("It grew [source: 3].", "[source: 3]=3"),
    ("It grew [Doc 1, Doc 2].", "[Doc 1, Doc 2]=Doc 1,Doc 2"),
    ("It grew [Documents 1 and 3].", "[Documents 1 and 3]=Documents 1,Documents 3"),
    ("It grew [Passage #2].", "[Passage #2]=Passage #2"),
    ("It grew (Source 2).", "(Source 2)=Source 2"),
    ("It grew (Document 1, Document 3).", "(Document 1, Document 3)=Document 1,Document 3"),
    # authors and titles that cannot be anything else
    ("It grew (Smith et al., 2021).", "(Smith et al., 2021)=Smith/2021"),
    ("It grew (Smith et al. 2021).", "(Smith et al. 2021)=Smith/2021"),
    (
        "It grew (Smith and Lee 2020; Kim et al. 2019).",
        "(Smith and Lee 2020; Kim et al. 2019)=Smith/2020,Kim/2019",
    ),
    ("It grew (Smith & Lee, 2020a).", "(Smith & Lee, 2020a)=Smith/2020a"),
    ("It grew (see Smith et al., 2021, p. 4).", "(see Smith et al., 2021, p. 4)=Smith/2021"),
    ("It grew [Smith et al., 2021].", "[Smith et al., 2021]=Smith/2021"),
    ("Smith et al. (2021) say so.", "(2021)=Smith/2021"),
    ("It grew (Fee Commission Report, 2024).", "(Fee Commission Report, 2024)=Fee Commission Report/2024"),
    (
        "It grew (Lactation and Antibiotics Scope Note, 2019).",
        "(Lactation and Antibiotics Scope Note, 2019)=Lactation and Antibiotics Scope Note/2019",
    ),
    # lenticular brackets, tags
    ("It grew【4†source】.", "【4†source】=4"),
    ("It grew【4】.", "【4】=4"),
    ("It grew【4:0†source】.", "【4:0†source】=0"),
    ("It grew【4:1†a.pdf】.", "【4:1†a.pdf】=a.pdf,1"),
    ("It grew【2†L1-L5】.", "【2†L1-L5】=2"),
    ("It grew【4:0†source】【4:1†source】.", "【4:0†source】=0 ; 【4:1†source】=1"),
    ('<cite id="p1">It grew</cite>.', '<cite id="p1">=p1'),
    ("<cite id='p1, p3'>It grew</cite>.", "<cite id='p1, p3'>=p1,p3"),
    ('<cite id="p1 p3">It grew</cite>.', '<cite id="p1 p3">=p1,p3'),
    ("<cite id=2>It grew</cite>.", "<cite id=2>=2"),
    ("It grew <cite>1</cite>.", "<cite>1</cite>=1"),
    ("It grew <cite>p1, p3</cite>.", "<cite>p1, p3</cite>=p1,p3"),
    ('It grew <ref name="p2"/>.', '<ref name="p2"/>=p2'),
    ("<co: 0,2>It grew</co: 0,2>.", "<co: 0,2>=0,2"),
    ("It grew<sup>1</sup>.", "<sup>1</sup>=1"),
    ("It grew<sup>[1]</sup>.", "<sup>[1]</sup>=1"),
    # superscripts
    ("It grew¹.", "¹=1"),
    ("It grew.²", "²=2"),
    ("It grew¹² again.", "¹²=12"),
    ("It grew¹⁻³.", "¹⁻³=1,2,3"),
    ("It grew¹,².", "¹=1 ; ²=2"),
    ("增长了¹。", "¹=1"),
    ("It grew (a lot)².", "²=2"),
    # links
    ("It grew [1](https://a.org/x).", "[1](https://a.org/x)=https://a.org/x,1"),
    ("It grew [1](https://a.org/x_(y)).", "[1](https://a.org/x_(y))=https://a.org/x_(y),1"),
    ('It grew [2](<https://a.org> "A").', '[2](<https://a.org> "A")=https://a.org,2'),
    # not citations: code
    ("Use array[1] here.", ""),
    ("Use x[i] and x[0].", ""),
    ("Use m[1][2] here.", ""),
    ("Use row_2[1] here.", ""),
    ("Use argv[1] here.", ""),
    ("Use f(x)[1] here.", ""),
    ("Set total[1] = 5 now.", ""),
    ("Read user[0].name first.", ""),
    ("Take a = [1, 2] now.", ""),
    ('Send {"ids": [1, 2]} now.', ""),
    ("Call sum([1, 2]) now.", ""),
    ("Use `a [1]` here.", ""),
    ("Use ``a ` [1]`` here [2].", "[2]=2"),
    ("An open ` tick [1].", "[1]=1"),
    ("```python\nx = a [1]\n```", ""),
    ("```\nopen [1]", ""),
    ("~~~\n[1]\n~~~\nIt grew [2].", "[2]=2"),
    ("Use <code>[1]</code> here.", ""),
    ("<pre>[1]\n[2]</pre>", ""),
    # not citations: markup and prose
    ("- [x] done", ""),
    ("- [ ] open", ""),
    ("1. [X] done", ""),
    ("See [the manual](https://a.org).", ""),
    ("See [the manual][1].", ""),
    ("See ![1](https://a.org/x.png).", ""),
    ("See [https://a.org].", ""),
    ("See https://a.org/?q=(Smith et al., 2021)", ""),
    ("See https://a.org/(2021).", ""),
    ("It grew (in 2021).", ""),
    ("It grew (2021).", ""),
    ("It grew in 2021 [sic].", ""),
    ("He said “it […] grew”.", ""),
    ("He said “it [...] grew”.", ""),
    ("He said “[t]he” and “[it] grew”.", ""),
    ("It grew (March 2021).", ""),
    ("It grew (May 3, 2021).", ""),
    ("It opened (Berlin, 2021).", ""),
    ("It opened (Paris, France, 2021).", ""),
    ("It grew (Q3 2021).", ""),
    ("It grew (since June 2021).", ""),
    ("It did (1) this and (2) that.", ""),
    ("It grew (12%).", ""),
    ("It grew [2021].", ""),
    ("It grew [1.5].", ""),
    ("It grew [-1, 1].", ""),
    ("It grew [3-1].", ""),
    ("It grew [1-900].", ""),
    ("It was [12:30] then.", ""),
    ("It was [COVID-19].", ""),
    ("It grew [].", ""),
    ("It grew [1", ""),
    ("It grew 1].", ""),
    ("【注意】它增长了。", ""),
    # not citations: mathematics
    ("For x ∈ [0, 1] it holds.", ""),
    (r"For $x \in [0, 1]$ it holds.", ""),
    ("Values in [0, 1] are probabilities.", ""),
    ("It is scaled to [0, 1].", ""),
    ("The interval [2, 5] is closed.", ""),
    ("It lies in the range [1, 5].", ""),
    ("The score ([0, 1]) is high.", ""),
    (r"It is \(a[1]\) and \[ b [2] \] here.", ""),
    ("It is $$a [1]$$ here.", ""),
    ("It covers 5 m² or 3 km².", ""),
    ("It is 10³ or x² or E = mc².", ""),
    ("It is (a+b)² long.", ""),
    ("It is s⁻¹ and 10⁻³.", ""),
    ("It covers 5 m<sup>2</sup>.", ""),
]

WITH_PASSAGES = [
    ("It grew [Leave Manual (2023)].", "[Leave Manual (2023)]=Leave Manual (2023)"),
    ("It grew [leave manual].", "[leave manual]=leave manual"),
    ("It grew (Leave Manual, 2023).", "(Leave Manual, 2023)=Leave Manual, 2023"),
    ("It grew (Leave Manual 2023).", "(Leave Manual 2023)=Leave Manual 2023"),
    ("It grew (Leave Manual, 2021).", "(Leave Manual, 2021)=Leave Manual/2021"),
    ("It grew (Leave Manual).", "(Leave Manual)=Leave Manual"),
    ("It grew (Probation Policy, 2024).", "(Probation Policy, 2024)=Probation Policy, 2024"),
    ("We love to travel (Travel).", ""),
    ("It grew (Travel, 2020).", "(Travel, 2020)=Travel, 2020"),
    ("It grew (see Leave Manual, 2023, p. 7).", "(see Leave Manual, 2023, p. 7)=Leave Manual, 2023"),
    ("It grew [kb-7].", "[kb-7]=kb-7"),
    ("It grew [kb-99].", "[kb-99]=kb-99"),
    ("It grew [@kb-7].", "[@kb-7]=kb-7"),
    ("It grew (kb-7).", "(kb-7)=kb-7"),
    ("It grew [kb-7, p1].", "[kb-7, p1]=kb-7,p1"),
    ("It grew [p9].", "[p9]=p9"),
    ("It grew (p1).", "(p1)=p1"),
    ("It grew [travel.pdf].", "[travel.pdf]=travel.pdf"),
    ("It grew (Smith, 2024).", "(Smith, 2024)=Smith/2024"),
    ("It grew (Jones, 2019).", "(Jones, 2019)=Jones/2019"),
    ("Smith (2024) says so.", "(2024)=Smith/2024"),
    ("Jones (2024) says so.", ""),
    ("It grew (Lee and Osei 2020; Smith 2024).", "(Lee and Osei 2020; Smith 2024)=Lee/2020,Smith/2024"),
    (
        "It grew (Norrline Passenger Charter, 2023).",
        "(Norrline Passenger Charter, 2023)=Norrline Passenger Charter/2023",
    ),
    ("It grew (in the long Winter, 2021).", ""),
    ("See [the manual](https://example.org/leave).", "(https://example.org/leave)=https://example.org/leave"),
    (
        "See [the manual](http://www.example.org/leave/#a).",
        "(http://www.example.org/leave/#a)=http://www.example.org/leave/#a",
    ),
    ("See [the manual](https://other.org).", ""),
    ("It grew¹².", "¹²=1,2"),
    ("It grew⁹.", "⁹=9"),
    ("Values in [1, 2] are shown.", "[1, 2]=1,2"),
    ("It grew (ADA SMITH, 2024).", "(ADA SMITH, 2024)=ADA SMITH/2024"),
]


def shown(markers: Sequence[Marker]) -> str:
    keys = [",".join(f"{k.value}/{k.year}" if k.year else _arabic(k.value) for k in m.keys) for m in markers]
    return " ; ".join(f"{marker.text}={key}" for marker, key in zip(markers, keys, strict=True))


def _arabic(value: str) -> str:
    return str(int(value)) if value.isdigit() else value


@pytest.mark.parametrize(("text", "expected"), PLAIN)
def test_what_is_a_marker_and_what_is_not(text, expected):
    assert expected == shown(find_markers(text))


@pytest.mark.parametrize(("text", "expected"), WITH_PASSAGES)
def test_what_the_passages_make_a_marker(text, expected):
    assert expected == shown(find_markers(text, known=KNOWN))


def test_the_table_is_long_enough():
    assert len({text for text, _ in PLAIN + WITH_PASSAGES}) >= 150


marker_texts = st.sampled_from(
    ["[1]", "[1, 3]", "[1-3]", "[^2]", "[p1]", "[kb-7]", "(Leave Manual, 2023)", "(Smith et al., 2021)",
     "【4†source】", "¹", "[2](https://a.org)", '<cite id="p1">', "<sup>3</sup>", "[Source 2]", r"\[2\]"]
)  # fmt: skip
noise = st.text(alphabet="ab .,([])【】<>`$\\^¹²-–:;/\n012'\"†=x", max_size=40)
prose = st.text(alphabet="abcdefghij klm.,é中 ", max_size=20)
wrapped = st.sampled_from(["</cite>", "[the manual](https://example.org/leave)", "<co: 1>", "</co: 1>"])
mixed = st.lists(st.one_of(noise, prose, marker_texts, wrapped), max_size=8).map("".join)
known = st.sampled_from([None, KNOWN])


@given(mixed, known)
def test_spans_point_at_their_text_in_order_without_overlap(text, known):
    markers = find_markers(text, known=known)
    assert all(text[m.start : m.end] == m.text for m in markers)
    assert all(m.text and m.keys for m in markers)
    assert all(a.end <= b.start for a, b in itertools.pairwise(markers))
    assert all(0 <= m.scope.start <= m.scope.end <= len(text) for m in markers if m.scope)
    taken = markup(markers)
    assert all(a.end <= b.start for a, b in itertools.pairwise(taken))


@given(prose, marker_texts, prose)
def test_a_marker_in_plain_prose_is_found_whatever_surrounds_it(before, marker, after):
    [found] = find_markers(f"{before}word {marker} {after}", known=KNOWN)
    assert marker == found.text


@given(mixed, st.sampled_from(["Then it rained. ", "他说。", "Nothing else "]), known)
def test_plain_text_before_only_moves_the_markers(text, before, known):
    # A line's start means something (fences, definitions, check boxes): keep it one.
    moved = find_markers(f"{before}\n{text}", known=known)
    assert tuple(marker.moved(len(before) + 1) for marker in find_markers(f"\n{text}", known=known)) == tuple(
        marker.moved(1) for marker in moved
    )


@given(st.lists(marker_texts, min_size=1, max_size=5).map(" a ".join), known)
def test_nothing_is_found_in_code(text, known):
    assert not find_markers(f"Use ``` {text} ``` here", known=known)
    assert not find_markers(f"```\n{text}\n```", known=known)
    assert not find_markers(f"<code>{text}</code>", known=known)


@given(
    st.lists(st.one_of(prose, marker_texts), max_size=8).map(" ".join),
    st.lists(st.integers(1, 7), max_size=30),
)
def test_markers_do_not_depend_on_how_the_stream_was_cut(text, lengths):
    segmenter, rest, cut = SentenceSegmenter(), text, []
    for length in lengths:
        cut += segmenter.feed(rest[:length])
        rest = rest[length:]
    cut += [*segmenter.feed(rest), *segmenter.flush()]
    whole = segment(text)
    found = [[m.moved(s.start) for m in find_markers(s.text, known=KNOWN)] for s in cut]
    assert found == [[m.moved(s.start) for m in find_markers(s.text, known=KNOWN)] for s in whole]
    assert all(text[m.start : m.end] == m.text for markers in found for m in markers)


@given(st.lists(st.sampled_from(["[1]", "[^2]", "[1, 3]", "[p1]"]), min_size=1, max_size=4).map("".join))
def test_markers_behind_the_stop_stay_with_their_sentence(markers):
    first, *_ = segment(f"Revenue grew by a fifth. {markers} Costs fell as well.")
    assert markers == "".join(m.text for m in find_markers(first.text))


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece",
    ["[", "]", "(", "[1", "[1]", "[[1]", "(a", "(a(b)", "【", "【1†", "`", "`a``", "<cite", "<cite id=1>",
     "<code>", "$a", "\\[", "\\(", "¹", "¹⁻", "[a](", "[a](b(", "[1](x", "https://a", "Smith et al. (2021",
     "(A, ", "(A and B, 2020; ", "\n[1]: x", "```\n", "~~~", "[1, ", "[Doc 1, ", "x[1][", "([1, 2]", "A b-",
     "[p1, kb-7, "],
)  # fmt: skip
def test_hostile_text_is_read_in_one_pass(piece):
    find_markers(piece * (30_000 // len(piece)), known=KNOWN)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("bracket", ["[", "(", "【", "<", "`"])
def test_a_hundred_thousand_brackets_are_read_in_one_pass(bracket):
    assert not find_markers(bracket * 100_000, known=KNOWN)


def test_a_list_or_range_names_a_bounded_number_of_passages():
    assert max(len(m.keys) for m in find_markers("[1-99] [" + "1," * 140 + "2]")) <= 100
    assert not find_markers("[1-99, 200-299]")


def test_the_words_a_marker_covers_are_told():
    text = 'Well, <cite id="p1">it grew</cite> and [the manual](https://example.org/leave) says so.'
    cite, link = find_markers(text, known=KNOWN)
    assert text[cite.scope.start : cite.scope.end] == "it grew"
    assert text[link.scope.start : link.scope.end] == "the manual"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It grew [1].", "It grew ."),
        ('<cite id="p1">It grew</cite>.', "It grew."),
        ("<co: 0>It grew</co: 0>.", "It grew."),
        ('<cite id="p1">It grew [2]</CITE >.', "It grew ."),
        ("It grew <cite>1</cite>.", "It grew ."),
        ("See [the manual](https://example.org/leave).", "See the manual."),
        ("Smith et al. (2021) say so.", "Smith et al.  say so."),
    ],
)
def test_without_a_markers_markup_the_prose_is_left(text, expected):
    for start, end in reversed(markup(find_markers(text, known=KNOWN))):
        text = text[:start] + text[end:]
    assert expected == text


def test_definitions_are_read_with_label_and_target():
    text = "It grew [^1].\n\n[^1]: Annual Report, p. 4\n[2]: https://a.org\n`[^3]: code`\n"
    assert [(d.label, d.target) for d in find_definitions(text)] == [
        ("1", "Annual Report, p. 4"),
        ("2", "https://a.org"),
    ]
    assert all(text[d.start : d.end].endswith(d.target) for d in find_definitions(text))
