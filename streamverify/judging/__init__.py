"""One sentence in, one verdict out, computed synchronously in a worker thread.

Read `assessor.py` first: it asks `premises.py` for scores and checks, `verdict.py` for the label,
`evidence.py` for the words of the passages that decided it, and `citations.py` for the sentence's markers.
"""
