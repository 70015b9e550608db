"""Dates, times and amounts as receipts and invoices write them."""

import pytest

from app.engines.extraction.patterns import find_amounts, find_dates, find_times, parse_amount


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Date: 25/12/2018 8:13:39 PM", "2018-12-25"),
        ("30-DEC-2017", "2017-12-30"),
        ("25 Mar 18", "2018-03-25"),
        ("15. August 2019", "2019-08-15"),
        ("August 3, 2014", "2014-08-03"),
        ("02/03/17", "2017-03-02"),
        ("25/12/201812:30", "2018-12-25"),
        ("20 janvier 2022", "2022-01-20"),
        ("04JAN2018", "2018-01-04"),
        ("3 de enero de 2020", "2020-01-03"),
        ("04/13/2022", "2022-04-13"),
        ("2018-03-04", "2018-03-04"),
    ],
)
def test_a_date_is_found_in_its_notation(text, day):
    assert [found.value for found in find_dates(text)][:1] == [day]


def test_an_open_order_of_day_and_month_has_an_alternative():
    (found,) = find_dates("03/04/2018")
    assert (found.value, found.alternative) == ("2018-04-03", "2018-03-04")


@pytest.mark.parametrize(
    "text", ["31/02/2018", "12:30", "1.234.567", "99/99/9999", "+49 30 1234567"]
)
def test_what_is_no_date_is_not_found(text):
    assert list(find_dates(text)) == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,234.50", "1234.50"),
        ("1.234,50", "1234.50"),
        ("1 234,50", "1234.50"),
        ("9.00", "9.00"),
        ("1'000.00", "1000.00"),
        ("1,939", "1939"),
        ("0.125", "0.125"),
        ("-5,00", "-5.00"),
    ],
)
def test_an_amount_is_parsed(text, number):
    assert str(parse_amount(text)) == number


@pytest.mark.parametrize(
    "text", ["", ".", ",", "-", "-,", ".,", "\u00b2", "1.\u00b2", "\u00b2,5", "1.2x"]
)
def test_what_is_no_amount(text):
    assert parse_amount(text) is None


def test_a_quantity_before_an_amount_is_read_both_ways():
    values = [found.value for found in find_amounts("3 119,04")]
    assert values == ["3119.04", "119.04", "3"]


def test_times():
    assert [found.value for found in find_times("8:13:39 PM 22:01")] == ["20:13:39", "22:01:00"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1.250,000 150,00", ["1250.000", "150.00"]),  # a quantity and an amount, close together
        ("1,250.000", ["1250.000"]),
        ("1250.000", ["1250.000"]),
        ("1,234,567", ["1234567"]),
        ("12,34,567.89", ["1234567.89"]),
        ("1,18,000", ["118000"]),
        ("10 000 \u20ac", ["10000"]),
        ("1 200 EUR", ["1200", "200", "1"]),
        ("-$50.00", ["-50.00"]),
        ("-\u20ac 1.250,00", ["-1250.00"]),
        ("\u221250,00", ["-50.00"]),
        ("US-$50.00", ["50.00"]),
        ("10.00-20.00", ["10.00", "20.00"]),
        ("(12) 2.1)", ["12", "2.1"]),
    ],
)
def test_amounts_are_found_as_they_are_written(text, values):
    assert [found.value for found in find_amounts(text)] == values


@pytest.mark.parametrize("text", ["(50.00)", "($50.00)", "(50,00 \u20ac)", "50,00-"])
def test_an_amount_of_accountants_is_negative_and_rarely_positive(text):
    (found,) = find_amounts(text)
    assert (found.value, found.alternative) == ("-50.00", "50.00")
