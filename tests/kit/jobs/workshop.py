"""Declare handlers for one test, enqueue their jobs, and read the rows of the jobs."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from app.kit import jobs
from app.kit.jobs import handlers
from app.kit.jobs.handlers import Handler
from tests.factories import Org
from tests.factories.counts import run_sql as sql

SEEN: dict[UUID | None, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
"""The values that handlers recorded, by organization and name."""


@contextmanager
def declare_handler(name: str, function: Any, **declaration: Any) -> Iterator[Handler]:
    """Declare a handler during the block."""
    jobs.handler(name, **declaration)(function)
    try:
        yield handlers.HANDLERS[name]
    finally:
        del handlers.HANDLERS[name]
        handlers.HANDLERS.pop(f"{name}_many", None)


def enqueue(org: Org, function: str, args: dict[str, Any], **more: Any) -> None:
    """Enqueue a job of the organization, and commit."""
    with org.transaction():
        jobs.enqueue(function, args, organization_id=org.id, **more)


def rows(org: Org) -> list[Any]:
    """Return the organization's jobs, oldest first."""
    return sql(org, "SELECT * FROM jobs WHERE organization_id = :org ORDER BY id")


def make_due(org: Org) -> None:
    """End all delays and leases of the organization's jobs."""
    sql(
        org,
        "UPDATE jobs SET due_at = now() - interval '1 second', leased_until = leased_until"
        " - interval '1 hour' WHERE organization_id = :org AND due_at IS NOT NULL",
    )
