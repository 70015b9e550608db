"""The two schemas of the demo organization, as request bodies for POST /schemas."""

from typing import Any

_INVOICE_GUIDELINES = """\
Label what the document **says**, not what it should say.

- **Dates** as `YYYY-MM-DD`. Where day and month could be swapped, look at the supplier's country:
  `04/09/2026` is 9 April in the United States and 4 September in Spain.
- **Amounts** with a dot before the cents and the ISO code of the currency, whatever the page
  prints: `1.234,50 €` is `1234.50` `EUR`.
- **Total** is the amount to pay, tax included.
- **IBAN** without spaces. Leave it empty when the invoice names none.
- **Line items**: one row per item, in the order of the document, across all pages. Amounts
  carried forward and subtotals are not items.
- **Paid** is yes only when the document itself says so: a stamp, a ticked box, a receipt.

Reject a tag set if a number is wrong. If only a space or a capital letter is wrong, correct it
and accept the tag set.
"""

_CONTRACT_GUIDELINES = """\
Label the contract itself, and ignore repetitions in its schedules.

- **Parties**: one value per party, the name as in the opening lines, with its legal form.
- **Effective date** is the first day on which the contract is in force. It may differ from the
  days of the signatures. **End date** is the last day on which the contract is in force.
- **Governing law**: the country, even if only a part of it is named (England and Wales: `GB`).
- **Notice** in days. Count a month as 30 days and a week as 7.
- **Value** is the total or, for a lease, the rent for one year, without tax.
- **Confidentiality clause**: mark the whole clause, from its first word to its final period.
- **Signed** is yes when every party has signed; draw one box around all **signatures**.
"""


def _build_field(
    key: str, label: str, field_type: str, description: str, **properties: Any
) -> dict[str, Any]:
    return {
        "key": key,
        "label": label,
        "type": field_type,
        "required": properties.pop("required", False),
        "multiple": properties.pop("multiple", False),
        "description": description,
        **properties,
    }


_LINE_COLUMNS = [
    _build_field(
        "description", "Description", "text", "The item's text as printed.", required=True
    ),
    _build_field("quantity", "Quantity", "number", "The number of units; 1 for a flat charge."),
    _build_field("unit_price", "Unit price", "money", "The price of one unit before tax."),
    _build_field("amount", "Amount", "money", "The price of the line before tax.", required=True),
]

INVOICE: dict[str, Any] = {
    "name": "Supplier invoices",
    "document_type": "invoice",
    "description": "Incoming invoices and receipts, for posting and payment.",
    "guidelines": _INVOICE_GUIDELINES,
    "review_policy": {
        "labels_per_artifact": 1,
        "sample_rate": 1.0,
        "auto_accept_agreement": None,
        "auto_accept_confidence": None,
        "max_rejections": 3,
    },
    "fields": [
        _build_field(
            "invoice_number",
            "Invoice number",
            "text",
            "The number that the supplier gave the invoice, with its prefix.",
            required=True,
            constraints={"max_length": 64},
        ),
        _build_field("invoice_date", "Invoice date", "date", "The day of issue.", required=True),
        _build_field("due_date", "Due date", "date", "The last day for payment, if it is stated."),
        _build_field(
            "supplier_name",
            "Supplier",
            "text",
            "The company that issued the invoice.",
            required=True,
        ),
        _build_field("supplier_address", "Supplier address", "address", "Street, city, country."),
        _build_field(
            "supplier_vat_id",
            "Supplier VAT ID",
            "text",
            "The VAT number or other tax number of the supplier, as printed.",
            constraints={"max_length": 32},
        ),
        _build_field("customer_name", "Customer", "text", "The person or company that must pay."),
        _build_field(
            "iban",
            "IBAN",
            "text",
            "The bank account that receives the payment, without spaces.",
            constraints={"formats": ["iban"]},
        ),
        _build_field(
            "currency", "Currency", "currency", "The currency of the amounts.", required=True
        ),
        _build_field("subtotal", "Subtotal", "money", "The sum of the lines before tax."),
        _build_field("tax_amount", "Tax", "money", "The sum of all taxes."),
        _build_field("total", "Total", "money", "The amount to pay, tax included.", required=True),
        _build_field(
            "line_items",
            "Line items",
            "table",
            "One row per item, across all pages.",
            columns=_LINE_COLUMNS,
        ),
        _build_field("paid", "Paid", "boolean", "Whether the document says that it has been paid."),
    ],
}

CONTRACT: dict[str, Any] = {
    "name": "Contracts",
    "document_type": "contract",
    "description": "Signed contracts and drafts, for the register of obligations.",
    "guidelines": _CONTRACT_GUIDELINES,
    "review_policy": {
        "labels_per_artifact": 1,
        "sample_rate": 1.0,
        "auto_accept_agreement": None,
        "auto_accept_confidence": None,
        "max_rejections": 2,
    },
    "fields": [
        _build_field("title", "Title", "text", "The title of the contract.", required=True),
        _build_field(
            "parties",
            "Parties",
            "text",
            "Each party with its legal form.",
            required=True,
            multiple=True,
        ),
        _build_field(
            "effective_date",
            "Effective date",
            "date",
            "The first day on which the contract is in force.",
            required=True,
        ),
        _build_field(
            "end_date",
            "End date",
            "date",
            "The last day on which the contract is in force, if it ends.",
        ),
        _build_field("governing_law", "Governing law", "country", "The country whose law applies."),
        _build_field(
            "contract_type",
            "Type",
            "choice",
            "The type of contract, according to its subject.",
            required=True,
            options=[
                {"value": "services", "label": "Services"},
                {"value": "supply", "label": "Supply of goods"},
                {"value": "lease", "label": "Lease"},
                {"value": "nda", "label": "Non-disclosure"},
                {"value": "employment", "label": "Employment"},
                {"value": "licence", "label": "Licence"},
                {"value": "other", "label": "Other"},
            ],
        ),
        _build_field(
            "termination_notice_days",
            "Notice of termination",
            "integer",
            "The number of days' notice for terminating the contract without cause.",
            constraints={"min": 0, "max": 3650},
        ),
        _build_field(
            "value", "Value", "money", "The total value, or one year's rent, without tax."
        ),
        _build_field(
            "confidentiality_clause",
            "Confidentiality clause",
            "span",
            "The text of the clause, without its heading.",
        ),
        _build_field("signed", "Signed", "boolean", "Whether every party has signed."),
        _build_field("signature", "Signatures", "region", "A box around the signatures."),
    ],
}
