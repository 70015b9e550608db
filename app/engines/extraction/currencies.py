"""Find currency codes and signs in a document, and determine which currencies they mean."""

import functools
from collections.abc import Sequence

from app.engines.extraction.layout import Token
from app.engines.fields import ValueProblem
from app.engines.fields.values.currencies import CODES, SIGNS, parse_currency

_ABBREVIATIONS = {"RM": "MYR", "ZL": "PLN"}
_FREQUENT_SIGNS = frozenset(
    {
        *("AUD", "CAD", "CHF", "EUR", "GBP", "INR", "JPY", "MYR", "PLN", "SGD", "USD"),
        *("$", "S$", "US$", "£", "¥", "€", "₹", "EURO", "RM", "RS", "ZL"),
    }
)
"""The codes and signs that are recognized anywhere in a document.

All others, except _SIGNS_LIKE_WORDS, are recognized only beside a number.
"""

_SIGNS_LIKE_WORDS = frozenset(
    {
        *("ALL", "BAM", "COP", "CUP", "GEL", "MAD", "MOP", "PEN", "SOS", "TOP", "TRY"),
        *("FR", "Fr", "fr", "FT", "ft"),
    }
)
"""Codes and signs that are never recognized: ordinary words that often occur beside a number."""


def find_currencies(tokens: Sequence[Token]) -> dict[int, str]:
    """Find the currency codes and signs among the tokens, and return them by token index.

    Codes and signs are in upper case; _ABBREVIATIONS are replaced with codes.
    """
    currencies = {}
    for index, token in enumerate(tokens):
        text = token.text.strip("(-\u2212\u2013).:")
        sign = text.upper()
        is_currency = sign in SIGNS or text in CODES
        if sign in _FREQUENT_SIGNS or (
            is_currency and text not in _SIGNS_LIKE_WORDS and _is_beside_number(tokens, index)
        ):
            currencies[index] = _ABBREVIATIONS.get(sign, sign)
    return currencies


def _is_beside_number(tokens: Sequence[Token], index: int) -> bool:
    neighbors = (tokens[i] for i in (index - 1, index + 1) if 0 <= i < len(tokens))
    return any(
        token.row == tokens[index].row and any(char.isdigit() for char in token.text)
        for token in neighbors
    )


@functools.lru_cache(maxsize=1_000)
def read_currency(sign: str, allowed_currencies: tuple[str, ...]) -> str:
    """Return the currency code that a code or sign means for a field.

    An empty `allowed_currencies` allows all currencies. If the field allows none of the sign's
    meanings, the sign itself is returned, so that the field rejects the amount. The result is empty
    if several meanings are possible, or if the sign is unknown and the field allows all currencies.
    """
    if not allowed_currencies:
        return _parse_or_empty(sign, ())
    codes = [code for code in allowed_currencies if _parse_or_empty(sign, (code,))]
    if not codes:
        return sign
    return codes[0] if len(codes) == 1 else ""


def _parse_or_empty(sign: str, allowed_currencies: tuple[str, ...]) -> str:
    try:
        return parse_currency(sign, allowed_currencies)
    except ValueProblem:
        return ""
