"""Refuses parameters where they are given: a mistake in one must not show in the middle of an answer.

Before: the caller. After: whatever class was given the parameter.
"""

from __future__ import annotations

from collections.abc import Collection

from streamverify.errors import UsageError


def one_of(name: str, given: object, choices: tuple[str, ...]) -> None:
    """Refuse what is none of these words.

    Args:
        name: of the parameter, with its class: `Redact: scope`.
        given: what the caller gave.
        choices: the words that are understood.

    Raises:
        UsageError: it is none of them; names them. Caller.
    """
    if given not in choices:
        raise UsageError(f"{name} must be {' or '.join(map(repr, choices))}, not {given!r}")


def some_of(name: str, given: object, choices: tuple[str, ...]) -> None:
    """Refuse what is no collection of these words.

    A single word is refused too: its letters would be taken for the collection.

    Raises:
        UsageError: it is none, or a word in it is unknown; names the choices. Caller.
    """
    choice = ", ".join(repr(str(word)) for word in choices)
    if isinstance(given, str) or not isinstance(given, Collection):
        raise UsageError(f"{name} must be a set of {choice}, not {given}")
    for word in given:
        if word not in choices:
            raise UsageError(f"{name}: there is no {word!r}; choose from {choice}")


def a_text(name: str, given: object) -> None:
    """Refuse what is no string.

    Raises:
        UsageError: it is none. Caller.
    """
    if not isinstance(given, str):
        raise UsageError(f"{name} must be a string, '' for none, not {type(given).__name__}")


def a_function(name: str, given: object) -> None:
    """Refuse what cannot be called.

    Raises:
        UsageError: it cannot. Caller.
    """
    if not callable(given):
        raise UsageError(f"{name} must be a function, not {given!r}")
