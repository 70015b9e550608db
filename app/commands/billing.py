"""`flask billing`: commands for billing periods, usage, meters, invoices and credit notes."""

from collections.abc import Iterator

import click
from flask.cli import AppGroup

from app.billing.periods import service
from app.billing.periods.schemas import ClosePeriod
from app.billing.usage.service import reporting, upkeep
from app.billing.usage.service.upkeep import Difference
from app.commands import billing_invoices
from app.commands.running import (
    EXIT_FINDINGS,
    as_json,
    load_body,
    run_operation,
    show_list,
    show_progress,
    show_record,
)
from app.kit import db, tenancy

group = AppGroup("billing", help="Manage usage meters, billing periods and invoices.")
group.add_command(billing_invoices.invoices)
group.add_command(billing_invoices.create_credit_note)
_USAGE_COLUMNS = ("organization", "plan", "meter", "used", "limit", "warning")


@group.command("close-period")
@click.argument("month")
@as_json
def close_period(month: str, *, as_json: bool) -> None:
    """Close MONTH, such as 2026-10, for all organizations.

    The service's workers then issue the invoices of the month.
    """
    with run_operation("close_billing_period"):
        closed_period = service.close(**load_body(ClosePeriod, {"period": month}))
    show_record(closed_period, as_json=as_json)


@group.command("usage")
@click.argument("slug", required=False)
@as_json
def show_usage(slug: str | None, *, as_json: bool) -> None:
    """Show the usage in the current month and the limits of all organizations, or of SLUG."""
    with run_operation("get_usage"):
        show_list(_read_usage(slug), _USAGE_COLUMNS, as_json=as_json)


def _read_usage(slug: str | None) -> Iterator[dict[str, object]]:
    for organization_id, organization_slug in upkeep.list_organizations(slug):
        with tenancy.organization(organization_id):
            report = reporting.describe_usage()
        # Printing may take a long time, so end the transaction first.
        db.checkpoint()
        shared_fields = {"organization": organization_slug, "plan": report["plan"]}
        yield from ({**shared_fields, **meter} for meter in report["meters"])


@group.command("reconcile")
@click.argument("slug", required=False)
@click.option("--repair", is_flag=True, help="Correct the meters that differ.")
@as_json
def reconcile(slug: str | None, *, repair: bool, as_json: bool) -> None:
    """Compare the usage meters of all organizations, or of SLUG, with the rows that they measure.

    Prints each meter that differs: "counted" is the sum over the rows, "metered" is the value of
    the meter. The exit status is 3 if any meter differs and is not repaired. It is safe to
    interrupt this command and to run it again.
    """
    differences: list[Difference] = []
    with run_operation("reconcile_usage"), show_progress("Comparing") as report_progress:
        organizations = upkeep.list_organizations(slug)
        for done_count, (organization_id, organization_slug) in enumerate(organizations, start=1):
            if repair:
                differences += upkeep.repair(organization_id, organization_slug)
            else:
                differences += upkeep.find_differences(organization_id, organization_slug)
            db.checkpoint()
            report_progress(done_count, len(organizations))
    if differences or as_json:
        rows = [difference._asdict() for difference in differences]
        show_list(rows, Difference._fields, as_json=as_json)
    if differences and not repair:
        raise click.exceptions.Exit(EXIT_FINDINGS)
