"""Erasing waits for the last invoice, and keeps invoices with their files, as the operator must."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import text

from app.billing.invoices.service import issuing, unbilled
from app.billing.periods.service import get_bounds
from app.identity.erasing import service as erasing
from app.identity.organizations.models import Organization
from app.kit import container, db, tenancy
from tests.billing.conftest import Customer
from tests.factories import Org, operator, run_jobs_of
from tests.factories.counts import run_sql
from tests.factories.queueing import KilledError


def erase(org: Org) -> None:
    answer = org.api("owner").post(f"/organizations/{org.slug}/close", json={"slug": org.slug})
    assert answer.status_code == 202, answer.json
    run_jobs_of(org)
    with org.app.app_context(), tenancy.across_organizations(reason="as the job does"):
        sql = text("UPDATE organizations SET erase_after = closed_at WHERE id = :id")
        db.session().execute(sql, {"id": org.id})
        db.session().commit()
        erasing.erase(org.id, db.session().commit)
        db.session().commit()


def test_invoices_and_their_files_are_kept(customer: Customer) -> None:
    org = customer.org
    customer.issue("2001-03")
    run_jobs_of(org, "invoice_files")
    columns = "number, status, buyer, lines, total, pdf, xml"
    before = run_sql(org, f"SELECT {columns} FROM invoices")
    assert before
    erase(org)
    assert run_sql(org, f"SELECT {columns} FROM invoices") == before
    with org.app.app_context():
        assert db.session().get_one(Organization, org.id).status == "erased"
        for file in (before[0].pdf, before[0].xml):
            assert container.current().storage.get_size(file["key"]) == file["size"]
    for table in ("billing_profiles", "plan_changes", "scheduled_plan_changes"):
        rows = run_sql(org, f"SELECT 1 FROM {table} WHERE organization_id = :org")
        assert rows == []
    listed = org.app.test_cli_runner().invoke(args=["billing", "invoices", "list"])
    assert before[0].number in listed.output


def close_at(customer: Customer, created_at: str, closed_at: str) -> None:
    """Close an organization at a time in the past, so that its grace period is over."""
    customer.set_created_at(created_at)
    customer.run_command("org", "close", customer.org.slug, "--yes")
    run_jobs_of(customer.org)
    sql = "UPDATE organizations SET closed_at = :at, erase_after = :at WHERE id = :org"
    customer.sql(sql, at=closed_at)


def is_due(customer: Customer) -> bool:
    with customer.org.app.app_context():
        return customer.org.id in erasing.list_due_ids()


def close_month(customer: Customer, month: str) -> None:
    """Close a month without issuing its invoices, unless a test has already closed it."""
    sql = "INSERT INTO billing_periods VALUES (:month, 1, now()) ON CONFLICT DO NOTHING"
    customer.sql(sql, month=month)


@pytest.fixture
def _wait_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let organizations that were closed decades ago wait for their last invoice."""
    monkeypatch.setattr(erasing, "MAX_BILLING_WAIT", timedelta(days=36_500))


@pytest.mark.usefixtures("_wait_for_long")
def test_erasing_waits_for_the_last_invoice_and_its_files(
    customer: Customer, work: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    app, slug = customer.org.app, customer.org.slug
    close_at(customer, "2004-06-11T00:00:00Z", "2004-06-21T00:00:00Z")
    assert not is_due(customer)
    listed = app.test_cli_runner().invoke(args=["org", "erase-due", "--json"])
    assert (listed.exit_code, slug in listed.output) == (0, False)
    answer = operator(app).post("/internal/billing/close-period", json={"period": "2004-06"})
    assert answer.status_code == 202
    assert not is_due(customer)  # The job that issues the invoices has not run yet.
    with monkeypatch.context() as patch, app.app_context():
        patch.setattr(unbilled.queries, "get_first_open_months", lambda _: {})
        start, end = get_bounds("2004-06")
        with tenancy.organization(customer.org.id), db.transaction():
            issuing.issue_period(customer.org.id, start, end)
        assert not is_due(customer)  # The invoice has no PDF yet.
    work()
    sql = "SELECT status, subtotal, pdf FROM invoices WHERE organization_id = :org"
    (invoice,) = run_sql(customer.org, sql)
    assert (invoice.status, str(invoice.subtotal)) == ("issued", "16.33")  # 10 of 30 days
    assert invoice.pdf is not None
    assert is_due(customer)
    listed = app.test_cli_runner().invoke(args=["org", "erase-due", "--json"])
    assert slug in listed.output


@pytest.mark.usefixtures("_wait_for_long")
def test_erasing_waits_for_a_failed_job_of_the_last_invoice(customer: Customer) -> None:
    close_at(customer, "2004-07-11T00:00:00Z", "2004-07-21T00:00:00Z")
    close_month(customer, "2004-07")
    assert is_due(customer)
    fail = (
        "INSERT INTO jobs (id, organization_id, queue, function, args, status, due_at, finished_at)"
        " VALUES (gen_random_uuid(), {}, 'invoices', '{}', CAST(:args AS jsonb), 'failed', NULL,"
        " now())"
    )
    customer.sql(fail.format(":org", "invoices.issue"), args="{}")
    assert not is_due(customer)
    customer.sql("DELETE FROM jobs WHERE organization_id = :org")
    assert is_due(customer)
    args = '{"from": "2004-07-01T00:00:00Z", "to": "2004-08-01T00:00:00Z"}'
    discard = "DELETE FROM jobs WHERE args ->> 'from' LIKE '2004-07%' AND status = 'failed'"
    for sql, expected in (
        (fail.format("NULL", "invoices.issue_month"), False),
        (discard, True),
    ):
        with customer.org.app.app_context(), tenancy.across_organizations(reason="a test"):
            db.session().execute(text(sql), {"args": args} if ":args" in sql else {})
            db.session().commit()
        assert is_due(customer) is expected


def test_erasing_waits_no_longer_than_ninety_days(customer: Customer) -> None:
    now = db.utc_now()
    created, closed = now - timedelta(days=100), now - timedelta(days=89, hours=23)
    close_at(customer, created.isoformat(), closed.isoformat())
    assert not is_due(customer)
    customer.sql(
        "UPDATE organizations SET closed_at = closed_at - interval '2 hours' WHERE id = :org"
    )
    assert is_due(customer)


@pytest.mark.usefixtures("_wait_for_long")
def test_erasing_does_not_wait_if_nothing_can_be_billed(
    customer: Customer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Open months before the first month that was ever closed do not count.
    close_month(customer, "2004-05")
    close_at(customer, "2004-08-11T00:00:00Z", "2004-09-21T00:00:00Z")
    customer.add_plan_change("team", "2004-08-20T00:00:00Z", "free")
    customer.sql("UPDATE organizations SET plan = 'free' WHERE id = :org")
    customer.sql("DELETE FROM plan_changes WHERE changed_at > '2020-01-01'")
    # August, in which the plan had a price, is open.
    assert not is_due(customer)
    close_month(customer, "2004-08")
    # In September, the plan was free.
    assert is_due(customer)
    customer.sql("UPDATE organizations SET plan = 'business' WHERE id = :org")
    customer.sql("DELETE FROM plan_changes")
    assert not is_due(customer)
    with monkeypatch.context() as patch:
        patch.setattr(unbilled, "find_configuration", lambda: None)
        assert is_due(customer)
    customer.sql("UPDATE organizations SET erasure = '{}' WHERE id = :org")
    assert is_due(customer)


@pytest.mark.usefixtures("_wait_for_long")
def test_erasing_does_not_wait_for_months_before_the_first_closed_month(customer: Customer) -> None:
    # No test closes a month before 1950. In February, the plan was free.
    close_at(customer, "1950-01-11T00:00:00Z", "1950-02-21T00:00:00Z")
    customer.add_plan_change("team", "1950-01-20T00:00:00Z", "free")
    customer.sql("UPDATE organizations SET plan = 'free' WHERE id = :org")
    customer.sql("DELETE FROM plan_changes WHERE changed_at > '2020-01-01'")
    assert is_due(customer)


def test_no_invoice_is_issued_once_the_erasure_has_begun(customer: Customer) -> None:
    customer.add_plan_change("free", "2001-03-16T12:00:00Z", "team")
    customer.sql("DELETE FROM billing_profiles WHERE organization_id = :org")
    customer.issue("2001-04")
    before = run_sql(customer.org, "SELECT * FROM invoices")
    assert [row.status for row in before] == ["draft"]
    close_at(customer, "2001-01-01T00:00:00Z", "2001-06-01T00:00:00Z")

    def stop_after_the_history() -> None:
        db.session().commit()
        if not run_sql(customer.org, "SELECT 1 FROM plan_changes"):
            raise KilledError

    app, reason = customer.org.app, "as the job does"
    with app.app_context(), tenancy.across_organizations(reason=reason):
        with pytest.raises(KilledError):
            erasing.erase(customer.org.id, stop_after_the_history)
        db.session().rollback()
    with app.app_context():
        billed = issuing.list_billed_organization_ids(
            get_bounds("2001-03")[1], after=UUID(int=customer.org.id.int - 1)
        )
    assert customer.org.id not in billed
    assert customer.issue("2001-03") == []
    assert customer.issue("2001-04") == []
    assert run_sql(customer.org, "SELECT * FROM invoices") == before
