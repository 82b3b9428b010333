"""`streamverify`, and `python -m streamverify`.

Before: a shell. After: `program.py`, which takes a moment to load.
"""

from __future__ import annotations

import sys

_INTERRUPTED = 130  # as `console/shell.py` lists it, which is not loaded yet


def main() -> int:
    """Run one command of this process's arguments.

    Returns:
        The exit status, also of a command that was interrupted before it had begun.
    """
    try:
        from streamverify.program import main as program  # noqa: PLC0415 - here it can be interrupted

        return program()
    except KeyboardInterrupt:
        print("streamverify: interrupted before anything was done", file=sys.stderr)
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
