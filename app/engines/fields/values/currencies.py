"""Normalize currencies, written as ISO 4217 codes or as currency signs."""

import json
from pathlib import Path

import pycountry

from app.engines.fields.errors import ValueProblem
from app.engines.fields.model import Field, JsonValue, Normalizer
from app.engines.fields.plain_text import clean_text

_DATA = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))

# Documents with currencies that the euro replaced are still being labeled.
CODES: frozenset[str] = frozenset(currency.alpha_3 for currency in pycountry.currencies)
CODES |= frozenset(_DATA["withdrawn"])

# The first code is the default meaning of the sign (CLDR's English usage).
_SIGNS: dict[str, list[str]] = _DATA["signs"]
SIGNS: frozenset[str] = frozenset(_SIGNS)
# Signs that several currencies share, and that have no usual currency.
_AMBIGUOUS_SIGNS: frozenset[str] = frozenset(_DATA["shared_signs"])
# The number of decimals of each currency that does not have two, from ISO 4217 table A.1. CLDR has
# other numbers.
_MINOR_DIGITS: dict[str, int] = {
    code: int(digits) for digits, codes in _DATA["minor_digits"].items() for code in codes
}


def build_normalizer(field: Field) -> Normalizer:
    """Build the normalizer for a currency field; it returns an upper-case ISO 4217 code."""
    allowed_currencies = get_allowed_currencies(field)

    def normalize(value: object) -> JsonValue:
        return parse_currency(clean_text(value), allowed_currencies)

    return normalize


def get_allowed_currencies(field: Field) -> tuple[str, ...]:
    """Return the currencies that a field allows; an empty tuple means that all are allowed."""
    return tuple((field.get("constraints") or {}).get("currencies") or ())


def parse_currency(text: str, allowed_currencies: tuple[str, ...]) -> str:
    """Parse a currency code or a currency sign, such as `€`, and return the code.

    If `allowed_currencies` is empty, a sign that several currencies share means its usual currency,
    and a sign without a usual currency, such as `kr.`, is rejected. Otherwise, a sign is rejected
    if several allowed currencies share it. Raises ValueProblem if the text is rejected, or if the
    currency is not allowed.
    """
    token = text.strip().rstrip(".").upper()
    if token in CODES:
        return _check_allowed(token, allowed_currencies)
    meanings = _SIGNS.get(token)
    if meanings is None:
        raise ValueProblem("is neither an ISO 4217 currency code nor a known currency sign")
    if allowed_currencies:
        meanings = [code for code in meanings if code in allowed_currencies] or meanings[:1]
    if len(meanings) > 1 and (allowed_currencies or token in _AMBIGUOUS_SIGNS):
        raise ValueProblem(f"is ambiguous: the sign may mean {', '.join(meanings[:5])}")
    return _check_allowed(meanings[0], allowed_currencies)


def find_single_currency(tokens: set[str]) -> str:
    """Return the only currency code or sign in `tokens`, or an empty string if there is none.

    If a code appears together with its sign, as in `$12 USD`, the code is returned. Raises
    ValueProblem if the tokens mean different currencies.
    """
    codes = {token.upper() for token in tokens if token.upper() in CODES}
    signs = {token for token in tokens if token.upper() not in CODES}
    if len(codes) > 1 or (not codes and len(signs) > 1):
        raise ValueProblem("has more than one currency")
    for code in codes:
        if all(code in _SIGNS.get(sign.rstrip(".").upper(), ()) for sign in signs):
            return code
        raise ValueProblem("has more than one currency")
    return signs.pop() if signs else ""


def get_decimals(code: str) -> int:
    """Return the number of decimal places of a currency."""
    return _MINOR_DIGITS.get(code, 2)


def _check_allowed(code: str, allowed_currencies: tuple[str, ...]) -> str:
    if allowed_currencies and code not in allowed_currencies:
        raise ValueProblem(f"must be one of {', '.join(allowed_currencies[:20])}")
    return code
