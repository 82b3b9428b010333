"""What a sentence claims, read together with what stands before it; or that it claims nothing.

Read `reader.py` first, which asks the other two: `nonclaims.py` knows the sentences that state no fact, and
`coreference.py` finds what a pronoun stands for.
"""
