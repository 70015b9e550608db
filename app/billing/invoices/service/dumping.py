"""Dump the parts of invoices as JSON objects, and load them. Decimals are stored as text."""

from dataclasses import asdict
from decimal import Decimal
from typing import Any

from app.billing.seller.configuration import BillingConfiguration
from app.engines.invoices.model import Line, Party, Tax, TaxCategory


def dump_seller(configuration: BillingConfiguration) -> dict[str, Any]:
    """Dump the seller as a JSON object with all properties of a party, and `payment`.

    `payment` is the bank account, or None if the billing file has none.
    """
    payment = configuration.payment
    return {
        **dump_party(configuration.seller),
        "payment": None if payment is None else asdict(payment),
    }


def dump_party(party: Party) -> dict[str, Any]:
    """Dump a seller or buyer as a JSON object."""
    return {**asdict(party), "address_lines": list(party.address_lines)}


def dump_line(line: Line) -> dict[str, Any]:
    """Dump an invoice line as a JSON object, with decimals as text."""
    return {
        "description": line.description,
        "quantity": f"{line.quantity:f}",
        "unit": line.unit,
        "unit_price": f"{line.unit_price:f}",
        "amount": f"{line.amount:f}",
    }


def dump_tax(tax: Tax) -> dict[str, Any]:
    """Dump a tax as a JSON object, with decimals as text."""
    return {
        "name": tax.name,
        "category": tax.category.value,
        "rate": f"{tax.rate:f}",
        "base": f"{tax.base:f}",
        "amount": f"{tax.amount:f}",
        "reason": tax.reason,
    }


def load_tax(tax: dict[str, Any]) -> Tax:
    """Load a tax from a JSON object that `dump_tax` returned."""
    numbers = {key: Decimal(tax[key]) for key in ("rate", "base", "amount")}
    return Tax(
        name=tax["name"], category=TaxCategory(tax["category"]), reason=tax["reason"], **numbers
    )


def load_party(party: dict[str, Any]) -> Party:
    """Load a seller or buyer from a JSON object that `dump_party` returned."""
    return Party(**{**party, "address_lines": tuple(party["address_lines"])})


def load_line(line: dict[str, Any]) -> Line:
    """Load an invoice line from a JSON object that `dump_line` returned."""
    return Line(
        description=line["description"],
        quantity=Decimal(line["quantity"]),
        unit=line["unit"],
        unit_price=Decimal(line["unit_price"]),
        amount=Decimal(line["amount"]),
    )
