"""What is shown of an answer: to its reader, and to whoever may see less.

Before: `policy.py` decides. `releases.py` is a sentence as its reader is to see it; `quoting.py` is what a
verdict quotes, `redaction.py` an event, for somebody who may not see all of it.
"""
