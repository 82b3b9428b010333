"""The dashboard on loopback, over records of a few streams."""

from __future__ import annotations

import contextlib

import httpx2

from streamverify.dashboard.app import dashboard_app
from streamverify.dashboard.people import People, Person, digest_of, one_for_all
from streamverify.dashboard.watching import Watched
from streamverify.monitor import alerts
from streamverify.records import Requester, add_up
from tests.loopback import loopback

TOKEN, BENS, EVES = "t" * 24, "b" * 24, "e" * 24
AUDITOR = Requester(roles=frozenset({"auditor"}))
EVERYBODY = one_for_all(TOKEN, AUDITOR)
SOME = People(
    [
        Person(Requester(user="ann", roles=frozenset({"auditor"})), digest_of(TOKEN), "ann"),
        Person(Requester(user="ben", roles=frozenset({"hr"})), digest_of(BENS), "ben"),
        Person(Requester(user="eve", roles=frozenset({"auditor"}), tenant="other"), digest_of(EVES), "eve"),
    ]
)
HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>"\'{{ 7*7 }}'


def watched(**options):
    return Watched(rules=alerts.rules_from(alerts.DEFAULTS), **options)


@contextlib.contextmanager
def served(database, people=EVERYBODY, **options):
    """Address of a dashboard whose sums are up to date."""
    add_up(database)
    with loopback(dashboard_app(database, people, options.pop("watched", watched()), **options)) as address:
        yield address


@contextlib.contextmanager
def client(database, people=EVERYBODY, token=TOKEN, **options):
    """A client that shows a token."""
    with (
        served(database, people, **options) as address,
        httpx2.Client(base_url=address, timeout=60, headers={"x-streamverify-token": token}) as made,
    ):
        yield made
