"""Moves one stream: reads its source, has each sentence judged, keeps the order and ends exactly once.

The only asynchronous stage. Read `pump.py` first, with `session.py` (what is shown and in which order), then
`sources.py`, `pipe.py` and `retrieval.py` (what comes in), `preparation.py` and `workers.py` (where judging
runs), and last `fairness.py` and `event_loop.py`. `portal.py` is a loop for callers that have none,
`loading.py` what a verifier's streams share.
"""
