"""The dashboard: what was recorded, on pages that a team leaves open.

people.py     whose token is shown, and what they may see
watching.py   beside the pages: sums brought up to date, alerts and drift looked at now and then
overview.py, answers.py, runs.py    what stands on a page, from `records/` and `monitor/`
charts.py, rendering.py             figures and rows as HTML and SVG
app.py        the paths; `cli.py` starts it
"""
