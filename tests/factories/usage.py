"""Fold, compare and read the meters of an organization."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from flask import Flask

from app.billing.usage.service import measuring, upkeep
from app.kit import db, tenancy
from tests.factories.counts import run_sql
from tests.factories.orgs import Org, operator


def fold_usage(app: Flask) -> None:
    """Fold the meter changes of all organizations."""
    with app.app_context():
        upkeep.fold(db.checkpoint)


def find_usage_differences(org: Org) -> list[upkeep.Difference]:
    """Return the meters of an organization that differ from a recount of its rows."""
    with org.app.app_context():
        differences = upkeep.find_differences(org.id, org.slug)
        db.session().rollback()
    return differences


def measure(org: Org, start: datetime, end: datetime, *, settle: bool = False) -> dict[str, int]:
    """Measure the usage in a period, and commit. With `settle`, first settles usage up to `end`."""
    with org.app.app_context(), tenancy.organization(org.id), db.transaction():
        if settle:
            with tenancy.across_organizations(reason="settles like the job of invoices"):
                measuring.settle_many([org.id], end)
        return measuring.measure_period(start, end)


def insert_change(org: Org, meter: str, day: str, added: int = 0, removed: int = 0) -> None:
    """Append a meter change on a day (`YYYY-MM-DD`), as a trigger does."""
    run_sql(
        org,
        "INSERT INTO usage_changes (organization_id, meter, day, added, removed)"
        " VALUES (:org, :meter, :day, :added, :removed)",
        meter=meter, day=day, added=added, removed=removed,
    )  # fmt: skip


def set_plan(org: Org, plan: str, limits: Mapping[str, Any] | None = None) -> None:
    """Set the plan and the limits of an organization, as the operator does."""
    path = f"/internal/organizations/{org.slug}/plan"
    response = operator(org.app).put(path, json={"plan": plan, "limits": dict(limits or {})})
    assert response.status_code == 200, response.json
