"""A run for people and for build servers: one page, a note for a pull request, test results.

    view.py ► page.py      one HTML file that asks nobody for anything
            ► markdown.py  for a pull request
            ► junit.py     for a build server

None of them scores, reads a clock or draws at random: equal runs give equal bytes.
"""
