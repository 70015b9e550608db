"""`flask billing invoices …` and `flask billing credit-note`: commands that manage invoices."""

from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

import click
from flask.cli import AppGroup, with_appcontext

from app.billing.invoices.models import InvoiceStatus
from app.billing.invoices.service import correcting, reading
from app.billing.periods.service import get_bounds
from app.commands.running import as_json, run_operation, show_list, show_record

invoices = AppGroup("invoices", help="Manage the invoices of all organizations.")
_COLUMNS = (
    *("number", "organization", "kind", "status", "period", "total", "currency"),
    *("issued_at", "due_at", "paid_at"),
)
_MAX_REASON_LENGTH = 500


class _MonthType(click.ParamType[datetime]):
    """A parameter type that converts a month, such as 2026-10, to the start of that month."""

    name = "month"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        try:
            return get_bounds(value)[0]
        except ValueError:
            self.fail(f"{value!r} is not a month such as 2026-10.", param, ctx)


class _AmountType(click.ParamType[Decimal]):
    """A parameter type that converts an amount, such as 12.50, to a `Decimal`."""

    name = "amount"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> Decimal:
        try:
            amount = Decimal(value)
        except InvalidOperation:
            self.fail(f"{value!r} is not a decimal number such as 12.50.", param, ctx)
        return amount


def _parse_reason(_context: object, _parameter: object, value: str) -> str:
    text = " ".join(value.split())
    if not text or len(text) > _MAX_REASON_LENGTH or not text.isprintable():
        raise click.BadParameter(f"must have 1 to {_MAX_REASON_LENGTH} printable characters.")
    return text


_reason_option = click.option(
    "--reason",
    required=True,
    callback=_parse_reason,
    help="Reason that is shown on the credit note.",
)


@invoices.command("list")
@click.option("--org", "slug", help="Only invoices of the organization with this slug.")
@click.option("--status", type=click.Choice([status.value for status in InvoiceStatus]))
@click.option("--period", type=_MonthType(), help="Only invoices for this month, such as 2026-10.")
@as_json
def list_invoices(
    slug: str | None, status: str | None, period: datetime | None, *, as_json: bool
) -> None:
    """List invoices and credit notes, oldest first."""
    with run_operation("list_invoices"):
        rows = reading.list_all(slug=slug, status=status, period_start=period)
        if not as_json:
            rows = ({**row, "period": f"{row['period']['from']:%Y-%m}"} for row in rows)
        show_list(rows, _COLUMNS, as_json=as_json)


@invoices.command("mark-paid")
@click.argument("number")
@click.option(
    "--on",
    "paid_on",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Day of the payment in your time zone, such as 2026-11-05. Default: now.",
)
@as_json
def mark_paid(number: str, paid_on: datetime | None, *, as_json: bool) -> None:
    """Mark the issued invoice NUMBER as paid."""
    with run_operation("mark_invoice_paid"):
        invoice = correcting.mark_paid(number, paid_on=paid_on and paid_on.date())
    _show_invoice(invoice, as_json=as_json)


@invoices.command("void")
@click.argument("number")
@_reason_option
@as_json
def void(number: str, reason: str, *, as_json: bool) -> None:
    """Void the invoice NUMBER with a credit note for the full amount.

    The lines of an issued invoice never change. Instead, the credit note reverses every line.
    """
    with run_operation("void_invoice"):
        credit_note = correcting.void(number, reason=reason)
    _show_invoice(credit_note, as_json=as_json)


@click.command("credit-note")
@with_appcontext
@click.argument("number")
@click.option(
    "--amount", type=_AmountType(), required=True, help="Amount before tax, such as 12.50."
)
@_reason_option
@as_json
def create_credit_note(number: str, amount: Decimal, reason: str, *, as_json: bool) -> None:
    """Issue a credit note for part or all of the invoice NUMBER.

    The credit note uses the tax rate of the invoice. Crediting the full amount voids the invoice.
    """
    with run_operation("credit_invoice"):
        credit_note = correcting.credit(number, amount=amount, reason=reason)
    _show_invoice(credit_note, as_json=as_json)


def _show_invoice(invoice: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_record(invoice, as_json=True)
        return
    names = ("number", "kind", "status", "subtotal", "total", "currency", "issued_at", "paid_at")
    show_record({name: invoice[name] for name in names}, as_json=False)
