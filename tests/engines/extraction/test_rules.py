"""Proposals without labels on invoices of several countries, and with a few labels."""

import pytest

from app.engines.extraction.rule_based import propose_by_rules
from app.engines.fields import check_fields
from tests.engines.extraction.documents import build_document, build_pages, check_normal_form
from tests.factories.receipts import build_examples, build_fields, build_layout

FIELDS = check_fields(
    [
        {"key": "invoice_number", "type": "text"},
        {"key": "invoice_date", "type": "date"},
        {"key": "due_date", "type": "date"},
        {"key": "total", "type": "money"},
        {"key": "secret", "type": "money", "label": "Total", "ai_assist": False},
        {"key": "email", "type": "email"},
        {"key": "kind", "type": "choice", "options": [{"value": "invoice"}, {"value": "letter"}]},
        {
            "key": "items",
            "type": "table",
            "columns": [
                {"key": k, "type": t}
                for k, t in (("description", "text"), ("quantity", "number"), ("amount", "number"))
            ],
        },
    ]
)

GERMAN = [
    "Kontor GmbH",
    "Rechnung",
    "                          Kundennr.     96343",
    "                          Rechnungsnr.  30064443",
    "                          Datum         15.08.2014",
    "Beschreibung            Menge   Gesamt",
    "Kleiner Server            2      25,00",
    "Postfach                  1       4,20",
    "Nettobetrag      29,20 EUR",
    "USt. 19 %         5,55 EUR",
    "Gesamtbetrag     34,75 EUR",
    "post@kontor.example.com  Zahlbar bis 29.08.2014",
]
BELOW = [
    "Invoice No       Invoice Date     Due Date",
    "INV-2022/03-08   04/13/2022       05/13/2022",
    "Subtotal   1,230.00",
    "VAT 20%      246.00",
    "Total    $ 1,476.00",
]
FRENCH = [
    "Facture n° 562044387",
    "Date de facture : 2 juillet 2015",
    "Total HT 24,99",
    "Total TTC  29,99 €",
]


def _propose(lines, fields=FIELDS):
    document = build_document(lines)
    tags = propose_by_rules(document, fields)
    check_normal_form(tags, document, fields)
    return tags


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (GERMAN, ("30064443", "2014-08-15", "2014-08-29", "34.75", "EUR")),
        (BELOW, ("INV-2022/03-08", "2022-04-13", "2022-05-13", "1476.00", "USD")),
        (FRENCH, ("562044387", "2015-07-02", None, "29.99", "EUR")),
    ],
)
def test_numbers_dates_and_totals_are_found_without_labels(lines, expected):
    values = {tag["field"]: tag["value"] for tag in _propose(lines) if tag["row"] is None}
    total = values["total"]
    found = (values["invoice_number"], values["invoice_date"], values.get("due_date"))
    assert (*found, total["amount"], total["currency"]) == expected
    assert "secret" not in values


@pytest.mark.parametrize(
    ("line", "allowed", "total"),
    [
        ("Total 1 234,00 SEK", [], ("1234.00", "SEK")),
        ("Total 1 234,00 kr", ["EUR", "SEK"], ("1234.00", "SEK")),
        ("Total US$50.00", [], ("50.00", "USD")),
        ("Total ($50.00)", [], ("-50.00", "USD")),
        ("Total R$ 50,00", [], ("50.00", "BRL")),
        ("Total $50.00", ["EUR", "CAD"], ("50.00", "CAD")),
        ("Total $50.00", ["CAD", "AUD"], None),
        ("Total 50.00 USD", ["EUR", "GBP"], None),
        ("Total 50.00 USD", ["EUR"], None),
        ("Total 50.00", ["EUR"], ("50.00", "EUR")),
        ("TOP 10", [], None),
    ],
)
def test_a_total_has_the_currency_of_the_document(line, allowed, total):
    constraints = {"currencies": allowed} if allowed else {}
    fields = check_fields([{"key": "total", "type": "money", "constraints": constraints}])
    values = [tag["value"] for tag in _propose([line], fields)]
    expected = [] if total is None else [{"amount": total[0], "currency": total[1]}]
    assert values == expected


def test_the_rows_of_a_table_are_found_under_its_header():
    rows = [
        (tag["row"], tag["field"], tag["value"])
        for tag in _propose(GERMAN)
        if tag["row"] is not None
    ]
    assert rows == [
        (0, "items.description", "Kleiner Server"),
        (0, "items.quantity", 2),
        (0, "items.amount", 25),
        (1, "items.description", "Postfach"),
        (1, "items.quantity", 1),
        (1, "items.amount", 4.2),
    ]


@pytest.mark.parametrize(
    ("due", "expected"),
    [("04/25/2022", ("2022-04-05", "2022-04-25")), ("25/05/2022", ("2022-05-04", "2022-05-25"))],
)
def test_an_ambiguous_date_is_read_in_the_order_of_the_other_dates(due, expected):
    values = {tag["field"]: tag["value"] for tag in _propose(["Date 04/05/2022", f"Due {due}"])}
    assert (values["invoice_date"], values["due_date"]) == expected


@pytest.mark.parametrize(
    ("quantity", "price", "expected"),
    [
        ("1,000", "12,50", 1),
        ("1.000", "12,50", 1000),
        ("1,000", "12.50", 1000),
        ("1.250", "2.50", 1.25),
    ],
)
def test_three_digits_after_a_separator_depend_on_the_other_amounts(quantity, price, expected):
    lines = ["Description     Quantity   Amount", f"Widget             {quantity}    {price}"]
    values = {tag["field"]: tag["value"] for tag in _propose(lines)}
    assert values["items.quantity"] == expected


@pytest.mark.parametrize("end", ["", " BIC COBADEFFXXX", "   Bank"])
def test_an_iban_is_proposed_with_all_its_groups(end):
    fields = check_fields([{"key": "iban", "type": "text"}])
    (tag,) = _propose([f"IBAN: DE89 3704 0044 0532 0130 00{end}"], fields)
    assert tag["value"] == "DE89 3704 0044 0532 0130 00"


WIDE_TABLE = [
    "Description            Qty   Unit Price   Tax    Amount",
    "Widget A                 2        10.00  1.00     20.00",
    "Tax consulting           1       100.00  5.00    100.00",
    "Total                                           $120.00",
]


def test_columns_that_the_table_lacks_and_keywords_in_a_full_row_do_not_change_its_cells():
    values = [tag["value"] for tag in _propose(WIDE_TABLE) if tag["row"] is not None]
    assert values == ["Widget A", 2, 20, "Tax consulting", 1, 100]


def _list_descriptions(*pages):
    tags = propose_by_rules(build_pages(*pages), FIELDS)
    return [tag["value"] for tag in tags if tag["field"] == "items.description"]


HEADER = "Description             Qty    Amount"
BOLTS = "Bolts                     1      5.00"
NUTS = "Nuts and more             1      7.00"
TOTAL = "Total     32.00"


@pytest.mark.parametrize(
    ("first", "second", "continues"),
    [
        ([HEADER, BOLTS], ["Invoice 77    Page 2", HEADER, NUTS, TOTAL], True),
        ([HEADER, BOLTS, *[""] * 9, "Page 1"], ["Invoice 77    Page 2", NUTS, TOTAL], True),
        ([HEADER, BOLTS, "Total carried forward  5.00"], ["Carried forward  5.00", NUTS], True),
        ([HEADER, BOLTS, TOTAL], ["Terms", "Late fee per day          1      7.00"], False),
        ([HEADER, BOLTS], ["Terms", "Pay within 30 days of invoice 1, 5.00 per day"], False),
    ],
)
def test_a_table_continues_on_the_next_page(first, second, continues):
    expected = ["Bolts", "Nuts and more"] if continues else ["Bolts"]
    assert _list_descriptions(first, second) == expected


def test_keywords_and_subtotals_between_the_items_do_not_end_a_table_of_three_columns():
    lines = [
        HEADER,
        "Tax consulting            1    100.00",
        "Subtotal                       100.00",
        BOLTS,
        "Total                     2    105.00",
        "Due on 05.06.2024",
    ]
    assert _list_descriptions(lines) == ["Tax consulting", "Bolts"]


@pytest.mark.parametrize("number", ["1    ", ""])
def test_the_first_word_of_a_header_is_a_column_if_a_text_is_apart_under_it(number):
    lines = [
        "Item Description          Qty     Amount",
        f"{number:5}Widget A              2      20.00",
    ]
    assert _list_descriptions(lines) == ["Widget A"]


def test_the_amounts_of_a_table_have_the_names_of_line_totals():
    lines = ["Beschreibung          Menge   Betrag", "Widget                  2      20,00"]
    assert [tag["value"] for tag in _propose(lines)][-1] == 20


def test_evidence_is_where_the_value_is():
    (tag,) = [tag for tag in _propose(GERMAN) if tag["field"] == "invoice_number"]
    (piece,) = tag["evidence"]
    assert (piece["page"], piece["text"]) == (1, "30064443")
    assert piece["box"][1] == pytest.approx(0.03 + 3 * 0.018)


def test_an_empty_document_and_one_without_values_get_no_tags():
    assert _propose([]) == []
    assert _propose(["nothing of interest"]) == []


def test_what_one_similar_document_had_is_preferred():
    fields = build_fields()
    layout = [7]
    known, new = build_examples(2, layouts=layout, seed=3, noise=0)
    assert build_layout(7).language == "fr"
    tags = propose_by_rules(new.document, fields, [known])
    accepted = {tag["field"]: tag["value"] for tag in new.tags}
    assert {tag["field"]: tag["value"] for tag in tags} == accepted
