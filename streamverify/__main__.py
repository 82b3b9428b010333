"""`python -m streamverify`."""

from __future__ import annotations

import sys

from streamverify.cli import main

if __name__ == "__main__":
    sys.exit(main())
