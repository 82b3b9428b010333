"""`python -m streamverify`."""

from __future__ import annotations

import sys

from streamverify.program import main

if __name__ == "__main__":
    sys.exit(main())
