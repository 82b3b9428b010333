"""A day of traffic in a minute: `streamverify demo monitor`.

    visits.py   who asks what when, and what the model will answer     pure, from a seed
    model.py    an OpenAI-compatible server that answers so            loopback
    replay.py   visitors ──► the real proxy ──► that server            records, metrics, alerts, drift
    view.py     what happened, on a terminal

Only the clock is made up: whatever happens is told as if it had happened when the visit was planned.
"""
