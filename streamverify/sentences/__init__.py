"""Text into sentences while it is still arriving: every character lands in one sentence, however it was cut.

`Segmenter.feed` takes a piece and returns the sentences that are now closed; `flush` returns the rest. Read
`segmenter.py` first, then `lookahead.py`, `blocks.py`, `brackets.py`, `trailing.py`, `stops.py` and
`abbreviations.py`.
"""
