"""Who reads records, and what they may see of them: the conditions that every question carries.

Before: `reader.py`. After: SQL.

    a stream     its requester sees it; an auditor sees every stream of the tenant
    a document   by its access in force: public to all, internal to whoever is known, restricted to its owner
                 and its roles; an auditor sees every document of the tenant
    a text       that was withheld from the requester is seen by an auditor alone
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from streamverify.errors import UsageError
from streamverify.records import schema

AUDITOR = "auditor"
"""The role that sees everything of its tenant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requester:
    """Somebody who reads.

    Raises:
        UsageError: the roles are one text in place of several.
    """

    user: str | None = None
    roles: frozenset[str] = frozenset()
    tenant: str = ""

    def __post_init__(self) -> None:
        """Refuse roles that would be read letter by letter."""
        if isinstance(self.roles, str):
            raise UsageError(f"roles must be a set of texts, not the text {self.roles!r}")
        object.__setattr__(self, "roles", frozenset(self.roles))

    @property
    def audits(self) -> bool:
        """Whether they see everything of their tenant."""
        return AUDITOR in self.roles

    def sees_stream(self, *, known: bool = False) -> sa.ColumnElement[bool]:
        """Of `streams`.

        Args:
            known: they are told by their ids. The same condition, in a form that no database takes for a
                reason to begin with all streams of the tenant.
        """
        streams = schema.streams

        def of(column: sa.Column[str]) -> sa.ColumnElement[str]:
            return sa.func.coalesce(column, column) if known else column

        own_tenant = of(streams.c.tenant) == self.tenant
        if self.audits:
            return own_tenant
        if self.user is None:
            return sa.false()
        return sa.and_(own_tenant, of(streams.c.requester) == self.user)

    def sees_document(self) -> sa.ColumnElement[bool]:
        """Of `documents`, by the access that is in force now."""
        documents, accesses, roles = schema.documents, schema.accesses, schema.access_roles
        own_tenant = documents.c.tenant == self.tenant
        if self.audits:
            return own_tenant
        later = accesses.alias()
        newest = (
            sa.select(sa.func.max(later.c.number))
            .where(later.c.document_id == documents.c.id)
            .correlate(documents)
            .scalar_subquery()
        )
        allowed: list[sa.ColumnElement[bool]] = [accesses.c.visibility == "public"]
        if self.user is not None:
            allowed += [accesses.c.visibility == "internal", accesses.c.owner == self.user]
        if self.roles:
            has_role = sa.exists().where(
                roles.c.access_id == accesses.c.id, roles.c.role.in_(sorted(self.roles))
            )
            allowed.append(has_role.correlate(accesses))
        in_force = sa.exists().where(
            accesses.c.document_id == documents.c.id, accesses.c.number == newest, sa.or_(*allowed)
        )
        return sa.and_(own_tenant, in_force.correlate(documents))

    def sees_text(self) -> sa.ColumnElement[bool]:
        """Of a sentence, by its row of `actions`: what was withheld is not for who it was withheld from."""
        return sa.true() if self.audits else schema.actions.c.action.in_(("release", "flag"))
