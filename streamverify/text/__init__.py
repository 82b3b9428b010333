"""What every stage knows about text: pure functions and tables, no model and no state.

Read in any order: `unicode.py`, `words.py`, `sentence_ends.py`, `list_marks.py`, `markdown.py`,
`styled.py`, `layout.py`, `language.py`, `printing.py`.
"""
