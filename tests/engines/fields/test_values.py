"""What the values of each type may look like, and what becomes of them."""

from typing import Any

import pytest

from app.engines.fields import ValueProblem, normalize


def field(kind: str, **constraints: Any) -> dict[str, Any]:
    return {"key": "it", "type": kind, "constraints": constraints}


@pytest.mark.parametrize(
    ("kind", "written", "canonical"),
    [
        ("text", "  Müller & Söhne\n", "Müller & Söhne"),
        ("text", "", ""),
        ("span", " kept as it stands ", " kept as it stands "),
        ("region", None, None),
        ("region", "stamp", "stamp"),
        ("number", 1.5, 1.5),
        ("number", 5.0, 5),
        ("number", "-0", 0),
        ("number", "1.234", 1.234),
        ("number", "1.234,56", 1234.56),
        ("number", "1,234.56", 1234.56),
        ("number", "12,34,567.5", 1234567.5),
        ("number", "1\u202f234,5", 1234.5),
        ("number", "1'234.50", 1234.5),
        ("number", "1.234.567", 1234567),
        ("number", "0,125", 0.125),
        ("number", "\u22127", -7),
        ("number", "\u0661\u0662\u066b\u0665", 12.5),
        ("number", "1e-3", 0.001),
        ("number", "0.30000000000000000001", "0.30000000000000000001"),
        ("number", 2**60, "1152921504606846976"),
        ("integer", "1.000.000", 1000000),
        ("integer", 3.0, 3),
        ("integer", 2**53 - 1, 2**53 - 1),
        ("date", "2024-05-13", "2024-05-13"),
        ("date", "20240513", "2024-05-13"),
        ("date", "3.4.2024", "2024-04-03"),
        ("date", "03. 04. 2024", "2024-04-03"),
        ("date", "13/05/2024", "2024-05-13"),
        ("date", "05/13/2024", "2024-05-13"),
        ("date", "5/5/2024", "2024-05-05"),
        ("date", "May 13th, 2024", "2024-05-13"),
        ("date", "Mon, 13 May 2024", "2024-05-13"),
        ("date", "13. März 2024", "2024-03-13"),
        ("date", "1er févr. 2024", "2024-02-01"),
        ("date", "13 de mayo de 2024", "2024-05-13"),
        ("date", "13 \u043c\u0430\u044f 2024 \u0433.", "2024-05-13"),
        ("date", "2024年5月13日", "2024-05-13"),
        ("date", "2024년 5월 13일", "2024-05-13"),
        ("date", "\u0661\u0663/\u0665/\u0662\u0660\u0662\u0664", "2024-05-13"),
        ("time", "9:05", "09:05:00"),
        ("time", "12:30 am", "00:30:00"),
        ("time", "2 p.m.", "14:00:00"),
        ("time", "14h30", "14:30:00"),
        ("time", "14.30 Uhr", "14:30:00"),
        ("time", "23:59:59.25", "23:59:59.250000"),
        ("datetime", "2024-05-13T14:30:00+02:00", "2024-05-13T12:30:00Z"),
        ("datetime", "2024-05-13 14:30", "2024-05-13T14:30:00Z"),
        ("datetime", "Mon, 13 May 2024 14:30:00 +0200", "2024-05-13T12:30:00Z"),
        ("datetime", "13.05.2024, 14:30 Uhr", "2024-05-13T14:30:00Z"),
        ("datetime", "13.5.2024 um 14.30 Uhr", "2024-05-13T14:30:00Z"),
        ("datetime", "May 13, 2024 at 2:30 PM", "2024-05-13T14:30:00Z"),
        ("boolean", True, True),
        ("boolean", "Nein", False),
        ("boolean", "☒", True),
        ("boolean", 0, False),
        ("email", "Jo.Doe@EXAMPLE.com", "Jo.Doe@example.com"),
        ("email", "mailto:jo@demo.example", "jo@demo.example"),
        ("email", "o`neil@\u0995.XN--54B7FTA0CC", "o`neil@\u0995.\u09ac\u09be\u0982\u09b2\u09be"),
        ("phone", "+49 (30) 123-456", "+4930123456"),
        ("phone", "0049 30 123456", "+4930123456"),
        ("url", "HTTPS://Example.COM/Ab?q=ü", "https://example.com/Ab?q=%C3%BC"),
        ("url", "www.example.com", "https://www.example.com"),
        ("url", "http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("url", "http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("country", "de", "DE"),
        ("country", "DEU", "DE"),
        ("country", "U.S.A.", "US"),
        ("country", "Österreich", "AT"),
        ("country", "日本", "JP"),
        ("country", "Côte d\u2019Ivoire", "CI"),
        ("currency", "eur", "EUR"),
        ("currency", "€", "EUR"),
        ("currency", "DEM", "DEM"),
        ("address", " 1 Main St\nSpringfield ", "1 Main St\nSpringfield"),
        ("address", {"street": " A 1 ", "city": "", "country": None}, {"street": "A 1"}),
    ],
)
def test_notations(kind: str, written: object, canonical: object) -> None:
    value = normalize(field(kind), written)
    assert value == canonical
    assert type(value) is type(canonical)


@pytest.mark.parametrize(
    ("written", "amount", "currency"),
    [
        ("1.234,56 €", "1234.56", "EUR"),
        ("EUR 123.45", "123.45", "EUR"),
        ("$1,234.50", "1234.50", "USD"),
        ("$ 12.00 USD", "12.00", "USD"),
        ("(12.50) CHF", "-12.50", "CHF"),
        ("123.45- EUR", "-123.45", "EUR"),
        ("12,- €", "12.00", "EUR"),
        ("100,-- EUR", "100.00", "EUR"),
        ("CHF 50.--", "50.00", "CHF"),
        ("1.234,\u2014 €", "1234.00", "EUR"),
        ("-100,-- EUR", "-100.00", "EUR"),
        ("$.50", "0.50", "USD"),
        ("$ .5", "0.50", "USD"),
        ("Fr.50 CHF", "50.00", "CHF"),
        ("CHF 1'234.\u2013", "1234.00", "CHF"),
        ("¥1000", "1000", "JPY"),
        ("5 KWD", "5.000", "KWD"),
        ("1 234,50 zł", "1234.50", "PLN"),
        ({"amount": "0.0035", "currency": "eur"}, "0.0035", "EUR"),
        ({"amount": 7, "currency": "€"}, "7.00", "EUR"),
        ({"amount": -0.0, "currency": "EUR"}, "0.00", "EUR"),
        (
            {"amount": "12345678901234567890123456789012345.67", "currency": "EUR"},
            "12345678901234567890123456789012345.67",
            "EUR",
        ),
    ],
)
def test_money(written: object, amount: str, currency: str) -> None:
    assert normalize(field("money"), written) == {"amount": amount, "currency": currency}


def test_the_fields_currencies_settle_what_a_sign_means() -> None:
    canadian = field("money", currencies=["CAD"])
    assert normalize(canadian, "$7") == {"amount": "7.00", "currency": "CAD"}
    assert normalize(canadian, "7") == {"amount": "7.00", "currency": "CAD"}
    assert normalize(field("money", currencies=["SEK"]), "99 kr.")["currency"] == "SEK"
    with pytest.raises(ValueProblem, match="ambiguous"):
        normalize(field("money", currencies=["USD", "CAD"]), "$7")
    with pytest.raises(ValueProblem, match="one of CAD"):
        normalize(canadian, "€7")


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("text", 5),
        ("text", None),
        ("text", "a\x00b"),
        ("text", "\ud800"),
        ("text", "x" * 100_001),
        ("number", "1,234"),
        ("number", True),
        ("number", float("nan")),
        ("number", float("-inf")),
        ("number", "10²"),
        ("number", "1e999"),
        ("number", "1,2,3"),
        ("number", "9" * 10_000),
        ("integer", "5.5"),
        ("integer", 2**53),
        ("money", "12.50"),
        ("money", "$1,234"),
        ("money", "1.234 €"),
        ("money", "kr 12,50"),
        ("money", "12 EUR 13 USD"),
        ("money", "100,--- EUR"),
        ("money", "100-- EUR"),
        ("money", "$..50"),
        ("money", "EUR 12 USD"),
        ("money", "total 12 EUR"),
        ("money", {"amount": "1"}),
        ("money", {"amount": "1", "currency": "EUR", "tax": 0}),
        ("money", {"currency": "EUR"}),
        ("money", ["1", "EUR"]),
        ("money", {"amount": 1e300, "currency": "EUR"}),
        ("date", "01/05/2024"),
        ("date", "01-05-2024"),
        ("date", "05.01.24"),
        ("date", "30.02.2024"),
        ("date", "May 2024"),
        ("date", "10"),
        ("date", "tomorrow"),
        ("date", "2026-W14"),
        ("date", "2026W14"),
        ("date", "1 may 2 june 2024"),
        ("date", 20240513),
        ("time", "25:00"),
        ("time", "14"),
        ("time", "13 pm"),
        ("datetime", "2024-05-13"),
        ("datetime", "2026-W14T10:00"),
        ("datetime", "2026W14 10:00"),
        ("datetime", "0001-01-01T00:00:00+05:00"),
        ("boolean", "maybe"),
        ("boolean", 2),
        ("boolean", "✗"),
        ("boolean", "✘"),
        ("email", "jo@nowhere"),
        ("email", "Jo <jo@example.com>"),
        ("email", "jo@example.com\nBcc: x@example.com"),
        ("phone", "030 123456"),
        ("phone", "+1 202 555 0143 ext. 5"),
        ("phone", "call me"),
        ("url", "javascript:alert(1)"),
        ("url", "data:text/html,x"),
        ("url", "https://user:secret@example.com"),
        ("url", "https://example.com:99999"),
        ("url", "https://[::1"),
        ("url", "https://a b.example"),
        ("country", "Atlantis"),
        ("country", "XX"),
        ("currency", "EURO$"),
        ("currency", "ABC"),
        ("address", {"planet": "Mars"}),
        ("address", {"city": " "}),
        ("address", ""),
        ("address", {"city": 5}),
    ],
)
def test_refused(kind: str, written: object) -> None:
    with pytest.raises(ValueProblem):
        normalize(field(kind), written)


@pytest.mark.parametrize("kind", ["number", "integer", "boolean", "money"])
def test_an_integer_too_long_to_print_is_refused(kind: str) -> None:
    with pytest.raises(ValueProblem):
        normalize(field(kind, **({"currencies": ["EUR"]} if kind == "money" else {})), 10**5000)


def test_choice_takes_values_and_unmistakable_labels() -> None:
    options = [
        {"value": "a", "label": "Alpha"},
        {"value": "b", "label": "a"},
        {"value": "c", "label": "Same"},
        {"value": "d", "label": "same"},
    ]
    it = {"key": "it", "type": "choice", "options": options}
    assert normalize(it, "a") == "a"
    assert normalize(it, " ALPHA ") == "a"
    assert normalize(it, "A") == "b"
    for wrong in ("Same", "e", "", None, [], {"value": "a"}):
        with pytest.raises(ValueProblem):
            normalize(it, wrong)


def test_a_whole_table_is_normalized_cell_by_cell() -> None:
    table = {
        "key": "items",
        "type": "table",
        "columns": [
            {"key": "price", "type": "money"},
            {"key": "codes", "type": "text", "multiple": True},
        ],
    }
    rows = normalize(table, [{"price": "1,50 €", "codes": "x"}, {"codes": ["a ", "b"]}, {}])
    assert rows == [
        {"price": {"amount": "1.50", "currency": "EUR"}, "codes": ["x"]},
        {"codes": ["a", "b"]},
        {},
    ]
    assert normalize(table, rows) == rows
    for wrong in ("x", [1], [{"other": 1}], [{"price": "x"}], [{}] * 5001, {"price": "1 EUR"}):
        with pytest.raises(ValueProblem):
            normalize(table, wrong)


@pytest.mark.parametrize(
    "digits", ["9" * 50, "0." + "1" * 50, "-" + "7" * 50 + "." + "3" * 50, "1e49"]
)
def test_an_amount_of_many_digits_can_be_saved_again(digits: str) -> None:
    money = field("money", currencies=["EUR"])
    once = normalize(money, {"amount": digits, "currency": "EUR"})
    assert normalize(money, once) == once


@pytest.mark.parametrize("digits", ["9" * 51, "1e50", "1.5e-50", "0." + "1" * 51])
def test_more_digits_than_are_kept_are_refused(digits: str) -> None:
    with pytest.raises(ValueProblem, match="more than 50 digits"):
        normalize(field("money", currencies=["EUR"]), {"amount": digits, "currency": "EUR"})


@pytest.mark.parametrize("url", ["http://example.com../", "http://[fe80::1%eth0]/"])
def test_hosts_that_mean_nothing_elsewhere_are_refused(url: str) -> None:
    with pytest.raises(ValueProblem, match="is not a web address"):
        normalize(field("url"), url)


def test_a_greatest_length_of_nothing_is_one() -> None:
    none = field("text", max_length=0)
    assert normalize(none, "") == ""
    with pytest.raises(ValueProblem, match="is longer than 0"):
        normalize(none, "x")
