"""Dump the parts of invoices as JSON objects, and load them. Decimals are stored as text."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from decimal import Decimal
from typing import Any

from app.billing.seller.configuration import BillingConfiguration
from app.engines.invoices.model import Line, Party, Tax, TaxCategory

_PARTY_FIELDS = tuple(field.name for field in fields(Party))
_LINE_FIELDS = ("description", "quantity", "unit", "unit_price", "amount")
_TAX_FIELDS = ("name", "category", "rate", "base", "amount", "reason")
_DECIMALS = frozenset(("quantity", "unit_price", "amount", "rate", "base"))


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
    values = {name: getattr(party, name) for name in _PARTY_FIELDS}
    return {**values, "address_lines": list(party.address_lines)}


def dump_line(line: Line) -> dict[str, Any]:
    """Dump an invoice line as a JSON object, with decimals as text."""
    return _dump_fields(line, _LINE_FIELDS)


def dump_tax(tax: Tax) -> dict[str, Any]:
    """Dump a tax as a JSON object, with decimals as text."""
    return _dump_fields(tax, _TAX_FIELDS)


def _dump_fields(record: Line | Tax, names: Sequence[str]) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in names}
    return {name: f"{value:f}" if name in _DECIMALS else value for name, value in values.items()}


def load_tax(tax: dict[str, Any]) -> Tax:
    """Load a tax from a JSON object that `dump_tax` returned."""
    return Tax(**{**_load_fields(tax), "category": TaxCategory(tax["category"])})


def load_party(party: dict[str, Any]) -> Party:
    """Load a seller or buyer from a JSON object that `dump_party` returned."""
    return Party(**{**party, "address_lines": tuple(party["address_lines"])})


def load_line(line: dict[str, Any]) -> Line:
    """Load an invoice line from a JSON object that `dump_line` returned."""
    return Line(**_load_fields(line))


def _load_fields(record: dict[str, Any]) -> dict[str, Any]:
    return {name: Decimal(value) if name in _DECIMALS else value for name, value in record.items()}
