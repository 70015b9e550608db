"""Invoices of a month: from the plans and the meters of an organization, once."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import orjson
import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import InterfaceError

from app.billing.invoices.jobs import issue_invoices, issue_month
from app.billing.invoices.service import computing, documents, issuing
from app.billing.invoices.service.computing import InvoiceInputs
from app.billing.periods.service import get_bounds
from app.billing.plan_changes import queries
from app.billing.plan_changes.versions import PlanVersions
from app.billing.plans import catalog
from app.billing.plans.catalog import Charge
from app.billing.usage.service.measuring import measure_period
from app.engines.invoices.charges import Tier
from app.engines.invoices.model import Document, InvoiceError
from app.identity.organizations.models import Organization
from app.kit import db, tenancy
from tests.billing.conftest import Customer, insert_plan
from tests.factories import make_job, run_jobs_of
from tests.factories.counts import run_sql

MARCH = {"from": "2001-03-01T00:00:00+00:00", "to": "2001-04-01T00:00:00+00:00"}
"""The arguments of the job that issues the invoices of March 2001."""


def test_an_invoice_has_the_price_and_what_was_used(customer: Customer) -> None:
    customer.record_usage("documents_per_month", "2001-03-05", 6_100)
    customer.record_usage("documents_per_month", "2001-03-31", 900)
    customer.record_usage("documents_per_month", "2001-04-01", 5_000)
    customer.record_usage("members", "2001-02-10", 7)
    invoice = customer.issue_invoice()
    lines = [(line["description"], line["quantity"], line["amount"]) for line in invoice["lines"]]
    assert lines == [
        ("Tarif team, 01.03.2001 \N{EN DASH} 31.03.2001", "1", "49.00"),
        ("Mitglieder", "2", "18.00"),
        ("Dokumente (1\N{EN DASH}5.000)", "5000", "250.00"),
        ("Dokumente (über 5.000)", "1000", "40.00"),
    ]
    assert (invoice["subtotal"], invoice["total"], invoice["currency"]) == (
        *("357.00", "357.00"),
        "EUR",
    )
    assert (invoice["status"], invoice["kind"], invoice["period"]) == (
        "issued",
        "invoice",
        {"from": "2001-03-01T00:00:00Z", "to": "2001-04-01T00:00:00Z"},
    )
    assert invoice["buyer"]["name"] == "Muster & Söhne <b>GmbH</b>"
    assert invoice["seller"]["tax_number"] == "DE136695976"
    one = customer.org.api("admin").get(f"/billing/invoices/{invoice['id']}")
    assert one.json["data"] == invoice


@pytest.mark.parametrize(
    ("country", "tax_number", "category", "rate", "tax"),
    [
        ("DE", "DE136695976", "S", "19", "9.31"),
        ("AT", "ATU13585627", "AE", "0", "0.00"),
        ("AT", None, "S", "20", "9.80"),
        ("ES", None, "S", "19", "9.31"),
        ("US", None, "O", "0", "0.00"),
    ],
)
def test_the_tax_depends_on_the_buyer(
    customer: Customer, country: str, tax_number: str | None, category: str, rate: str, tax: str
) -> None:
    address = {"lines": ["1 Street"], "city": "City", "country": country}
    customer.set_profile(address=address, tax_number=tax_number)
    invoice = customer.issue_invoice()
    found = invoice["tax"]
    assert (found["category"], found["rate"], found["amount"]) == (category, rate, tax)
    assert (found["name"], found["base"]) == ("VAT", "49.00")
    assert Decimal(invoice["total"]) == Decimal("49.00") + Decimal(tax)


def test_issuing_again_changes_nothing(customer: Customer) -> None:
    customer.issue("2001-03")
    before = customer.list_invoices()
    customer.record_usage("documents_per_month", "2001-03-05", 6_100)
    assert customer.issue("2001-03") == []
    assert customer.list_invoices() == before


@pytest.mark.parametrize("plan", ["free", "unlimited"])
def test_months_without_anything_to_pay_have_no_invoice(customer: Customer, plan: str) -> None:
    customer.start_with_plan(plan)
    customer.record_usage("documents_per_month", "2001-03-05", 50)
    assert customer.issue("2001-03") == []
    assert customer.list_invoices() == []


def test_usage_that_costs_nothing_has_no_invoice(customer: Customer) -> None:
    customer.record_usage("documents_per_month", "2001-03-05", 40)
    customer.record_usage("documents_per_month", "2001-04-05", 50)
    tiers = (Tier(None, Decimal("0.0001")),)
    plan = replace(catalog.get_plan("free"), charges=(Charge("documents_per_month", 0, tiers, 1),))
    # The plan exists only in this transaction, which is rolled back.
    with customer.org.app.app_context(), tenancy.organization(customer.org.id):
        session = db.session()
        insert_plan(plan, "cheap")
        session.execute(
            text("UPDATE organizations SET plan = 'cheap' WHERE id = :id"), {"id": customer.org.id}
        )
        session.execute(text("DELETE FROM plan_changes"))
        assert issuing.issue_period(customer.org.id, *get_bounds("2001-03")) == []
        (invoice,) = issuing.issue_period(customer.org.id, *get_bounds("2001-04"))
        assert invoice.subtotal == Decimal("0.01")
        session.rollback()


def test_a_draft_for_which_nothing_is_due_any_more_is_deleted(customer: Customer) -> None:
    run_sql(customer.org, "DELETE FROM billing_profiles WHERE organization_id = :org")
    customer.issue("2001-03")
    assert [draft["status"] for draft in customer.list_invoices()] == ["draft"]
    customer.start_with_plan("free")
    customer.set_profile()
    run_jobs_of(customer.org, "invoices")
    assert customer.list_invoices() == []


def test_a_month_before_the_organization_has_no_invoice(customer: Customer) -> None:
    assert customer.issue("2000-12") == []


def test_a_month_with_several_plans_is_prorated(customer: Customer) -> None:
    customer.set_created_at("2001-03-05T12:00:00Z")
    customer.add_plan_change("free", "2001-03-11T00:00:00Z", "business")
    customer.add_plan_change("business", "2001-03-21T18:00:00Z", "team")
    customer.record_usage("documents_per_month", "2001-03-20", 9_000)
    customer.record_usage("documents_per_month", "2001-03-21", 500)
    invoice = customer.issue_invoice()
    seconds = 31 * 86400
    business = Decimal(299) * (10 * 86400 + 18 * 3600) / seconds
    team = Decimal(49) * (10 * 86400 + 6 * 3600) / seconds
    prices = [Decimal(line["amount"]) for line in invoice["lines"] if line["unit"] == "MON"]
    assert prices[0] == round(business, 2)
    assert sum(prices) == round(business + team, 2)
    # The day of the change belongs to the later plan, which includes 1,000 documents a month.
    included = Decimal(1000) * (10 * 86400 + 6 * 3600) / seconds
    charged = [line for line in invoice["lines"] if line["description"].startswith("Dokumente")]
    assert [Decimal(line["quantity"]) for line in charged] == [
        9_000 - round(10_000 * Decimal(10 * 86400 + 18 * 3600) / seconds, 6),
        500 - round(included, 6),
    ]


def test_a_month_with_thousands_of_changes_is_invoiced_by_plan(customer: Customer) -> None:
    customer.sql(
        "INSERT INTO plan_changes (organization_id, plan_before, plan, changed_at)"
        " SELECT :org, (ARRAY['team', 'business'])[1 + number % 2],"
        " (ARRAY['business', 'team'])[1 + number % 2],"
        " timestamptz '2001-03-01T00:00:00Z' + number * interval '10 minutes'"
        " FROM generate_series(0, 4319) AS number"
    )
    invoice = customer.issue_invoice()
    assert (invoice["status"], invoice["number"] is not None) == ("issued", True)
    lines = [(line["description"], line["amount"]) for line in invoice["lines"]]
    # The plans alternate for 30 days, and the last day has the plan team.
    period = "01.03.2001 \N{EN DASH} {}.03.2001 (2.160 Zeiträume)"
    assert lines == [
        (f"Tarif business, {period.format(30)}", f"{Decimal(299) * 15 / 31:.2f}"),
        (f"Tarif team, {period.format(31)}", f"{Decimal(49) * 16 / 31:.2f}"),
    ]
    assert Decimal(invoice["subtotal"]) == round(Decimal(299) * 15 / 31 + Decimal(49) * 16 / 31, 2)


def test_a_closed_organization_pays_until_it_was_closed(customer: Customer) -> None:
    customer.sql("UPDATE organizations SET closed_at = '2001-03-16T12:00:00Z' WHERE id = :org")
    customer.issue("2001-03")
    customer.issue("2001-04")
    (invoice,) = customer.list_invoices()
    assert invoice["subtotal"] == "24.50"


def close_for_a_time(
    customer: Customer, monkeypatch: pytest.MonkeyPatch, closed_at: str, reopened_at: str
) -> None:
    """Close and reopen an organization as the operator does, at times in the past."""
    customer.run_command("org", "close", customer.org.slug, "--yes")
    customer.sql("UPDATE organizations SET closed_at = :at WHERE id = :org", at=closed_at)
    now = datetime.fromisoformat(reopened_at)
    with monkeypatch.context() as clock:
        clock.setattr(queries, "get_database_time", lambda: now)
        customer.run_command("org", "reopen", customer.org.slug)


def test_the_time_for_which_an_organization_was_closed_is_not_billed(
    customer: Customer, monkeypatch: pytest.MonkeyPatch
) -> None:
    customer.record_usage("documents_per_month", "2001-03-10", 1_100)
    close_for_a_time(customer, monkeypatch, "2001-03-16T12:00:00Z", "2001-03-25T00:00:00Z")
    invoice = customer.issue_invoice()
    amounts = [line["amount"] for line in invoice["lines"] if line["unit"] == "MON"]
    assert amounts == ["24.50", "11.06"]  # 15.5 and 7 of 31 days
    assert customer.org.api("admin").get("/billing/invoices/upcoming").status_code == 200


@pytest.mark.parametrize("is_invoiced_first", [True, False])
def test_reopening_does_not_depend_on_when_a_month_is_invoiced(
    customer: Customer, monkeypatch: pytest.MonkeyPatch, *, is_invoiced_first: bool
) -> None:
    closed_at, reopened_at = "2001-03-16T12:00:00Z", "2001-04-10T00:00:00Z"
    if is_invoiced_first:
        customer.sql("UPDATE organizations SET closed_at = :at WHERE id = :org", at=closed_at)
        customer.issue("2001-03")
        customer.sql("UPDATE organizations SET closed_at = NULL WHERE id = :org")
    close_for_a_time(customer, monkeypatch, closed_at, reopened_at)
    for month in ("2001-03", "2001-04", "2001-05"):
        customer.issue(month)
    invoices = customer.list_invoices(sort="period")
    assert [invoice["subtotal"] for invoice in invoices] == ["24.50", "34.30", "49.00"]


def test_an_invoice_without_a_profile_is_a_draft_until_there_is_one(customer: Customer) -> None:
    run_sql(customer.org, "DELETE FROM billing_profiles WHERE organization_id = :org")
    draft = customer.issue_invoice()
    assert (draft["status"], draft["number"], draft["buyer"]) == ("draft", None, None)
    assert draft["issued_at"] is None
    answer = customer.org.api("admin").get(f"/billing/invoices/{draft['id']}/pdf")
    assert (answer.status_code, answer.json["error"]["details"]) == (409, {"state": "draft"})
    customer.set_profile()
    run_jobs_of(customer.org, "invoices")
    (issued,) = customer.list_invoices()
    assert (issued["id"], issued["status"]) == (draft["id"], "issued")
    assert issued["number"]
    assert issued["buyer"]["address"]["country"] == "AT"
    assert issued["tax"]["category"] == "AE"


def test_a_changed_price_does_not_change_a_period_that_has_begun(customer: Customer) -> None:
    # A plan whose price changes in the middle of March; the transaction is rolled back.
    team = catalog.get_plan("team")
    subtotals = []
    with customer.org.app.app_context(), tenancy.organization(customer.org.id):
        session = db.session()
        for version, price, at in ((1, 49, "2001-01-01"), (2, 99, "2001-03-15")):
            plan = replace(team, version=version, price=Decimal(price))
            insert_plan(plan, "changing", at)
        organization = session.get_one(Organization, customer.org.id)
        organization.plan = "changing"
        session.flush()
        for month in ("2001-03", "2001-04"):
            period = get_bounds(month)
            facts = InvoiceInputs(organization, [], None, PlanVersions(), measure_period)
            (content,) = computing.compute(facts, period, None)
            subtotals.append(content.totals.subtotal)
        session.rollback()
    assert subtotals == [Decimal("49.00"), Decimal("99.00")]


def test_a_failure_of_one_organization_does_not_hold_up_others(
    app: Flask, make_customer: Callable[[], Customer], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, sound = make_customer(), make_customer()
    compute = computing.compute

    def fail_for_one(facts: InvoiceInputs, *arguments: Any) -> Any:
        if facts.organization.id == broken.org.id:
            raise LookupError
        return compute(facts, *arguments)

    monkeypatch.setattr(computing, "compute", fail_for_one)
    ids = sorted((broken.org.id, sound.org.id))
    monkeypatch.setattr(
        issuing, "list_billed_organization_ids", lambda *_, after: ids if after < ids[0] else []
    )
    with app.app_context():
        issue_month(make_job(None, MARCH))
        db.session().commit()
    run_jobs_of(sound.org, "invoices")
    with pytest.raises(LookupError), app.app_context(), tenancy.organization(broken.org.id):
        issue_invoices(make_job(broken.org.id, MARCH))
    assert len(sound.list_invoices()) == 1
    assert broken.list_invoices() == []
    monkeypatch.undo()
    broken.issue("2001-03")
    assert len(broken.list_invoices()) == 1


def test_a_statement_that_takes_too_long_does_not_hold_up_others(
    app: Flask, make_customer: Callable[[], Customer], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, sound = make_customer(), make_customer()
    compute = computing.compute

    def time_out_for_one(facts: InvoiceInputs, *arguments: Any) -> Any:
        if facts.organization.id == slow.org.id:
            db.session().execute(text("SET LOCAL statement_timeout = 10"))
            db.session().execute(text("SELECT pg_sleep(10)"))
        return compute(facts, *arguments)

    monkeypatch.setattr(computing, "compute", time_out_for_one)
    ids = sorted((slow.org.id, sound.org.id))
    monkeypatch.setattr(issuing, "list_billed_organization_ids", lambda *_, **__: ids)
    with app.app_context():
        issue_month(make_job(None, MARCH))
        following = "SELECT 1 FROM jobs WHERE function = 'invoices.issue_month' AND args = :args"
        args = orjson.dumps({**MARCH, "after": str(ids[-1])}).decode()
        with tenancy.across_organizations(reason="the job belongs to no organization"):
            following = following.replace(":args", "CAST(:args AS jsonb)")
            assert db.session().scalar(text(following), {"args": args}) == 1
            db.session().execute(text(following.replace("SELECT 1", "DELETE")), {"args": args})
        db.session().commit()
    run_jobs_of(sound.org, "invoices")
    assert [invoice["status"] for invoice in sound.list_invoices()] == ["issued"]
    assert slow.list_invoices() == []
    slow.sql("DELETE FROM jobs WHERE organization_id = :org")


def test_an_outage_of_the_database_does_not_split_the_batch(
    app: Flask, customer: Customer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose_connection(*_: Any) -> None:
        connection = db.session().connection().connection.dbapi_connection
        assert connection is not None
        connection.close()
        db.session().execute(text("SELECT 1"))

    monkeypatch.setattr(computing, "compute", lose_connection)
    monkeypatch.setattr(issuing, "list_billed_organization_ids", lambda *_, **__: [customer.org.id])
    with app.app_context(), pytest.raises(InterfaceError):
        issue_month(make_job(None, MARCH))
    find_job = "SELECT 1 FROM jobs WHERE organization_id = :org AND function = 'invoices.issue'"
    assert run_sql(customer.org, find_job) == []


def test_an_invoice_that_cannot_be_rendered_stays_a_draft_until_it_can(
    app: Flask, make_customer: Callable[[], Customer], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, sound = make_customer(), make_customer()
    set_name = "UPDATE billing_profiles SET name = :name WHERE organization_id = :org"
    broken.sql(set_name, name="x" * 301)
    ids = sorted((broken.org.id, sound.org.id))
    monkeypatch.setattr(
        issuing, "list_billed_organization_ids", lambda *_, after: ids if after < ids[0] else []
    )
    with app.app_context():
        issue_month(make_job(None, MARCH))
        db.session().commit()
    assert [invoice["status"] for invoice in sound.list_invoices()] == ["issued"]
    run_jobs_of(broken.org, "invoices")
    (draft,) = broken.list_invoices()
    assert (draft["status"], draft["number"]) == ("draft", None)
    find_job = "SELECT status, error FROM jobs WHERE organization_id = :org AND queue = 'invoices'"
    (job,) = run_sql(broken.org, f"{find_job} AND function = 'invoices.issue'")
    assert (job.status, "buyer.name: must have between 1 and" in job.error) == ("queued", True)
    broken.sql(set_name, name="Muster GmbH")
    broken.sql("UPDATE jobs SET due_at = now() WHERE organization_id = :org AND status = 'queued'")
    run_jobs_of(broken.org, "invoices")
    (invoice,) = broken.list_invoices()
    assert (invoice["id"], invoice["status"]) == (draft["id"], "issued")
    assert run_sql(broken.org, f"{find_job} AND status = 'queued'") == []


def test_the_draft_of_one_currency_is_issued_after_the_invoice_of_another(
    customer: Customer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(document: Document) -> None:
        if document.currency == "USD":
            raise InvoiceError("lines.0.description", "is too long")

    plan = replace(catalog.get_plan("team"), currency="USD")
    customer.add_plan_change("team", "2001-03-11T00:00:00Z", "dollars")
    # The plan exists only in this transaction, which is rolled back.
    with customer.org.app.app_context(), tenancy.organization(customer.org.id):
        session = db.session()
        insert_plan(plan, "dollars")
        organization = session.get_one(Organization, customer.org.id)
        organization.plan = "dollars"
        session.flush()
        session.execute(text("DELETE FROM plan_changes WHERE changed_at > '2002-01-01'"))
        with monkeypatch.context() as failing:
            failing.setattr(documents, "check_document", check)
            invoices = issuing.issue_period(customer.org.id, *get_bounds("2001-03"))
        assert {new.currency: new.status for new in invoices} == {"EUR": "issued", "USD": "draft"}
        (invoice,) = issuing.issue_period(customer.org.id, *get_bounds("2001-03"))
        assert (invoice.currency, invoice.status) == ("USD", "issued")
        assert issuing.issue_period(customer.org.id, *get_bounds("2001-03")) == []
        session.rollback()
