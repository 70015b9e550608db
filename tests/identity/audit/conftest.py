"""Fixtures that read and change the audit log directly, in SQL as the owner of the tables."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any
from uuid import UUID

import psycopg2
import psycopg2.extras
import pytest
from flask import Flask

from app.identity.audit import service
from app.identity.audit.verifying import VerificationReport
from app.kit import db, tenancy
from devserver.postgres import EmbeddedPostgres
from tests.factories import Org

Rows = list[Any]
Owner = Callable[..., Rows]
Entries = Callable[[UUID], Rows]
HOOK = {"url": "http://127.0.0.2:9/hook", "events": ["tag_set.accepted"]}
"""The request body that creates a webhook."""


@pytest.fixture
def owner_sql(postgres: EmbeddedPostgres, app: Flask) -> Iterator[Owner]:
    """Return a function that runs SQL as the tables' owner, in autocommit, and returns the rows."""
    with closing(psycopg2.connect(postgres.url)) as connection:
        connection.autocommit = True
        psycopg2.extras.register_uuid(conn_or_curs=connection)

        def run(sql: str, *values: Any) -> Rows:
            with connection.cursor(cursor_factory=psycopg2.extras.NamedTupleCursor) as cursor:
                cursor.execute(sql, values or None)
                return cursor.fetchall() if cursor.description is not None else []

        yield run


@pytest.fixture
def entries(owner_sql: Owner) -> Entries:
    """Return a function that returns an organization's entries, oldest first."""
    return lambda organization_id: owner_sql(
        "SELECT * FROM audit_entries WHERE organization_id = %s ORDER BY id", organization_id
    )


def append_entries(org: Org, organization_id: UUID | None = None) -> int:
    """Append the pending entries of `org`, or of `organization_id`, and return their number."""
    chain_id = org.id if organization_id is None else organization_id
    count = 0
    with org.app.app_context(), tenancy.across_organizations(reason="a test appends entries"):
        while True:
            with db.transaction():
                appended_count = service.append_pending_entries(chain_id)
            if not appended_count:
                return count
            count += appended_count


def verify(org: Org) -> VerificationReport:
    """Verify the hash chain of an organization."""
    with org.app.app_context():
        return service.verify(org.slug)
