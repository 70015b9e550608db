"""Compute invoices and credit notes, and render them as EN 16931 XML and as PDF/A-3.

This library contains no database access, plans or tax rates. Amounts are `Decimal`, rounded half up
to the minor unit of the currency, once per line and once per tax. Texts from users are shown
literally; markup in them has no effect. See docs/decisions/0070-invoices-as-files.md.
"""

from app.engines.invoices.charges import (
    TierLike,
    compute_charge,
    compute_line,
    compute_price_line,
)
from app.engines.invoices.checks import check_document
from app.engines.invoices.currencies import get_minor_digits, has_xml, round_amount
from app.engines.invoices.model import (
    MAX_LINES,
    Document,
    InvoiceError,
    Kind,
    Language,
    Line,
    Party,
    Payment,
    Tax,
    TaxCategory,
    Totals,
)
from app.engines.invoices.proration import prorate, split_price
from app.engines.invoices.service import render_pdf, render_xml, validate_xml
from app.engines.invoices.tax_numbers import (
    UNION_COUNTRIES,
    TaxNumberError,
    TaxNumberProblem,
    normalize_tax_number,
)
from app.engines.invoices.taxes import TaxRule, choose_tax, compute_totals, list_union_rules
from app.engines.invoices.texts import (
    LANGUAGES,
    describe_meter,
    describe_plan,
    describe_unused_plan,
)
from app.engines.invoices.units import MONTH, ONE, get_unit_code

__all__ = [
    "LANGUAGES",
    "MAX_LINES",
    "MONTH",
    "ONE",
    "UNION_COUNTRIES",
    "Document",
    "InvoiceError",
    "Kind",
    "Language",
    "Line",
    "Party",
    "Payment",
    "Tax",
    "TaxCategory",
    "TaxNumberError",
    "TaxNumberProblem",
    "TaxRule",
    "TierLike",
    "Totals",
    "check_document",
    "choose_tax",
    "compute_charge",
    "compute_line",
    "compute_price_line",
    "compute_totals",
    "describe_meter",
    "describe_plan",
    "describe_unused_plan",
    "get_minor_digits",
    "get_unit_code",
    "has_xml",
    "list_union_rules",
    "normalize_tax_number",
    "prorate",
    "render_pdf",
    "render_xml",
    "round_amount",
    "split_price",
    "validate_xml",
]
