"""The law of growth: no pattern and no reader takes time that grows faster than the text it meets.

It runs for a minute and alone (`pytest -m growth`), because it measures this thread's processor time. The
readers, which do more with a character than a pattern does, are run at half the sizes here;
`benchmarks/growth.py` runs them at all.
"""

from __future__ import annotations

import re

import pytest

import growth
import patterns
import readers
from hostile import TEXTS, Text
from stopwatch import Subject

PATTERNS = {subject.name: subject for subject in patterns.pattern_subjects()}
READERS = {subject.name: subject for subject in readers.reader_subjects()}


def rooms(names):
    """Names by the module they stand in, so that a report says where to look."""
    return sorted({re.split(r"[.:](?=_|[A-Z0-9])", name)[0] for name in names})


def steep(subjects, sizes=growth.SIZES):
    return [str(found) for subject in subjects for found in growth.sweep(subject, sizes=sizes).steep]


@pytest.mark.growth
@pytest.mark.timeout(600)
@pytest.mark.parametrize("room", rooms(PATTERNS))
def test_patterns_grow_like_their_text(room):
    own = [subject for name, subject in PATTERNS.items() if rooms([name]) == [room]]
    assert own
    assert steep(own) == []


@pytest.mark.growth
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", sorted(READERS))
def test_readers_grow_like_their_text(name):
    assert steep([READERS[name]], growth.BRISK) == []


def test_no_group_is_repeated_possessively():
    # Python before 3.11.5 misreads `(?:a|b)*+`; `(?>(?:a|b)*)` says the same and is read right.
    repeated = re.compile(r"(?<!\\)\)(?:[*+?]|\{[\d,]+\})\+")
    found = {name: one.pattern for name, one in patterns.patterns().items() if repeated.search(one.pattern)}
    assert found == {}


def test_every_public_function_that_takes_a_text_is_run():
    assert readers.unaccounted() == []


def test_what_is_said_of_functions_and_patterns_is_of_some_that_exist():
    functions = {name for name, _ in readers.public_functions()}
    assert set(readers.NOT_READERS) <= functions
    assert set(readers.NOT_READERS).isdisjoint(readers.CALLS)
    known = [*patterns.patterns(), *READERS]
    beginnings = (
        *growth.BOUNDED,
        *growth.SAMPLED,
        *growth.SAMPLED_BRISKLY,
        *growth.SQUEEZED,
        *patterns.ANCHORED,
    )
    assert [one for one in beginnings if not any(name.startswith(one) for name in known)] == []


def test_patterns_are_found_wherever_they_stand():
    names = set(patterns.patterns())
    assert len(names) > 200
    assert "checks.source_text._CAPITALISED" in names  # in a module
    assert any(name.startswith("citations.markers._CLOSING[") for name in names)  # in a table
    assert any(name.endswith("_OPENING.whole") for name in names)  # in a value
    assert any(re.fullmatch(r"citations\.bibliography:\d+", name) for name in names)  # in a function


def everywhere(pattern):
    return Subject("made", patterns.everywhere(re.compile(pattern)))


@pytest.mark.growth
@pytest.mark.timeout(600)
@pytest.mark.parametrize("sizes", [growth.SIZES, growth.BRISK])
@pytest.mark.parametrize(
    ("pattern", "unit"), [(r"\s+$", "blanks"), (r"(?:a|aa)+$", "letters"), (r"\[.*?\]", "open square")]
)
def test_what_grows_too_fast_is_told(pattern, unit, sizes):
    assert any(unit in found for found in steep([everywhere(pattern)], sizes))


@pytest.mark.growth
@pytest.mark.timeout(600)
def test_what_grows_like_its_text_is_not():
    assert steep([everywhere(r"\w+|\s++x?")]) == []


def a_climb(*seconds):
    return growth.Climb("made", Text("letters", "a"), growth.SIZES[: len(seconds)], seconds)


def test_four_times_the_text_may_take_eight_times_as_long():
    assert not a_climb(0.01, 0.05, 0.39).steep
    assert a_climb(0.01, 0.05, 0.41).steep
    assert not a_climb(0.0001, 0.15).steep  # below the floor
    assert a_climb(0.17).steep


def test_a_text_goes_on_where_it_grew_by_more_than_its_length_and_could_become_steep():
    assert a_climb(0.001, 0.0048).suspect
    assert not a_climb(0.001, 0.0044).suspect
    assert not a_climb(0.0001, 0.0006).suspect  # a square of it is below the floor at the longest size


def test_what_something_else_held_up_is_run_again():
    held_up = iter([True, True, False])

    def run(text):
        if len(text) == growth.SIZES[1] and next(held_up, False):
            sum(range(20_000_000))

    assert not growth.climb(Subject("made", run), TEXTS[0], growth.SIZES).steep


def test_a_bounded_reader_is_run_up_to_its_bound():
    lengths = set()
    growth.sweep(Subject("claims.made", lambda text: lengths.add(len(text))))
    assert max(lengths) == growth.BOUNDED["claims"]
