"""Validate identifiers, such as IBANs, VAT numbers and ISBNs, with python-stdnum."""

import importlib
from collections.abc import Callable

from app.engines.fields.errors import ValueProblem

MAX_IDENTIFIER_CHARS = 100

MODULE_BY_FORMAT: dict[str, str] = {
    "bic": "bic",
    "cas": "casrn",
    "ch_uid": "ch.uid",
    "ch_vat": "ch.vat",
    "container_number": "iso6346",
    "creditor_reference": "iso11649",
    "cusip": "cusip",
    "de_tax_id": "de.idnr",
    "ean": "ean",
    "es_nif": "es.nif",
    "eu_vat": "eu.vat",
    "figi": "figi",
    "fr_siren": "fr.siren",
    "fr_siret": "fr.siret",
    "gb_nhs": "gb.nhs",
    "gb_utr": "gb.utr",
    "gb_vat": "gb.vat",
    "iban": "iban",
    "imei": "imei",
    "imo": "imo",
    "isbn": "isbn",
    "isin": "isin",
    "issn": "issn",
    "it_codice_fiscale": "it.codicefiscale",
    "it_vat": "it.iva",
    "lei": "lei",
    "luhn": "luhn",
    "nl_bsn": "nl.bsn",
    "sedol": "gb.sedol",
    "us_ein": "us.ein",
    "us_itin": "us.itin",
    "us_routing_number": "us.rtn",
    "us_ssn": "us.ssn",
    "vat": "vatin",
}
"""The python-stdnum module for each identifier format of text fields."""


def parse_identifier(text: str, formats: tuple[str, ...]) -> str:
    """Parse an identifier; return its compact form in the first of `formats` that it matches.

    Empty text is accepted, because a separate check determines whether a field may be empty. Raises
    ValueProblem if the text matches no format, or has more than MAX_IDENTIFIER_CHARS characters.
    """
    if not text:
        return text
    if len(text) <= MAX_IDENTIFIER_CHARS:
        for format_name in formats:
            compact = _parse_in_format(text, format_name)
            if compact:
                return compact
    raise ValueProblem(f"is not a valid {' or '.join(formats)}")


def _parse_in_format(text: str, format_name: str) -> str | None:
    module = importlib.import_module(f"stdnum.{MODULE_BY_FORMAT[format_name]}")
    validate: Callable[[str], str] = module.validate
    try:
        return str(validate(text))
    except ValueError:  # also raised for characters that a module does not expect
        return None
