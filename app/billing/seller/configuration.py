"""Read and validate the billing file of the operator (setting BILLING_FILE) once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType

from stdnum import bic, iban
from stdnum.exceptions import ValidationError

from app.engines.fields.values.countries import ALPHA_2
from app.engines.invoices.model import InvoiceError, Party, Payment, TaxCategory
from app.engines.invoices.tax_numbers import EU_COUNTRIES, TaxNumberError, normalize_tax_number
from app.engines.invoices.taxes import TaxRule, build_eu_tax_rules
from app.kit import container, toml_files

_MAX_TEXT_LENGTH = 200
_RATE_PATTERN = re.compile(r"[0-9]{1,2}(\.[0-9]{1,3})?")
_SERIES_PATTERN = re.compile(r"[A-Za-z0-9/_.-]{0,20}(\{year\}[A-Za-z0-9/_.-]{0,20})?")


class BillingFileError(ValueError):
    """The billing file is not set, cannot be read or is invalid; the message says what is wrong.

    The message is shown after the name of the setting, as in "BILLING_FILE is not set".
    """


_toml = toml_files.Validator(BillingFileError)


@dataclass(frozen=True)
class BillingConfiguration:
    """The seller, number series, payment terms and taxes for invoices.

    A series is the prefix of invoice or credit note numbers; `{year}` stands for the year of issue.
    `digits` is the minimum number of digits after the prefix. `payment_days` is the number of days
    from issue to the due date. `notes` are printed on every invoice. `rates` maps country codes to
    tax rates in percent.
    """

    seller: Party
    payment: Payment | None
    series: str
    credit_note_series: str
    digits: int
    payment_days: int
    notes: tuple[str, ...]
    tax_name: str
    rates: Mapping[str, Decimal]

    @cached_property
    def tax_rules(self) -> list[TaxRule]:
        """Return the tax rules. The first rule that applies to a buyer determines the tax.

        Raises InvoiceError if the tax rates do not result in valid rules.
        """
        home, rate = self.seller.country, self.rates[self.seller.country]
        if home in EU_COUNTRIES:
            return build_eu_tax_rules(home, self.rates, name=self.tax_name)
        category = TaxCategory.STANDARD if rate else TaxCategory.ZERO
        return [
            TaxRule(self.tax_name, category, rate, frozenset({home})),
            TaxRule(self.tax_name, TaxCategory.OUTSIDE),
        ]

    def build_prefix(self, *, is_credit_note: bool, at: datetime) -> str:
        """Build the number prefix for an invoice or credit note that is issued at the time `at`."""
        series = self.credit_note_series if is_credit_note else self.series
        return series.replace("{year}", str(at.year))

    def format_number(self, prefix: str, number: int) -> str:
        """Format an invoice or credit note number: `prefix`, and `number` with leading zeros."""
        return f"{prefix}{number:0{self.digits}}"


def find_configuration() -> BillingConfiguration | None:
    """Find the configuration in the billing file; return None if no file is set.

    Raises BillingFileError if the file cannot be read or is invalid.
    """
    path = container.settings().billing_file
    return read_configuration(Path(path)) if path else None


def require_configuration() -> BillingConfiguration:
    """Return the configuration from the billing file.

    Raises BillingFileError if no file is set, or if the file cannot be read or is invalid.
    """
    configuration = find_configuration()
    if configuration is None:
        raise BillingFileError("is not set")
    return configuration


@cache
def read_configuration(path: Path) -> BillingConfiguration:
    """Read and validate a billing file. Each file is read once.

    Raises BillingFileError if the file cannot be read or is invalid.
    """
    configuration = _parse_file(_toml.read(path))
    try:
        _ = configuration.tax_rules
    except InvoiceError as error:
        raise BillingFileError(f"taxes.{error.field} {error.message}") from None
    return configuration


def _parse_file(content: Mapping[str, object]) -> BillingConfiguration:
    _toml.check_table(content, "the file", {"seller", "taxes"}, {"invoices", "payment"})
    seller = _parse_seller(content["seller"])
    optional = {"series", "credit_note_series", "digits", "payment_days", "notes"}
    invoices = _toml.check_table(content.get("invoices", {}), "invoices", set(), optional)
    taxes = _toml.check_table(content["taxes"], "taxes", {"name", "rates"})
    rates = _parse_rates(taxes["rates"])
    if seller.country not in rates:
        raise BillingFileError(f"taxes.rates: the rate for {seller.country} is missing")
    series = _parse_series(invoices.get("series", "INV-{year}-"), "invoices.series")
    credit_note_value = invoices.get("credit_note_series", "CN-{year}-")
    credit_note_series = _parse_series(credit_note_value, "invoices.credit_note_series")
    if series == credit_note_series:
        raise BillingFileError("invoices.credit_note_series must differ from invoices.series")
    return BillingConfiguration(
        seller=seller,
        payment=_parse_payment(content.get("payment")),
        series=series,
        credit_note_series=credit_note_series,
        digits=_toml.check_integer(invoices.get("digits", 5), "invoices.digits", 1, 12),
        payment_days=_toml.check_integer(
            invoices.get("payment_days", 14), "invoices.payment_days", 0, 365
        ),
        notes=_parse_texts(invoices.get("notes", []), "invoices.notes", 5),
        tax_name=_parse_text(taxes["name"], "taxes.name"),
        rates=rates,
    )


def _parse_payment(value: object) -> Payment | None:
    if value is None:
        return None
    table = _toml.check_table(value, "payment", {"iban"}, {"bic", "account_holder"})
    texts = {key: _parse_text(text, f"payment.{key}") for key, text in table.items()}
    for key, library in (("iban", iban), ("bic", bic)):
        if key not in texts:
            continue
        try:
            texts[key] = library.validate(texts[key])
        except ValidationError:
            raise BillingFileError(f"payment.{key} must be a valid {key.upper()}") from None
    return Payment(**texts)


def _parse_seller(value: object) -> Party:
    # EN 16931 requires the seller's tax number on every invoice.
    required = {*("name", "address_lines", "postal_code", "city", "country", "email"), "tax_number"}
    table = _toml.check_table(value, "seller", required)
    country = _parse_country(table["country"], "seller.country")
    try:
        tax_number = normalize_tax_number(
            _parse_text(table["tax_number"], "seller.tax_number"), country
        )
    except TaxNumberError as error:
        raise BillingFileError(f"seller.tax_number {error.message}") from None
    lines = _parse_texts(table["address_lines"], "seller.address_lines", 3)
    if not lines:
        raise BillingFileError("seller.address_lines must have at least one line")
    return Party(
        **{key: _parse_text(table[key], f"seller.{key}") for key in ("name", "city", "email")},
        postal_code=_parse_text(table["postal_code"], "seller.postal_code"),
        address_lines=lines,
        country=country,
        tax_number=tax_number,
    )


def _parse_rates(value: object) -> Mapping[str, Decimal]:
    if not isinstance(value, dict):
        raise BillingFileError("taxes.rates must be a table")
    rates = {}
    for key, rate in value.items():
        country = _parse_country(key, f"taxes.rates.{key}")
        # Floating-point numbers in TOML would not be exact, so rates are strings.
        if not isinstance(rate, str) or not _RATE_PATTERN.fullmatch(rate):
            raise BillingFileError(f'taxes.rates.{key} must be a string, for example "19" or "8.1"')
        rates[country] = Decimal(rate)
    return MappingProxyType(rates)


def _parse_country(value: object, location: str) -> str:
    if not isinstance(value, str) or value not in ALPHA_2:
        raise BillingFileError(f"{location} must be an ISO 3166-1 country code, for example DE")
    return value


def _parse_series(value: object, location: str) -> str:
    if not isinstance(value, str) or not _SERIES_PATTERN.fullmatch(value):
        raise BillingFileError(
            f"{location} must contain only letters, digits, -, _, . and /, at most one {{year}},"
            " and at most 20 characters before and after it"
        )
    return value


def _parse_text(value: object, location: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _MAX_TEXT_LENGTH:
        raise BillingFileError(f"{location} must be a string of 1 to {_MAX_TEXT_LENGTH} characters")
    return value.strip()


def _parse_texts(value: object, location: str, max_count: int) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > max_count:
        raise BillingFileError(f"{location} must be a list of at most {max_count} strings")
    return tuple(_parse_text(text, location) for text in value)
