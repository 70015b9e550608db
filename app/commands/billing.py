"""`flask billing`: command that closes billing periods."""

import click
from flask.cli import AppGroup

from app.billing.periods import service
from app.billing.periods.schemas import ClosePeriod
from app.commands import billing_invoices
from app.commands.running import as_json, load_body, run_operation, show_record

group = AppGroup("billing", help="Billing periods, invoices and credit notes.")
group.add_command(billing_invoices.invoices)
group.add_command(billing_invoices.credit_note)


@group.command("close-period")
@click.argument("month")
@as_json
def close_period(month: str, *, as_json: bool) -> None:
    """Close MONTH (such as 2026-10) for all organizations, so that its invoices are issued."""
    with run_operation("close_billing_period"):
        closed = service.close(**load_body(ClosePeriod, {"period": month}))
    show_record(closed, as_json=as_json)
