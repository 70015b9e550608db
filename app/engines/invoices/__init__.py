"""Compute invoices and credit notes, and render them as EN 16931 XML and as PDF/A-3.

This library contains no database access, plans or tax rates. Amounts are `Decimal`, rounded half up
to the currency's minor unit, once for each line and once for each tax. Text from users is shown
literally; markup in it has no effect. See docs/decisions/0070-invoices-as-files.md.
"""

from app.engines.invoices.charges import (
    Tier,
    compute_line,
    compute_price_line,
    compute_usage_lines,
    prorate,
)
from app.engines.invoices.checks import check_document
from app.engines.invoices.currencies import get_minor_digits, round_amount
from app.engines.invoices.model import (
    MONTH_CODE,
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
    get_unit_code,
)
from app.engines.invoices.service import render_pdf, render_xml
from app.engines.invoices.tax_numbers import EU_COUNTRIES, TaxNumberError, normalize_tax_number
from app.engines.invoices.taxes import (
    TaxRule,
    build_eu_tax_rules,
    choose_tax_rule,
    compute_tax,
    compute_totals,
)
from app.engines.invoices.texts import LANGUAGES, describe_meter, describe_plan

__all__ = [
    "EU_COUNTRIES",
    "LANGUAGES",
    "MONTH_CODE",
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
    "TaxRule",
    "Tier",
    "Totals",
    "build_eu_tax_rules",
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
