"""Refuses parameters where they are given: a mistake in one must not show in the middle of an answer.

Before: the caller. After: whatever class was given the parameter.
"""

from __future__ import annotations

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
