"""What a field's constraints hold its values to."""

from typing import Any

import pytest

from app.engines.fields import ValueProblem, normalize
from app.engines.fields.identifiers import MODULE_BY_FORMAT
from tests.engines.fields.test_values import field


@pytest.mark.parametrize(
    ("name", "written", "compact"),
    [
        ("iban", "DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
        ("bic", "deutdeff", "DEUTDEFF"),
        ("eu_vat", "DE 136,695 976", "DE136695976"),
        ("vat", "IE 6433435F", "IE6433435F"),
        ("isbn", "978-9024538270", "9789024538270"),
        ("issn", "0024-9319", "00249319"),
        ("lei", "213800KUD8LAJWSQ9D15", "213800KUD8LAJWSQ9D15"),
        ("isin", "US0378331005", "US0378331005"),
        ("us_ein", "91-1144442", "911144442"),
        ("luhn", "7894", None),
        ("iban", "DE89 3704 0044 0532 0130 01", None),
        ("iban", "ü" * 500, None),
    ],
)
def test_identifiers(name: str, written: str, compact: str | None) -> None:
    it = field("text", formats=[name])
    if compact is None:
        with pytest.raises(ValueProblem, match=f"not a valid {name}"):
            normalize(it, written)
    else:
        assert normalize(it, written) == compact
        assert normalize(it, compact) == compact


def test_every_identifier_format_has_its_module() -> None:
    for name in MODULE_BY_FORMAT:
        with pytest.raises(ValueProblem):
            normalize(field("text", formats=[name]), "\u00a0not one\u2028")


@pytest.mark.parametrize(
    ("kind", "constraints", "fits", "does_not"),
    [
        ("number", {"min": 0, "max": "10.5"}, "10,5", 10.6),
        ("integer", {"min": 1}, 1, 0),
        ("money", {"max": 100}, "100 EUR", "100,01 EUR"),
        ("date", {"min": "2024-01-01", "max": "2024-12-31"}, "31.12.2024", "1.1.2025"),
        ("time", {"max": "17:00:00"}, "5 pm", "17:00:00.5"),
        (
            "datetime",
            {"max": "2024-01-01T00:00:00Z"},
            "2024-01-01T00:00:00Z",
            "2024-01-01T00:00:00.5Z",
        ),
        ("text", {"min_length": 2, "max_length": 3}, "😀😀", "😀"),
        ("text", {"pattern": "^[A-Z]{2}[0-9]+$"}, "AB12", "xAB12"),
        ("text", {"pattern": "[0-9]"}, "no. 7", "none"),
        ("email", {"pattern": "@example[.]com$"}, "a@EXAMPLE.com", "a@example.org"),
        ("phone", {"formats": ["DE"]}, "030 123456", "123"),
        ("url", {"pattern": "^https://"}, "https://x.example", "http://x.example"),
        ("currency", {"currencies": ["EUR"]}, "€", "USD"),
        ("span", {"max_length": 3}, "abc", "abcd"),
    ],
)
def test_constraints(
    kind: str, constraints: dict[str, Any], fits: object, does_not: object
) -> None:
    it = field(kind, **constraints)
    normalize(it, fits)
    with pytest.raises(ValueProblem):
        normalize(it, does_not)


def test_a_national_number_in_two_countries_is_refused() -> None:
    with pytest.raises(ValueProblem, match="several"):
        normalize(field("phone", formats=["US", "GB", "DE"]), "2025550143")


def test_a_pattern_that_backtracks_elsewhere_is_quick_here() -> None:
    it = field("text", pattern="^(a+)+$")
    with pytest.raises(ValueProblem):
        normalize(it, "a" * 50_000 + "!")
