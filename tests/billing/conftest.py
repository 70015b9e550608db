"""Fixtures of billing: an organization with a profile and a plan, and months that have ended."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
import pytest
from flask import Flask
from sqlalchemy import text

from app.billing.invoices.service import issuing
from app.billing.periods.service import get_bounds
from app.billing.plans import catalog
from app.billing.plans.catalog import Plan
from app.kit import db, tenancy
from tests.factories import Org, make_org
from tests.factories.counts import run_sql
from tests.factories.invoices import PROFILE
from tests.factories.orgs import get_data
from tests.factories.usage import set_plan


@dataclass
class Customer:
    """An organization with a plan, and the history that a test gives it."""

    org: Org

    def set_plan(self, plan: str, **limits: int | None) -> None:
        """Set the plan as the operator does."""
        set_plan(self.org, plan, limits)

    def start_with_plan(self, plan: str) -> None:
        """Set the plan as if the organization had been created with it."""
        self.set_plan(plan)
        self.sql("DELETE FROM plan_changes WHERE organization_id = :org")

    def set_profile(self, **members: Any) -> dict[str, Any]:
        """Set the billing profile to PROFILE with changed `members`, and return it."""
        answer = self.org.api("admin").put("/billing/profile", json={**PROFILE, **members})
        return dict(get_data(answer))

    def sql(self, statement: str, **values: Any) -> None:
        """Run a statement in the organization. The triggers of the tables run as usual."""
        run_sql(self.org, statement, **values)

    def run_command(self, *arguments: str) -> None:
        """Run `flask` with arguments, as the operator does, and check that it succeeds."""
        result = self.org.app.test_cli_runner().invoke(args=arguments)
        assert result.exit_code == 0, result.output

    def set_created_at(self, at: str) -> None:
        """Set the time at which the organization was created."""
        self.sql("UPDATE organizations SET created_at = :at WHERE id = :org", at=at)

    def add_plan_change(self, plan_before: str, changed_at: str, plan: str) -> None:
        """Record that the organization changed from `plan_before` to `plan` at `changed_at`."""
        self.sql(
            "INSERT INTO plan_changes (organization_id, plan_before, plan, changed_at)"
            " VALUES (:org, :plan_before, :plan, :changed_at)",
            plan_before=plan_before,
            plan=plan,
            changed_at=changed_at,
        )

    def record_usage(self, meter: str, day: str, added: int, level: int | None = None) -> None:
        """Record a meter's use on a day; `level`, by default `added`, is the level after it."""
        self.sql(
            "INSERT INTO usage_days (organization_id, meter, day, added, removed, level)"
            " VALUES (:org, :meter, :day, :added, 0, :level)",
            meter=meter,
            day=day,
            added=added,
            level=added if level is None else level,
        )

    def issue(self, month: str) -> list[UUID]:
        """Issue the invoices of a month, and return their ids."""
        start, end = get_bounds(month)
        with self.org.app.app_context(), tenancy.organization(self.org.id), db.transaction():
            return [invoice.id for invoice in issuing.issue_period(self.org.id, start, end)]

    def issue_invoice(self) -> dict[str, Any]:
        """Issue the invoice of March 2001, and return it; it is the only one of the customer."""
        self.issue("2001-03")
        (invoice,) = self.list_invoices()
        return invoice

    def list_invoices(self, **query: Any) -> list[dict[str, Any]]:
        """Return the invoices as an admin sees them."""
        return list(get_data(self.org.api("admin").get("/billing/invoices", query_string=query)))


def insert_plan(plan: Plan, name: str, created_at: str = "2001-01-01") -> None:
    """Insert `plan` as a version of the plan `name`, in the running transaction."""
    db.session().execute(
        text(
            "INSERT INTO plan_versions (name, version, definition, created_at)"
            " VALUES (:name, :version, CAST(:plan AS jsonb), :created_at)"
        ),
        {
            "name": name,
            "version": plan.version,
            "plan": orjson.dumps(catalog.format_plan(plan)).decode(),
            "created_at": created_at,
        },
    )


def set_up_customer(org: Org) -> Customer:
    """Give an organization the plan team and a profile since January 2001; return the customer."""
    customer = Customer(org)
    customer.set_created_at("2001-01-01T00:00:00Z")
    customer.start_with_plan("team")
    customer.set_profile()
    return customer


@pytest.fixture
def make_customer(app: Flask) -> Iterator[Callable[[], Customer]]:
    """Return a function that creates organizations as `set_up_customer` describes.

    After the test, their creation times are set to November 2026, so that no other test bills them
    for earlier months.
    """
    customers: list[Customer] = []

    def make() -> Customer:
        customers.append(set_up_customer(make_org(app)))
        return customers[-1]

    yield make
    for customer in customers:
        customer.set_created_at("2026-11-01T00:00:00Z")


@pytest.fixture
def customer(make_customer: Callable[[], Customer]) -> Customer:
    """Return an organization with the plan team and a billing profile, since January 2001."""
    return make_customer()
