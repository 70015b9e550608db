"""Compute invoices and credit notes, and render them as EN 16931 XML and as PDF/A-3.

This library contains no database access, plans or tax rates. Amounts are `Decimal`, rounded half up
to the currency's minor unit, once for each line and once for each tax. Text from users is shown
literally; markup in it has no effect. See docs/decisions/0070-invoices-as-files.md.
"""

from app.engines.invoices.charges import (
    TierLike,
    compute_line,
    compute_price_line,
    compute_usage_lines,
)
from app.engines.invoices.checks import check_document
from app.engines.invoices.currencies import can_have_xml, get_minor_digits, round_amount
from app.engines.invoices.model import (
    MAX_LINES,
    Document,
    DocumentKind,
    InvoiceError,
    Language,
    Line,
    Party,
    Payment,
    Tax,
    TaxCategory,
    Totals,
)
from app.engines.invoices.proration import prorate
from app.engines.invoices.service import render_pdf, render_xml
from app.engines.invoices.tax_numbers import (
    EU_COUNTRIES,
    TaxNumberError,
    TaxNumberProblem,
    normalize_tax_number,
)
from app.engines.invoices.taxes import (
    TaxRule,
    build_eu_tax_rules,
    choose_tax_rule,
    compute_tax,
    compute_totals,
)
from app.engines.invoices.texts import (
    LANGUAGES,
    describe_meter,
    describe_plan,
)
from app.engines.invoices.units import MONTH_CODE, PIECE_CODE, get_unit_code

__all__ = [
    "EU_COUNTRIES",
    "LANGUAGES",
    "MAX_LINES",
    "MONTH_CODE",
    "PIECE_CODE",
    "Document",
    "DocumentKind",
    "InvoiceError",
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
    "build_eu_tax_rules",
    "can_have_xml",
    "check_document",
    "choose_tax_rule",
    "compute_line",
    "compute_price_line",
    "compute_tax",
    "compute_totals",
    "compute_usage_lines",
    "describe_meter",
    "describe_plan",
    "get_minor_digits",
    "get_unit_code",
    "normalize_tax_number",
    "prorate",
    "render_pdf",
    "render_xml",
    "round_amount",
]
