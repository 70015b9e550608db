"""Regular expressions for "no less than" and "no more than", of decimals and of moments as text.

JSON Schema compares numbers, not strings: this says it for the strings that amounts, exact decimals
and dates are kept as. The expressions are of the kind that any engine takes.
"""

from collections.abc import Iterator
from decimal import Decimal

from app.engines.fields.decimals import MAX_DIGITS, digits_of

DECIMAL = rf"^-?(?:0|[1-9][0-9]{{0,{MAX_DIGITS - 1}}})(?:\.[0-9]{{1,{MAX_DIGITS}}})?$"
"""A decimal as it is kept: fixed notation, no leading zeros."""

_REST = r"(?:\.[0-9]+)?"
_FRACTION = len(".000000")


def decimal_at_least(low: Decimal) -> str:
    """Finds those strings of the form DECIMAL that are no less than `low`."""
    if low > 0:
        return f"^(?:{'|'.join(_no_less(low))})$"
    return f"^(?:[0-9]|-(?:{'|'.join(_no_more(-low))})$)" if low else "^[0-9]"


def decimal_at_most(high: Decimal) -> str:
    """Finds those strings of the form DECIMAL that are no more than `high`."""
    if high < 0:
        return f"^-(?:{'|'.join(_no_less(-high))})$"
    return f"^(?:-|(?:{'|'.join(_no_more(high))})$)"


def moment_at_least(low: str) -> str:
    """Finds those dates, times or instants in canonical form that are no earlier than `low`."""
    bare = low.rstrip("Z")
    return f"^(?:{'|'.join([*_greater(bare), _literal(bare)])})"


def moment_at_most(high: str) -> str:
    """Finds those dates, times or instants in canonical form that are no later than `high`."""
    bare, end = high.rstrip("Z"), "Z$" if high.endswith("Z") else "$"
    same = [bare, bare[:-_FRACTION]] if "." in bare else [bare]
    return f"^(?:{'|'.join([*_smaller(bare), *(_literal(text) + end for text in same)])})"


def _no_less(limit: Decimal) -> Iterator[str]:
    whole, _, fraction = digits_of(limit).partition(".")
    yield rf"[1-9][0-9]{{{len(whole)},}}{_REST}"
    for text in _greater(whole):
        yield f"{text}{_digits(len(whole), text)}{_REST}"
    if fraction:
        yield from (rf"{whole}\.{text}[0-9]*" for text in _greater(fraction))
        yield rf"{whole}\.{fraction}[0-9]*"
    else:
        yield f"{whole}{_REST}"


def _no_more(limit: Decimal) -> Iterator[str]:
    whole, _, fraction = digits_of(limit).partition(".")
    if len(whole) > 1:
        yield rf"(?:0|[1-9][0-9]{{0,{len(whole) - 2}}}){_REST}"
    for text in _smaller(whole, first="1" if len(whole) > 1 else "0"):
        yield f"{text}{_digits(len(whole), text)}{_REST}"
    yield from (rf"{whole}\.{text}[0-9]*" for text in _smaller(fraction))
    yield from (rf"{whole}\.{fraction[:end]}" for end in range(1, len(fraction)))
    yield rf"{whole}(?:\.{fraction}0*)?"


def _greater(text: str) -> Iterator[str]:
    """Beginnings of what sorts after `text`, digit for digit."""
    for at, char in enumerate(text):
        if "0" <= char < "9":
            yield f"{_literal(text[:at])}[{int(char) + 1}-9]"


def _smaller(text: str, *, first: str = "0") -> Iterator[str]:
    """Beginnings of what sorts before `text`, digit for digit, from the digit `first` on."""
    for at, char in enumerate(text):
        least = first if at == 0 else "0"
        if least < char <= "9":
            yield f"{_literal(text[:at])}[{least}-{int(char) - 1}]"


def _digits(length: int, beginning: str) -> str:
    """As many digits as a number of that length has after `beginning`, whose last is a class."""
    missing = length - (len(beginning) - len("[0-9]")) - 1
    return f"[0-9]{{{missing}}}" if missing else ""


def _literal(text: str) -> str:
    return text.replace(".", r"\.")
