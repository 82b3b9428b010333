"""The order of what waits, against a list that is looked through from its front; and what it costs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streamverify.adapters.chunk_queue import ChunkQueue

KEYS = (0, 1, (2, 0))


class Slow:
    """The rules, one entry after the other: of each channel, and of all beside a barrier, none overtakes."""

    def __init__(self):
        self.entries = []

    def __len__(self):
        return len(self.entries)

    def add(self, key, place, make):
        self.entries.append(({key: place}, make, False))

    def add_barrier(self, needs, make):
        self.entries.append((needs, make, True))

    def insert(self, key, place, chunk):
        behind = [n for n, (needs, _, _) in enumerate(self.entries) if needs.get(key, -1) > place]
        self.entries.insert(min(behind, default=len(self.entries)), ({key: place}, lambda: chunk, False))

    def forget(self, key):
        self.entries = [one for one in self.entries if one[0].get(key, 0) == 0 and not one[2]]

    def ready(self, shown, key=None):
        chunks, left, blocked, closed = [], [], set(), False
        for entry in self.entries:
            needs, make, barrier = entry
            waits = blocked & set(needs) or any(shown(one) < place for one, place in needs.items())
            if closed or waits or (barrier and left):
                left.append(entry)
                blocked |= set(needs)
                closed = closed or barrier
            else:
                chunks.append(make())
        self.entries = left
        return chunks


steps = st.lists(
    st.one_of(
        st.tuples(st.just("text"), st.sampled_from(KEYS), st.integers(1, 9)),
        st.tuples(st.just("other"), st.sampled_from(KEYS)),
        st.tuples(st.just("barrier")),
        st.tuples(st.just("release"), st.sampled_from(KEYS), st.integers(1, 9)),
        st.tuples(st.just("mark"), st.sampled_from(KEYS)),
    ),
    max_size=60,
)


def run(queue, steps):
    """What passes, in order; texts end where they were released, as an answer's do at its end."""
    length, shown, out = dict.fromkeys(KEYS, 0), dict.fromkeys(KEYS, 0.0), []

    def release(number, key, count):
        end = min(int(shown[key]) + count, length[key])
        if end > shown[key]:
            queue.insert(key, int(shown[key]), ("text", key, number))
            shown[key] = end
            out.extend(queue.ready(shown.__getitem__, key))

    for number, (kind, *rest) in enumerate(steps):
        if kind == "text":
            length[rest[0]] += rest[1]
        elif kind == "other":
            queue.add(rest[0], length[rest[0]], lambda n=number, k=rest[0]: ("other", k, n))
            out.extend(queue.ready(shown.__getitem__, rest[0]))
        elif kind == "barrier":
            needs = {key: place for key, place in length.items() if place}
            queue.add_barrier(needs, lambda n=number: ("barrier", None, n))
            out.extend(queue.ready(shown.__getitem__))
        elif kind == "release":
            release(number, *rest)
        elif shown[rest[0]]:  # written between two characters: before what stands there
            queue.insert(rest[0], shown[rest[0]] - 0.5, ("mark", rest[0], number))
            out.extend(queue.ready(shown.__getitem__, rest[0]))
    for key in KEYS:
        release(("end", key), key, length[key])
    assert len(queue) == 0
    return out


@given(steps)
def test_every_channel_has_the_order_that_looking_at_all_would_give(steps):
    fast, slow = run(ChunkQueue(), steps), run(Slow(), steps)
    assert len(fast) == len(slow)
    for key in KEYS:
        assert [c for c in fast if c[1] in (key, None)] == [c for c in slow if c[1] in (key, None)]


@given(steps, st.sampled_from(KEYS))
def test_a_channel_that_is_forgotten_holds_up_nobody(steps, key):
    queue, kept = ChunkQueue(), []
    for number, (kind, *rest) in enumerate(steps):
        if kind == "other":
            queue.add(rest[0], number, lambda n=number: n)
            kept += [number] if rest[0] != key or number == 0 else []
        elif kind == "barrier":
            queue.add_barrier({key: number}, lambda: "barrier")
        elif kind == "release":
            queue.insert(rest[0], number, number)
            kept += [number] if rest[0] != key else []
    queue.forget(key)
    assert len(queue) == len(kept)
    assert sorted(queue.ready(lambda _: float("inf"))) == kept
    assert len(queue) == 0


def asked(number, barriers):
    """How often it is asked how far a channel is while so many chunks come behind an open sentence."""
    count = 0

    def shown(_key):
        nonlocal count
        count += 1
        return far

    queue, far = ChunkQueue(), 0
    for place in range(number):
        if barriers:
            queue.add_barrier({0: 10}, lambda n=place: n)
        else:
            queue.add(0, 10, lambda n=place: n)
        assert queue.ready(shown, 0) == []
    queue.insert(0, 0, "text")
    far = 10
    assert queue.ready(shown, 0) == ["text", *range(number)]
    return count


def test_what_waits_is_not_looked_at_again_for_each_chunk_that_comes():
    for barriers in (False, True):
        assert asked(4_000, barriers) <= 4 * asked(1_000, barriers)
        assert asked(4_000, barriers) <= 4 * 4_000
