"""Files that people write and read: results that are whole or not there, and JSON without NaN.

`written.py` puts a file in its place; `jsonl.py` reads one, with errors that name file, line and field.
"""
