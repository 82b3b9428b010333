"""Everything a terminal needs: the commands, the files they read, and what they print.

Read `cli.py` first, then `files.py`, `views.py`, `transcript.py` and `summary.py`.
"""
