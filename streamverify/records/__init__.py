"""What was retrieved, said, cited and judged, in SQL.

    records = Records("answers.db")
    async with Verifier(observers=[records]) as verifier: ...

    Reader(records.database, Requester(user="u1", roles={"hr"})).streams()

Before: `observe.py` tells each stream. After: an auditor, who reads within rights that SQL enforces.
"""

from streamverify._extras import require

for _package in ("sqlalchemy", "alembic"):
    require(_package, extra="records", feature="streamverify.records")

from streamverify.records.answers import (  # noqa: E402 - after the check of the extra
    AccessRow,
    BlamedRow,
    CitedRow,
    ContentRow,
    DependencyRow,
    DocumentRow,
    FailureRow,
    JudgmentRow,
    RunFigureRow,
    RunRow,
    ScopeRow,
    SentenceRow,
    StreamRow,
    WithheldRow,
)
from streamverify.records.changes import erase, judge  # noqa: E402 - as above
from streamverify.records.contents import add_content  # noqa: E402 - as above
from streamverify.records.database import Database  # noqa: E402 - as above
from streamverify.records.hours import add_up  # noqa: E402 - as above
from streamverify.records.reader import Reader  # noqa: E402 - as above
from streamverify.records.requester import Requester  # noqa: E402 - as above
from streamverify.records.runs import add_run, run_text  # noqa: E402 - as above
from streamverify.records.store import Records, RecordsStatistics  # noqa: E402 - as above
from streamverify.records.verifying import Head, Problem, Verification, verify  # noqa: E402 - as above

__all__ = [
    "AccessRow",
    "BlamedRow",
    "CitedRow",
    "ContentRow",
    "Database",
    "DependencyRow",
    "DocumentRow",
    "FailureRow",
    "Head",
    "JudgmentRow",
    "Problem",
    "Reader",
    "Records",
    "RecordsStatistics",
    "Requester",
    "RunFigureRow",
    "RunRow",
    "ScopeRow",
    "SentenceRow",
    "StreamRow",
    "Verification",
    "WithheldRow",
    "add_content",
    "add_run",
    "add_up",
    "erase",
    "judge",
    "run_text",
    "verify",
]
