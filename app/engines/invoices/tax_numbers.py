"""Validate the format, check digits and country of tax numbers with python-stdnum."""

import re
from collections.abc import Collection
from typing import Protocol

from stdnum import get_cc_module
from stdnum.eu import vat

from app.engines.invoices.model import InvoiceError

EU_COUNTRIES: Collection[str] = frozenset(
    code.upper() for code in vat.MEMBER_STATES if code != "xi"
)
"""The member states of the European Union, as ISO 3166-1 alpha-2 codes."""

_PREFIXES_BY_COUNTRY = {"GR": ("EL", "GR"), "GB": ("GB", "XI")}
_COUNTRY_BY_PREFIX = {"EL": "GR", "XI": "GB"}
_GENERIC_FORMAT = re.compile(r"[A-Z0-9](?:[A-Z0-9 ./-]{0,28}[A-Z0-9])?")
_VAT_PREFIX = re.compile(r"[A-Z]{2}(?=[A-Z0-9+*]*[0-9])")


class TaxNumberError(InvoiceError):
    """A tax number is malformed, or belongs to another country."""

    def __init__(self, message: str) -> None:
        super().__init__("tax_number", message)


def normalize_tax_number(number: str, country: str) -> str:
    """Validate a tax number for a country, and return the number in its compact form.

    A European Union VAT number gets its country prefix: for the country DE, both `DE 136.695.976`
    and `136695976` become `DE136695976`. A number from Northern Ireland (XI) belongs to GB. If the
    number format of a country is unknown, only the length and the characters are checked. Raises
    `TaxNumberError` if the number is malformed or belongs to another country.
    """
    text = " ".join(number.upper().split())
    if country in EU_COUNTRIES or text.startswith("XI"):
        return _normalize_vat(text, country)
    _reject_other_country(text, country)
    module = get_cc_module(country.lower(), "vat")
    if module is None:
        if not _GENERIC_FORMAT.fullmatch(text):
            raise TaxNumberError(
                "must have at most 30 letters, digits, spaces, dots, slashes or hyphens"
            )
        return text
    compact = _validate(module, text, country)
    return f"GB{compact}" if country == "GB" else compact


def is_vat_number(number: str | None, country: str) -> bool:
    """Return whether a normalized tax number starts with the VAT prefix of its country."""
    return bool(number) and str(number).startswith(_PREFIXES_BY_COUNTRY.get(country, (country,)))


def is_valid_tax_number(number: str | None, country: str) -> bool:
    """Return whether `normalize_tax_number` accepts a tax number for the country."""
    try:
        return bool(number) and bool(normalize_tax_number(str(number), country))
    except TaxNumberError:
        return False


def _normalize_vat(text: str, country: str) -> str:
    _reject_other_country(text, country)
    prefixes = _PREFIXES_BY_COUNTRY.get(country, (country,))
    compact = re.sub(r"[ ./-]", "", text)
    if not compact.startswith(prefixes):
        compact = prefixes[0] + compact
    if country == "GR":
        compact = "EL" + compact[2:]
    return _validate(vat, compact, country)


class _Validator(Protocol):
    def validate(self, number: str, /) -> str:
        """Return the compact form of a valid number, or raise ValueError."""


def _validate(module: _Validator, text: str, country: str) -> str:
    try:
        return str(module.validate(text))
    except ValueError:  # also raised for characters that a module does not expect
        raise TaxNumberError(f"is not a valid tax number of {country}") from None


def _reject_other_country(text: str, country: str) -> None:
    """Raise TaxNumberError if the text is a valid VAT number of another country (EU, XI)."""
    compact = re.sub(r"[ ./-]", "", text)
    if not _VAT_PREFIX.match(compact):
        return
    owner = _COUNTRY_BY_PREFIX.get(compact[:2], compact[:2])
    if owner != country and vat.is_valid(compact):
        raise TaxNumberError(f"is a tax number of {owner}, not of {country}")
