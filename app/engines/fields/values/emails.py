"""Normalize email addresses (RFC 5321 and 6531) with email-validator, without DNS lookups."""

import functools

from email_validator import EmailNotValidError, validate_email

from app.engines.fields.errors import ValueProblem
from app.engines.fields.model import Field, JsonValue, Normaliser
from app.engines.fields.plain import text_of
from app.engines.fields.values.texts import length_and_pattern

MAX_EMAIL = 254


def make(field: Field) -> Normaliser:
    """Return the normalizer of an email field: the address with its domain in lower case."""
    check = length_and_pattern(field)

    def normalise(value: object) -> JsonValue:
        address = _address(text_of(value, MAX_EMAIL).strip().removeprefix("mailto:"))
        check(address)
        return address

    return normalise


# Autosave sends the same addresses repeatedly; checking one takes 60 µs.
@functools.lru_cache(maxsize=2048)
def _address(text: str) -> str:
    try:
        return validate_email(text, check_deliverability=False).normalized
    except EmailNotValidError:
        raise ValueProblem("is not a valid email address") from None
