"""Event loops: which one runs, and one in a thread of its own for callers without.

Before: nothing of the library. After: whoever waits, for a stream, a scorer or a database. `event_loop.py`
asks asyncio and trio alike; `portal.py` keeps a loop and its thread, one a process.
"""
