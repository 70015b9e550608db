"""Normalize email addresses (RFC 5321 and 6531) with email-validator, without DNS lookups."""

import functools

from email_validator import EmailNotValidError, validate_email

from app.engines.fields.errors import ValueProblem
from app.engines.fields.model import Field, Normalizer
from app.engines.fields.plain_text import check_text
from app.engines.fields.values.texts import build_text_normalizer

MAX_EMAIL_CHARS = 254


def build_normalizer(field: Field) -> Normalizer:
    """Build the normalizer for an email field; it removes `mailto:` and lower-cases the domain."""
    return build_text_normalizer(
        field,
        lambda value: _parse_address(
            check_text(value, MAX_EMAIL_CHARS).strip().removeprefix("mailto:")
        ),
    )


# Autosave sends the same addresses repeatedly; checking an address takes 60 µs.
@functools.lru_cache(maxsize=2048)
def _parse_address(text: str) -> str:
    try:
        return validate_email(text, check_deliverability=False).normalized
    except EmailNotValidError:
        raise ValueProblem("is not a valid email address") from None
