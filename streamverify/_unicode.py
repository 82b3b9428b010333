"""Text that can be encoded, whatever it was made from."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD; as long as before, so offsets stay right."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\N{REPLACEMENT CHARACTER}" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text
