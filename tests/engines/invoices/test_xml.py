"""The XML of every document passes the schema and the business rules of EN 16931."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from app.engines.invoices.charges import compute_price_line
from app.engines.invoices.model import Document, Language, Party
from app.engines.invoices.service import render_xml
from app.engines.invoices.taxes import TaxRule
from app.engines.invoices.texts import LANGUAGES
from tests.engines.invoices.rules import find_violations, list_schema_errors
from tests.engines.invoices.samples import (
    BUYER,
    RULES,
    SELLER,
    STANDARD,
    build_document,
    build_line,
)
from tests.engines.invoices.test_charges import compute_lines
from tests.factories.properties import examples

NAMES = {
    "ram": "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
    "udt": "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100",
}
DISCOUNT = build_line("Discount", "-1", "10", unit="C62")
FOREIGN = Party("Acme Inc", (), "", "", "US", "12-3456789")
CASES: dict[str, Document] = {
    **{f"category {name}": build_document(rules=[rule]) for name, rule in RULES.items()},
    "two rates": build_document(
        [build_line(), build_line(tax=1)], rules=[STANDARD, RULES["reduced"]]
    ),
    "with and without tax": build_document(
        [build_line(), build_line(tax=1)], rules=[STANDARD, RULES["zero"]]
    ),
    "credit note": build_document(
        kind="credit_note", corrected_invoice_number="2026-000041", due_at=None
    ),
    "yen": build_document([build_line("Plan", "1", "4900", currency="JPY")], currency="JPY"),
    "discount": build_document([build_line(), DISCOUNT]),
    "negative total": build_document([DISCOUNT]),
    "nothing to pay": build_document([build_line(price="0")]),
    "without account": build_document(payment=None, due_at=None),
    "notes": build_document(notes=("Thank you.", "Line 1\nline 2")),
    "buyer without address": build_document(buyer=FOREIGN),
    "outside, foreign buyer": build_document(buyer=FOREIGN, rules=[RULES["outside"]]),
    "seller with a tax number only": build_document(
        seller=replace(SELLER, tax_number="12/345/67890")
    ),
    "seller without register": build_document(seller=replace(SELLER, registration=None)),
    "markup": build_document(
        [build_line("<b>&amp; ]]> #panic()")], buyer=replace(BUYER, name='A & B <c> "d" \x00\ufffe')
    ),
    "quantity of 10^15": build_document(
        [build_line("Documents", "1000000000000000", "0.000001", unit="C62")]
    ),
    "units": build_document(
        [build_line(unit=unit) for unit in ("C62", "CEN", "MIL", "MIO", "E34", "E35", "E61")]
    ),
}


def render(document: Document) -> bytes:
    xml = render_xml(document)
    assert xml is not None
    return xml


def find_text(xml: bytes, path: str) -> str | None:
    return etree.fromstring(xml).findtext(f".//{path}", namespaces=NAMES)


@pytest.mark.parametrize("case", CASES)
def test_every_document_passes_the_schema_and_the_rules(case: str) -> None:
    xml = render(CASES[case])
    assert list_schema_errors(xml) == []
    assert find_violations(xml) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_texts_of_every_language_pass_too(language: Language) -> None:
    for name in ("exempt", "reverse charge", "export", "outside"):
        rule = replace(RULES[name], reason=None)
        xml = render(build_document(rules=[rule], language=language))
        assert list_schema_errors(xml) == find_violations(xml) == []


@examples(25)
@given(
    quantities=st.lists(st.integers(0, 10**15), min_size=1, max_size=6),
    prices=st.lists(st.integers(0, 10**9), min_size=2, max_size=2),
    credit=st.integers(-(10**9), 10**9),
    rules=st.sampled_from([[STANDARD], [RULES["reduced"]], [RULES["reverse charge"]]]),
    currency=st.sampled_from(["EUR", "JPY"]),
)
def test_computed_documents_pass(
    quantities: list[int],
    prices: list[int],
    credit: int,
    rules: Sequence[TaxRule],
    currency: str,
) -> None:
    tiers = ("1000", f"{prices[0]}e-6"), (None, f"{prices[1]}e-6")
    options = {"included": 100, "unit_size": 100, "unit_code": "CEN", "currency": currency}
    lines = [compute_price_line(description="Plan", price=Decimal(credit), currency=currency)]
    for quantity in quantities:
        lines += compute_lines(*tiers, quantity=quantity, **options)
    xml = render(build_document(lines, rules=rules, currency=currency))
    assert list_schema_errors(xml) == find_violations(xml) == []


def test_type_codes_dates_and_references() -> None:
    issued = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)
    number = "2026-000041"
    document = build_document(kind="credit_note", corrected_invoice_number=number, issued_at=issued)
    xml = render(document)
    assert find_text(xml, "ram:TypeCode") == "381"
    assert find_text(render(build_document()), "ram:TypeCode") == "380"
    assert find_text(xml, "ram:InvoiceReferencedDocument/ram:IssuerAssignedID") == "2026-000041"
    assert find_text(xml, "ram:StartDateTime/udt:DateTimeString") == "20261101"
    assert find_text(xml, "ram:EndDateTime/udt:DateTimeString") == "20261130"


def test_only_invoices_have_a_due_date_and_an_account() -> None:
    invoice, note = (render(build_document(kind=kind)) for kind in ("invoice", "credit_note"))
    assert find_text(invoice, "ram:DueDateDateTime/udt:DateTimeString") == "20261215"
    assert find_text(invoice, "ram:IBANID") == "DE89370400440532013000"
    assert find_text(note, "ram:DueDateDateTime/udt:DateTimeString") is None
    assert find_text(note, "ram:IBANID") is None


def test_dates_are_those_of_the_time_zone() -> None:
    path = "ram:IssueDateTime/udt:DateTimeString"
    assert find_text(render(build_document()), path) == "20261201"
    assert find_text(render(build_document(time_zone="America/New_York")), path) == "20261130"


def test_amounts_have_the_digits_of_the_currency() -> None:
    line = build_line("Plan", "1", "4900", currency="JPY")
    xml = render(build_document([line], currency="JPY"))
    assert find_text(xml, "ram:GrandTotalAmount") == "5831"
    assert find_text(render(build_document()), "ram:GrandTotalAmount") == "58.31"


def test_names_are_literal_in_one_line_and_without_control_characters() -> None:
    name = "A & B <c>\n#panic() \u202e\u5317\u4eac\x07"
    xml = render(build_document(buyer=replace(BUYER, name=name)))
    assert find_text(xml, "ram:BuyerTradeParty/ram:Name") == "A & B <c> #panic() \u5317\u4eac"


def test_a_currency_with_three_digits_has_no_xml() -> None:
    line = build_line("Plan", "1", "49.005", currency="KWD")
    assert render_xml(build_document([line], currency="KWD")) is None


def test_the_same_document_has_the_same_bytes() -> None:
    assert render(build_document()) == render(build_document())


def test_errors_are_found() -> None:
    xml = render(build_document())
    assert "BR-CO-15" in find_violations(
        xml.replace(b"<ram:GrandTotalAmount>58.31", b"<ram:GrandTotalAmount>58.32")
    )
    (error,) = list_schema_errors(xml.replace(b"ram:GrandTotalAmount>", b"ram:TotalAmount>"))
    assert "TotalAmount" in error
