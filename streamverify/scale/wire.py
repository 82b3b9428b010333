"""What an application and a replica tell each other.

Before: `scorer.py` asks. After: `serving.py` answers.

Windows are sent once: whoever asks puts them into Ray's object store, and each request carries their key and
a reference, which a replica follows only where it has not read these windows yet, because it is new or was
asked for others meanwhile.
"""

from __future__ import annotations

import pickle
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from streamverify.scorers.protocol import Claim, Traits, Window
from streamverify.types import Fingerprint, Span

TokenReader = Callable[[str], Sequence[Span]]


@dataclass(frozen=True, slots=True)
class Premises:
    """The windows of a stream, by key."""

    key: bytes
    box: tuple[Awaitable[Sequence[Window]], ...]
    """One reference to the windows; in a tuple, because Ray fetches what stands alone."""
    fingerprint: str
    """Of the scorer that the asker knows, as JSON: another one must not answer."""


@dataclass(frozen=True, slots=True)
class Question:
    """Claims to be scored against premises."""

    premises: Premises
    claims: tuple[Claim, ...]

    @property
    def key(self) -> bytes:
        """Of the premises."""
        return self.premises.key


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong in a replica, in words: an error of its own may not survive the way."""

    text: str


@dataclass(frozen=True, slots=True)
class Description:
    """A scorer, as far as the asker must know it."""

    fingerprint: Fingerprint
    traits: Traits
    reader: bytes | None
    """The scorer's `reader`, pickled; None where it lends none."""

    def read(self) -> TokenReader | None:
        """The reader, for this process."""
        if self.reader is None:
            return None
        read: TokenReader = pickle.loads(self.reader)  # noqa: S301 - of our own replicas, as all that Ray sends
        return read


def ranked(key: bytes, replicas: Sequence[str]) -> list[int]:
    """Positions of replicas in the order in which premises prefer them.

    Every process finds the same order without asking anybody, and a replica that comes or goes moves only the
    premises that it takes or had (rendezvous hashing; Thaler and Ravishankar, 1998).
    """
    weights = [blake2b(name.encode(), key=key, digest_size=8).digest() for name in replicas]
    return sorted(range(len(replicas)), key=lambda place: (weights[place], replicas[place]), reverse=True)
