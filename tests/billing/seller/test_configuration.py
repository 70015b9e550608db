"""The billing file: what it may contain, and what is refused."""

import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from app.billing.seller.configuration import BillingFileError, read_configuration
from app.engines.invoices.model import Party, TaxCategory
from app.engines.invoices.taxes import choose_tax_rule

EXAMPLE = Path(__file__).parents[3] / "examples/billing.toml"


def write(folder: Path, *changes: tuple[str, str]) -> Path:
    """Write the example with changes, and return its path."""
    content = EXAMPLE.read_text()
    for before, after in changes:
        assert before in content
        content = content.replace(before, after)
    path = folder / "billing.toml"
    path.write_text(content)
    return path


def test_the_example() -> None:
    configuration = read_configuration(EXAMPLE)
    assert configuration.seller.tax_number == "DE136695976"
    assert configuration.rates["DE"] == Decimal(19)
    assert (configuration.digits, configuration.payment_days, configuration.notes) == (5, 14, ())
    at = datetime(2027, 1, 1, tzinfo=UTC)
    prefix = configuration.build_prefix(is_credit_note=False, at=at)
    assert configuration.format_number(prefix, 7) == "INV-2027-00007"
    assert configuration.build_prefix(is_credit_note=True, at=at) == "CN-2027-"


def test_account_numbers_may_have_spaces(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        ("DE89370400440532013000", "DE89 3704 0044 0532 0130 00"),
        ("COBADEFFXXX", "coba de ff xxx"),
    )
    payment = read_configuration(path).payment
    assert payment is not None
    assert (payment.iban, payment.bic) == ("DE89370400440532013000", "COBADEFFXXX")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("[seller]", "[seller", "cannot be read"),
        ("[seller]", "[vendor]", "unknown keys: vendor"),
        ('city = "Berlin"\n', "", "seller: missing keys: city"),
        ('name = "VAT"', 'name = ""', "taxes.name must be a string"),
        ("Musterstraße 12", " ", "seller.address_lines must be a string"),
        ('["Musterstraße 12"]', "[]", "seller.address_lines must have at least one line"),
        ('country = "DE"', 'country = "de"', "seller.country must be an ISO 3166-1 country code"),
        ("DE136695976", "DE136695977", "seller.tax_number is not a valid tax number"),
        ("DE136695976", "ATU13585627", "seller.tax_number is a tax number of AT"),
        ("DE8937", "DE8938", "payment.iban must be a valid IBAN"),
        ("COBADEFFXXX", "COBADEFFXX", "payment.bic must be a valid BIC"),
        ("INV-{year}-", "INV {year}", "invoices.series must contain only"),
        ("INV-{year}-", "CN-{year}-", "credit_note_series must differ"),
        ("digits = 5", "digits = 0", "invoices.digits must be a whole number"),
        ('tax_number = "DE136695976"\n', "", "seller: missing keys: tax_number"),
        ("digits = 5", 'digits = "5"', "invoices.digits must be a whole number"),
        ("payment_days = 14", "payment_days = 400", "payment_days must be"),
        ("notes = []", "notes = 7", "invoices.notes must be a list"),
        ('DE = "19"', "DE = 19.0", "taxes.rates.DE must be a string"),
        ('DE = "19"', 'DE = "-1"', "taxes.rates.DE must be a string"),
        ('DE = "19"', "", "the rate for DE is missing"),
        ('DE = "19"', 'DE = "0"', "taxes.rate"),
        ('AT = "20"', 'XX = "20"', "taxes.rates.XX must be an ISO 3166-1 country code"),
    ],
)
def test_what_is_refused(tmp_path: Path, before: str, after: str, message: str) -> None:
    with pytest.raises(BillingFileError) as failure:
        read_configuration(write(tmp_path, (before, after)))
    assert message in str(failure.value)


def test_a_seller_outside_of_the_european_union(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        ('country = "DE"', 'country = "CH"'),
        ("DE136695976", "CHE100155212MWST"),
        ('DE = "19"', 'CH = "8.1"'),
    )
    rules = read_configuration(path).tax_rules
    chosen = {
        country: choose_tax_rule(rules, Party("A", ("B",), "1", "C", country))
        for country in ("CH", "DE", "US")
    }
    assert (chosen["CH"].category, chosen["CH"].rate) == (TaxCategory.STANDARD, Decimal("8.1"))
    assert {chosen[country].category for country in ("DE", "US")} == {TaxCategory.OUTSIDE}


def test_the_service_does_not_start_with_an_invalid_file(
    environ: dict[str, str], tmp_path: Path
) -> None:
    path = write(tmp_path, ('name = "VAT"', 'name = ""'))
    command = "import os; from app.factory import create_app; create_app(os.environ)"
    result = subprocess.run(
        [sys.executable, "-c", command],
        env={**environ, "BILLING_FILE": str(path)},
        cwd=EXAMPLE.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "BILLING_FILE taxes.name must be a string" in result.stderr
