"""What frames a claim is taken off; what is part of it stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.claims import framing
from streamverify.claims.reader import read
from streamverify.types import Sentence, Span

CLAIM = "the crossing takes 3 hours in summer."

FRONTS = """
It is true that
It's a fact that
It is clearly the case that
It is stated in the passages that
It is worth noting that
It has been reported that
It can be confirmed that
It should be noted that
It turns out that
We can see from the documents that
The passages say that
One of the documents clearly states that
The provided context shows that
As the documents show,
As both texts point out,
As your sources make plain,
What the sources show is that
The text says:
As stated above,
As described in the handbook,
According to the documents,
Based on the passages provided,
Note that
Please keep in mind that
Do bear in mind that
There is no doubt that
The short answer is that
Here is what I found:
To answer your question directly:
In short,
All in all,
Simply put,
In short, it is true that
""".strip().splitlines()

BACKS = """
, according to the handbook
, as the text says
, as both documents point out
, as stated in the policy
, as noted above
 (see the manual)
, per the documentation
, of course
, as you can see
""".strip("\n").splitlines()

POINTERS = """
(see Section 4.2)
(see also Table 3)
(see pages 3-5)
(cf. § 12)
(see Appendix B)
""".strip().splitlines()

GREETINGS = """
Hi Anna,
Hello Anna Bell,
Hey Anna!
Dear Ms Li,
Dear Dr. Bell,
Good morning Anna,
Thanks, Peter -
Thanks Peter,
Sure, Anna,
Hi Anna –
""".strip().splitlines()

KEPT = """
According to Dr Sable, the crossing takes 3 hours.
It is true for members only.
It is important to wear gloves.
It is not true that the crossing takes 3 hours.
The report says nothing about prices.
In 2019, the report says, prices rose by a tenth.
Note the second column of the table.
As the tower rises, the wind grows stronger.
In the handbook of 1998, the fee was 20 crowns.
We can see Mars from the observatory.
The policy states a limit of 20 kg.
Based in Oslo, the firm employs 40 people.
It is possible that the crossing takes 3 hours.
Ormond claims that the crossing takes 3 hours.
""".strip().splitlines()


@pytest.mark.parametrize("words", FRONTS)
def test_a_frame_in_front_is_taken_off_whole(words):
    text = f"{words} {CLAIM}"
    assert text[framing.front(text) :] == CLAIM


@pytest.mark.parametrize("words", BACKS)
def test_a_frame_behind_is_taken_off_up_to_the_stop(words):
    text = CLAIM[:-1] + words + "."
    start, end = framing.back(text)
    assert text[:start] + text[end:] == CLAIM


@pytest.mark.parametrize("text", KEPT)
def test_what_says_something_of_its_own_stays(text):
    assert framing.front(text) == 0
    assert framing.back(text) is None


@pytest.mark.parametrize("text", [f"“{CLAIM}”", f'"{CLAIM[:-1]}".', f'"{CLAIM}"'])
def test_a_whole_quotation_is_read_without_its_marks(text):
    start, end = framing.quoted(text)
    assert text[start:end].rstrip(".") == CLAIM.rstrip(".")
    assert framing.quoted(f"He said {text} twice") is None


@given(st.text(max_size=300))
def test_what_is_taken_off_lies_in_the_text_and_leaves_something(text):
    at = framing.front(text)
    assert 0 <= at <= len(text)
    assert at == 0 or len(text) - at >= 10
    if (found := framing.back(text)) is not None:
        assert 10 <= found[0] < found[1] <= len(text)


@pytest.mark.parametrize("pointer", POINTERS)
def test_what_only_points_to_a_place_is_none_of_the_claim(pointer):
    for text in (f"{CLAIM[:-1]} {pointer}.", f"The crossing {pointer} takes 3 hours."):
        claim = read(Sentence(index=0, text=text, start=0, end=len(text))).claim
        assert claim.text == text.replace(f" {pointer}", "")


@pytest.mark.parametrize(
    "text", ["The fee (Section 4.2) is 5 euros.", "It costs 5 euros (see what Ms Ray says)."]
)
def test_a_bracket_that_says_something_stays(text):
    assert framing.pointers(text) == []


def test_a_saying_whose_source_is_a_marker_is_taken_off_with_it():
    text = "Document 1 states the fee is 5 euros."
    claim = read(Sentence(index=0, text=text, start=0, end=len(text)), markers=[Span(0, 10)]).claim
    assert claim.text == "the fee is 5 euros."


@pytest.mark.parametrize("greeting", GREETINGS)
@pytest.mark.parametrize("blank", [" ", "\n", "\n\n"])
def test_a_greeting_with_a_name_is_none_of_the_claim(greeting, blank):
    text = f"{greeting}{blank}{CLAIM}"
    claim = read(Sentence(index=0, text=text, start=0, end=len(text))).claim
    assert claim.text == CLAIM


@pytest.mark.parametrize(
    "text",
    [
        "Hello Kitty, the brand, was founded in 1974.",
        "Sure, Berlin, Hamburg and Bonn charge 5 euros.",
        "Thanks to Anna, the fee is 5 euros.",
        "Anna, the chair, charges 5 euros.",
    ],
)
def test_a_name_that_something_is_said_of_is_no_greeting(text):
    assert framing.greeting(text) == 0
