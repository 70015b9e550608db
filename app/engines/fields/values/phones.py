"""Normalize phone numbers to the international format E.164 with phonenumbers."""

import functools

import phonenumbers

from app.engines.fields.errors import ValueProblem
from app.engines.fields.model import Field, Normalizer
from app.engines.fields.plain_text import clean_text
from app.engines.fields.values.texts import build_text_normalizer

REGIONS = frozenset(phonenumbers.SUPPORTED_REGIONS)


def build_normalizer(field: Field) -> Normalizer:
    """Build the normalizer for a phone field.

    A number without a country code is parsed for each country in the field's `formats`, and
    rejected unless exactly one valid number results. A number with an extension is rejected,
    because E.164 does not support extensions.
    """
    regions = tuple((field.get("constraints") or {}).get("formats") or ())
    return build_text_normalizer(
        field, lambda value: _parse_number(clean_text(value, 100).removeprefix("tel:"), regions)
    )


# Autosave sends the same numbers repeatedly; parsing a number takes 60 µs.
@functools.lru_cache(maxsize=2048)
def _parse_number(text: str, regions: tuple[str, ...]) -> str:
    if text.startswith("00"):
        text = "+" + text[2:]
    candidates: set[str] = set()
    for region in (None,) if text.startswith("+") else regions:
        try:
            number = phonenumbers.parse(text, region)
        except phonenumbers.NumberParseException:
            continue
        if number.extension:
            raise ValueProblem("has an extension, which E.164 does not support; remove it")
        if phonenumbers.is_possible_number(number) and (
            region is None or phonenumbers.is_valid_number_for_region(number, region)
        ):
            candidates.add(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))
    if len(candidates) > 1:
        raise ValueProblem("is valid in several of the field's countries; add a country code")
    if not candidates:
        raise ValueProblem("must be a phone number with a country code, for example +4930123456")
    return candidates.pop()
