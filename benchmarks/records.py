"""What keeping records costs a stream, and how fast they are written.

python benchmarks/records.py [--records URL]     a paced stream with and without; sentences; rows a second
python benchmarks/records.py --history 10        streams recorded beside a history of 10 GB (SQLite), and the
                                                 time of every question over it; --file keeps it for again

The stream yields a token every 10 ms. Processor time is that of the event loop's own thread, so a busy
machine changes it little; the ratio of whole times is taken in pairs, one after the other.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from records_cost import told
from records_history import history
from streamverify.records import Records


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", help="URL of an empty database; a new SQLite file by default")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument(
        "--history", type=float, help="gigabytes of history to ask everything of, and no more"
    )
    parser.add_argument("--file", type=Path, help="of the history; in a temporary folder by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.history is not None:
            history(options.history, options.file or Path(folder) / "history.db", options.pairs)
            return 0
        url = options.records or str(Path(folder) / "records.db")
        other = Path(folder) / "plain.db" if options.records is None else options.records
        with Records(url) as records, Records(other, live=False) as plain:
            told(records, plain, options.pairs, options.streams)
    return 0


if __name__ == "__main__":
    sys.exit(main())
