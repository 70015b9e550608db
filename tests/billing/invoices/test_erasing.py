"""Erasing an organization keeps its invoices and their files, which the operator has to keep."""

from sqlalchemy import text

from app.identity.erasing import service as erasing
from app.identity.organizations.models import Organization
from app.kit import container, db, tenancy
from tests.billing.conftest import Customer
from tests.factories import Org, run_jobs_of
from tests.factories.counts import run_sql


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
            assert container.current().storage.size(file["key"]) == file["size"]
    for table in ("billing_profiles", "plan_changes", "scheduled_plan_changes"):
        rows = run_sql(org, f"SELECT 1 FROM {table} WHERE organization_id = :org")
        assert rows == []
    listed = org.app.test_cli_runner().invoke(args=["billing", "invoices", "list"])
    assert before[0].number in listed.output
